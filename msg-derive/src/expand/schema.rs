//! What the author wrote, as constants for the schema.

use proc_macro2::TokenStream;
use quote::quote;

use super::Names;
use crate::attr::About;

/// ```text
/// &About { documentation: &[" Radians."], attributes: &[("key", "0")] }
/// ```
///
/// `known` are the attributes that the derive itself understands and flatc lists too.
pub(super) fn about(names: &Names<'_>, about: &About, known: &[(&str, String)]) -> TokenStream {
    let Names { private, .. } = names;
    let documentation = &about.documentation;
    let mut attributes: Vec<(&str, &str)> =
        known.iter().map(|(name, value)| (*name, value.as_str())).collect();
    attributes.extend(about.attributes.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    attributes.sort_unstable();
    if documentation.is_empty() && attributes.is_empty() {
        return quote!(#private::About::NONE);
    }
    let attributes = attributes.iter().map(|(name, value)| quote!((#name, #value)));
    quote! {
        &#private::About { documentation: &[#(#documentation),*], attributes: &[#(#attributes),*] }
    }
}

/// A flag among the attributes.
pub(super) fn flag(name: &'static str) -> (&'static str, String) {
    (name, "0".to_owned())
}
