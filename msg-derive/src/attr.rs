//! `#[message(..)]` as typed attributes. Unknown, duplicate and malformed keys end here.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{
    Attribute, Expr, ExprLit, Lit, LitInt, LitStr, Token,
    ext::IdentExt,
    parse::{Parse, ParseStream, Parser},
    punctuated::Punctuated,
};

use crate::{context::Context, symbol};

/// What the author wrote about a type, field or enumerator for the schema.
#[derive(Default)]
pub(crate) struct About {
    /// Doc comment, a line an entry, with the leading blanks.
    pub(crate) documentation: Vec<String>,
    /// Names and values of attributes.
    pub(crate) attributes: Vec<(String, String)>,
}

/// The attributes of a type.
#[derive(Default)]
pub(crate) struct Container {
    pub(crate) namespace: Option<LitStr>,
    pub(crate) name: Option<LitStr>,
    pub(crate) topic: Option<LitStr>,
    pub(crate) plain: Option<Ident>,
    pub(crate) view: Option<LitStr>,
    pub(crate) runtime: Option<syn::Path>,
    pub(crate) identifier: Option<LitStr>,
    pub(crate) extension: Option<LitStr>,
    pub(crate) bit_flags: Option<Ident>,
    /// The message whose twin the type is.
    pub(crate) like: Option<syn::Path>,
    pub(crate) about: About,
    /// Something in the attributes was not understood; what seems to be missing may be what was meant by it.
    pub(crate) malformed: bool,
}

/// The attributes of a field.
#[derive(Default)]
pub(crate) struct Field {
    pub(crate) id: Option<LitInt>,
    pub(crate) default: Option<Expr>,
    pub(crate) required: Option<Ident>,
    pub(crate) rename: Option<LitStr>,
    pub(crate) deprecated: Option<Ident>,
    pub(crate) key: Option<Ident>,
    pub(crate) align: Option<LitInt>,
    pub(crate) skip: Option<Ident>,
    pub(crate) with: Option<syn::Path>,
    pub(crate) about: About,
    /// A module converts it, even if its name was not understood.
    pub(crate) converted: bool,
}

impl Field {
    /// True when nothing says more about the field than its type does.
    pub(crate) fn is_bare(&self) -> bool {
        let Self {
            id,
            default,
            required,
            rename: _,
            deprecated,
            key,
            align,
            skip: _,
            with: _,
            about,
            converted: _,
        } = self;
        id.is_none()
            && default.is_none()
            && [required, deprecated, key].into_iter().all(Option::is_none)
            && align.is_none()
            && about.documentation.is_empty()
            && about.attributes.is_empty()
    }
}

/// The attributes of an enumerator or of a member of a union.
#[derive(Default)]
pub(crate) struct Variant {
    pub(crate) id: Option<LitInt>,
    pub(crate) unknown: Option<Ident>,
    pub(crate) rename: Option<LitStr>,
    pub(crate) about: About,
}

impl Container {
    pub(crate) fn parse(context: &Context, attributes: &[Attribute]) -> Self {
        let mut container = Self { about: About::parse(attributes), ..Self::default() };
        let mistakes = context.len();
        for item in items(context, attributes, symbol::CONTAINER) {
            match item.key().as_str() {
                symbol::NAMESPACE => container.namespace = item.string(context),
                symbol::NAME => container.name = item.name(context),
                symbol::TOPIC => container.topic = item.string(context),
                symbol::PLAIN => container.plain = item.flag(context),
                symbol::VIEW => container.view = item.name(context),
                symbol::CRATE => container.runtime = item.path(context),
                symbol::IDENTIFIER => container.identifier = item.string(context),
                symbol::EXTENSION => container.extension = item.string(context),
                symbol::LIKE => container.like = item.type_path(context),
                symbol::BIT_FLAGS => container.bit_flags = item.flag(context),
                _ => item.attributes(context, &mut container.about),
            }
        }
        container.malformed = context.len() > mistakes;
        container
    }
}

