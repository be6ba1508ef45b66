//! The implementations emitted beside an error.
//!
//! Whoever uses the type elsewhere would otherwise be told that it is not a message, in as many places as there are
//! uses, when the one thing to mend is in its definition.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, GenericParam};

use crate::{
    ast::{Field, Input},
    attr::Container,
    check,
    expand::{Names, table, twin},
};

pub(crate) fn expand(original: &DeriveInput, parsed: Option<&Input<'_>>) -> TokenStream {
    let lifetimes_only = original.generics.params.iter().all(|one| matches!(one, GenericParam::Lifetime(_)));
    if !lifetimes_only || matches!(original.data, Data::Union(_)) {
        return TokenStream::new();
    }
    let unknown = Container::default();
    let names = Names::new(original, parsed.map_or(&unknown, Input::container));
    if matches!(original.data, Data::Enum(_)) {
        return field(&names, &quote!(::core::primitive::u8));
    }
    if let Some(Input::Twin(twin)) = parsed {
        let names = Names { message: twin::message(&names, twin), ..names };
        let wire = table_of(&names);
        return [field(&names, &wire), encode(&names)].into_iter().collect();
    }
    let field = field(&names, &table_of(&names));
    let view = view(&names, original, parsed);
    let message = message_traits(&names);
    quote!(#view #field #message)
}

fn table_of(names: &Names<'_>) -> TokenStream {
    let Names { private, message, .. } = names;
    quote!(#private::TableOf<#message>)
}

/// The view, with the accessors of the fields that are not themselves the mistake.
fn view(names: &Names<'_>, original: &DeriveInput, parsed: Option<&Input<'_>>) -> TokenStream {
    let Names { private, view, message, .. } = names;
    let accessors = match parsed {
        Some(Input::Table(table)) => {
            let supported = |field: &&Field<'_>| check::is_supported(&field.ty);
            table::view_type(names, table, &table.fields.iter().filter(supported).collect::<Vec<_>>())
        }
        _ => {
            let vis = &original.vis;
            quote! {
                #[derive(::core::clone::Clone, ::core::marker::Copy)]
                #vis struct #view<'view>(#private::Cursor<'view, #message>);
            }
        }
    };
    quote! {
        #accessors

        #[automatically_derived]
        impl ::core::fmt::Debug for #view<'_> {
            fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::unreachable!()
            }
        }
    }
}

fn field(names: &Names<'_>, wire: &TokenStream) -> TokenStream {
    let Names { private, parameters, bounds, this, .. } = names;
    quote! {
        #[automatically_derived]
        impl #parameters #private::Field for #this #bounds {
            type Wire = #wire;

            fn encode(&self, _: &mut #private::Encoder<'_>, _: #private::Place) {
                ::core::unreachable!()
            }
        }

        #[automatically_derived]
        impl #parameters #private::FromWire for #this #bounds {
            fn from_wire(_: <#wire as #private::Wire>::View<'_>) -> Self {
                ::core::unreachable!()
            }
        }

        #[automatically_derived]
        impl #parameters #private::Element for #this #bounds {}
    }
}

fn encode(names: &Names<'_>) -> TokenStream {
    let Names { private, runtime, parameters, bounds, this, message, .. } = names;
    quote! {
        #[automatically_derived]
        impl #parameters #runtime::Encode for #this #bounds {
            type Message = #message;

            fn __encode(&self, _: &mut #private::Encoder<'_>) {
                ::core::unreachable!()
            }
        }
    }
}

fn message_traits(names: &Names<'_>) -> TokenStream {
    let Names { private, runtime, message, view, full_name, .. } = names;
    let encode = encode(names);
    quote! {
        #[automatically_derived]
        impl #private::Table for #message {
            const NAME: &'static ::core::primitive::str = #full_name;
            const FIELDS: &'static [#private::FieldSpec] = &[];
            const VTABLE: &'static [::core::primitive::u16] = &[4, 4];
            const ABOUT: &'static #private::About = #private::About::NONE;
            type View<'view> = #view<'view>;

            fn from_cursor(__cursor: #private::Cursor<'_, Self>) -> #view<'_> {
                #view(__cursor)
            }
        }

        #[automatically_derived]
        impl #runtime::Message for #message {
            const TYPE_NAME: &'static ::core::primitive::str = #full_name;
            type View<'view> = #view<'view>;
            type __Wire = #private::TableOf<Self>;

            fn __view<'view>(
                __view: <<Self as #runtime::Message>::__Wire as #private::Wire>::View<'view>,
            ) -> <Self as #runtime::Message>::View<'view> {
                __view
            }

            fn __schema() -> &'static #private::CompiledSchema {
                ::core::unreachable!()
            }
        }

        #encode

        #[automatically_derived]
        impl #runtime::FromView for #message {
            fn from_view(_: #view<'_>) -> Self {
                ::core::unreachable!()
            }
        }

        #[automatically_derived]
        impl<'view> ::core::convert::From<#view<'view>> for #message {
            fn from(_: #view<'view>) -> Self {
                ::core::unreachable!()
            }
        }
    }
}
