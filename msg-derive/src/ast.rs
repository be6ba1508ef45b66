//! The input of the derive: what kind of type it is, with its attributes, borrowing syn's nodes for their spans.

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Data, DeriveInput, Fields, Type, ext::IdentExt};

use crate::{
    attr::{self, Container},
    context::Context,
};

/// What the derive was put on.
pub(crate) enum Input<'a> {
    Table(Struct<'a>),
    Plain(Struct<'a>),
    Enumeration(Enumeration<'a>),
    Union(Union<'a>),
    Newtype(Newtype<'a>),
    /// Another form of a message, with `like`.
    Twin(Struct<'a>),
}

/// A struct with named fields, or with none.
pub(crate) struct Struct<'a> {
    pub(crate) original: &'a DeriveInput,
    pub(crate) container: Container,
    pub(crate) fields: Vec<Field<'a>>,
    /// Fields that are no part of the message.
    pub(crate) skipped: Vec<Field<'a>>,
}

/// A struct of one field without a name: another type for the same thing on the wire.
pub(crate) struct Newtype<'a> {
    pub(crate) original: &'a DeriveInput,
    pub(crate) container: Container,
    pub(crate) ty: &'a Type,
    /// Its type with every lifetime `'static`.
    pub(crate) erased: TokenStream,
}

/// A field.
pub(crate) struct Field<'a> {
    pub(crate) original: &'a syn::Field,
    pub(crate) ident: &'a Ident,
    /// Name on the wire.
    pub(crate) name: String,
    /// What it is as a field: its type, or that of the module in `with`.
    pub(crate) ty: Type,
    /// That type with every lifetime `'static`: what the message is, which may not borrow.
    pub(crate) erased: TokenStream,
    pub(crate) attributes: attr::Field,
}

/// A fieldless enum.
pub(crate) struct Enumeration<'a> {
    pub(crate) original: &'a DeriveInput,
    pub(crate) container: Container,
    /// The integer behind it.
    pub(crate) repr: Ident,
    pub(crate) variants: Vec<Variant<'a>>,
}

/// An enumerator.
pub(crate) struct Variant<'a> {
    pub(crate) original: &'a syn::Variant,
    /// Name on the wire.
    pub(crate) name: String,
    pub(crate) attributes: attr::Variant,
}

/// An enum with data.
pub(crate) struct Union<'a> {
    pub(crate) original: &'a DeriveInput,
    pub(crate) container: Container,
    pub(crate) members: Vec<Member<'a>>,
    /// The variants that stand for numbers which this program does not know: one, if all is well.
    pub(crate) unknown: Vec<Variant<'a>>,
}

/// A member of a union.
pub(crate) struct Member<'a> {
    pub(crate) variant: Variant<'a>,
    /// Its number.
    pub(crate) number: u8,
    pub(crate) ty: &'a Type,
    /// Its type with every lifetime `'static`.
    pub(crate) erased: TokenStream,
}

/// The integers that may stand behind an enum.
const REPRESENTATIONS: &[&str] = &["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"];

impl<'a> Input<'a> {
    /// `None` when the derive cannot be on such a type; the reason is in the context then.
    pub(crate) fn parse(context: &Context, original: &'a DeriveInput) -> Option<Self> {
        let container = Container::parse(context, &original.attrs);
        match &original.data {
            Data::Struct(data) => {
                if let Some(ty) = only_type(&data.fields) {
                    let erased = erase(ty.to_token_stream());
                    return Some(Self::Newtype(Newtype { original, container, ty, erased }));
                }
                let (skipped, fields) = fields(context, original, &data.fields)?
                    .into_iter()
                    .partition(|field| field.attributes.skip.is_some());
                if container.like.is_some() {
                    return Some(Self::Twin(Struct { original, container, fields, skipped }));
                }
                let plain = container.plain.is_some();
                let parsed = Struct { original, container, fields, skipped };
                Some(if plain { Self::Plain(parsed) } else { Self::Table(parsed) })
            }
            Data::Enum(data) if is_union(data) => union(context, original, container, data).map(Self::Union),
            Data::Enum(data) => enumeration(context, original, container, data).map(Self::Enumeration),
            Data::Union(data) => {
                context.error(
                    data.union_token,
                    "a Rust union cannot be a message, since nobody could tell which field is there: use a struct of `Option`s",
                );
                None
            }
        }
    }

    pub(crate) fn original(&self) -> &'a DeriveInput {
        match self {
            Self::Table(parsed) | Self::Plain(parsed) | Self::Twin(parsed) => parsed.original,
            Self::Enumeration(parsed) => parsed.original,
            Self::Union(parsed) => parsed.original,
            Self::Newtype(parsed) => parsed.original,
        }
    }

    pub(crate) fn container(&self) -> &Container {
        match self {
            Self::Table(parsed) | Self::Plain(parsed) | Self::Twin(parsed) => &parsed.container,
            Self::Enumeration(parsed) => &parsed.container,
            Self::Union(parsed) => &parsed.container,
            Self::Newtype(parsed) => &parsed.container,
        }
    }
}

/// The type of the only field, if it has no name.
fn only_type(fields: &Fields) -> Option<&Type> {
    match fields {
        Fields::Unnamed(unnamed) if unnamed.unnamed.len() == 1 => {
            unnamed.unnamed.first().map(|field| &field.ty)
        }
        _ => None,
    }
}

fn fields<'a>(context: &Context, original: &DeriveInput, fields: &'a Fields) -> Option<Vec<Field<'a>>> {
    let named = match fields {
        Fields::Named(named) => &named.named,
        Fields::Unit => return Some(Vec::new()),
        Fields::Unnamed(unnamed) => {
            let message = format!(
                "the fields of `{}` have no names, and names are what a schema is made of: write `struct {} {{ name: Type }}`",
                original.ident, original.ident
            );
            context.error(unnamed, message);
            return None;
        }
    };
    Some(named.iter().filter_map(|field| Field::parse(context, field)).collect())
}