impl Field {
    pub(crate) fn parse(context: &Context, attributes: &[Attribute]) -> Self {
        let mut field = Self { about: About::parse(attributes), ..Self::default() };
        for item in items(context, attributes, symbol::FIELD) {
            match item.key().as_str() {
                symbol::ID => field.id = item.integer(context),
                symbol::DEFAULT => field.default = item.expression(context),
                symbol::REQUIRED => field.required = item.flag(context),
                symbol::RENAME => field.rename = item.name(context),
                symbol::DEPRECATED => field.deprecated = item.flag(context),
                symbol::KEY => field.key = item.flag(context),
                symbol::ALIGN => field.align = item.integer(context),
                symbol::SKIP => field.skip = item.flag(context),
                symbol::WITH => {
                    field.converted = true;
                    field.with = item.path(context);
                }
                _ => item.attributes(context, &mut field.about),
            }
        }
        field
    }
}

impl Variant {
    pub(crate) fn parse(context: &Context, attributes: &[Attribute]) -> Self {
        let mut variant = Self { about: About::parse(attributes), ..Self::default() };
        for item in items(context, attributes, symbol::VARIANT) {
            match item.key().as_str() {
                symbol::ID => variant.id = item.integer(context),
                symbol::RENAME => variant.rename = item.name(context),
                symbol::UNKNOWN => variant.unknown = item.flag(context),
                _ => item.attributes(context, &mut variant.about),
            }
        }
        variant
    }
}

impl About {
    fn parse(attributes: &[Attribute]) -> Self {
        let documentation = attributes
            .iter()
            .filter(|attribute| attribute.path().is_ident("doc"))
            .filter_map(|attribute| match &attribute.meta.require_name_value().ok()?.value {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
                _ => None,
            })
            .flat_map(|text| text.split('\n').map(str::to_owned).collect::<Vec<_>>())
            .collect();
        Self { documentation, attributes: Vec::new() }
    }
}

/// One `key`, `key = value` or `key(..)`.
struct Item {
    key: Ident,
    value: Value,
}

enum Value {
    Nothing,
    Expression(Box<Expr>),
    List(TokenStream),
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let key = input.call(Ident::parse_any)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Value::Expression(input.parse()?)
        } else if input.peek(syn::token::Paren) {
            let list;
            syn::parenthesized!(list in input);
            Value::List(list.parse()?)
        } else {
            Value::Nothing
        };
        Ok(Self { key, value })
    }
}

/// All items of all `#[message(..)]`, without those that are unknown or repeated.
fn items(context: &Context, attributes: &[Attribute], known: &[&str]) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(symbol::MESSAGE)) {
        let parser = Punctuated::<Item, Token![,]>::parse_terminated;
        let Some(parsed) = context.ok(attribute.parse_args_with(parser)) else { continue };
        for item in parsed {
            let key = item.key();
            if !known.contains(&key.as_str()) {
                context.error(&item.key, unknown(&key, known));
            } else if key != symbol::ATTRIBUTE && items.iter().any(|other| other.key == item.key) {
                context.error(&item.key, format!("`{key}` is there twice: remove one of the two"));
            } else {
                items.push(item);
            }
        }
    }
    items
}

fn unknown(key: &str, known: &[&str]) -> String {
    let nearest = known.iter().map(|word| (distance(key, word), *word)).min();
    match nearest {
        Some((distance, word)) if distance <= 2 || word.starts_with(key) => {
            format!("unknown key `{key}`: did you mean `{word}`?")
        }
        _ if symbol::CONTAINER.contains(&key) => {
            format!("`{key}` belongs on the type, not here; expected one of {}", list(known))
        }
        _ if symbol::FIELD.contains(&key) => {
            format!("`{key}` belongs on a field, not here; expected one of {}", list(known))
        }
        _ if symbol::VARIANT.contains(&key) => {
            format!("`{key}` belongs on a variant of an enum, not here; expected one of {}", list(known))
        }
        _ => format!("unknown key `{key}`, expected one of {}", list(known)),
    }
}

fn list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Letters to change, add or remove.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, letter) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for column in 0..to.len() {
            let changed = diagonal + usize::from(to[column] != letter);
            diagonal = row[column + 1];
            row[column + 1] = changed.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.len()]
}

impl Item {
    fn key(&self) -> String {
        self.key.unraw().to_string()
    }

