// #[derive(Message)]
// #[message(namespace = "demo", topic = "left.iq", crate = "renamed")]
// struct Iq<'a> {
//     samples: &'a [f32],
// }

/// A received [`Iq`]: it borrows from the payload.
#[allow(non_camel_case_types)]
#[derive(::core::clone::Clone, ::core::marker::Copy)]
struct IqView<'view>(renamed::__private::Cursor<'view, Iq<'static>>);
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
    const __MSG_FIELDS: [renamed::__private::FieldSpec; 1] = renamed::__private::assign_ids([
        renamed::__private::FieldSpec::of::<
            <&'static [f32] as renamed::__private::Field>::Wire,
        >("samples")
            .about(renamed::__private::About::NONE)
            .checked(),
    ]);
    const __MSG_VTABLE: [::core::primitive::u16; renamed::__private::vtable_len(
        &__MSG_FIELDS,
    )] = renamed::__private::vtable(&__MSG_FIELDS);
    #[automatically_derived]
    impl renamed::__private::Table for Iq<'static> {
        const NAME: &'static ::core::primitive::str = "demo.Iq";
        const FIELDS: &'static [renamed::__private::FieldSpec] = &__MSG_FIELDS;
        const VTABLE: &'static [::core::primitive::u16] = &__MSG_VTABLE;
        const ABOUT: &'static renamed::__private::About = renamed::__private::About::NONE;
        type View<'view> = IqView<'view>;
        #[inline]
        fn from_cursor(__cursor: renamed::__private::Cursor<'_, Self>) -> IqView<'_> {
            IqView(__cursor)
        }
    }
    #[automatically_derived]
    impl ::core::fmt::Debug for IqView<'_> {
        #[inline]
        fn fmt(&self, __f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
            #[allow(unused_mut)]
            let mut __debug = ::core::fmt::Formatter::debug_struct(__f, "Iq");
            __debug
                .field(
                    "samples",
                    &renamed::__private::Shown::<
                        <&'static [f32] as renamed::__private::Field>::Wire,
                    >(
                        renamed::__private::Cursor::get::<
                            <&'static [f32] as renamed::__private::Field>::Wire,
                            0,
                        >(&self.0),
                    ),
                );
            __debug.finish()
        }
    }
    #[automatically_derived]
    impl renamed::Message for Iq<'static> {
        const TYPE_NAME: &'static ::core::primitive::str = "demo.Iq";
        const TOPIC: &'static ::core::primitive::str = "left.iq";
        type View<'view> = IqView<'view>;
        type __Wire = renamed::__private::TableOf<Self>;
        #[inline]
        fn __view<'view>(
            __view: <<Self as renamed::Message>::__Wire as renamed::__private::Wire>::View<
                'view,
            >,
        ) -> <Self as renamed::Message>::View<'view> {
            __view
        }
        #[inline]
        fn __schema() -> &'static renamed::__private::CompiledSchema {
            static __MSG_SCHEMA: renamed::__private::SchemaCell = renamed::__private::SchemaCell::new();
            renamed::__private::SchemaCell::get::<Self>(&__MSG_SCHEMA)
        }
    }
    #[automatically_derived]
    impl<'a> renamed::__private::Field for Iq<'a> {
        type Wire = renamed::__private::TableOf<Iq<'static>>;
        #[inline]
        fn encode(
            &self,
            __out: &mut renamed::__private::Encoder<'_>,
            __place: renamed::__private::Place,
        ) {
            #[allow(unused_mut)]
            let mut __vtable = __MSG_VTABLE;
            if <&'a [f32] as renamed::__private::Field>::is_absent(&self.samples) {
                renamed::__private::clear(&mut __vtable, &__MSG_FIELDS[0], __out);
            }
            let __align = const { renamed::__private::max_align(&__MSG_FIELDS) };
            #[allow(unused_variables)]
            if let ::core::option::Option::Some(__table) = __out
                .open_table(__place, &__vtable, __align)
            {
                if let ::core::option::Option::Some(__place) = __table
                    .place(&__vtable, &__MSG_FIELDS[0])
                {
                    <&'a [f32] as renamed::__private::Field>::encode(
                        &self.samples,
                        __out,
                        __place,
                    );
                }
                __out.close_table();
            }
        }
    }
    #[automatically_derived]
    impl<'a> renamed::__private::Element for Iq<'a> {}
    #[automatically_derived]
    impl<'a> renamed::Encode for Iq<'a> {
        type Message = Iq<'static>;
        #[inline]
        fn __encode(&self, __out: &mut renamed::__private::Encoder<'_>) {
            renamed::__private::encode_root::<Iq<'static>, Self>(self, __out);
        }
    }
    #[automatically_derived]
    impl renamed::Encode for IqView<'_> {
        type Message = Iq<'static>;
        #[inline]
        fn __encode(&self, __out: &mut renamed::__private::Encoder<'_>) {
            renamed::__private::encode_view_root(&self.0, __out);
        }
    }
    #[automatically_derived]
    impl renamed::__private::Field for IqView<'_> {
        type Wire = renamed::__private::TableOf<Iq<'static>>;
        #[inline]
        fn encode(
            &self,
            __out: &mut renamed::__private::Encoder<'_>,
            __place: renamed::__private::Place,
        ) {
            renamed::__private::encode_view(&self.0, __out, __place);
        }
    }
    #[automatically_derived]
    impl renamed::__private::Element for IqView<'_> {}
    renamed::__private::serialize_view! {
        IqView
    }
    #[automatically_derived]
    impl<__Owned> ::core::cmp::PartialEq<__Owned> for IqView<'_>
    where
        __Owned: renamed::__private::FromWire
            + renamed::__private::Field<Wire = renamed::__private::TableOf<Iq<'static>>>
            + ::core::cmp::PartialEq,
    {
        fn eq(&self, __owned: &__Owned) -> ::core::primitive::bool {
            renamed::__private::equals_owned(self, __owned)
        }
    }
};
