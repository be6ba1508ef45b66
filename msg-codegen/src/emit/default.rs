//! Defaults as Rust: for the derive, and for `Default`.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::Emitter;
use crate::{
    ir::{Declaration, Default, Element, EnumId, Field, Presence, Scalar, Type, UnionId},
    names::VariantNames,
};

impl Emitter<'_> {
    /// The default as the derive takes it: a literal, or the path of a constant or an enumerator.
    pub(super) fn default_key(&self, field: &Field, from: &Declaration) -> Option<TokenStream> {
        match (&field.default, field.field_type) {
            (Default::Zero, _) => None,
            (Default::Text(text), _) => Some(quote!(#text)),
            (Default::EmptyVector, _) => Some(quote!([])),
            (Default::Integer(number), Type::One(Element::Enum(id))) => {
                Some(self.enumerator(id, *number, from).unwrap_or_else(|| integer(*number)))
            }
            (Default::Integer(number), Type::One(Element::Scalar(Scalar::Bool))) => {
                Some(if *number == 0 { quote!(false) } else { quote!(true) })
            }
            (Default::Integer(number), _) => Some(integer(*number)),
            (Default::Real(number), Type::One(Element::Scalar(scalar))) => Some(real(*number, scalar)),
            (Default::Real(number), _) => Some(real(*number, Scalar::F64)),
        }
    }

    /// The default as a value of the field's type; `None` where that is `Default::default()`.
    pub(super) fn default_value(&self, field: &Field, from: &Declaration) -> Option<TokenStream> {
        match field.field_type {
            _ if field.presence == Presence::Optional => None,
            Type::One(Element::Enum(id)) => self.enum_value(id, &field.default, from),
            Type::One(Element::Union(id)) => Some(self.required_union(id, from)),
            _ if field.nested.is_some() => {
                Some(quote!(::msg_runtime::Nested::from_bytes(::std::vec::Vec::new())))
            }
            // `Default` is there for arrays of up to 32 elements only; what stands in a struct is `Copy`.
            Type::Array(_, length) if length > 32 => {
                let length = Literal::u16_unsuffixed(length);
                Some(quote!([::core::default::Default::default(); #length]))
            }
            Type::One(Element::Text) => match &field.default {
                Default::Text(text) if field.presence == Presence::Default => {
                    Some(quote!(::std::string::String::from(#text)))
                }
                _ => None,
            },
            Type::Vector(_) => None,
            _ => self.default_key(field, from),
        }
    }

    /// The first member that does not lead back to the union, so that the default can be sent; without one the number 0,
    /// which stands for none.
    fn required_union(&self, id: UnionId, from: &Declaration) -> TokenStream {
        let (item, path) = (&self.ir.unions[id.0], self.element(Element::Union(id), from));
        let names = VariantNames::choose(item);
        match item.members.iter().position(|member| !member.is_boxed) {
            Some(first) => {
                let member = super::identifier(&names.members[first]);
                quote!(#path::#member(::core::default::Default::default()))
            }
            None => {
                let unknown = super::identifier(&names.unknown);
                quote!(#path::#unknown(0))
            }
        }
    }

    fn enum_value(&self, id: EnumId, default: &Default, from: &Declaration) -> Option<TokenStream> {
        let Default::Integer(number) = *default else { return None };
        Some(match self.enumerator(id, number, from) {
            Some(path) => quote!(::core::convert::From::from(#path)),
            None => {
                let number = integer(number);
                quote!(::msg_runtime::Flags::from_bits(#number))
            }
        })
    }

    /// Whether `#[derive(Default)]` would do for this field.
    pub(super) fn has_derivable_default(&self, field: &Field, from: &Declaration) -> bool {
        self.default_value(field, from).is_none()
    }

    /// `Color::Green`, for a number of an enum that is no set of flags.
    fn enumerator(&self, id: EnumId, number: i128, from: &Declaration) -> Option<TokenStream> {
        let item = &self.ir.enums[id.0];
        let index = item.values.iter().position(|value| value.value == number).filter(|_| !item.is_flags)?;
        let names = super::enumeration::names(item);
        let (path, name) = (self.enum_path(id, from), super::identifier(&names[index]));
        Some(quote!(#path::#name))
    }

    /// `impl Default`, written out: the defaults of the schema, field by field.
    ///
    /// ```text
    /// impl ::core::default::Default for Pose {
    ///     fn default() -> Self {
    ///         Self { scale: 1.0, name: ::core::default::Default::default() }
    ///     }
    /// }
    /// ```
    pub(super) fn default_impl(
        &self,
        from: &Declaration,
        rust_name: &str,
        fields: &[(String, &Field)],
    ) -> TokenStream {
        let allow = self.item_allow(from);
        let rust_name = super::identifier(rust_name);
        let values = fields.iter().map(|(name, field)| {
            let name = super::identifier(name);
            let value = self
                .default_value(field, from)
                .unwrap_or_else(|| quote!(::core::default::Default::default()));
            quote!(#name: #value)
        });
        let rest = self.padding_values(from);
        quote! {
            #allow
            impl ::core::default::Default for #rust_name {
                fn default() -> Self {
                    Self { #(#values,)* #(#rest,)* }
                }
            }
        }
    }

    fn padding_values(&self, from: &Declaration) -> Vec<TokenStream> {
        let object = self.ir.objects.iter().find(|object| object.declaration.span == from.span);
        let names = object.map(crate::names::FieldNames::choose);
        let padding = names.into_iter().flat_map(|names| names.padding).flatten();
        padding
            .map(|name| {
                let name = super::identifier(&name);
                quote!(#name: ::core::default::Default::default())
            })
            .collect()
    }
}

/// A literal without a suffix, so that it takes the field's type.
pub(super) fn integer(number: i128) -> TokenStream {
    let literal = Literal::u128_unsuffixed(number.unsigned_abs());
    if number < 0 { quote!(-#literal) } else { quote!(#literal) }
}

fn real(number: f64, scalar: Scalar) -> TokenStream {
    let name = super::identifier(scalar.rust_name());
    if number.is_nan() {
        return quote!(::core::primitive::#name::NAN);
    }
    if number.is_infinite() || (scalar == Scalar::F32 && (number as f32).is_infinite()) {
        return match number > 0.0 {
            true => quote!(::core::primitive::#name::INFINITY),
            false => quote!(::core::primitive::#name::NEG_INFINITY),
        };
    }
    // `{:?}` writes very large and very small numbers with an exponent.
    let literal: Literal = format!("{:?}", number.abs()).parse().expect("a finite number is a literal");
    if number.is_sign_negative() { quote!(-#literal) } else { quote!(#literal) }
}
