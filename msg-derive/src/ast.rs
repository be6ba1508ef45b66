//! The input of the derive: what kind of type it is, with its attributes, borrowing syn's nodes for their spans.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Data, DeriveInput, Fields, ext::IdentExt};

use crate::{
    attr::{self, Container},
    context::Context,
};

/// What the derive was put on.
pub(crate) enum Input<'a> {
    Table(Struct<'a>),
    Plain(Struct<'a>),
    Enumeration(Enumeration<'a>),
}

/// A struct with named fields, or with none.
pub(crate) struct Struct<'a> {
    pub(crate) original: &'a DeriveInput,
    pub(crate) container: Container,
    pub(crate) fields: Vec<Field<'a>>,
}

/// A field.
pub(crate) struct Field<'a> {
    pub(crate) original: &'a syn::Field,
    pub(crate) ident: &'a Ident,
    /// Name on the wire.
    pub(crate) name: String,
    /// Its type with every lifetime `'static`: what the message is, which may not borrow.
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
    pub(crate) about: attr::About,
}

/// The integers that may stand behind an enum.
const REPRESENTATIONS: &[&str] = &["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64"];

impl<'a> Input<'a> {
    /// `None` when the derive cannot be on such a type; the reason is in the context then.
    pub(crate) fn parse(context: &Context, original: &'a DeriveInput) -> Option<Self> {
        let container = Container::parse(context, &original.attrs);
        match &original.data {
            Data::Struct(data) => {
                let fields = fields(context, original, &data.fields)?;
                let plain = container.plain.is_some();
                let parsed = Struct { original, container, fields };
                Some(if plain { Self::Plain(parsed) } else { Self::Table(parsed) })
            }
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
            Self::Table(parsed) | Self::Plain(parsed) => parsed.original,
            Self::Enumeration(parsed) => parsed.original,
        }
    }

    pub(crate) fn container(&self) -> &Container {
        match self {
            Self::Table(parsed) | Self::Plain(parsed) => &parsed.container,
            Self::Enumeration(parsed) => &parsed.container,
        }
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
        Some(Self { original, ident, name, erased: erase(original.ty.to_token_stream()), attributes })
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
    let mut fieldless = true;
    let mut variants = Vec::new();
    for variant in &data.variants {
        if !matches!(variant.fields, Fields::Unit) {
            fieldless = false;
            let message = format!(
                "`{}` holds data, and enums with data cannot be messages yet: use a struct with an `Option` field for each",
                variant.ident
            );
            context.error(&variant.fields, message);
        }
        let attributes = attr::Variant::parse(context, &variant.attrs);
        let name =
            attributes.rename.as_ref().map_or_else(|| variant.ident.unraw().to_string(), |name| name.value());
        variants.push(Variant { original: variant, name, about: attributes.about });
    }
    if variants.is_empty() {
        context.error(
            &original.ident,
            format!("`{}` has no values: an enum needs at least one", original.ident),
        );
        return None;
    }
    let repr = enum_representation(context, original)?;
    fieldless.then_some(Enumeration { original, container, repr, variants })
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
