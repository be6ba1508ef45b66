//! Another form of a message: a struct that encodes as it, such as one that borrows.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};

use super::{
    Names, at, ends,
    table::{encode, index, wire},
};
use crate::ast::{Field, Struct};

pub(crate) fn expand(twin: &Struct<'_>) -> TokenStream {
    let message = twin.container.like.to_token_stream();
    let names = Names { message, ..Names::new(twin.original, &twin.container) };
    let facts = facts(&names, twin);
    let encode = encode(&names, twin);
    quote! {
        #[allow(deprecated, non_camel_case_types, clippy::all)]
        const _: () = {
            #facts
            #encode
        };
    }
}

/// The facts are those of the message, so that the two cannot differ; the types of the fields are compared through
/// what the message's view gives.
///
/// ```text
/// const __MSG_FIELDS: [FieldSpec; 1] = twin_fields(<Scan as Table>::FIELDS, ["ranges"]);
/// const __MSG_VTABLE: [u16; vtable_len(&__MSG_FIELDS)] = vtable(&__MSG_FIELDS);
/// fn __same_kinds<'view>(view: <Scan as Table>::View<'view>) {
///     let _: <<&'static [f32] as Field>::Wire as Wire>::View<'view> = view.ranges();
/// }
/// ```
fn facts(names: &Names<'_>, twin: &Struct<'_>) -> TokenStream {
    let Names { ident, private, message, .. } = names;
    let count = index(twin.fields.len());
    let wire_names = twin.fields.iter().map(|field| &field.name);
    let spanned = at(ident.span(), private);
    let fields = quote_spanned! {ident.span()=>
        const __MSG_FIELDS: [#private::FieldSpec; #count] =
            #spanned::twin_fields(<#message as #private::Table>::FIELDS, [#(#wire_names),*]);
    };
    let kinds = twin.fields.iter().map(|field| {
        let Field { ident, ty, .. } = field;
        let (first, _) = ends(ty);
        let (wire, private) = (wire(names, field), at(first, private));
        quote_spanned!(first=> let _: <#wire as #private::Wire>::View<'view> = __view.#ident();)
    });
    quote! {
        #fields
        const __MSG_VTABLE: [::core::primitive::u16; #private::vtable_len(&__MSG_FIELDS)] =
            #private::vtable(&__MSG_FIELDS);

        #[allow(dead_code, unused_variables)]
        fn __same_kinds<'view>(__view: <#message as #private::Table>::View<'view>) {
            #(#kinds)*
        }
    }
}
