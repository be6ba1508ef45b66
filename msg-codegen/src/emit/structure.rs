//! Structs: their bytes are their memory, so gaps become fields that can be seen.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::{Emitter, attributes, container, documentation, identifier, message};
use crate::{
    ir::{Field, ObjectId, ObjectKind},
    names::FieldNames,
};

impl Emitter<'_> {
    /// ```text
    /// #[derive(::core::clone::Clone, ::core::marker::Copy, .., ::msg_runtime::Message)]
    /// #[message(namespace = "demo", plain)]
    /// #[repr(C)]
    /// pub struct Moment {
    ///     pub day: u16,
    ///     pub padding0: ::msg_runtime::Padding<2>,
    ///     pub second: u32,
    /// }
    /// ```
    pub(super) fn structure(&self, id: ObjectId) -> TokenStream {
        let (object, rust_name) = (&self.ir.objects[id.0], self.names.object(id));
        let declaration = &object.declaration;
        let names = FieldNames::choose(object);
        let mut keys = container(declaration, rust_name);
        keys.push(quote!(plain));
        keys.extend(attributes(&declaration.attributes));
        let repr = match object.is_over_aligned {
            true => {
                let align = Literal::u32_unsuffixed(object.align);
                quote!(#[repr(C, align(#align))])
            }
            false => quote!(#[repr(C)]),
        };
        let is_derivable = object.fields.iter().all(|field| self.has_derivable_default(field, declaration));
        let derived_default = is_derivable.then(|| quote!(::core::default::Default,));
        let named: Vec<_> = names.fields.iter().cloned().zip(&object.fields).collect();
        let default_impl = (!is_derivable).then(|| self.default_impl(declaration, rust_name, &named));
        let new = self.new_impl(id, &names);
        let fields = self.struct_fields(id, &names);
        let (allow, documentation) =
            (self.item_allow(declaration), documentation(&declaration.documentation));
        let (message, name) = (message(&keys), identifier(rust_name));
        let custom = self.custom.of_type(&declaration.name);
        let serde = self.serde_derive();
        quote! {
            #allow
            #documentation
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
            #[derive(::core::cmp::PartialEq, #derived_default ::msg_runtime::Message)]
            #serde
            #custom
            #message
            #repr
            pub struct #name { #(#fields),* }
            #default_impl
            #new
        }
    }

    fn struct_fields(&self, id: ObjectId, names: &FieldNames) -> Vec<TokenStream> {
        let object = &self.ir.objects[id.0];
        let mut fields = Vec::new();
        for (at, field) in object.fields.iter().enumerate() {
            fields.push(self.struct_field(id, &names.fields[at], field));
            if let Some(name) = &names.padding[at] {
                let (name, bytes) = (identifier(name), Literal::u16_unsuffixed(field.padding));
                let serde = self.serde_skip();
                fields.push(quote!(#serde pub #name: ::msg_runtime::Padding<#bytes>));
            }
        }
        fields
    }

    fn struct_field(&self, id: ObjectId, rust_name: &str, field: &Field) -> TokenStream {
        let mut keys = self.common_keys(rust_name, ObjectKind::Struct, field);
        keys.extend(attributes(&field.attributes));
        let (documentation, message) = (documentation(&field.documentation), message(&keys));
        let (name, field_type) =
            (identifier(rust_name), self.field_type(field, &self.ir.objects[id.0].declaration));
        let custom = self.custom.of_field(&self.ir.objects[id.0].declaration.name, &field.name);
        let serde = self.serde_field(rust_name, field);
        quote!(#documentation #serde #custom #message pub #name: #field_type)
    }

    /// `new` with the real fields, where there is padding that nobody wants to write.
    ///
    /// ```text
    /// impl Moment {
    ///     /// A value of these fields.
    ///     pub const fn new(day: u16, second: u32) -> Self {
    ///         Self { day, second, padding0: ::msg_runtime::Padding::new() }
    ///     }
    /// }
    /// ```
    fn new_impl(&self, id: ObjectId, names: &FieldNames) -> Option<TokenStream> {
        let object = &self.ir.objects[id.0];
        let padding: Vec<_> = names.padding.iter().flatten().map(|name| identifier(name)).collect();
        if padding.is_empty() {
            return None;
        }
        let allow = self.item_allow(&object.declaration);
        let name = identifier(self.names.object(id));
        let fields: Vec<_> = names.fields.iter().map(|name| identifier(name)).collect();
        let types = object.fields.iter().map(|field| self.field_type(field, &object.declaration));
        Some(quote! {
            #allow
            impl #name {
                /// A value of these fields.
                pub const fn new(#(#fields: #types),*) -> Self {
                    Self { #(#fields,)* #(#padding: ::msg_runtime::Padding::new()),* }
                }
            }
        })
    }
}
