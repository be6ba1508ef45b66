// /// One of several.
// #[derive(Message)]
// #[message(namespace = "demo")]
// pub enum Thing<'a> {
//     /// A tree.
//     Node(Box<Node<'a>>),
//     #[message(id = 7, rename = "text")]
//     Text(&'a str),
//     #[message(unknown)]
//     Unknown(u8),
// }

/// A received [`Thing`]: it borrows from the payload.
#[allow(non_camel_case_types, dead_code, deprecated, private_interfaces)]
pub enum ThingView<'view> {
    /// A tree.
    Node(
        <<Box<
            Node<'static>,
        > as ::msg_runtime::__private::Field>::Wire as ::msg_runtime::__private::Wire>::View<
            'view,
        >,
    ),
    /// The member `text`.
    Text(
        <<&'static str as ::msg_runtime::__private::Field>::Wire as ::msg_runtime::__private::Wire>::View<
            'view,
        >,
    ),
    /// The number of a member that this program does not know; 0 is none.
    Unknown(::core::primitive::u8),
}
#[allow(deprecated, non_camel_case_types, clippy::all)]
const _: () = {
    const __MSG_MEMBERS: [::msg_runtime::__private::MemberSpec; 2] = [
        ::msg_runtime::__private::MemberSpec::of::<
            <Box<Node<'static>> as ::msg_runtime::__private::Field>::Wire,
        >(
            "Node",
            1,
            &::msg_runtime::__private::About {
                documentation: &[" A tree."],
                attributes: &[],
            },
        ),
        ::msg_runtime::__private::MemberSpec::of::<
            <&'static str as ::msg_runtime::__private::Field>::Wire,
        >("text", 7, ::msg_runtime::__private::About::NONE),
    ];
    #[automatically_derived]
    impl ::msg_runtime::__private::Union for Thing<'static> {
        const NAME: &'static ::core::primitive::str = "demo.Thing";
        const MEMBERS: &'static [::msg_runtime::__private::MemberSpec] = &__MSG_MEMBERS;
        const ABOUT: &'static ::msg_runtime::__private::About = &::msg_runtime::__private::About {
            documentation: &[" One of several."],
            attributes: &[],
        };
        type View<'view> = ThingView<'view>;
        #[inline]
        fn from_cursor(
            __cursor: ::msg_runtime::__private::UnionCursor<'_, Self>,
        ) -> ThingView<'_> {
            if let ::core::option::Option::Some(__view) = ::msg_runtime::__private::UnionCursor::member::<
                <Box<Node<'static>> as ::msg_runtime::__private::Field>::Wire,
                0,
            >(&__cursor)
                .map(ThingView::Node)
            {
                return __view;
            }
            if let ::core::option::Option::Some(__view) = ::msg_runtime::__private::UnionCursor::member::<
                <&'static str as ::msg_runtime::__private::Field>::Wire,
                1,
            >(&__cursor)
                .map(ThingView::Text)
            {
                return __view;
            }
            ThingView::Unknown(::msg_runtime::__private::UnionCursor::number(&__cursor))
        }
    }
    #[automatically_derived]
    impl ::core::clone::Clone for ThingView<'_> {
        #[inline]
        fn clone(&self) -> Self {
            let _: ::core::marker::PhantomData<
                (
                    <Box<Node<'static>> as ::msg_runtime::__private::Field>::Wire,
                    <&'static str as ::msg_runtime::__private::Field>::Wire,
                ),
            >;
            *self
        }
    }
    #[automatically_derived]
    impl ::core::marker::Copy for ThingView<'_> {}
    #[automatically_derived]
    impl ::core::fmt::Debug for ThingView<'_> {
        fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            let mut __debug = |
                __name: &::core::primitive::str,
                __member: &dyn ::core::fmt::Debug|
            {
                ::core::fmt::Formatter::debug_tuple(__f, __name).field(__member).finish()
            };
            match *self {
                ThingView::Node(__member @ _) => {
                    __debug(
                        "Node",
                        &::msg_runtime::__private::Shown::<
                            <Box<Node<'static>> as ::msg_runtime::__private::Field>::Wire,
                        >(__member),
                    )
                }
                ThingView::Text(__member @ _) => {
                    __debug(
                        "Text",
                        &::msg_runtime::__private::Shown::<
                            <&'static str as ::msg_runtime::__private::Field>::Wire,
                        >(__member),
                    )
                }
                ThingView::Unknown(__number) => __debug("Unknown", &__number),
            }
        }
    }
    #[automatically_derived]
    impl<'a> ::msg_runtime::__private::Field for Thing<'a> {
        type Wire = ::msg_runtime::__private::UnionOf<Thing<'static>>;
        #[inline]
        fn is_absent(&self) -> ::core::primitive::bool {
            ::core::matches!(self, Self::Unknown(_))
        }
        fn encode(
            &self,
            __out: &mut ::msg_runtime::__private::Encoder<'_>,
            __place: ::msg_runtime::__private::Place,
        ) {
            match self {
                Self::Node(__member) => {
                    let __place = ::msg_runtime::__private::start_member(
                        &__MSG_MEMBERS[0],
                        __out,
                        __place,
                    );
                    <Box<
                        Node<'a>,
                    > as ::msg_runtime::__private::Field>::encode(
                        __member,
                        __out,
                        __place,
                    );
                }
                Self::Text(__member) => {
                    let __place = ::msg_runtime::__private::start_member(
                        &__MSG_MEMBERS[1],
                        __out,
                        __place,
                    );
                    <&'a str as ::msg_runtime::__private::Field>::encode(
                        __member,
                        __out,
                        __place,
                    );
                }
                Self::Unknown(_) => {}
            }
        }
    }
    #[automatically_derived]
    impl<'a> ::msg_runtime::__private::Element for Thing<'a> {}
    #[automatically_derived]
    impl<
        __Owned: ::msg_runtime::__private::Comparable<
                ::msg_runtime::__private::UnionOf<Thing<'static>>,
            >,
    > ::core::cmp::PartialEq<__Owned> for ThingView<'_> {
        fn eq(&self, __owned: &__Owned) -> ::core::primitive::bool {
            let _: ::core::marker::PhantomData<
                (
                    <Box<Node<'static>> as ::msg_runtime::__private::Field>::Wire,
                    <&'static str as ::msg_runtime::__private::Field>::Wire,
                ),
            >;
            __Owned::equals(__owned, *self)
        }
    }
};
