//! A struct as a FlatBuffers table: facts, view, encoding, and the owned value of a view.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Expr, ExprLit, Lit, Type, UnOp, ext::IdentExt};

use super::{
    Names, at, ends, message_constants,
    schema::{about, flag},
    schema_function, view,
};
use crate::{
    ast::{Field, Struct},
    symbol,
};

/// What `align` is called in schemas.
const FORCE_ALIGN: &str = "force_align";

pub(crate) fn expand(table: &Struct<'_>) -> TokenStream {
    let names = Names::new(table.original, &table.container);
    let view_type = view_type(&names, table, &table.fields.iter().collect::<Vec<_>>());
    let (alias, names) = names.aliased();
    let facts = facts(&names, table);
    let message = message(&names, table);
    let encode = encode(&names, table, &TokenStream::new());
    let sent = view::expand(&names);
    let keyed = keyed(&names, table);
    let owned =
        if table.original.generics.params.is_empty() { owned(&names, table) } else { TokenStream::new() };
    quote! {
        #view_type
        #[allow(deprecated, non_camel_case_types, clippy::all)]
        const _: () = {
            #alias
            #facts
            #message
            #encode
            #sent
            #keyed
            #owned
        };
    }
}

/// The wire kind of a field: `<String as Field>::Wire`.
///
/// Whatever needs it spells it this way and with the extent of the field's type, so that a type that is no field is
/// one mistake and not many: the compiler shows equal errors once.
pub(super) fn wire(names: &Names<'_>, field: &Field<'_>) -> TokenStream {
    wire_of(names, &field.ty, &field.erased)
}

