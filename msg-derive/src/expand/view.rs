//! What a view can do besides giving its fields: be sent on, be a field, be compared with the owned type.

use proc_macro2::TokenStream;
use quote::quote;

use super::Names;

/// ```text
/// impl Encode for PersonView<'_> { type Message = Person; .. }
/// impl Field for PersonView<'_> { type Wire = TableOf<Person>; .. }
/// impl Element for PersonView<'_> {}
/// serialize_view! { PersonView }
/// impl<T: Comparable<TableOf<Person>>> PartialEq<T> for PersonView<'_> { .. }
/// ```
pub(super) fn expand(names: &Names<'_>) -> TokenStream {
    let Names { private, runtime, view, message, .. } = names;
    let comparison = comparison(names, &quote!(#private::TableOf<#message>), &TokenStream::new());
    quote! {
        #[automatically_derived]
        impl #runtime::Encode for #view<'_> {
            type Message = #message;

            #[inline]
            fn __encode(&self, __out: &mut #private::Encoder<'_>) {
                #private::encode_view_root(&self.0, __out);
            }
        }

        #[automatically_derived]
        impl #private::Field for #view<'_> {
            type Wire = #private::TableOf<#message>;

            #[inline]
            fn encode(&self, __out: &mut #private::Encoder<'_>, __place: #private::Place) {
                #private::encode_view(&self.0, __out, __place);
            }
        }

        #[automatically_derived]
        impl #private::Element for #view<'_> {}

        #private::serialize_view! { #view }

        #comparison
    }
}

/// ```text
/// impl<T: Comparable<TableOf<Person>>> PartialEq<T> for PersonView<'_> { .. }
/// ```
///
/// The owned type is a parameter because it need not have `PartialEq`.
///
/// `kinds` comes before anything that could fail.
pub(super) fn comparison(names: &Names<'_>, wire: &TokenStream, kinds: &TokenStream) -> TokenStream {
    let Names { private, view, .. } = names;
    quote! {
        #[automatically_derived]
        impl<__Owned: #private::Comparable<#wire>> ::core::cmp::PartialEq<__Owned> for #view<'_> {
            fn eq(&self, __owned: &__Owned) -> ::core::primitive::bool {
                #kinds
                __Owned::equals(__owned, *self)
            }
        }
    }
}
