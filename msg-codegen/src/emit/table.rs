//! Tables.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::{Emitter, attributes, container, documentation, identifier, is_searchable, message};
use crate::{
    ir::{Field, ObjectId, ObjectKind, Presence},
    names::{FieldNames, differs},
};

impl Emitter<'_> {
    /// ```text
    /// #[derive(::core::clone::Clone, .., ::core::default::Default, ::msg_runtime::Message)]
    /// #[message(namespace = "demo")]
    /// pub struct Person {
    ///     pub id: i32,
    ///     pub name: ::core::option::Option<::std::string::String>,
    /// }
    /// ```
    pub(super) fn table(&self, id: ObjectId) -> TokenStream {
        let (object, rust_name) = (&self.ir.objects[id.0], self.names.object(id));
        let declaration = &object.declaration;
        let names = FieldNames::choose(object).fields;
        let mut keys = container(declaration, rust_name);
        if let Some(view) = self.names.view(&declaration.name) {
            keys.push(quote!(view = #view));
        }
        keys.extend(self.root_keys(id));
        keys.extend(attributes(&declaration.attributes));
        let fields: Vec<_> = names.into_iter().zip(&object.fields).collect();
        let is_derivable = object.fields.iter().all(|field| self.has_derivable_default(field, declaration));
        let derived_default = is_derivable.then(|| quote!(::core::default::Default,));
        let default_impl = (!is_derivable).then(|| self.default_impl(declaration, rust_name, &fields));
        let tokens = fields.iter().map(|(name, field)| self.table_field(id, name, field));
        let (allow, documentation) =
            (self.item_allow(declaration), documentation(&declaration.documentation));
        let (message, name) = (message(&keys), identifier(rust_name));
        let custom = self.custom.of_type(&declaration.name);
        let serde = self.serde_table();
        quote! {
            #allow
            #documentation
            #[derive(::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq)]
            #[derive(#derived_default ::msg_runtime::Message)]
            #serde
            #custom
            #message
            pub struct #name { #(#tokens),* }
            #default_impl
        }
    }

    /// What a file says of its root type.
    fn root_keys(&self, id: ObjectId) -> Vec<TokenStream> {
        let files = || self.ir.files.iter().filter(|file| file.root == Some(id));
        let mut keys = Vec::new();
        if let Some(identifier) =
            files().map(|file| &file.identifier).find(|identifier| !identifier.is_empty())
        {
            keys.push(quote!(identifier = #identifier));
        }
        if let Some(extension) = files().map(|file| &file.extension).find(|extension| !extension.is_empty()) {
            keys.push(quote!(extension = #extension));
        }
        keys
    }

    fn table_field(&self, table: ObjectId, rust_name: &str, field: &Field) -> TokenStream {
        let declaration = &self.ir.objects[table.0].declaration;
        let mut keys = self.common_keys(rust_name, ObjectKind::Table, field);
        if field.has_explicit_id {
            let id = Literal::u16_unsuffixed(field.id);
            keys.insert(0, quote!(id = #id));
        }
        if let Some(default) =
            self.default_key(field, declaration).filter(|_| field.presence == Presence::Default)
        {
            keys.push(quote!(default = #default));
        }
        // A string that is the key is required without a word.
        if field.attributes.iter().any(|(name, _)| name == "required") {
            keys.push(quote!(required));
        }
        if field.is_deprecated {
            keys.push(quote!(deprecated));
        }
        keys.extend(align(field));
        let is_said = |(name, _): &&(String, String)| name == "force_align" && field.align.is_some();
        let others: Vec<_> = field.attributes.iter().filter(|name| !is_said(name)).cloned().collect();
        keys.extend(attributes(&others));
        keys.extend(self.nested_key(field));
        let deprecated = field.is_deprecated.then(|| quote!(#[deprecated]));
        let (documentation, message) = (documentation(&field.documentation), message(&keys));
        let (name, field_type) = (identifier(rust_name), self.field_type(field, declaration));
        let custom = self.custom.of_field(&declaration.name, &field.name);
        let serde = self.serde_field(rust_name, field);
        quote!(#documentation #deprecated #serde #custom #message pub #name: #field_type)
    }

    /// The name of a nested message as the schema spells it, where that is not its full name.
    fn nested_key(&self, field: &Field) -> Option<TokenStream> {
        let full = self.ir.objects[field.nested?.0].declaration.name.dotted();
        let (_, written) = field.attributes.iter().find(|(name, _)| name == "nested_flatbuffer")?;
        (*written != full).then(|| quote!(attribute(nested_flatbuffer = #written)))
    }

    /// What fields of tables and structs have in common.
    pub(super) fn common_keys(&self, rust_name: &str, kind: ObjectKind, field: &Field) -> Vec<TokenStream> {
        let mut keys = Vec::new();
        if differs(rust_name, &field.name) {
            let wire = &field.name;
            keys.push(quote!(rename = #wire));
        }
        match field.is_key {
            true if is_searchable(self.ir, kind, field) => keys.push(quote!(key)),
            true => keys.push(quote!(attribute(key = "0"))),
            false => {}
        }
        keys
    }
}

/// `align = 16`
fn align(field: &Field) -> Option<TokenStream> {
    let align = Literal::u32_unsuffixed(field.align?);
    Some(quote!(align = #align))
}