impl<'a> Field<'a> {
    fn parse(context: &Context, original: &'a syn::Field) -> Option<Self> {
        let attributes = attr::Field::parse(context, &original.attrs);
        let ident = original.ident.as_ref()?;
        let name = attributes.rename.as_ref().map_or_else(|| ident.unraw().to_string(), |name| name.value());
        let ty = match &attributes.with {
            Some(module) => {
                let span = module.segments.first().map_or_else(Span::call_site, |first| first.ident.span());
                syn::parse_quote_spanned!(span=> #module::Field)
            }
            None => original.ty.clone(),
        };
        Some(Self { original, ident, name, erased: erase(ty.to_token_stream()), ty, attributes })
    }
}

/// Makes every lifetime `'static`.
fn erase(tokens: TokenStream) -> TokenStream {
    let mut after_tick = false;
    tokens
        .into_iter()
        .map(|token| match token {
            TokenTree::Group(group) => {
                let mut erased = Group::new(group.delimiter(), erase(group.stream()));
                erased.set_span(group.span());
                TokenTree::Group(erased)
            }
            TokenTree::Ident(ident) if after_tick => {
                after_tick = false;
                TokenTree::Ident(Ident::new("static", ident.span()))
            }
            TokenTree::Punct(punct) => {
                after_tick = punct.as_char() == '\'';
                TokenTree::Punct(punct)
            }
            other => other,
        })
        .collect()
}

fn enumeration<'a>(
    context: &Context,
    original: &'a DeriveInput,
    container: Container,
    data: &'a syn::DataEnum,
) -> Option<Enumeration<'a>> {
    let variants: Vec<_> = data.variants.iter().map(|variant| Variant::parse(context, variant)).collect();
    if variants.is_empty() {
        context.error(
            &original.ident,
            format!("`{}` has no values: an enum needs at least one", original.ident),
        );
        return None;
    }
    let repr = enum_representation(context, original)?;
    Some(Enumeration { original, container, repr, variants })
}

impl<'a> Variant<'a> {
    fn parse(context: &Context, original: &'a syn::Variant) -> Self {
        let attributes = attr::Variant::parse(context, &original.attrs);
        let name = attributes
            .rename
            .as_ref()
            .map_or_else(|| original.ident.unraw().to_string(), |name| name.value());
        Self { original, name, attributes }
    }
}

fn is_union(data: &syn::DataEnum) -> bool {
    data.variants.iter().any(|variant| !matches!(variant.fields, Fields::Unit))
}

/// Members count from 1 on; one with an `id` goes on from there.
fn union<'a>(
    context: &Context,
    original: &'a DeriveInput,
    container: Container,
    data: &'a syn::DataEnum,
) -> Option<Union<'a>> {
    let mistakes = context.len();
    let (mut members, mut unknown) = (Vec::new(), Vec::new());
    let mut next = 1;
    for variant in &data.variants {
        let variant = Variant::parse(context, variant);
        let Some(ty) = member_type(context, &variant) else { continue };
        if variant.attributes.unknown.is_some() {
            unknown.push(variant);
            continue;
        }
        let number = member_number(context, &variant, next);
        next = u16::from(number) + 1;
        members.push(Member { variant, number, ty, erased: erase(ty.to_token_stream()) });
    }
    (context.len() == mistakes).then_some(Union { original, container, members, unknown })
}

/// The type that a variant holds; `None` when it does not hold one, which is in the context then.
fn member_type<'a>(context: &Context, variant: &Variant<'a>) -> Option<&'a Type> {
    let ident = &variant.original.ident;
    if let Some((_, number)) = &variant.original.discriminant {
        let message =
            format!("a member's number is its `id`: write `#[message(id = {})]`", number.to_token_stream());
        context.error(number, message);
    }
    match &variant.original.fields {
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => fields.unnamed.first().map(|field| &field.ty),
        Fields::Unit => {
            let message = format!(
                "`{ident}` holds nothing, and a member of a union is a value: write `{ident}({ident})` with a message struct, or make all variants plain names"
            );
            context.error(ident, message);
            None
        }
        fields => {
            let message = format!(
                "a member of a union is one value: write `{ident}({ident})` with a message struct that has these fields"
            );
            context.error(fields, message);
            None
        }
    }
}

fn member_number(context: &Context, variant: &Variant<'_>, next: u16) -> u8 {
    let Some(literal) = &variant.attributes.id else {
        return u8::try_from(next).unwrap_or_else(|_| {
            context.error(&variant.original.ident, "a union has at most 255 members, numbered from 1 to 255");
            1
        });
    };
    match literal.base10_parse::<u8>() {
        Ok(number) if number > 0 => number,
        _ => {
            let message = format!("a member's number is 1 to 255, found {literal}");
            context.error(literal, message);
            1
        }
    }
}

fn enum_representation(context: &Context, original: &DeriveInput) -> Option<Ident> {
    let words = attr::representation(&original.attrs);
    match words.as_slice() {
        [(word, span)] if REPRESENTATIONS.contains(&word.as_str()) => Some(Ident::new(word, *span)),
        [] => {
            let message = format!(
                "the number behind `{}` is not fixed: write `#[repr(u8)]` (or another integer) above it",
                original.ident
            );
            context.error(&original.ident, message);
            None
        }
        [(word, span), ..] => {
            let message = format!(
                "`repr({word})` is no number of one size everywhere: write one of {}",
                REPRESENTATIONS.join(", ")
            );
            context.push(syn::Error::new(*span, message));
            None
        }
    }
}
