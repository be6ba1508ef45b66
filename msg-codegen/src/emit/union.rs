//! Unions: enums with data, and a variant for members that only newer senders know.

use proc_macro2::{Literal, TokenStream};
use quote::quote;

use super::{Emitter, attributes, container, documentation, identifier, message};
use crate::{
    ir::{Member, Union, UnionId},
    names::{VariantNames, differs},
};

impl Emitter<'_> {
    /// ```text
    /// #[derive(::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq, ::msg_runtime::Message)]
    /// #[message(namespace = "demo")]
    /// pub enum Shape {
    ///     Circle(Circle),
    ///     #[message(id = 7)]
    ///     label(::std::string::String),
    ///     #[message(unknown)]
    ///     Unknown(u8),
    /// }
    /// ```
    pub(super) fn union(&self, id: UnionId) -> TokenStream {
        let (item, rust_name) = (&self.ir.unions[id.0], self.names.union(id));
        let declaration = &item.declaration;
        let names = VariantNames::choose(item);
        let mut keys = container(declaration, rust_name);
        if let Some(view) = self.names.view(&declaration.name) {
            keys.push(quote!(view = #view));
        }
        keys.extend(attributes(&declaration.attributes));
        let members = self.members(item, &names);
        let (allow, documentation) =
            (self.item_allow(declaration), documentation(&declaration.documentation));
        let (message, name) = (message(&keys), identifier(rust_name));
        let (unknown, number) = (identifier(&names.unknown), self.scalar(crate::ir::Scalar::U8, declaration));
        let custom = self.custom.of_type(&declaration.name);
        let (serde, serde_unknown) = (self.serde_derive(), self.serde_unknown());
        quote! {
            #allow
            #documentation
            #[derive(::core::clone::Clone, ::core::fmt::Debug, ::core::cmp::PartialEq)]
            #[derive(::msg_runtime::Message)]
            #serde
            #custom
            #message
            pub enum #name {
                #(#members,)*
                /// The number of a member that this program does not know; 0 is none.
                #[message(unknown)]
                #serde_unknown
                #unknown(#number),
            }
        }
    }

    fn members(&self, item: &Union, names: &VariantNames) -> Vec<TokenStream> {
        let mut previous = 0;
        let members = item.members.iter().zip(&names.members).map(|(member, rust_name)| {
            let follows = member.number == previous + 1;
            previous = member.number;
            self.member(item, member, rust_name, follows)
        });
        members.collect()
    }

    fn member(&self, item: &Union, member: &Member, rust_name: &str, follows: bool) -> TokenStream {
        let mut keys = Vec::new();
        if !follows {
            let id = Literal::i128_unsuffixed(member.number);
            keys.push(quote!(id = #id));
        }
        if differs(rust_name, &member.name) {
            let wire = &member.name;
            keys.push(quote!(rename = #wire));
        }
        keys.extend(attributes(&member.attributes));
        let held = self.element(member.element, &item.declaration);
        let held = if member.is_boxed { quote!(::std::boxed::Box<#held>) } else { held };
        let (documentation, message) = (documentation(&member.documentation), message(&keys));
        let name = identifier(rust_name);
        let custom = self.custom.of_field(&item.declaration.name, &member.name);
        let serde = self.serde_name(rust_name, &member.name);
        quote!(#documentation #serde #custom #message #name(#held))
    }
}
