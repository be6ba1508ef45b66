//! Enums.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Emitter, container, documentation, identifier, message};
use crate::{
    ir::{Enum, EnumId},
    names::{choose_all, differs},
};

/// The Rust names of an enum's values.
pub(super) fn names(item: &Enum) -> Vec<String> {
    choose_all(item.values.iter().map(|value| value.name.as_str()))
}

impl Emitter<'_> {
    /// ```text
    /// #[derive(::core::clone::Clone, .., ::msg_runtime::Message)]
    /// #[message(namespace = "demo")]
    /// #[repr(u8)]
    /// pub enum Color {
    ///     #[default]
    ///     Red = 0,
    ///     Green = 1,
    /// }
    /// ```
    pub(super) fn enumeration(&self, id: EnumId) -> TokenStream {
        let (item, rust_name) = (&self.ir.enums[id.0], self.names.enumeration(id));
        let declaration = &item.declaration;
        let (allow, documentation) =
            (self.item_allow(declaration), documentation(&declaration.documentation));
        let mut keys = container(declaration, rust_name);
        if item.is_flags {
            keys.push(quote!(bit_flags));
        }
        keys.extend(super::attributes(&declaration.attributes));
        let (message, name) = (message(&keys), identifier(rust_name));
        let repr = identifier(item.underlying.rust_name());
        let has_zero = item.value(0).is_some();
        let default = has_zero.then(|| quote!(::core::default::Default,));
        let values = self.values(item);
        let custom = self.custom.of_type(&declaration.name);
        let serde = self.serde_derive();
        quote! {
            #allow
            #documentation
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
            #[derive(::core::cmp::PartialEq, ::core::cmp::Eq, ::core::hash::Hash)]
            #[derive(#default ::msg_runtime::Message)]
            #serde
            #custom
            #message
            #[repr(#repr)]
            pub enum #name { #(#values),* }
        }
    }

    fn values(&self, item: &Enum) -> Vec<TokenStream> {
        let names = names(item);
        let tokens = item.values.iter().zip(names).map(|(value, rust_name)| {
            let mut keys = Vec::new();
            if differs(&rust_name, &value.name) {
                let wire = &value.name;
                keys.push(quote!(rename = #wire));
            }
            keys.extend(super::attributes(&value.attributes));
            let default = (value.value == 0).then(|| quote!(#[default]));
            let (documentation, message) = (super::documentation(&value.documentation), message(&keys));
            let (name, number) = (identifier(&rust_name), super::default::integer(value.value));
            let custom = self.custom.of_field(&item.declaration.name, &value.name);
            let serde = self.serde_name(&rust_name, &value.name);
            quote!(#documentation #default #serde #custom #message #name = #number)
        });
        tokens.collect()
    }
}
