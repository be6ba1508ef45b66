//! A struct of one unnamed field: on the wire it is that field.

use proc_macro2::TokenStream;
use quote::quote;

use super::{Names, at, ends, plain, table::wire_of};
use crate::ast::Newtype;

pub(crate) fn expand(newtype: &Newtype<'_>) -> TokenStream {
    let names = Names::new(newtype.original, &newtype.container);
    let field = field(&names, newtype);
    let plain = newtype.container.plain.as_ref().map(|_| plain::transparent(&names, newtype.ty));
    quote! {
        #[allow(deprecated, non_camel_case_types, clippy::all)]
        const _: () = {
            #field
            #plain
        };
    }
}

/// ```text
/// impl Field for Celsius { type Wire = <f32 as Field>::Wire; .. }
/// impl Element for Celsius where for<'all> <f32 as Field>::Wire: ElementWire {}
/// impl FromWire for Celsius { .. }
/// ```
fn field(names: &Names<'_>, newtype: &Newtype<'_>) -> TokenStream {
    let Names { private, parameters, this, .. } = names;
    let ty = newtype.ty;
    let (first, _) = ends(ty);
    let (wire, spanned) = (wire_of(names, ty, &newtype.erased), at(first, private));
    let declared = newtype.original.generics.where_clause.as_ref().map(|clause| &clause.predicates);
    let owned = newtype.original.generics.params.is_empty().then(|| {
        quote! {
            #[automatically_derived]
            impl #private::FromWire for #this {
                #[inline]
                fn from_wire(__view: <#wire as #spanned::Wire>::View<'_>) -> Self {
                    Self(<#wire as #spanned::MakeOwned<#ty>>::make_owned(__view))
                }
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl #parameters #private::Field for #this where #declared {
            type Wire = #wire;

            #[inline]
            fn is_absent(&self) -> ::core::primitive::bool {
                <#ty as #spanned::Field>::is_absent(&self.0)
            }

            #[inline]
            fn encode(&self, __out: &mut #private::Encoder<'_>, __place: #private::Place) {
                <#ty as #spanned::Field>::encode(&self.0, __out, __place);
            }
        }

        // A bound without parameters is an error where it does not hold, but for one that holds `for` all lifetimes.
        #[automatically_derived]
        impl #parameters #private::Element for #this
        where
            for<'all> #wire: #private::ElementWire,
            #declared
        {}

        #owned
    }
}
