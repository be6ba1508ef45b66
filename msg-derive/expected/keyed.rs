// #[derive(Message)]
// #[message(namespace = "demo")]
// struct Word {
//     #[message(key)]
//     text: String,
//     #[message(with = "stamps")]
//     stamp: Stamp,
//     #[message(skip)]
//     cache: Cache,
// }

/// A received [`Word`]: it borrows from the payload.
#[allow(non_camel_case_types)]
#[derive(::core::clone::Clone, ::core::marker::Copy)]
struct WordView<'view>(::msg_runtime::__private::Cursor<'view, Word>);
#[allow(dead_code, deprecated, non_snake_case, private_interfaces, clippy::all)]
impl<'view> WordView<'view> {
    /// The field `text`.
    #[inline]
    fn text(
        &self,
    ) -> <<String as ::msg_runtime::__private::Field>::Wire as ::msg_runtime::__private::Wire>::View<
        'view,
    > {
        ::msg_runtime::__private::Cursor::get::<
            <String as ::msg_runtime::__private::Field>::Wire,
            0,
        >(&self.0)
    }
    /// The field `stamp`.
    #[inline]
    fn stamp(
        &self,
    ) -> <<stamps::Field as ::msg_runtime::__private::Field>::Wire as ::msg_runtime::__private::Wire>::View<
        'view,
    > {
        ::msg_runtime::__private::Cursor::get::<
            <stamps::Field as ::msg_runtime::__private::Field>::Wire,
            1,
        >(&self.0)
    }
}
#[allow(deprecated, non_camel_case_types, clippy::all)]
const _: () = {
    const __MSG_FIELDS: [::msg_runtime::__private::FieldSpec; 2] = ::msg_runtime::__private::assign_ids([
        ::msg_runtime::__private::FieldSpec::of::<
            <String as ::msg_runtime::__private::Field>::Wire,
        >("text")
            .key()
            .about(
                &::msg_runtime::__private::About {
                    documentation: &[],
                    attributes: &[("key", "0")],
                },
            )
            .checked(),
        ::msg_runtime::__private::FieldSpec::of::<
            <stamps::Field as ::msg_runtime::__private::Field>::Wire,
        >("stamp")
            .about(::msg_runtime::__private::About::NONE)
            .checked(),
    ]);
    const __MSG_VTABLE: [::core::primitive::u16; ::msg_runtime::__private::vtable_len(
        &__MSG_FIELDS,
    )] = ::msg_runtime::__private::vtable(&__MSG_FIELDS);
    #[automatically_derived]
    impl ::msg_runtime::__private::Table for Word {
        const NAME: &'static ::core::primitive::str = "demo.Word";
        const FIELDS: &'static [::msg_runtime::__private::FieldSpec] = &__MSG_FIELDS;
        const VTABLE: &'static [::core::primitive::u16] = &__MSG_VTABLE;
        const ABOUT: &'static ::msg_runtime::__private::About = ::msg_runtime::__private::About::NONE;
        type View<'view> = WordView<'view>;
        #[inline]
        fn from_cursor(
            __cursor: ::msg_runtime::__private::Cursor<'_, Self>,
        ) -> WordView<'_> {
            WordView(__cursor)
        }
    }
    #[automatically_derived]
    impl ::core::fmt::Debug for WordView<'_> {
        #[inline]
        fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            #[allow(unused_mut)]
            let mut __debug = ::core::fmt::Formatter::debug_struct(__f, "Word");
            __debug
                .field(
                    "text",
                    &::msg_runtime::__private::Shown::<
                        <String as ::msg_runtime::__private::Field>::Wire,
                    >(
                        ::msg_runtime::__private::Cursor::get::<
                            <String as ::msg_runtime::__private::Field>::Wire,
                            0,
                        >(&self.0),
                    ),
                );
            __debug
                .field(
                    "stamp",
                    &::msg_runtime::__private::Shown::<
                        <stamps::Field as ::msg_runtime::__private::Field>::Wire,
                    >(
                        ::msg_runtime::__private::Cursor::get::<
                            <stamps::Field as ::msg_runtime::__private::Field>::Wire,
                            1,
                        >(&self.0),
                    ),
                );
            __debug.finish()
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::Message for Word {
        const TYPE_NAME: &'static ::core::primitive::str = "demo.Word";
        type View<'view> = WordView<'view>;
        type __Wire = ::msg_runtime::__private::TableOf<Self>;
        #[inline]
        fn __view<'view>(
            __view: <<Self as ::msg_runtime::Message>::__Wire as ::msg_runtime::__private::Wire>::View<
                'view,
            >,
        ) -> <Self as ::msg_runtime::Message>::View<'view> {
            __view
        }
        #[inline]
        fn __schema() -> &'static ::msg_runtime::__private::CompiledSchema {
            static __MSG_SCHEMA: ::msg_runtime::__private::SchemaCell = ::msg_runtime::__private::SchemaCell::new();
            ::msg_runtime::__private::SchemaCell::get::<Self>(&__MSG_SCHEMA)
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::__private::Field for Word {
        type Wire = ::msg_runtime::__private::TableOf<Word>;
        #[inline]
        fn encode(
            &self,
            __out: &mut ::msg_runtime::__private::Encoder<'_>,
            __place: ::msg_runtime::__private::Place,
        ) {
            #[allow(unused_mut)]
            let mut __vtable = __MSG_VTABLE;
            let __value_1: stamps::Field = stamps::to_field(&self.stamp);
            if <String as ::msg_runtime::__private::Field>::is_absent(&self.text) {
                ::msg_runtime::__private::clear(&mut __vtable, &__MSG_FIELDS[0], __out);
            }
            if <stamps::Field as ::msg_runtime::__private::Field>::is_absent(
                &__value_1,
            ) {
                ::msg_runtime::__private::clear(&mut __vtable, &__MSG_FIELDS[1], __out);
            }
            let __align = const { ::msg_runtime::__private::max_align(&__MSG_FIELDS) };
            #[allow(unused_variables)]
            if let ::core::option::Option::Some(__table) = __out
                .open_table(__place, &__vtable, __align)
            {
                if let ::core::option::Option::Some(__place) = __table
                    .place(&__vtable, &__MSG_FIELDS[0])
                {
                    <String as ::msg_runtime::__private::Field>::encode(
                        &self.text,
                        __out,
                        __place,
                    );
                }
                if let ::core::option::Option::Some(__place) = __table
                    .place(&__vtable, &__MSG_FIELDS[1])
                {
                    <stamps::Field as ::msg_runtime::__private::Field>::encode(
                        &__value_1,
                        __out,
                        __place,
                    );
                }
                __out.close_table();
            }
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::__private::Element for Word {}
    #[automatically_derived]
    impl ::msg_runtime::Encode for Word {
        type Message = Word;
        #[inline]
        fn __encode(&self, __out: &mut ::msg_runtime::__private::Encoder<'_>) {
            ::msg_runtime::__private::encode_root::<Word, Self>(self, __out);
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::Encode for WordView<'_> {
        type Message = Word;
        #[inline]
        fn __encode(&self, __out: &mut ::msg_runtime::__private::Encoder<'_>) {
            ::msg_runtime::__private::encode_view_root(&self.0, __out);
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::__private::Field for WordView<'_> {
        type Wire = ::msg_runtime::__private::TableOf<Word>;
        #[inline]
        fn encode(
            &self,
            __out: &mut ::msg_runtime::__private::Encoder<'_>,
            __place: ::msg_runtime::__private::Place,
        ) {
            ::msg_runtime::__private::encode_view(&self.0, __out, __place);
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::__private::Element for WordView<'_> {}
    ::msg_runtime::__private::serialize_view! {
        WordView
    }
    #[automatically_derived]
    impl<__Owned> ::core::cmp::PartialEq<__Owned> for WordView<'_>
    where
        __Owned: ::msg_runtime::__private::FromWire
            + ::msg_runtime::__private::Field<
                Wire = ::msg_runtime::__private::TableOf<Word>,
            > + ::core::cmp::PartialEq,
    {
        fn eq(&self, __owned: &__Owned) -> ::core::primitive::bool {
            ::msg_runtime::__private::equals_owned(self, __owned)
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::__private::Keyed for Word {
        type Key = <String as ::msg_runtime::__private::Field>::Wire;
        #[inline]
        fn key<'view>(
            __view: <Self as ::msg_runtime::__private::Table>::View<'view>,
        ) -> <<Self as ::msg_runtime::__private::Keyed>::Key as ::msg_runtime::__private::Wire>::View<
            'view,
        > {
            ::msg_runtime::__private::Cursor::get::<
                <String as ::msg_runtime::__private::Field>::Wire,
                0,
            >(&__view.0)
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::FromView for Word {
        #[inline]
        fn from_view(__view: WordView<'_>) -> Self {
            Self {
                text: <<String as ::msg_runtime::__private::Field>::Wire as ::msg_runtime::__private::MakeOwned<
                    String,
                >>::make_owned(
                    ::msg_runtime::__private::Cursor::get::<
                        <String as ::msg_runtime::__private::Field>::Wire,
                        0,
                    >(&__view.0),
                ),
                stamp: stamps::from_field(
                    <<stamps::Field as ::msg_runtime::__private::Field>::Wire as ::msg_runtime::__private::MakeOwned<
                        stamps::Field,
                    >>::make_owned(
                        ::msg_runtime::__private::Cursor::get::<
                            <stamps::Field as ::msg_runtime::__private::Field>::Wire,
                            1,
                        >(&__view.0),
                    ),
                ),
                cache: <Cache as ::core::default::Default>::default(),
            }
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::__private::FromWire for Word {
        #[inline]
        fn from_wire(__view: WordView<'_>) -> Self {
            <Self as ::msg_runtime::FromView>::from_view(__view)
        }
    }
    #[automatically_derived]
    impl<'view> ::core::convert::From<WordView<'view>> for Word {
        #[inline]
        fn from(__view: WordView<'view>) -> Self {
            <Self as ::msg_runtime::FromView>::from_view(__view)
        }
    }
};
