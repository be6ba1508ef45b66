//! The typed input as code. Nothing is decided here, and nothing can fail.

mod enumeration;
mod newtype;
mod plain;
mod schema;
pub(crate) mod table;
pub(crate) mod twin;
pub(crate) mod union;
mod view;

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::{DeriveInput, GenericParam, Lifetime, LitStr, ext::IdentExt};

use crate::{ast::Input, attr::Container, check::view_complaint};

pub(crate) fn expand(input: &Input<'_>) -> TokenStream {
    match input {
        Input::Table(table) => table::expand(table),
        Input::Plain(plain) => plain::expand(plain),
        Input::Enumeration(enumeration) => enumeration::expand(enumeration),
        Input::Union(union) => union::expand(union),
        Input::Twin(twin) => twin::expand(twin),
        Input::Newtype(newtype) => newtype::expand(newtype),
    }
}

/// The names that an expansion uses, computed once.
pub(crate) struct Names<'a> {
    /// The type.
    pub(crate) ident: &'a Ident,
    /// The hidden module of the runtime that generated code may name.
    pub(crate) private: TokenStream,
    /// The runtime.
    pub(crate) runtime: TokenStream,
    /// The type's view.
    pub(crate) view: Ident,
    /// Generic parameters as declared: `<'a: 'b, 'b>`.
    pub(crate) parameters: TokenStream,
    /// Bounds as declared: `where 'a: 'b`.
    pub(crate) bounds: TokenStream,
    /// The type as the user has it: `Iq<'a>`.
    pub(crate) this: TokenStream,
    /// The type as a topic carries it: `Iq<'static>`.
    pub(crate) message: TokenStream,
    /// Fully qualified name on the wire.
    pub(crate) full_name: String,
}

impl<'a> Names<'a> {
    pub(crate) fn new(original: &'a DeriveInput, container: &Container) -> Self {
        let ident = &original.ident;
        let runtime = match &container.runtime {
            Some(path) => quote!(#path),
            None => quote!(::msg_runtime),
        };
        let usable = |view: &&LitStr| view_complaint(ident, &view.value()).is_none();
        let view = match container.view.as_ref().filter(usable) {
            Some(view) => Ident::new(&view.value(), view.span()),
            None => format_ident!("{}View", ident.unraw(), span = ident.span()),
        };
        let (parameters, this, bounds) = original.generics.split_for_impl();
        let lifetimes =
            original.generics.params.iter().filter(|one| matches!(one, GenericParam::Lifetime(_)));
        let statics: Vec<Lifetime> = lifetimes.map(|_| Lifetime::new("'static", Span::call_site())).collect();
        let message = if statics.is_empty() { quote!(#ident) } else { quote!(#ident<#(#statics),*>) };
        Self {
            ident,
            private: quote!(#runtime::__private),
            runtime,
            view,
            parameters: quote!(#parameters),
            bounds: quote!(#bounds),
            this: quote!(#ident #this),
            message,
            full_name: full_name(ident, container),
        }
    }
}

impl Names<'_> {
    /// The same names where the runtime's hidden module has a short one, and the import that gives it. The compiler reads
    /// each path of an expansion anew.
    fn aliased(self) -> (TokenStream, Self) {
        let private = &self.private;
        let alias = quote!(
            use #private as __msg;
        );
        (alias, Self { private: quote!(__msg), ..self })
    }
}

fn full_name(ident: &Ident, container: &Container) -> String {
    let name = container.name.as_ref().map_or_else(|| ident.unraw().to_string(), |name| name.value());
    match container.namespace.as_ref().map(|namespace| namespace.value()) {
        Some(namespace) if !namespace.is_empty() => format!("{namespace}.{name}"),
        _ => name,
    }
}

/// Tokens as if they were written at `span`: there the compiler shows what is wrong with them.
pub(crate) fn at(span: Span, tokens: &TokenStream) -> TokenStream {
    let respan = |token| match token {
        TokenTree::Group(group) => {
            let mut moved = Group::new(group.delimiter(), at(span, &group.stream()));
            moved.set_span(span);
            TokenTree::Group(moved)
        }
        mut other => {
            other.set_span(span);
            other
        }
    };
    tokens.clone().into_iter().map(respan).collect()
}

/// The spans of the first and of the last token. On stable Rust no span covers both.
pub(crate) fn ends(tokens: impl ToTokens) -> (Span, Span) {
    let mut spans = tokens.into_token_stream().into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::call_site);
    (first, spans.last().unwrap_or(first))
}

/// The constants of `Message` that the attributes set.
///
/// ```text
/// const TOPIC: &'static str = "left.image";
/// const FILE_IDENTIFIER: Option<&'static str> = Some("IMG1");
/// const FILE_EXTENSION: &'static str = "img";
/// ```
fn message_constants(container: &Container) -> TokenStream {
    let topic =
        container.topic.iter().map(|topic| quote!(const TOPIC: &'static ::core::primitive::str = #topic;));
    let identifier = container.identifier.iter().map(|identifier| {
        quote! {
            const FILE_IDENTIFIER: ::core::option::Option<&'static ::core::primitive::str> =
                ::core::option::Option::Some(#identifier);
        }
    });
    let extension = container
        .extension
        .iter()
        .map(|extension| quote!(const FILE_EXTENSION: &'static ::core::primitive::str = #extension;));
    quote!(#(#topic)* #(#identifier)* #(#extension)*)
}

/// The function through which a message finds its schema.
///
/// ```text
/// fn __schema() -> &'static CompiledSchema {
///     static SCHEMA: SchemaCell = SchemaCell::new();
///     SchemaCell::get::<Self>(&SCHEMA)
/// }
/// ```
fn schema_function(names: &Names<'_>) -> TokenStream {
    let Names { private, .. } = names;
    quote! {
        #[inline]
        fn __schema() -> &'static #private::CompiledSchema {
            static __MSG_SCHEMA: #private::SchemaCell = #private::SchemaCell::new();
            #private::SchemaCell::get::<Self>(&__MSG_SCHEMA)
        }
    }
}
