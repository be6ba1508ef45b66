//! A struct whose bytes are its memory.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Type, ext::IdentExt};

use super::{
    Names, at, ends, message_constants,
    schema::{about, flag},
    schema_function,
};
use crate::{
    ast::{Field, Struct},
    attr, symbol,
};

pub(crate) fn expand(plain: &Struct<'_>) -> TokenStream {
    let names = Names::new(plain.original, &plain.container);
    let proof = proof(&names, plain);
    let implementation = implementation(&names, plain);
    let facts = facts(&names, plain);
    let message = message(&names, plain);
    let field = field(&names);
    let order = order(&names, plain);
    quote! {
        #[allow(deprecated, non_camel_case_types, clippy::all)]
        const _: () = {
            #proof
            #implementation
            #facts
            #message
            #field
            #order
        };
    }
}

/// ```text
/// impl KeyOrder for Pose { fn compare_keys(&self, other: &Self) -> Ordering { .. } }
/// ```
fn order(names: &Names<'_>, plain: &Struct<'_>) -> Option<TokenStream> {
    let Names { ident: this, private, .. } = names;
    let Field { ident, ty, .. } = plain.fields.iter().find(|field| field.attributes.key.is_some())?;
    let (first, _) = ends(ty);
    let spanned = at(first, private);
    let compare = quote_spanned!(first=> <#ty as #spanned::KeyOrder>::compare_keys);
    Some(quote! {
        #[automatically_derived]
        impl #private::KeyOrder for #this {
            #[inline]
            fn compare_keys(&self, __other: &Self) -> ::core::cmp::Ordering {
                #compare(&self.#ident, &__other.#ident)
            }
        }
    })
}

/// Where a field ends: `offset_of!(Pose, x) + size_of::<f64>()`.
fn end(names: &Names<'_>, field: Option<&Field<'_>>) -> TokenStream {
    let Names { ident: this, .. } = names;
    let Some(Field { ident, original, .. }) = field else { return quote!(0) };
    let ty = &original.ty;
    quote!(::core::mem::offset_of!(#this, #ident) + ::core::mem::size_of::<#ty>())
}

/// The fields fill the struct: each gap is an error at the field behind it.
///
/// ```text
/// const _: () = check_gap(0, offset_of!(Pose, x), "x");
/// const _: () = check_end(offset_of!(Pose, x) + size_of::<f64>(), size_of::<Pose>(), align_of::<Pose>());
/// ```
fn proof(names: &Names<'_>, plain: &Struct<'_>) -> TokenStream {
    let Names { ident: this, private, .. } = names;
    let gaps = plain.fields.iter().enumerate().map(|(position, field)| {
        let before = position.checked_sub(1).and_then(|before| plain.fields.get(before));
        let end = end(names, before);
        let ident = field.ident;
        let name = ident.unraw().to_string();
        let private = at(ident.span(), private);
        quote_spanned! {ident.span()=>
            const _: () = #private::check_gap(#end, ::core::mem::offset_of!(#this, #ident), #name);
        }
    });
    let end = end(names, plain.fields.last());
    let private = at(this.span(), private);
    let last = quote_spanned! {this.span()=>
        const _: () =
            #private::check_end(#end, ::core::mem::size_of::<#this>(), ::core::mem::align_of::<#this>());
    };
    quote!(#(#gaps)* #last)
}

/// The one unsafe implementation of the derive. The constants before it prove what it promises: `repr(C)` (checked by
/// the derive), only plain fields, no padding.
///
/// ```text
/// unsafe impl Plain for Pose {
///     const ANY_BITS: bool = true && <f64 as Plain>::ANY_BITS;
///     ..
/// }
/// ```
fn implementation(names: &Names<'_>, plain: &Struct<'_>) -> TokenStream {
    let Names { ident: this, private, .. } = names;
    let debug_name = this.unraw().to_string();
    let any_bits = plain.fields.iter().map(|field| constant(names, field, &quote!(ANY_BITS)));
    let zero = plain.fields.iter().map(|field| constant(names, field, &quote!(ZERO_IS_VALID)));
    let valid = plain.fields.iter().map(|field| {
        let Field { ident, original, .. } = field;
        let ty = &original.ty;
        let (first, _) = ends(ty);
        let private = at(first, private);
        quote_spanned! {first=>
            && <#ty as #private::Plain>::is_valid(#private::part(
                __bytes,
                ::core::mem::offset_of!(#this, #ident),
                ::core::mem::size_of::<#ty>(),
            ))
        }
    });
    let shown = plain.fields.iter().map(|field| {
        let Field { ident, original, .. } = field;
        let (ty, name) = (&original.ty, ident.unraw().to_string());
        let (first, _) = ends(ty);
        let private = at(first, private);
        quote_spanned!(first=> <#ty as #private::Plain>::show_field(&self.#ident, #name, &mut __debug);)
    });
    quote! {
        #[automatically_derived]
        unsafe impl #private::Plain for #this {
            const ANY_BITS: ::core::primitive::bool = true #(#any_bits)*;
            const ZERO_IS_VALID: ::core::primitive::bool = true #(#zero)*;

            #[inline]
            fn is_valid(__bytes: &[::core::primitive::u8]) -> ::core::primitive::bool {
                true #(#valid)*
            }

            #[inline]
            fn plain_shape() -> #private::Shape {
                #private::Shape::Object(#private::plain_facts::<Self>)
            }

            #[inline]
            fn show_plain(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let mut __debug = ::core::fmt::Formatter::debug_struct(__f, #debug_name);
                #(#shown)*
                __debug.finish()
            }
        }
    }
}

fn constant(names: &Names<'_>, field: &Field<'_>, name: &TokenStream) -> TokenStream {
    let ty = &field.original.ty;
    let (first, _) = ends(ty);
    let private = at(first, &names.private);
    quote_spanned!(first=> && <#ty as #private::Plain>::#name)
}

/// ```text
/// impl PlainStruct for Pose {
///     const FIELDS: &'static [PlainFieldSpec] = &[PlainFieldSpec { name: "x", .. }];
///     ..
/// }
/// ```
fn facts(names: &Names<'_>, plain: &Struct<'_>) -> TokenStream {
    let Names { ident: this, private, full_name, .. } = names;
    let align = attr::representation(&plain.original.attrs)
        .into_iter()
        .find_map(|(word, _)| Some(word.strip_prefix("align(")?.strip_suffix(')')?.to_owned()));
    let known: Vec<_> = align.map(|align| ("force_align", align)).into_iter().collect();
    let struct_about = about(names, &plain.container.about, &known);
    let specs = plain.fields.iter().map(|field| {
        let Field { ident, original, name, attributes, .. } = field;
        let ty = &original.ty;
        let key = attributes.key.is_some();
        let known: Vec<_> = attributes.key.iter().map(|_| flag(symbol::KEY)).collect();
        let about = about(names, &attributes.about, &known);
        let (first, _) = ends(ty);
        let private = at(first, private);
        quote_spanned! {first=>
            #private::PlainFieldSpec {
                name: #name,
                offset: ::core::mem::offset_of!(#this, #ident),
                size: ::core::mem::size_of::<#ty>(),
                key: #key,
                shape: <#ty as #private::Plain>::plain_shape,
                about: #about,
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl #private::PlainStruct for #this {
            const NAME: &'static ::core::primitive::str = #full_name;
            const FIELDS: &'static [#private::PlainFieldSpec] = &[#(#specs),*];
            const ABOUT: &'static #private::About = #struct_about;
        }
    }
}

/// ```text
/// impl Message for Pose { .. }
/// impl Encode for Pose { .. }
/// impl FromView for Pose { .. }
/// ```
fn message(names: &Names<'_>, plain: &Struct<'_>) -> TokenStream {
    let Names { ident: this, private, runtime, full_name, .. } = names;
    let constants = message_constants(&plain.container);
    let schema = schema_function(names);
    quote! {
        #[automatically_derived]
        impl #runtime::Message for #this {
            const TYPE_NAME: &'static ::core::primitive::str = #full_name;
            const PLAIN_BYTES: ::core::option::Option<::core::primitive::usize> =
                ::core::option::Option::Some(::core::mem::size_of::<Self>());
            #constants
            type View<'view> = &'view Self;
            type __Wire = #private::PlainOf<Self>;

            #[inline]
            fn __view<'view>(
                __view: <<Self as #runtime::Message>::__Wire as #private::Wire>::View<'view>,
            ) -> <Self as #runtime::Message>::View<'view> {
                __view
            }

            #schema
        }

        #[automatically_derived]
        impl #runtime::Encode for #this {
            type Message = Self;

            #[inline]
            fn __encode(&self, __out: &mut #private::Encoder<'_>) {
                #private::encode_plain_root(self, __out);
            }
        }

        #[automatically_derived]
        impl #runtime::FromView for #this {
            #[inline]
            fn from_view(__view: &Self) -> Self {
                #private::plain_copy(__view)
            }
        }
    }
}

