// /// A person.
// #[derive(Message)]
// #[message(namespace = "demo")]
// pub struct Person {
//     /// Never reused.
//     #[message(default = 7)]
//     pub id: i32,
//     email: Option<String>,
// }

/// A received [`Person`]: it borrows from the payload.
#[allow(non_camel_case_types)]
pub struct PersonView<'view>(::msg_runtime::__private::Cursor<'view, Person>);
#[automatically_derived]
impl ::core::clone::Clone for PersonView<'_> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}
#[automatically_derived]
impl ::core::marker::Copy for PersonView<'_> {}
#[allow(dead_code, deprecated, non_snake_case, private_interfaces, clippy::all)]
impl<'view> PersonView<'view> {
    /// Never reused.
    #[inline]
    pub fn id(
        &self,
    ) -> <<i32 as ::msg_runtime::__private::Field>::Wire as ::msg_runtime::__private::Wire>::View<
        'view,
    > {
        ::msg_runtime::__private::Cursor::get::<
            <i32 as ::msg_runtime::__private::Field>::Wire,
            0,
        >(&self.0)
    }
    /// The field `email`.
    #[inline]
    fn email(
        &self,
    ) -> <<Option<
        String,
    > as ::msg_runtime::__private::Field>::Wire as ::msg_runtime::__private::Wire>::View<
        'view,
    > {
        ::msg_runtime::__private::Cursor::get::<
            <Option<String> as ::msg_runtime::__private::Field>::Wire,
            1,
        >(&self.0)
    }
}
#[allow(deprecated, non_camel_case_types, clippy::all)]
const _: () = {
    use ::msg_runtime::__private as __msg;
    const __MSG_FIELDS: [__msg::FieldSpec; 2] = __msg::assign_ids([
        __msg::FieldSpec::of::<<i32 as __msg::Field>::Wire>("id")
            .default_bits(
                __msg::default_bits::<
                    <<i32 as __msg::Field>::Wire as __msg::DefaultWire>::Number,
                >(7),
            )
            .about(
                &__msg::About {
                    documentation: &[" Never reused."],
                    attributes: &[],
                },
            )
            .checked(),
        __msg::FieldSpec::bare::<<Option<String> as __msg::Field>::Wire>("email"),
    ]);
    const __MSG_VTABLE: [::core::primitive::u16; __msg::vtable_len(&__MSG_FIELDS)] = __msg::vtable(
        &__MSG_FIELDS,
    );
    #[automatically_derived]
    impl __msg::Table for Person {
        const NAME: &'static ::core::primitive::str = "demo.Person";
        const FIELDS: &'static [__msg::FieldSpec] = &__MSG_FIELDS;
        const VTABLE: &'static [::core::primitive::u16] = &__MSG_VTABLE;
        const ABOUT: &'static __msg::About = &__msg::About {
            documentation: &[" A person."],
            attributes: &[],
        };
        type View<'view> = PersonView<'view>;
        #[inline]
        fn from_cursor(__cursor: __msg::Cursor<'_, Self>) -> PersonView<'_> {
            PersonView(__cursor)
        }
    }
    #[automatically_derived]
    impl ::core::fmt::Debug for PersonView<'_> {
        #[inline]
        fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            __msg::show_table(&self.0, "Person", &["id", "email"], __f)
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::Message for Person {
        const TYPE_NAME: &'static ::core::primitive::str = "demo.Person";
        type View<'view> = PersonView<'view>;
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
    impl __msg::Field for Person {
        type Wire = __msg::TableOf<Person>;
        #[inline]
        fn encode(&self, __out: &mut __msg::Encoder<'_>, __place: __msg::Place) {
            #[allow(unused_mut)]
            let mut __vtable = __MSG_VTABLE;
            <i32 as __msg::Field>::__clear_absent(
                &self.id,
                &mut __vtable,
                &__MSG_FIELDS[0],
                __out,
            );
            <Option<
                String,
            > as __msg::Field>::__clear_absent(
                &self.email,
                &mut __vtable,
                &__MSG_FIELDS[1],
                __out,
            );
            let __align = <Person as __msg::Table>::ALIGN;
            #[allow(unused_variables)]
            if let ::core::option::Option::Some(__table) = __out
                .open_table(__place, &__vtable, __align)
            {
                <i32 as __msg::Field>::__encode_in(
                    &self.id,
                    __table,
                    &__vtable,
                    &__MSG_FIELDS[0],
                    __out,
                );
                <Option<
                    String,
                > as __msg::Field>::__encode_in(
                    &self.email,
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
    impl __msg::Element for Person {}
    #[automatically_derived]
    impl ::msg_runtime::Encode for Person {
        type Message = Person;
        #[inline]
        fn __encode(&self, __out: &mut __msg::Encoder<'_>) {
            __msg::encode_root::<Person, Self>(self, __out);
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::Encode for PersonView<'_> {
        type Message = Person;
        #[inline]
        fn __encode(&self, __out: &mut __msg::Encoder<'_>) {
            __msg::encode_view_root(&self.0, __out);
        }
    }
    #[automatically_derived]
    impl __msg::Field for PersonView<'_> {
        type Wire = __msg::TableOf<Person>;
        #[inline]
        fn encode(&self, __out: &mut __msg::Encoder<'_>, __place: __msg::Place) {
            __msg::encode_view(&self.0, __out, __place);
        }
    }
    #[automatically_derived]
    impl __msg::Element for PersonView<'_> {}
    __msg::serialize_view! {
        PersonView
    }
    #[automatically_derived]
    impl<
        __Owned: __msg::Comparable<__msg::TableOf<Person>>,
    > ::core::cmp::PartialEq<__Owned> for PersonView<'_> {
        fn eq(&self, __owned: &__Owned) -> ::core::primitive::bool {
            __Owned::equals(__owned, *self)
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::FromView for Person {
        #[inline]
        fn from_view(__view: PersonView<'_>) -> Self {
            Self {
                id: <<i32 as __msg::Field>::Wire as __msg::MakeOwned<
                    i32,
                >>::take::<_, 0>(&__view.0),
                email: <<Option<
                    String,
                > as __msg::Field>::Wire as __msg::MakeOwned<
                    Option<String>,
                >>::take::<_, 1>(&__view.0),
            }
        }
    }
    #[automatically_derived]
    impl __msg::FromWire for Person {
        #[inline]
        fn from_wire(__view: PersonView<'_>) -> Self {
            <Self as ::msg_runtime::FromView>::from_view(__view)
        }
    }
    #[automatically_derived]
    impl<'view> ::core::convert::From<PersonView<'view>> for Person {
        #[inline]
        fn from(__view: PersonView<'view>) -> Self {
            <Self as ::msg_runtime::FromView>::from_view(__view)
        }
    }
};
