//! An enum with data as a FlatBuffers union: facts, view, encoding, and the owned value of a view.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{quote, quote_spanned};
use syn::ext::IdentExt;

use super::{
    Names, at, ends,
    schema::about,
    table::{index, wire_of},
    view::comparison,
};
use crate::ast::{Member, Union};

pub(crate) fn expand(union: &Union<'_>) -> TokenStream {
    let names = Names::new(union.original, &union.container);
    // The derive has checked that there is one.
    let Some(unknown) = union.unknown.first().map(|variant| &variant.original.ident) else {
        return TokenStream::new();
    };
    let Names { private, message, .. } = &names;
    let view = view(&names, union, unknown);
    let facts = facts(&names, union, unknown);
    let encode = encode(&names, union, unknown);
    let comparison = comparison(&names, &quote!(#private::UnionOf<#message>), &kinds(&names, union));
    let owned = if union.original.generics.params.is_empty() {
        owned(&names, union, unknown)
    } else {
        TokenStream::new()
    };
    quote! {
        #view
        #[allow(deprecated, non_camel_case_types, clippy::all)]
        const _: () = {
            #facts
            #encode
            #comparison
            #owned
        };
    }
}

/// The wire kind of a member: `<Box<Node> as Field>::Wire`.
fn wire(names: &Names<'_>, member: &Member<'_>) -> TokenStream {
    wire_of(names, member.ty, &member.erased)
}

/// ```text
/// /// A received [`Thing`]: it borrows from the payload.
/// pub enum ThingView<'view> {
///     /// The member `Node`.
///     Node(<<Box<Node> as Field>::Wire as Wire>::View<'view>),
///     /// The number of a member that this program does not know; 0 is none.
///     Unknown(u8),
/// }
/// ```
fn view(names: &Names<'_>, union: &Union<'_>, unknown: &Ident) -> TokenStream {
    let Names { ident, private, view, .. } = names;
    let vis = &union.original.vis;
    let doc = format!(" A received [`{}`]: it borrows from the payload.", ident.unraw());
    let variants = union.members.iter().map(|member| {
        let variant = &member.variant.original.ident;
        let docs = member_docs(member);
        let (first, last) = ends(member.ty);
        let private = at(first, private);
        let wire = wire(names, member);
        let view = quote_spanned!(last=> View<'view>);
        let ty = quote_spanned!(first=> <#wire as #private::Wire>::#view);
        quote!(#docs #variant(#ty))
    });
    quote! {
        #[doc = #doc]
        #[allow(non_camel_case_types, dead_code, deprecated, private_interfaces)]
        #vis enum #view<'view> {
            #(#variants,)*
            /// The number of a member that this program does not know; 0 is none.
            #unknown(::core::primitive::u8),
        }
    }
}

/// `let _: PhantomData<(<Box<Node> as Field>::Wire,)>;`: a function that names the view and no member would report a
/// member that is none at a place of its own, were it not for this.
fn kinds(names: &Names<'_>, union: &Union<'_>) -> TokenStream {
    let wires = union.members.iter().map(|member| wire(names, member));
    quote!(let _: ::core::marker::PhantomData<(#(#wires,)*)>;)
}

/// `ThingView::Node`, with the extent of the member's type: what is wrong with that is one mistake then, and not many.
fn variant_path(view: &Ident, variant: &Ident, member: &Member<'_>) -> TokenStream {
    let (first, last) = ends(member.ty);
    let (mut view, mut variant) = (view.clone(), variant.clone());
    view.set_span(first);
    variant.set_span(last);
    quote_spanned!(first=> #view::#variant)
}

/// `__member @ _`: the pattern of a member's value, with the extent of its type. One name has one span only.
fn bound(member: &Member<'_>) -> TokenStream {
    let (_, last) = ends(member.ty);
    let (value, any) = (value(member), quote_spanned!(last=> @ _));
    quote!(#value #any)
}

/// `__member`, where the member's type is.
fn value(member: &Member<'_>) -> Ident {
    let (first, _) = ends(member.ty);
    Ident::new("__member", first)
}

fn member_docs(member: &Member<'_>) -> TokenStream {
    let documentation = &member.variant.attributes.about.documentation;
    if documentation.is_empty() {
        let doc = format!(" The member `{}`.", member.variant.name);
        return quote!(#[doc = #doc]);
    }
    quote!(#(#[doc = #documentation])*)
}

/// ```text
/// const __MSG_MEMBERS: [MemberSpec; 1] = [MemberSpec::of::<<Box<Node> as Field>::Wire>("Node", 1, About::NONE)];
///
/// impl Union for Thing {
///     const MEMBERS: &'static [MemberSpec] = &__MSG_MEMBERS;
///     fn from_cursor(cursor: UnionCursor<'_, Self>) -> ThingView<'_> {
///         if let Some(member) = UnionCursor::member::<<Box<Node> as Field>::Wire, 0>(&cursor) {
///             return ThingView::Node(member);
///         }
///         ThingView::Unknown(UnionCursor::number(&cursor))
///     }
///     ..
/// }
/// impl Clone for ThingView<'_> { .. }
/// impl Copy for ThingView<'_> {}
/// impl Debug for ThingView<'_> { .. }
/// ```
///
/// `Clone` and `Copy` are written out, since those of the standard derives would report a member's mistake again.
fn facts(names: &Names<'_>, union: &Union<'_>, unknown: &Ident) -> TokenStream {
    let Names { private, view, message, full_name, .. } = names;
    let union_about = about(names, &union.container.about, &[]);
    let specs = union.members.iter().map(|member| {
        let (wire, name) = (wire(names, member), &member.variant.name);
        let about = about(names, &member.variant.attributes.about, &[]);
        let number = Literal::u8_unsuffixed(member.number);
        let (first, _) = ends(member.ty);
        let private = at(first, private);
        let of = quote_spanned!(first=> #private::MemberSpec::of::<#wire>);
        quote!(#of(#name, #number, #about))
    });
    let read = union.members.iter().enumerate().map(|(position, member)| {
        let (variant, position) = (&member.variant.original.ident, index(position));
        let (first, _) = ends(member.ty);
        let (wire, private) = (wire(names, member), at(first, private));
        let read = quote_spanned!(first=> #private::UnionCursor::member::<#wire, #position>);
        let view = variant_path(view, variant, member);
        quote! {
            if let ::core::option::Option::Some(__view) = #read(&__cursor).map(#view) {
                return __view;
            }
        }
    });
    let (debug, kinds) = (debug(names, union, unknown), kinds(names, union));
    let count = index(union.members.len());
    quote! {
        const __MSG_MEMBERS: [#private::MemberSpec; #count] = [#(#specs),*];

        #[automatically_derived]
        impl #private::Union for #message {
            const NAME: &'static ::core::primitive::str = #full_name;
            const MEMBERS: &'static [#private::MemberSpec] = &__MSG_MEMBERS;
            const ABOUT: &'static #private::About = #union_about;
            type View<'view> = #view<'view>;

            #[inline]
            fn from_cursor(__cursor: #private::UnionCursor<'_, Self>) -> #view<'_> {
                #(#read)*
                #view::#unknown(#private::UnionCursor::number(&__cursor))
            }
        }

        #[automatically_derived]
        impl ::core::clone::Clone for #view<'_> {
            #[inline]
            fn clone(&self) -> Self {
                #kinds
                *self
            }
        }

        #[automatically_derived]
        impl ::core::marker::Copy for #view<'_> {}

        #debug
    }
}

/// ```text
/// impl Debug for ThingView<'_> { .. }
/// ```
fn debug(names: &Names<'_>, union: &Union<'_>, unknown: &Ident) -> TokenStream {
    let Names { private, view, .. } = names;
    let unknown_name = unknown.unraw().to_string();
    let shown = union.members.iter().map(|member| {
        let variant = &member.variant.original.ident;
        let name = variant.unraw().to_string();
        let (first, _) = ends(member.ty);
        let (wire, private) = (wire(names, member), at(first, private));
        let (view, bound, value) = (variant_path(view, variant, member), bound(member), value(member));
        let shown = quote_spanned!(first=> #private::Shown::<#wire>(#value));
        quote!(#view(#bound) => __debug(#name, &#shown))
    });
    quote! {
        #[automatically_derived]
        impl ::core::fmt::Debug for #view<'_> {
            fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let mut __debug = |__name: &::core::primitive::str, __member: &dyn ::core::fmt::Debug| {
                    ::core::fmt::Formatter::debug_tuple(__f, __name).field(__member).finish()
                };
                match *self {
                    #(#shown,)*
                    #view::#unknown(__number) => __debug(#unknown_name, &__number),
                }
            }
        }
    }
}

/// ```text
/// impl Field for Thing {
///     type Wire = UnionOf<Thing>;
///     fn is_absent(&self) -> bool { matches!(self, Self::Unknown(_)) }
///     fn encode(&self, out: &mut Encoder<'_>, place: Place) {
///         match self {
///             Self::Node(member) => {
///                 let place = start_member(&__MSG_MEMBERS[0], out, place);
///                 <Box<Node> as Field>::encode(member, out, place)
///             }
///             Self::Unknown(_) => {}
///         }
///     }
/// }
/// impl Element for Thing {}
/// ```
fn encode(names: &Names<'_>, union: &Union<'_>, unknown: &Ident) -> TokenStream {
    let Names { private, parameters, bounds, this, message, .. } = names;
    let encoded = union.members.iter().enumerate().map(|(position, member)| {
        let (variant, ty, position) = (&member.variant.original.ident, member.ty, index(position));
        let (value, (first, _)) = (value(member), ends(ty));
        let private = at(first, private);
        quote_spanned! {first=>
            Self::#variant(#value) => {
                let __place = #private::start_member(&__MSG_MEMBERS[#position], __out, __place);
                <#ty as #private::Field>::encode(#value, __out, __place);
            }
        }
    });
    quote! {
        #[automatically_derived]
        impl #parameters #private::Field for #this #bounds {
            type Wire = #private::UnionOf<#message>;

            #[inline]
            fn is_absent(&self) -> ::core::primitive::bool {
                ::core::matches!(self, Self::#unknown(_))
            }

            fn encode(&self, __out: &mut #private::Encoder<'_>, __place: #private::Place) {
                match self {
                    #(#encoded)*
                    Self::#unknown(_) => {}
                }
            }
        }

        #[automatically_derived]
        impl #parameters #private::Element for #this #bounds {}
    }
}

/// ```text
/// impl FromWire for Thing {
///     fn from_wire(view: ThingView<'_>) -> Self {
///         match view {
///             ThingView::Node(member) => Self::Node(MakeOwned::make_owned(member)),
///             ThingView::Unknown(number) => Self::Unknown(number),
///         }
///     }
/// }
/// impl From<ThingView<'_>> for Thing { .. }
/// ```
fn owned(names: &Names<'_>, union: &Union<'_>, unknown: &Ident) -> TokenStream {
    let Names { private, view, message, .. } = names;
    let kinds = kinds(names, union);
    let members = union.members.iter().map(|member| {
        let (variant, ty) = (&member.variant.original.ident, member.ty);
        let (first, _) = ends(ty);
        let (wire, private) = (wire(names, member), at(first, private));
        let make = quote_spanned!(first=> <#wire as #private::MakeOwned<#ty>>::make_owned);
        let (view, bound, value) = (variant_path(view, variant, member), bound(member), value(member));
        quote!(#view(#bound) => Self::#variant(#make(#value)))
    });
    quote! {
        #[automatically_derived]
        impl #private::FromWire for #message {
            fn from_wire(__view: #view<'_>) -> Self {
                match __view {
                    #(#members,)*
                    #view::#unknown(__number) => Self::#unknown(__number),
                }
            }
        }

        #[automatically_derived]
        impl<'view> ::core::convert::From<#view<'view>> for #message {
            fn from(__view: #view<'view>) -> Self {
                #kinds
                <Self as #private::FromWire>::from_wire(__view)
            }
        }
    }
}
