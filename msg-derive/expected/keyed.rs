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
struct WordView<'view>(::msg_runtime::__private::Cursor<'view, Word>);
#[automatically_derived]
impl ::core::clone::Clone for WordView<'_> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}
#[automatically_derived]
impl ::core::marker::Copy for WordView<'_> {}
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
    use ::msg_runtime::__private as __msg;
    const __MSG_FIELDS: [__msg::FieldSpec; 2] = __msg::assign_ids([
        __msg::FieldSpec::of::<<String as __msg::Field>::Wire>("text")
            .key()
            .about(
                &__msg::About {
                    documentation: &[],
                    attributes: &[("key", "0")],
                },
            )
            .checked(),
        __msg::FieldSpec::bare::<<stamps::Field as __msg::Field>::Wire>("stamp"),
    ]);
    const __MSG_VTABLE: [::core::primitive::u16; __msg::vtable_len(&__MSG_FIELDS)] = __msg::vtable(
        &__MSG_FIELDS,
    );
    #[automatically_derived]
    impl __msg::Table for Word {
        const NAME: &'static ::core::primitive::str = "demo.Word";
        const FIELDS: &'static [__msg::FieldSpec] = &__MSG_FIELDS;
        const VTABLE: &'static [::core::primitive::u16] = &__MSG_VTABLE;
        const ABOUT: &'static __msg::About = __msg::About::NONE;
        type View<'view> = WordView<'view>;
        #[inline]
        fn from_cursor(__cursor: __msg::Cursor<'_, Self>) -> WordView<'_> {
            WordView(__cursor)
        }
    }
    #[automatically_derived]
    impl ::core::fmt::Debug for WordView<'_> {
        #[inline]
        fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            __msg::show_table(&self.0, "Word", &["text", "stamp"], __f)
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::Message for Word {
        const TYPE_NAME: &'static ::core::primitive::str = "demo.Word";
        type View<'view> = WordView<'view>;
        type __Wire = __msg::TableOf<Self>;
        #[inline]
        fn __view<'view>(
            __view: <<Self as ::msg_runtime::Message>::__Wire as __msg::Wire>::View<
                'view,
            >,
        ) -> <Self as ::msg_runtime::Message>::View<'view> {
            __view
        }
        #[inline]
        fn __schema() -> &'static __msg::CompiledSchema {
            static __MSG_SCHEMA: __msg::SchemaCell = __msg::SchemaCell::new();
            __msg::SchemaCell::get::<Self>(&__MSG_SCHEMA)
        }
    }
    #[automatically_derived]
    impl __msg::Field for Word {
        type Wire = __msg::TableOf<Word>;
        #[inline]
        fn encode(&self, __out: &mut __msg::Encoder<'_>, __place: __msg::Place) {
            #[allow(unused_mut)]
            let mut __vtable = __MSG_VTABLE;
            let __value_1: stamps::Field = stamps::to_field(&self.stamp);
            <String as __msg::Field>::__clear_absent(
                &self.text,
                &mut __vtable,
                &__MSG_FIELDS[0],
                __out,
            );
            <stamps::Field as __msg::Field>::__clear_absent(
                &__value_1,
                &mut __vtable,
                &__MSG_FIELDS[1],
                __out,
            );
            let __align = <Word as __msg::Table>::ALIGN;
            #[allow(unused_variables)]
            if let ::core::option::Option::Some(__table) = __out
                .open_table(__place, &__vtable, __align)
            {
                <String as __msg::Field>::__encode_in(
                    &self.text,
                    __table,
                    &__vtable,
                    &__MSG_FIELDS[0],
                    __out,
                );
                <stamps::Field as __msg::Field>::__encode_in(
                    &__value_1,
                    __table,
                    &__vtable,
                    &__MSG_FIELDS[1],
                    __out,
                );
                __out.close_table();
            }
        }
    }
    #[automatically_derived]
    impl __msg::Element for Word {}
    #[automatically_derived]
    impl ::msg_runtime::Encode for Word {
        type Message = Word;
        #[inline]
        fn __encode(&self, __out: &mut __msg::Encoder<'_>) {
            __msg::encode_root::<Word, Self>(self, __out);
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::Encode for WordView<'_> {
        type Message = Word;
        #[inline]
        fn __encode(&self, __out: &mut __msg::Encoder<'_>) {
            __msg::encode_view_root(&self.0, __out);
        }
    }
    #[automatically_derived]
    impl __msg::Field for WordView<'_> {
        type Wire = __msg::TableOf<Word>;
        #[inline]
        fn encode(&self, __out: &mut __msg::Encoder<'_>, __place: __msg::Place) {
            __msg::encode_view(&self.0, __out, __place);
        }
    }
    #[automatically_derived]
    impl __msg::Element for WordView<'_> {}
    __msg::serialize_view! {
        WordView
    }
    #[automatically_derived]
    impl<
        __Owned: __msg::Comparable<__msg::TableOf<Word>>,
    > ::core::cmp::PartialEq<__Owned> for WordView<'_> {
        fn eq(&self, __owned: &__Owned) -> ::core::primitive::bool {
            __Owned::equals(__owned, *self)
        }
    }
    #[automatically_derived]
    impl __msg::Keyed for Word {
        type Key = <String as __msg::Field>::Wire;
        #[inline]
        fn key<'view>(
            __view: <Self as __msg::Table>::View<'view>,
        ) -> <<Self as __msg::Keyed>::Key as __msg::Wire>::View<'view> {
            __msg::Cursor::get::<<String as __msg::Field>::Wire, 0>(&__view.0)
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::FromView for Word {
        #[inline]
        fn from_view(__view: WordView<'_>) -> Self {
            Self {
                text: <<String as __msg::Field>::Wire as __msg::MakeOwned<
                    String,
                >>::take::<_, 0>(&__view.0),
                stamp: stamps::from_field(
                    <<stamps::Field as __msg::Field>::Wire as __msg::MakeOwned<
                        stamps::Field,
                    >>::take::<_, 1>(&__view.0),
                ),
                cache: <Cache as ::core::default::Default>::default(),
            }
        }
    }
    #[automatically_derived]
    impl __msg::FromWire for Word {
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