/// ```text
/// impl Field for Pose { type Wire = PlainOf<Pose>; .. }
/// impl FromWire for Pose { .. }
/// impl Element for Pose { .. }
/// ```
fn field(names: &Names<'_>) -> TokenStream {
    let Names { ident: this, private, .. } = names;
    quote! {
        #[automatically_derived]
        impl #private::Field for #this {
            type Wire = #private::PlainOf<Self>;

            #[inline]
            fn encode(&self, __out: &mut #private::Encoder<'_>, __place: #private::Place) {
                #private::encode_plain(self, __out, __place);
            }
        }

        #[automatically_derived]
        impl #private::FromWire for #this {
            #[inline]
            fn from_wire(__view: &Self) -> Self {
                #private::plain_copy(__view)
            }
        }

        #[automatically_derived]
        impl #private::Element for #this {
            #[inline]
            fn encode_all(__items: &[Self], __out: &mut #private::Encoder<'_>, __place: #private::Place) {
                #private::encode_plain_slice(__items, __out, __place);
            }
        }
    }
}

/// Transparent (checked by the derive) over a type that is plain.
///
/// ```text
/// unsafe impl Plain for Celsius { const ANY_BITS: bool = <f32 as Plain>::ANY_BITS; .. }
/// ```
pub(super) fn transparent(names: &Names<'_>, ty: &Type) -> TokenStream {
    let Names { private, this, .. } = names;
    let (first, _) = ends(ty);
    let spanned = at(first, private);
    quote! {
        #[automatically_derived]
        unsafe impl #private::Plain for #this {
            const ANY_BITS: ::core::primitive::bool = <#ty as #spanned::Plain>::ANY_BITS;
            const ZERO_IS_VALID: ::core::primitive::bool = <#ty as #spanned::Plain>::ZERO_IS_VALID;

            #[inline]
            fn is_valid(__bytes: &[::core::primitive::u8]) -> ::core::primitive::bool {
                <#ty as #spanned::Plain>::is_valid(__bytes)
            }

            #[inline]
            fn plain_shape() -> #private::Shape {
                <#ty as #spanned::Plain>::plain_shape()
            }

            #[inline]
            fn show_plain(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                <#ty as #spanned::Plain>::show_plain(&self.0, __f)
            }
        }
    }
}