pub(super) fn wire_of(names: &Names<'_>, ty: &Type, erased: &TokenStream) -> TokenStream {
    let (first, last) = ends(ty);
    let private = at(first, &names.private);
    let open = quote_spanned!(first=> <);
    let field = quote_spanned!(first=> as #private::Field>);
    let close = quote_spanned!(last=> ::Wire);
    quote!(#open #erased #field #close)
}

pub(super) fn index(position: usize) -> Literal {
    Literal::usize_unsuffixed(position)
}

/// ```text
/// /// A received [`Person`]: it borrows from the payload.
/// pub struct PersonView<'view>(Cursor<'view, Person>);
///
/// impl Clone for PersonView<'_> { .. }
/// impl Copy for PersonView<'_> {}
/// impl<'view> PersonView<'view> {
///     pub fn name(&self) -> <<String as Field>::Wire as Wire>::View<'view> {
///         Cursor::get::<<String as Field>::Wire, 0>(&self.0)
///     }
/// }
/// ```
pub(crate) fn view_type(names: &Names<'_>, table: &Struct<'_>, fields: &[&Field<'_>]) -> TokenStream {
    let Names { ident, private, view, message, .. } = names;
    let vis = &table.original.vis;
    let doc = format!(" A received [`{}`]: it borrows from the payload.", ident.unraw());
    let accessors = fields.iter().enumerate().map(|(position, field)| {
        let Field { ident, original, ty, .. } = field;
        let vis = &original.vis;
        let (wire, got, docs) = (wire(names, field), got(names, field, position), accessor_docs(field));
        let (first, last) = ends(ty);
        let private = at(first, private);
        let view = quote_spanned!(last=> View<'view>);
        let result = quote_spanned!(first=> <#wire as #private::Wire>::#view);
        quote! {
            #docs
            #[inline]
            #vis fn #ident(&self) -> #result {
                #got(&self.0)
            }
        }
    });
    quote! {
        #[doc = #doc]
        #[allow(non_camel_case_types)]
        #vis struct #view<'view>(#private::Cursor<'view, #message>);

        #[automatically_derived]
        impl ::core::clone::Clone for #view<'_> {
            #[inline]
            fn clone(&self) -> Self {
                *self
            }
        }

        #[automatically_derived]
        impl ::core::marker::Copy for #view<'_> {}

        #[allow(dead_code, deprecated, non_snake_case, private_interfaces, clippy::all)]
        impl<'view> #view<'view> {
            #(#accessors)*
        }
    }
}

/// `Cursor::get::<<String as Field>::Wire, 0>`: how a field is read.
fn got(names: &Names<'_>, field: &Field<'_>, position: usize) -> TokenStream {
    let (first, _) = ends(&field.ty);
    let private = at(first, &names.private);
    let (wire, position) = (wire(names, field), index(position));
    quote_spanned!(first=> #private::Cursor::get::<#wire, #position>)
}

fn accessor_docs(field: &Field<'_>) -> TokenStream {
    let documentation = &field.attributes.about.documentation;
    if documentation.is_empty() {
        let doc = format!(" The field `{}`.", field.name);
        return quote!(#[doc = #doc]);
    }
    quote!(#(#[doc = #documentation])*)
}

/// ```text
/// const __MSG_FIELDS: [FieldSpec; 1] = assign_ids([FieldSpec::of::<<String as Field>::Wire>("name").checked()]);
/// const __MSG_VTABLE: [u16; vtable_len(&__MSG_FIELDS)] = vtable(&__MSG_FIELDS);
///
/// impl Table for Person { .. }
/// impl Debug for PersonView<'_> { .. }
/// ```
fn facts(names: &Names<'_>, table: &Struct<'_>) -> TokenStream {
    let Names { ident, private, view, message, full_name, .. } = names;
    let count = index(table.fields.len());
    let specs = table.fields.iter().map(|field| spec(names, field));
    let about = about(names, &table.container.about, &[]);
    let debug_name = ident.unraw().to_string();
    let shown = table.fields.iter().map(|field| field.ident.unraw().to_string());
    quote! {
        const __MSG_FIELDS: [#private::FieldSpec; #count] = #private::assign_ids([#(#specs),*]);
        const __MSG_VTABLE: [::core::primitive::u16; #private::vtable_len(&__MSG_FIELDS)] =
            #private::vtable(&__MSG_FIELDS);

        #[automatically_derived]
        impl #private::Table for #message {
            const NAME: &'static ::core::primitive::str = #full_name;
            const FIELDS: &'static [#private::FieldSpec] = &__MSG_FIELDS;
            const VTABLE: &'static [::core::primitive::u16] = &__MSG_VTABLE;
            const ABOUT: &'static #private::About = #about;
            type View<'view> = #view<'view>;

            #[inline]
            fn from_cursor(__cursor: #private::Cursor<'_, Self>) -> #view<'_> {
                #view(__cursor)
            }
        }

        #[automatically_derived]
        impl ::core::fmt::Debug for #view<'_> {
            #[inline]
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #private::show_table(&self.0, #debug_name, &[#(#shown),*], __f)
            }
        }
    }
}

/// ```text
/// FieldSpec::bare::<i32>("id")
/// FieldSpec::of::<i32>("id").default_bits(default_bits::<<i32 as DefaultWire>::Number>(7)).about(&About { .. }).checked()
/// ```
///
/// Each call stands where its attribute does: what the compiler finds wrong with it, it shows there.
fn spec(names: &Names<'_>, field: &Field<'_>) -> TokenStream {
    let Field { name, attributes, ty, .. } = field;
    let (first, _) = ends(ty);
    let private = at(first, &names.private);
    let wire = wire(names, field);
    let mut known = Vec::new();
    if attributes.is_bare() {
        return quote_spanned!(first=> #private::FieldSpec::bare::<#wire>(#name));
    }
    let mut spec = quote_spanned!(first=> #private::FieldSpec::of::<#wire>(#name));
    let mut checked_at = first;
    if let Some(id) = &attributes.id {
        spec = chain(spec, id.span(), &quote!(id), &quote!(#id));
        known.push((symbol::ID, id.base10_digits().to_owned()));
    }
    if let Some(default) = &attributes.default {
        checked_at = ends(default).0;
        let (method, value) = default_call(names, &wire, default);
        spec = chain(spec, checked_at, &method, &value);
    }
    if let Some(align) = &attributes.align {
        let (span, here) = (align.span(), at(align.span(), &wire));
        let private = at(span, &private);
        let checked = quote_spanned!(span=> #private::element_align::<#here>(#align));
        spec = chain(spec, span, &quote!(align), &checked);
        known.push((FORCE_ALIGN, align.base10_digits().to_owned()));
    }
    let flags = [
        (symbol::REQUIRED, &attributes.required),
        (symbol::DEPRECATED, &attributes.deprecated),
        (symbol::KEY, &attributes.key),
    ];
    for (name, ident) in flags {
        if let Some(ident) = ident {
            spec = chain(spec, ident.span(), &quote!(#ident), &TokenStream::new());
            known.push(flag(name));
        }
    }
    let about = about(names, &attributes.about, &known);
    chain(quote!(#spec.about(#about)), checked_at, &quote!(checked), &TokenStream::new())
}

/// A call whose errors are shown at `span`. The compiler shows where the whole chain starts, so what is before goes
/// into an argument.
fn chain(receiver: TokenStream, span: Span, method: &TokenStream, arguments: &TokenStream) -> TokenStream {
    let method = at(span, method);
    quote_spanned!(span=> .#method(#arguments)).into_iter().fold(receiver, |mut all, token| {
        all.extend([token]);
        all
    })
}

/// ```text
/// .default_text(default_text::<<String as Field>::Wire>("nobody"))
/// .default_empty(empty_vector::<<Vec<u8> as Field>::Wire>())
/// .default_bits(..)
/// ```
fn default_call(names: &Names<'_>, wire: &TokenStream, default: &Expr) -> (TokenStream, TokenStream) {
    let (first, _) = ends(default);
    let (private, wire_here) = (at(first, &names.private), at(first, wire));
    match default {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => {
            (quote!(default_text), quote_spanned!(first=> #private::default_text::<#wire_here>(#text)))
        }
        Expr::Array(items) if items.elems.is_empty() => {
            (quote!(default_empty), quote_spanned!(first=> #private::empty_vector::<#wire_here>()))
        }
        _ => (quote!(default_bits), default_bits(names, wire, default)),
    }
}

/// ```text
/// default_bits::<<u8 as DefaultWire>::Number>(7)
/// default_bits::<<Open<Color> as DefaultWire>::Constant>(Color::Red)
/// ```
fn default_bits(names: &Names<'_>, wire: &TokenStream, default: &Expr) -> TokenStream {
    let (first, _) = ends(default);
    let private = at(first, &names.private);
    let kind = if is_literal(default) { quote!(Number) } else { quote!(Constant) };
    let kind = at(first, &kind);
    let wire = at(first, wire);
    let ty = quote_spanned!(first=> <#wire as #private::DefaultWire>::#kind);
    quote_spanned!(first=> #private::default_bits::<#ty>(#default))
}

/// `3`, `-1.5`, `1 | 8` and `true`: they take the field's own type. Anything else is a constant, such as an enumerator.
fn is_literal(default: &Expr) -> bool {
    match default {
        Expr::Lit(_) => true,
        Expr::Unary(unary) => matches!(unary.op, UnOp::Neg(_) | UnOp::Not(_)) && is_literal(&unary.expr),
        Expr::Binary(binary) => is_literal(&binary.left) && is_literal(&binary.right),
        Expr::Paren(inner) => is_literal(&inner.expr),
        Expr::Group(inner) => is_literal(&inner.expr),
        _ => false,
    }
}

/// ```text
/// impl Message for Person { .. }
/// ```
fn message(names: &Names<'_>, table: &Struct<'_>) -> TokenStream {
    let Names { private, runtime, view, message, full_name, .. } = names;
    let constants = message_constants(&table.container);
    let schema = schema_function(names);
    quote! {
        #[automatically_derived]
        impl #runtime::Message for #message {
            const TYPE_NAME: &'static ::core::primitive::str = #full_name;
            #constants
            type View<'view> = #view<'view>;
            type __Wire = #private::TableOf<Self>;

            #[inline]
            fn __view<'view>(
                __view: <<Self as #runtime::Message>::__Wire as #private::Wire>::View<'view>,
            ) -> <Self as #runtime::Message>::View<'view> {
                __view
            }

            #schema
        }
    }
}

/// ```text
/// impl Field for Person {
///     type Wire = TableOf<Person>;
///     fn encode(&self, out: &mut Encoder<'_>, place: Place) {
///         let mut vtable = __MSG_VTABLE;
///         Field::__clear_absent(&self.email, &mut vtable, &__MSG_FIELDS[0], out);
///         if let Some(table) = out.open_table(place, &vtable, Person::ALIGN) {
///             Field::__encode_in(&self.email, table, &vtable, &__MSG_FIELDS[0], out);
///             out.close_table();
///         }
///     }
/// }
/// ```
pub(super) fn encode(names: &Names<'_>, table: &Struct<'_>, check: &TokenStream) -> TokenStream {
    let Names { private, runtime, parameters, bounds, this, message, .. } = names;
    // What is wrong with a twin's message is shown at its name.
    let (first, last) = table.container.like.as_ref().map_or((Span::call_site(), Span::call_site()), ends);
    let (spanned, end) = (at(first, private), quote_spanned!(last=> >));
    let kind = quote_spanned!(first=> #spanned::TableOf<#message #end);
    let element = quote_spanned!(last=> ::Element);
    let converted =
        table.fields.iter().enumerate().filter_map(|(position, field)| converted(position, field));
    let absent = table.fields.iter().enumerate().map(|(position, field)| {
        let (ty, value, position) = (&field.ty, value(position, field), index(position));
        let (first, _) = ends(ty);
        let private = at(first, private);
        quote_spanned! {first=>
            <#ty as #private::Field>::__clear_absent(
                #value, &mut __vtable, &__MSG_FIELDS[#position], __out,
            );
        }
    });
    let encoded = table.fields.iter().enumerate().map(|(position, field)| encoded(names, position, field));
    quote! {
        #[automatically_derived]
        impl #parameters #private::Field for #this #bounds {
            type Wire = #kind;

            #[inline]
            fn encode(&self, __out: &mut #private::Encoder<'_>, __place: #private::Place) {
                #check
                #[allow(unused_mut)]
                let mut __vtable = __MSG_VTABLE;
                #(#converted)*
                #(#absent)*
                let __align = <#message as #private::Table>::ALIGN;
                #[allow(unused_variables)]
                if let ::core::option::Option::Some(__table) = __out.open_table(__place, &__vtable, __align) {
                    #(#encoded)*
                    __out.close_table();
                }
            }
        }

        #[automatically_derived]
        impl #parameters #spanned #element for #this #bounds {}

        #[automatically_derived]
        impl #parameters #runtime::Encode for #this #bounds {
            type Message = #message;

            #[inline]
            fn __encode(&self, __out: &mut #private::Encoder<'_>) {
                #private::encode_root::<#message, Self>(self, __out);
            }
        }
    }
}

/// ```text
/// Field::__encode_in(&self.email, table, &vtable, &__MSG_FIELDS[0], out);
/// ```
fn encoded(names: &Names<'_>, position: usize, field: &Field<'_>) -> TokenStream {
    let (ty, value, position) = (&field.ty, value(position, field), index(position));
    let (first, _) = ends(ty);
    let private = at(first, &names.private);
    quote_spanned! {first=>
        <#ty as #private::Field>::__encode_in(#value, __table, &__vtable, &__MSG_FIELDS[#position], __out);
    }
}

/// ```text
/// impl Keyed for Word { type Key = <String as Field>::Wire; fn key(view: WordView<'_>) -> &str { .. } }
/// ```
fn keyed(names: &Names<'_>, table: &Struct<'_>) -> Option<TokenStream> {
    let Names { private, message, .. } = names;
    let (position, field) =
        table.fields.iter().enumerate().find(|(_, field)| field.attributes.key.is_some())?;
    let (wire, got) = (wire(names, field), got(names, field, position));
    Some(quote! {
        #[automatically_derived]
        impl #private::Keyed for #message {
            type Key = #wire;

            #[inline]
            fn key<'view>(
                __view: <Self as #private::Table>::View<'view>,
            ) -> <<Self as #private::Keyed>::Key as #private::Wire>::View<'view> {
                #got(&__view.0)
            }
        }
    })
}

/// What is encoded for a field: `&self.email`, or what `with` has made of it.
fn value(position: usize, field: &Field<'_>) -> TokenStream {
    let ident = field.ident;
    match &field.attributes.with {
        Some(_) => {
            let value = format_ident!("__value_{position}");
            quote!(&#value)
        }
        None => quote!(&self.#ident),
    }
}

/// ```text
/// let value_3 = uuids::to_field(&self.id);
/// ```
fn converted(position: usize, field: &Field<'_>) -> Option<TokenStream> {
    let (module, ident) = (field.attributes.with.as_ref()?, field.ident);
    let (first, _) = ends(module);
    let value = format_ident!("__value_{position}");
    let ty = &field.ty;
    Some(quote_spanned!(first=> let #value: #ty = #module::to_field(&self.#ident);))
}

/// ```text
/// impl FromView for Person {
///     fn from_view(view: PersonView<'_>) -> Self { Self { name: MakeOwned::take::<_, 0>(&view.0) } }
/// }
/// ```
fn owned(names: &Names<'_>, table: &Struct<'_>) -> TokenStream {
    let Names { private, runtime, view, message, .. } = names;
    let fields = table.fields.iter().enumerate().map(|(position, field)| {
        let Field { ident, ty, .. } = field;
        let (wire, position, (first, _)) = (wire(names, field), index(position), ends(ty));
        let private = at(first, private);
        let take = quote_spanned!(first=> <#wire as #private::MakeOwned<#ty>>::take::<_, #position>);
        match &field.attributes.with {
            Some(module) => quote!(#ident: #module::from_field(#take(&__view.0))),
            None => quote!(#ident: #take(&__view.0)),
        }
    });
    let skipped = table.skipped.iter().map(|field| {
        let Field { ident, ty, .. } = field;
        let (first, _) = ends(ty);
        quote_spanned!(first=> #ident: <#ty as ::core::default::Default>::default())
    });
    quote! {
        #[automatically_derived]
        impl #runtime::FromView for #message {
            #[inline]
            fn from_view(__view: #view<'_>) -> Self {
                Self { #(#fields,)* #(#skipped),* }
            }
        }

        #[automatically_derived]
        impl #private::FromWire for #message {
            #[inline]
            fn from_wire(__view: #view<'_>) -> Self {
                <Self as #runtime::FromView>::from_view(__view)
            }
        }

        #[automatically_derived]
        impl<'view> ::core::convert::From<#view<'view>> for #message {
            #[inline]
            fn from(__view: #view<'view>) -> Self {
                <Self as #runtime::FromView>::from_view(__view)
            }
        }
    }
}
