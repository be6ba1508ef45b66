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
#[derive(::core::clone::Clone, ::core::marker::Copy)]
pub struct PersonView<'view>(::msg_runtime::__private::Cursor<'view, Person>);
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
    const __MSG_FIELDS: [::msg_runtime::__private::FieldSpec; 2] = ::msg_runtime::__private::assign_ids([
        ::msg_runtime::__private::FieldSpec::of::<
            <i32 as ::msg_runtime::__private::Field>::Wire,
        >("id")
            .default_bits(
                ::msg_runtime::__private::default_bits::<
                    <<i32 as ::msg_runtime::__private::Field>::Wire as ::msg_runtime::__private::DefaultWire>::Number,
                >(7),
            )
            .about(
                &::msg_runtime::__private::About {
                    documentation: &[" Never reused."],
                    attributes: &[],
                },
            )
            .checked(),
        ::msg_runtime::__private::FieldSpec::of::<
            <Option<String> as ::msg_runtime::__private::Field>::Wire,
        >("email")
            .about(::msg_runtime::__private::About::NONE)
            .checked(),
    ]);
    const __MSG_VTABLE: [::core::primitive::u16; ::msg_runtime::__private::vtable_len(
        &__MSG_FIELDS,
    )] = ::msg_runtime::__private::vtable(&__MSG_FIELDS);
    #[automatically_derived]
    impl ::msg_runtime::__private::Table for Person {
        const NAME: &'static ::core::primitive::str = "demo.Person";
        const FIELDS: &'static [::msg_runtime::__private::FieldSpec] = &__MSG_FIELDS;
        const VTABLE: &'static [::core::primitive::u16] = &__MSG_VTABLE;
        const ABOUT: &'static ::msg_runtime::__private::About = &::msg_runtime::__private::About {
            documentation: &[" A person."],
            attributes: &[],
        };
        type View<'view> = PersonView<'view>;
        #[inline]
        fn from_cursor(
            __cursor: ::msg_runtime::__private::Cursor<'_, Self>,
        ) -> PersonView<'_> {
            PersonView(__cursor)
        }
    }
    #[automatically_derived]
    impl ::core::fmt::Debug for PersonView<'_> {
        #[inline]
        fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            #[allow(unused_mut)]
            let mut __debug = ::core::fmt::Formatter::debug_struct(__f, "Person");
            __debug
                .field(
                    "id",
                    &::msg_runtime::__private::Shown::<
                        <i32 as ::msg_runtime::__private::Field>::Wire,
                    >(
                        ::msg_runtime::__private::Cursor::get::<
                            <i32 as ::msg_runtime::__private::Field>::Wire,
                            0,
                        >(&self.0),
                    ),
                );
            __debug
                .field(
                    "email",
                    &::msg_runtime::__private::Shown::<
                        <Option<String> as ::msg_runtime::__private::Field>::Wire,
                    >(
                        ::msg_runtime::__private::Cursor::get::<
                            <Option<String> as ::msg_runtime::__private::Field>::Wire,
                            1,
                        >(&self.0),
                    ),
                );
            __debug.finish()
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::Message for Person {
        const TYPE_NAME: &'static ::core::primitive::str = "demo.Person";
        type View<'view> = PersonView<'view>;
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
    impl ::msg_runtime::__private::Field for Person {
        type Wire = ::msg_runtime::__private::TableOf<Person>;
        #[inline]
        fn encode(
            &self,
            __out: &mut ::msg_runtime::__private::Encoder<'_>,
            __place: ::msg_runtime::__private::Place,
        ) {
            #[allow(unused_mut)]
            let mut __vtable = __MSG_VTABLE;
            if <i32 as ::msg_runtime::__private::Field>::is_absent(&self.id) {
                ::msg_runtime::__private::clear(&mut __vtable, &__MSG_FIELDS[0], __out);
            }
            if <Option<
                String,
            > as ::msg_runtime::__private::Field>::is_absent(&self.email) {
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
                    <i32 as ::msg_runtime::__private::Field>::encode(
                        &self.id,
                        __out,
                        __place,
                    );
                }
                if let ::core::option::Option::Some(__place) = __table
                    .place(&__vtable, &__MSG_FIELDS[1])
                {
                    <Option<
                        String,
                    > as ::msg_runtime::__private::Field>::encode(
                        &self.email,
                        __out,
                        __place,
                    );
                }
                __out.close_table();
            }
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::__private::Element for Person {}
    #[automatically_derived]
    impl ::msg_runtime::Encode for Person {
        type Message = Person;
        #[inline]
        fn __encode(&self, __out: &mut ::msg_runtime::__private::Encoder<'_>) {
            ::msg_runtime::__private::encode_root::<Person, Self>(self, __out);
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::Encode for PersonView<'_> {
        type Message = Person;
        #[inline]
        fn __encode(&self, __out: &mut ::msg_runtime::__private::Encoder<'_>) {
            ::msg_runtime::__private::encode_view_root(&self.0, __out);
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::__private::Field for PersonView<'_> {
        type Wire = ::msg_runtime::__private::TableOf<Person>;
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
    impl ::msg_runtime::__private::Element for PersonView<'_> {}
    ::msg_runtime::__private::serialize_view! {
        PersonView
    }
    #[automatically_derived]
    impl<__Owned> ::core::cmp::PartialEq<__Owned> for PersonView<'_>
    where
        __Owned: ::msg_runtime::__private::FromWire
            + ::msg_runtime::__private::Field<
                Wire = ::msg_runtime::__private::TableOf<Person>,
            > + ::core::cmp::PartialEq,
    {
        fn eq(&self, __owned: &__Owned) -> ::core::primitive::bool {
            ::msg_runtime::__private::equals_owned(self, __owned)
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::FromView for Person {
        #[inline]
        fn from_view(__view: PersonView<'_>) -> Self {
            Self {
                id: <<i32 as ::msg_runtime::__private::Field>::Wire as ::msg_runtime::__private::MakeOwned<
                    i32,
                >>::make_owned(
                    ::msg_runtime::__private::Cursor::get::<
                        <i32 as ::msg_runtime::__private::Field>::Wire,
                        0,
                    >(&__view.0),
                ),
                email: <<Option<
                    String,
                > as ::msg_runtime::__private::Field>::Wire as ::msg_runtime::__private::MakeOwned<
                    Option<String>,
                >>::make_owned(
                    ::msg_runtime::__private::Cursor::get::<
                        <Option<String> as ::msg_runtime::__private::Field>::Wire,
                        1,
                    >(&__view.0),
                ),
            }
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::__private::FromWire for Person {
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
