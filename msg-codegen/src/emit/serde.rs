//! What the derives of serde are told, so that a type has the form that its view has, in the names of the schema.

use proc_macro2::TokenStream;
use quote::quote;

use super::Emitter;
use crate::{
    ir::{Field, Type},
    names::differs,
};

/// serde itself knows arrays up to this length.
const LONGEST_ARRAY: u16 = 32;

impl Emitter<'_> {
    /// `#[derive(::serde::Serialize, ::serde::Deserialize)]`
    pub(super) fn serde_derive(&self) -> TokenStream {
        match self.custom.serde {
            true => quote!(#[derive(::serde::Serialize, ::serde::Deserialize)]),
            false => TokenStream::new(),
        }
    }

    /// Of a table: what is not there reads as its default.
    pub(super) fn serde_table(&self) -> TokenStream {
        let derive = self.serde_derive();
        match self.custom.serde {
            true => quote!(#derive #[serde(default)]),
            false => derive,
        }
    }

    /// Of a field, an enumerator or a member: its name in the schema.
    pub(super) fn serde_name(&self, rust_name: &str, name: &str) -> TokenStream {
        match self.custom.serde && differs(rust_name, name) {
            true => quote!(#[serde(rename = #name)]),
            false => TokenStream::new(),
        }
    }

    /// Of a field: its name, and how an array is read that serde does not know.
    pub(super) fn serde_field(&self, rust_name: &str, field: &Field) -> TokenStream {
        let name = self.serde_name(rust_name, &field.name);
        match field.field_type {
            Type::Array(_, length) if self.custom.serde && length > LONGEST_ARRAY => {
                quote!(#name #[serde(with = "::msg_runtime::__private::serde_array")])
            }
            _ => name,
        }
    }

    /// Of a field that the schema does not have.
    pub(super) fn serde_skip(&self) -> TokenStream {
        if self.custom.serde { quote!(#[serde(skip)]) } else { TokenStream::new() }
    }

    /// Of the variant for members that nobody here knows: it is its number.
    pub(super) fn serde_unknown(&self) -> TokenStream {
        if self.custom.serde { quote!(#[serde(untagged)]) } else { TokenStream::new() }
    }
}
