//! A struct as a FlatBuffers table: facts, view, encoding, and the owned value of a view.

use proc_macro2::{Literal, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, Lit, UnOp, ext::IdentExt, spanned::Spanned};

use super::{
    Names, message_constants,
    schema::{about, flag},
    schema_function,
};
use crate::{
    ast::{Field, Struct},
    symbol,
};

pub(crate) fn expand(table: &Struct<'_>) -> TokenStream {
    let names = Names::new(table.original, &table.container);
    let view = view(&names, table, &table.fields.iter().collect::<Vec<_>>());
    let facts = facts(&names, table);
    let message = message(&names, table);
    let encode = encode(&names, table);
    let owned =
        if table.original.generics.params.is_empty() { owned(&names, table) } else { TokenStream::new() };
    quote! {
        #view
        #[allow(deprecated, non_camel_case_types, clippy::all)]
        const _: () = {
            #facts
            #message
            #encode
            #owned
        };
    }
}

/// The wire kind of a field: `<String as Field>::Wire`.
///
/// Whatever needs it spells it this way and at the field's type, so that a type that is no field is one mistake
/// and not many.
fn wire(names: &Names<'_>, field: &Field<'_>) -> TokenStream {
    let Names { private, .. } = names;
    let erased = &field.erased;
    quote_spanned!(field.original.ty.span()=> <#erased as #private::Field>::Wire)
}

fn index(position: usize) -> Literal {
    Literal::usize_unsuffixed(position)
}

/// ```text
/// /// A received [`Person`]: it borrows from the payload.
/// #[derive(Clone, Copy)]
/// pub struct PersonView<'view>(Cursor<'view, Person>);
///
/// impl<'view> PersonView<'view> {
///     pub fn name(&self) -> <<String as Field>::Wire as Wire>::View<'view> {
///         Cursor::get::<<String as Field>::Wire, 0>(&self.0)
///     }
/// }
/// ```
pub(crate) fn view(names: &Names<'_>, table: &Struct<'_>, fields: &[&Field<'_>]) -> TokenStream {
    let Names { ident, private, view, message, .. } = names;
    let vis = &table.original.vis;
    let doc = format!(" A received [`{}`]: it borrows from the payload.", ident.unraw());
    let accessors = fields.iter().enumerate().map(|(position, field)| {
        let Field { ident, original, .. } = field;
        let vis = &original.vis;
        let wire = wire(names, field);
        let position = index(position);
        let docs = accessor_docs(field);
        quote_spanned! {original.ty.span()=>
            #docs
            #[inline]
            #vis fn #ident(&self) -> <#wire as #private::Wire>::View<'view> {
                #private::Cursor::get::<#wire, #position>(&self.0)
            }
        }
    });
    quote! {
        #[doc = #doc]
        #[allow(non_camel_case_types)]
        #[derive(::core::clone::Clone, ::core::marker::Copy)]
        #vis struct #view<'view>(#private::Cursor<'view, #message>);

        #[allow(dead_code, deprecated, non_snake_case, private_interfaces, clippy::all)]
        impl<'view> #view<'view> {
            #(#accessors)*
        }
    }
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
    let debug = table.fields.iter().enumerate().map(|(position, field)| {
        let wire = wire(names, field);
        let position = index(position);
        let name = field.ident.unraw().to_string();
        quote_spanned! {field.original.ty.span()=>
            debug.field(#name, &#private::Shown::<#wire>(#private::Cursor::get::<#wire, #position>(&self.0)));
        }
    });
    quote! {
        const __MSG_FIELDS: [#private::FieldSpec; #count] = #private::assign_ids([#(#specs),*]);
        const __MSG_VTABLE: [::core::primitive::u16; #private::vtable_len(&__MSG_FIELDS)] =
            #private::vtable(&__MSG_FIELDS);

        #[automatically_derived]
        impl #private::Table for #message {
            const NAME: &'static ::core::primitive::str = #full_name;
            const FIELDS: &'static [#private::FieldSpec] = &__MSG_FIELDS;
            const ABOUT: &'static #private::About = #about;
            type View<'view> = #view<'view>;

            #[inline]
            fn from_cursor(cursor: #private::Cursor<'_, Self>) -> #view<'_> {
                #view(cursor)
            }
        }

        #[automatically_derived]
        impl ::core::fmt::Debug for #view<'_> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #[allow(unused_mut)]
                let mut debug = ::core::fmt::Formatter::debug_struct(f, #debug_name);
                #(#debug)*
                debug.finish()
            }
        }
    }
}

/// ```text
/// FieldSpec::of::<i32>("id").default_bits(default_number::<i32>(7)).about(&About { .. }).checked()
/// ```
fn spec(names: &Names<'_>, field: &Field<'_>) -> TokenStream {
    let Names { private, .. } = names;
    let Field { name, attributes, .. } = field;
    let wire = wire(names, field);
    let mut known = Vec::new();
    let mut spec = quote_spanned!(field.original.ty.span()=> #private::FieldSpec::of::<#wire>(#name));
    if let Some(id) = &attributes.id {
        spec = quote!(#spec.id(#id));
        known.push((symbol::ID, id.base10_digits().to_owned()));
    }
    if let Some(default) = &attributes.default {
        let function = if is_literal(default) { quote!(default_number) } else { quote!(default_constant) };
        let bits = quote_spanned!(default.span()=> #private::#function::<#wire>(#default));
        spec = quote!(#spec.default_bits(#bits));
    }
    if let Some(required) = &attributes.required {
        spec = chain(spec, required.span(), quote!(required));
        known.push(flag(symbol::REQUIRED));
    }
    if let Some(deprecated) = &attributes.deprecated {
        spec = chain(spec, deprecated.span(), quote!(deprecated));
        known.push(flag(symbol::DEPRECATED));
    }
    if let Some(key) = &attributes.key {
        spec = chain(spec, key.span(), quote!(key));
        known.push(flag(symbol::KEY));
    }
    let about = about(names, &attributes.about, &known);
    let default_span = attributes.default.as_ref().map_or(field.original.ty.span(), Spanned::span);
    chain(quote!(#spec.about(#about)), default_span, quote!(checked))
}

/// A call whose errors are shown at `span`.
fn chain(receiver: TokenStream, span: Span, method: TokenStream) -> TokenStream {
    let method: TokenStream = method
        .into_iter()
        .map(|mut token| {
            token.set_span(span);
            token
        })
        .collect();
    let call = quote_spanned!(span=> .#method());
    quote!(#receiver #call)
}

/// `3`, `-1.5` and `true`: they take the field's own type. Anything else is a constant, such as an enumerator.
fn is_literal(default: &Expr) -> bool {
    match default {
        Expr::Lit(literal) => !matches!(literal.lit, Lit::Str(_)),
        Expr::Unary(unary) => matches!(unary.op, UnOp::Neg(_)) && is_literal(&unary.expr),
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
                view: <<Self as #runtime::Message>::__Wire as #private::Wire>::View<'view>,
            ) -> <Self as #runtime::Message>::View<'view> {
                view
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
///         if Field::is_absent(&self.email) { clear(&mut vtable, &__MSG_FIELDS[0]) }
///         if let Some(table) = out.open_table(place, &vtable, max_align(&__MSG_FIELDS)) {
///             if let Some(place) = table.place(&vtable, &__MSG_FIELDS[0]) { Field::encode(&self.email, out, place) }
///             out.close_table();
///         }
///     }
/// }
/// ```
fn encode(names: &Names<'_>, table: &Struct<'_>) -> TokenStream {
    let Names { private, runtime, parameters, this, message, .. } = names;
    let absent = table.fields.iter().enumerate().map(|(position, field)| {
        let Field { ident, original, .. } = field;
        let (ty, position) = (&original.ty, index(position));
        quote_spanned! {ty.span()=>
            if <#ty as #private::Field>::is_absent(&self.#ident) {
                #private::clear(&mut vtable, &__MSG_FIELDS[#position]);
            }
        }
    });
    let encoded = table.fields.iter().enumerate().map(|(position, field)| {
        let Field { ident, original, .. } = field;
        let (ty, position) = (&original.ty, index(position));
        quote_spanned! {ty.span()=>
            if let ::core::option::Option::Some(place) = table.place(&vtable, &__MSG_FIELDS[#position]) {
                <#ty as #private::Field>::encode(&self.#ident, out, place);
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl #parameters #private::Field for #this {
            type Wire = #private::TableOf<#message>;

            #[inline]
            fn encode(&self, out: &mut #private::Encoder<'_>, place: #private::Place) {
                #[allow(unused_mut)]
                let mut vtable = __MSG_VTABLE;
                #(#absent)*
                let align = const { #private::max_align(&__MSG_FIELDS) };
                #[allow(unused_variables)]
                if let ::core::option::Option::Some(table) = out.open_table(place, &vtable, align) {
                    #(#encoded)*
                    out.close_table();
                }
            }
        }

        #[automatically_derived]
        impl #parameters #private::Element for #this {}

        #[automatically_derived]
        impl #parameters #runtime::Encode for #this {
            type Message = #message;

            #[inline]
            fn __encode(&self, out: &mut #private::Encoder<'_>) {
                #private::encode_root::<#message, Self>(self, out);
            }
        }
    }
}

/// ```text
/// impl FromView for Person {
///     fn from_view(view: PersonView<'_>) -> Self { Self { name: FromWire::from_wire(view.name()) } }
/// }
/// ```
fn owned(names: &Names<'_>, table: &Struct<'_>) -> TokenStream {
    let Names { private, runtime, view, message, .. } = names;
    let fields = table.fields.iter().enumerate().map(|(position, field)| {
        let Field { ident, original, .. } = field;
        let (ty, wire, position) = (&original.ty, wire(names, field), index(position));
        quote_spanned! {ty.span()=>
            #ident: <#ty as #private::FromWire>::from_wire(#private::Cursor::get::<#wire, #position>(&view.0))
        }
    });
    quote! {
        #[automatically_derived]
        impl #runtime::FromView for #message {
            fn from_view(view: #view<'_>) -> Self {
                Self { #(#fields),* }
            }
        }

        #[automatically_derived]
        impl #private::FromWire for #message {
            #[inline]
            fn from_wire(view: #view<'_>) -> Self {
                <Self as #runtime::FromView>::from_view(view)
            }
        }

        #[automatically_derived]
        impl<'view> ::core::convert::From<#view<'view>> for #message {
            #[inline]
            fn from(view: #view<'view>) -> Self {
                <Self as #runtime::FromView>::from_view(view)
            }
        }
    }
}
