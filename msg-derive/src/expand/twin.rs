//! Another form of a message: a struct that encodes as it, such as one that borrows.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};

use super::{
    Names, at, ends,
    table::{encode, index, wire},
};
use crate::ast::{Field, Struct};

pub(crate) fn expand(twin: &Struct<'_>) -> TokenStream {
    let names = Names::new(twin.original, &twin.container);
    let names = Names { message: message(&names, twin), ..names };
    let facts = facts(&names, twin);
    let encode = encode(&names, twin, &same_kinds(&names, twin));
    quote! {
        #[allow(deprecated, non_camel_case_types, clippy::all)]
        const _: () = {
            #facts
            #encode
        };
    }
}

/// The message that the twin is like: `<<Scan as Message>::__Wire as TwinWire>::Message`.
///
/// Spelled so, and with the extent of the name, a type that is no message is one mistake and not many: nothing more can
/// be asked of it.
pub(crate) fn message(names: &Names<'_>, twin: &Struct<'_>) -> TokenStream {
    let like = twin.container.like.to_token_stream();
    let (first, last) = ends(&like);
    let (runtime, private) = (at(first, &names.runtime), at(first, &names.private));
    let (open, close) = (quote_spanned!(first=> <), quote_spanned!(last=> ::__Wire));
    let wire = quote_spanned!(first=> #open #like as #runtime::Message> #close);
    let close = quote_spanned!(last=> ::Message);
    quote_spanned!(first=> #open #wire as #private::TwinWire> #close)
}

/// ```text
/// same_kinds(&__MSG_FIELDS, &[TypeId::of::<<&'static [f32] as Field>::Wire>()]);
/// ```
///
/// Accessors that are private to another module are compared here alone.
fn same_kinds(names: &Names<'_>, twin: &Struct<'_>) -> TokenStream {
    let kinds = twin.fields.iter().map(|field| {
        let (first, _) = ends(&field.ty);
        let wire = wire(names, field);
        quote_spanned!(first=> ::core::any::TypeId::of::<#wire>())
    });
    let private = &names.private;
    quote!(#private::same_kinds(&__MSG_FIELDS, [#(#kinds),*]);)
}

/// `<Scan as Table>::View<'view>`, with the extent of the message's name.
fn view(names: &Names<'_>, lifetime: &TokenStream) -> TokenStream {
    let Names { private, message, .. } = names;
    let (first, last) = ends(message);
    let (open, private, lifetime) = (quote_spanned!(first=> <), at(first, private), at(last, lifetime));
    let close = quote_spanned!(last=> View<#lifetime>);
    quote_spanned!(first=> #open #message as #private::Table>::#close)
}

/// The facts are those of the message, so that the two cannot differ; the types of the fields are compared through
/// what the message's view gives. A field that the message has not is a mistake already, and no missing method too: its
/// name is one of a trait, which stands back where the view has an accessor.
///
/// ```text
/// const __MSG_FIELDS: [FieldSpec; 1] = twin_fields(<Scan as Table>::FIELDS, ["ranges"]);
/// const __MSG_VTABLE: [u16; vtable_len(&__MSG_FIELDS)] = vtable(&__MSG_FIELDS);
/// trait __Surplus: Sized { fn ranges(&self) -> ! { unreachable!() } }
/// impl __Surplus for <Scan as Table>::View<'_> {}
/// fn __same_kinds<'view>(view: <Scan as Table>::View<'view>) {
///     let _: <<&'static [f32] as Field>::Wire as Wire>::View<'view> = view.ranges();
/// }
/// ```
fn facts(names: &Names<'_>, twin: &Struct<'_>) -> TokenStream {
    let Names { ident, private, message, .. } = names;
    let count = index(twin.fields.len());
    let wire_names = twin.fields.iter().map(|field| &field.name);
    let (spanned, surplus) = (at(ident.span(), private), twin.fields.iter().map(|field| field.ident));
    let (view, any_view) = (view(names, &quote!('view)), view(names, &quote!('_)));
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

        #[allow(dead_code, non_snake_case, clippy::all)]
        trait __Surplus: ::core::marker::Sized {
            #(fn #surplus(&self) -> ! {
                ::core::unreachable!()
            })*
        }

        #[automatically_derived]
        impl __Surplus for #any_view {}

        #[allow(dead_code, unreachable_code, unused_variables)]
        fn __same_kinds<'view>(__view: #view) {
            #(#kinds)*
        }
    }
}
