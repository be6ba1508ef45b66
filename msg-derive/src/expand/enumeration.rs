//! A fieldless enum: closed as a field, and what `Open` and `Flags` need to know about it.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};

use super::{
    Names, at,
    schema::{about, flag},
};
use crate::{ast::Enumeration, symbol};

pub(crate) fn expand(enumeration: &Enumeration<'_>) -> TokenStream {
    let names = Names::new(enumeration.original, &enumeration.container);
    let numbers = numbers(&names, enumeration);
    let facts = facts(&names, enumeration);
    let plain = plain(&names);
    let field = field(&names);
    quote! {
        #[allow(deprecated, non_camel_case_types, clippy::all)]
        const _: () = {
            #numbers
            #facts
            #plain
            #field
        };
    }
}

/// ```text
/// const __MSG_NUMBER_0: u8 = Color::Red as u8;
/// ```
fn numbers(names: &Names<'_>, enumeration: &Enumeration<'_>) -> TokenStream {
    let Names { ident: this, private, .. } = names;
    let repr = &enumeration.repr;
    let constants = enumeration.variants.iter().enumerate().map(|(position, variant)| {
        let ident = &variant.original.ident;
        let number = format_ident!("__MSG_NUMBER_{position}");
        let check = enumeration.container.bit_flags.as_ref().map(|_| {
            let private = at(ident.span(), private);
            quote_spanned! {ident.span()=>
                const _: () = #private::check_flag(#number as ::core::primitive::u64);
            }
        });
        quote! {
            const #number: ::core::primitive::#repr = #this::#ident as ::core::primitive::#repr;
            #check
        }
    });
    quote!(#(#constants)*)
}

/// ```text
/// impl Enumeration for Color {
///     const VALUES: &'static [EnumeratorSpec] = &[EnumeratorSpec { name: "Red", value: 0, .. }];
///     ..
/// }
/// ```
fn facts(names: &Names<'_>, enumeration: &Enumeration<'_>) -> TokenStream {
    let Names { ident: this, private, full_name, .. } = names;
    let repr = &enumeration.repr;
    // Zero-extended: through the unsigned number of the same width.
    let unsigned = format_ident!("u{}", repr.to_string().trim_start_matches(['u', 'i']));
    let known: Vec<_> = enumeration.container.bit_flags.iter().map(|_| flag(symbol::BIT_FLAGS)).collect();
    let enum_about = about(names, &enumeration.container.about, &known);
    let idents: Vec<_> = enumeration.variants.iter().map(|variant| &variant.original.ident).collect();
    let first = idents.first();
    let numbers: Vec<_> =
        (0..idents.len()).map(|position| format_ident!("__MSG_NUMBER_{position}")).collect();
    let values = enumeration.variants.iter().zip(&numbers).map(|(variant, number)| {
        let name = &variant.name;
        let about = about(names, &variant.attributes.about, &[]);
        quote!(#private::EnumeratorSpec { name: #name, value: #number as ::core::primitive::i64, about: #about })
    });
    quote! {
        #[automatically_derived]
        impl #private::Enumeration for #this {
            type Repr = ::core::primitive::#repr;
            const NAME: &'static ::core::primitive::str = #full_name;
            const VALUES: &'static [#private::EnumeratorSpec] = &[#(#values),*];
            const NUMBERS: &'static [::core::primitive::u64] =
                &[#(#numbers as ::core::primitive::#unsigned as ::core::primitive::u64),*];
            const FIRST: Self = Self::#first;
            const ABOUT: &'static #private::About = #enum_about;

            #[inline]
            fn to_repr(&self) -> ::core::primitive::#repr {
                match self {
                    #(Self::#idents => #numbers,)*
                }
            }

            #[inline]
            fn from_repr(__number: ::core::primitive::#repr) -> ::core::option::Option<Self> {
                #[allow(unreachable_patterns)]
                match __number {
                    #(#numbers => ::core::option::Option::Some(Self::#idents),)*
                    _ => ::core::option::Option::None,
                }
            }
        }
    }
}

/// The enum has one integer for its representation (checked by the derive) and `is_valid` accepts the numbers of its
/// values only.
///
/// ```text
/// unsafe impl Plain for Color { .. }
/// ```
fn plain(names: &Names<'_>) -> TokenStream {
    let Names { ident: this, private, .. } = names;
    quote! {
        #[automatically_derived]
        unsafe impl #private::Plain for #this {
            const ANY_BITS: ::core::primitive::bool = false;
            const ZERO_IS_VALID: ::core::primitive::bool = #private::has_zero::<Self>();

            #[inline]
            fn is_valid(__bytes: &[::core::primitive::u8]) -> ::core::primitive::bool {
                #private::is_enumerator::<Self>(__bytes)
            }

            #[inline]
            fn plain_shape() -> #private::Shape {
                #private::enum_shape::<Self>()
            }

            #[inline]
            fn show_plain(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #private::show_enumerator(self, __f)
            }
        }
    }
}

/// ```text
/// impl Field for Color { type Wire = Closed<Color>; .. }
/// impl KeyOrder for Color { .. }
/// impl FromWire for Color { .. }
/// impl Element for Color { .. }
/// ```
fn field(names: &Names<'_>) -> TokenStream {
    let Names { ident: this, private, .. } = names;
    quote! {
        #[automatically_derived]
        impl #private::Field for #this {
            type Wire = #private::Closed<Self>;

            #[inline]
            fn encode(&self, __out: &mut #private::Encoder<'_>, __place: #private::Place) {
                #private::encode_plain(self, __out, __place);
            }
        }

        #[automatically_derived]
        impl #private::KeyOrder for #this {
            #[inline]
            fn compare_keys(&self, __other: &Self) -> ::core::cmp::Ordering {
                #private::compare_enumerators(self, __other)
            }
        }

        #[automatically_derived]
        impl #private::FromWire for #this {
            #[inline]
            fn from_wire(__view: Self) -> Self {
                __view
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
