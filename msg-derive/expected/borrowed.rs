// #[derive(Message)]
// #[message(namespace = "demo", topic = "left.iq", crate = "renamed")]
// struct Iq<'a> {
//     samples: &'a [f32],
// }

/// A received [`Iq`]: it borrows from the payload.
#[allow(non_camel_case_types)]
struct IqView<'view>(renamed::__private::Cursor<'view, Iq<'static>>);
#[automatically_derived]
impl ::core::clone::Clone for IqView<'_> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}
#[automatically_derived]
impl ::core::marker::Copy for IqView<'_> {}
#[allow(dead_code, deprecated, non_snake_case, private_interfaces, clippy::all)]
impl<'view> IqView<'view> {
    /// The field `samples`.
    #[inline]
    fn samples(
        &self,
    ) -> <<&'static [f32] as renamed::__private::Field>::Wire as renamed::__private::Wire>::View<
        'view,
    > {
        renamed::__private::Cursor::get::<
            <&'static [f32] as renamed::__private::Field>::Wire,
            0,
        >(&self.0)
    }
}
#[allow(deprecated, non_camel_case_types, clippy::all)]
const _: () = {
    use renamed::__private as __msg;
    const __MSG_FIELDS: [__msg::FieldSpec; 1] = __msg::assign_ids([
        __msg::FieldSpec::bare::<<&'static [f32] as __msg::Field>::Wire>("samples"),
    ]);
    const __MSG_VTABLE: [::core::primitive::u16; __msg::vtable_len(&__MSG_FIELDS)] = __msg::vtable(
        &__MSG_FIELDS,
    );
    #[automatically_derived]
    impl __msg::Table for Iq<'static> {
        const NAME: &'static ::core::primitive::str = "demo.Iq";
        const FIELDS: &'static [__msg::FieldSpec] = &__MSG_FIELDS;
        const VTABLE: &'static [::core::primitive::u16] = &__MSG_VTABLE;
        const ABOUT: &'static __msg::About = __msg::About::NONE;
        type View<'view> = IqView<'view>;
        #[inline]
        fn from_cursor(__cursor: __msg::Cursor<'_, Self>) -> IqView<'_> {
            IqView(__cursor)
        }
    }
    #[automatically_derived]
    impl ::core::fmt::Debug for IqView<'_> {
        #[inline]
        fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            __msg::show_table(&self.0, "Iq", &["samples"], __f)
        }
    }
    #[automatically_derived]
    impl renamed::Message for Iq<'static> {
        const TYPE_NAME: &'static ::core::primitive::str = "demo.Iq";
        const TOPIC: &'static ::core::primitive::str = "left.iq";
        type View<'view> = IqView<'view>;
        type __Wire = __msg::TableOf<Self>;
        #[inline]
        fn __view<'view>(
            __view: <<Self as renamed::Message>::__Wire as __msg::Wire>::View<'view>,
        ) -> <Self as renamed::Message>::View<'view> {
            __view
        }
        #[inline]
        fn __schema() -> &'static __msg::CompiledSchema {
            static __MSG_SCHEMA: __msg::SchemaCell = __msg::SchemaCell::new();
            __msg::SchemaCell::get::<Self>(&__MSG_SCHEMA)
        }
    }
    #[automatically_derived]
    impl<'a> __msg::Field for Iq<'a> {
        type Wire = __msg::TableOf<Iq<'static>>;
        #[inline]
        fn encode(&self, __out: &mut __msg::Encoder<'_>, __place: __msg::Place) {
            #[allow(unused_mut)]
            let mut __vtable = __MSG_VTABLE;
            <&'a [f32] as __msg::Field>::__clear_absent(
                &self.samples,
                &mut __vtable,
                &__MSG_FIELDS[0],
                __out,
            );
            let __align = <Iq<'static> as __msg::Table>::ALIGN;
            #[allow(unused_variables)]
            if let ::core::option::Option::Some(__table) = __out
                .open_table(__place, &__vtable, __align)
            {
                <&'a [f32] as __msg::Field>::__encode_in(
                    &self.samples,
                    __table,
                    &__vtable,
                    &__MSG_FIELDS[0],
                    __out,
                );
                __out.close_table();
            }
        }
    }
    #[automatically_derived]
    impl<'a> __msg::Element for Iq<'a> {}
    #[automatically_derived]
    impl<'a> renamed::Encode for Iq<'a> {
        type Message = Iq<'static>;
        #[inline]
        fn __encode(&self, __out: &mut __msg::Encoder<'_>) {
            __msg::encode_root::<Iq<'static>, Self>(self, __out);
        }
    }
    #[automatically_derived]
    impl renamed::Encode for IqView<'_> {
        type Message = Iq<'static>;
        #[inline]
        fn __encode(&self, __out: &mut __msg::Encoder<'_>) {
            __msg::encode_view_root(&self.0, __out);
        }
    }
    #[automatically_derived]
    impl __msg::Field for IqView<'_> {
        type Wire = __msg::TableOf<Iq<'static>>;
        #[inline]
        fn encode(&self, __out: &mut __msg::Encoder<'_>, __place: __msg::Place) {
            __msg::encode_view(&self.0, __out, __place);
        }
    }
    #[automatically_derived]
    impl __msg::Element for IqView<'_> {}
    __msg::serialize_view! {
        IqView
    }
    #[automatically_derived]
    impl<
        __Owned: __msg::Comparable<__msg::TableOf<Iq<'static>>>,
    > ::core::cmp::PartialEq<__Owned> for IqView<'_> {
        fn eq(&self, __owned: &__Owned) -> ::core::primitive::bool {
            __Owned::equals(__owned, *self)
        }
    }
};