    fn flag(self, context: &Context) -> Option<Ident> {
        if matches!(self.value, Value::Nothing) {
            return Some(self.key);
        }
        context.error(&self.key, format!("`{}` takes no value: write it alone", self.key()));
        None
    }

    fn expression(self, context: &Context) -> Option<Expr> {
        match self.value {
            Value::Expression(value) => Some(*value),
            _ => {
                context.error(&self.key, format!("`{0}` needs a value: write `{0} = ..`", self.key()));
                None
            }
        }
    }

    fn string(self, context: &Context) -> Option<LitStr> {
        let key = self.key();
        match self.expression(context)? {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text),
            other => {
                context.error(other, format!("`{key}` needs a string: write `{key} = \"..\"`"));
                None
            }
        }
    }

    fn path(self, context: &Context) -> Option<syn::Path> {
        let key = self.key();
        let text = self.string(context)?;
        if let Ok(path) = text.parse_with(syn::Path::parse_mod_style) {
            return Some(path);
        }
        let found = text.value();
        context.error(text, format!("`{key}` is a path such as `crate::module`, found `{found}`"));
        None
    }

    /// A type, without quotes.
    fn type_path(self, context: &Context) -> Option<syn::Path> {
        let key = self.key();
        match self.expression(context)? {
            Expr::Path(path) => Some(path.path),
            other => {
                context.error(other, format!("`{key}` needs a type: write `{key} = Scan`"));
                None
            }
        }
    }

    /// A string that is one word of a schema.
    fn name(self, context: &Context) -> Option<LitStr> {
        let key = self.key();
        let text = self.string(context)?;
        if is_word(&text.value()) {
            return Some(text);
        }
        let found = text.value();
        context.error(text, format!("`{key}` is one word of letters, digits and `_`, found `{found}`"));
        None
    }

    fn integer(self, context: &Context) -> Option<LitInt> {
        let key = self.key();
        match self.expression(context)? {
            Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) => Some(number),
            other => {
                context.error(other, format!("`{key}` needs a number: write `{key} = 0`"));
                None
            }
        }
    }

    /// `attribute(name)` or `attribute(name = "value")`, several at once too.
    fn attributes(self, context: &Context, about: &mut About) {
        let key = self.key.clone();
        let Value::List(list) = self.value else {
            context.error(&key, "`attribute` needs a name: write `attribute(name = \"value\")`");
            return;
        };
        let parser = Punctuated::<Item, Token![,]>::parse_terminated;
        let Some(items) = context.ok(parser.parse2(list)) else { return };
        for item in items {
            let name = item.key();
            let value = match item.value {
                Value::Nothing => Some("0".to_owned()),
                _ => item.string(context).map(|text| text.value()),
            };
            about.attributes.extend(value.map(|value| (name, value)));
        }
    }
}

/// True for what FlatBuffers takes as an identifier.
pub(crate) fn is_word(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

/// The `#[repr(..)]` of a type, word by word.
pub(crate) fn representation(attributes: &[Attribute]) -> Vec<(String, Span)> {
    let mut words = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("repr")) {
        // What rustc does not understand it reports itself.
        let _ = attribute.parse_nested_meta(|meta| {
            if let Some(word) = meta.path.get_ident() {
                let mut text = word.to_string();
                if meta.input.peek(syn::token::Paren) {
                    let value;
                    syn::parenthesized!(value in meta.input);
                    text = format!("{text}({})", value.parse::<TokenStream>()?);
                }
                words.push((text, word.span()));
            }
            Ok(())
        });
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_changes() {
        let check = |from, to, expected| assert_eq!(distance(from, to), expected, "{from} {to}");
        check("namespace", "namespace", 0);
        check("namspace", "namespace", 1);
        check("requird", "required", 1);
        check("", "id", 2);
        check("kye", "key", 2);
    }

    #[test]
    fn words_are_ascii_identifiers() {
        let check = |text, expected| assert_eq!(is_word(text), expected, "{text}");
        check("a", true);
        check("_a1", true);
        check("", false);
        check("1a", false);
        check("a b", false);
        check("ä", false);
    }
}
