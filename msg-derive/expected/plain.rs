// #[derive(Message)]
// #[message(namespace = "demo", plain)]
// #[repr(C)]
// pub struct Pose {
//     pub x: f64,
//     pub valid: bool,
//     pub padding: Padding<7>,
// }

#[allow(deprecated, non_camel_case_types, clippy::all)]
const _: () = {
    const _: () = ::msg_runtime::__private::check_gap(
        0,
        ::core::mem::offset_of!(Pose, x),
        "x",
    );
    const _: () = ::msg_runtime::__private::check_gap(
        ::core::mem::offset_of!(Pose, x) + ::core::mem::size_of::<f64>(),
        ::core::mem::offset_of!(Pose, valid),
        "valid",
    );
    const _: () = ::msg_runtime::__private::check_gap(
        ::core::mem::offset_of!(Pose, valid) + ::core::mem::size_of::<bool>(),
        ::core::mem::offset_of!(Pose, padding),
        "padding",
    );
    const _: () = ::msg_runtime::__private::check_end(
        ::core::mem::offset_of!(Pose, padding) + ::core::mem::size_of::<Padding<7>>(),
        ::core::mem::size_of::<Pose>(),
        ::core::mem::align_of::<Pose>(),
    );
    #[automatically_derived]
    unsafe impl ::msg_runtime::__private::Plain for Pose {
        const ANY_BITS: ::core::primitive::bool = true
            && <f64 as ::msg_runtime::__private::Plain>::ANY_BITS
            && <bool as ::msg_runtime::__private::Plain>::ANY_BITS
            && <Padding<7> as ::msg_runtime::__private::Plain>::ANY_BITS;
        const ZERO_IS_VALID: ::core::primitive::bool = true
            && <f64 as ::msg_runtime::__private::Plain>::ZERO_IS_VALID
            && <bool as ::msg_runtime::__private::Plain>::ZERO_IS_VALID
            && <Padding<7> as ::msg_runtime::__private::Plain>::ZERO_IS_VALID;
        #[inline]
        fn is_valid(__bytes: &[::core::primitive::u8]) -> ::core::primitive::bool {
            true
                && <f64 as ::msg_runtime::__private::Plain>::is_valid(
                    ::msg_runtime::__private::part(
                        __bytes,
                        ::core::mem::offset_of!(Pose, x),
                        ::core::mem::size_of::<f64>(),
                    ),
                )
                && <bool as ::msg_runtime::__private::Plain>::is_valid(
                    ::msg_runtime::__private::part(
                        __bytes,
                        ::core::mem::offset_of!(Pose, valid),
                        ::core::mem::size_of::<bool>(),
                    ),
                )
                && <Padding<
                    7,
                > as ::msg_runtime::__private::Plain>::is_valid(
                    ::msg_runtime::__private::part(
                        __bytes,
                        ::core::mem::offset_of!(Pose, padding),
                        ::core::mem::size_of::<Padding<7>>(),
                    ),
                )
        }
        #[inline]
        fn plain_shape() -> ::msg_runtime::__private::Shape {
            ::msg_runtime::__private::Shape::Object(
                ::msg_runtime::__private::plain_facts::<Self>,
            )
        }
        #[inline]
        fn show_plain(
            &self,
            __f: &mut ::core::fmt::Formatter<'_>,
        ) -> ::core::fmt::Result {
            let mut __debug = ::core::fmt::Formatter::debug_struct(__f, "Pose");
            <f64 as ::msg_runtime::__private::Plain>::show_field(
                &self.x,
                "x",
                &mut __debug,
            );
            <bool as ::msg_runtime::__private::Plain>::show_field(
                &self.valid,
                "valid",
                &mut __debug,
            );
            <Padding<
                7,
            > as ::msg_runtime::__private::Plain>::show_field(
                &self.padding,
                "padding",
                &mut __debug,
            );
            __debug.finish()
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::__private::PlainStruct for Pose {
        const NAME: &'static ::core::primitive::str = "demo.Pose";
        const FIELDS: &'static [::msg_runtime::__private::PlainFieldSpec] = &[
            ::msg_runtime::__private::PlainFieldSpec {
                name: "x",
                offset: ::core::mem::offset_of!(Pose, x),
                size: ::core::mem::size_of::<f64>(),
                key: false,
                shape: <f64 as ::msg_runtime::__private::Plain>::plain_shape,
                about: ::msg_runtime::__private::About::NONE,
            },
            ::msg_runtime::__private::PlainFieldSpec {
                name: "valid",
                offset: ::core::mem::offset_of!(Pose, valid),
                size: ::core::mem::size_of::<bool>(),
                key: false,
                shape: <bool as ::msg_runtime::__private::Plain>::plain_shape,
                about: ::msg_runtime::__private::About::NONE,
            },
            ::msg_runtime::__private::PlainFieldSpec {
                name: "padding",
                offset: ::core::mem::offset_of!(Pose, padding),
                size: ::core::mem::size_of::<Padding<7>>(),
                key: false,
                shape: <Padding<7> as ::msg_runtime::__private::Plain>::plain_shape,
                about: ::msg_runtime::__private::About::NONE,
            },
        ];
        const ABOUT: &'static ::msg_runtime::__private::About = ::msg_runtime::__private::About::NONE;
    }
    #[automatically_derived]
    impl ::msg_runtime::Message for Pose {
        const TYPE_NAME: &'static ::core::primitive::str = "demo.Pose";
        const PLAIN_BYTES: ::core::option::Option<::core::primitive::usize> = ::core::option::Option::Some(
            ::core::mem::size_of::<Self>(),
        );
        type View<'view> = &'view Self;
        type __Wire = ::msg_runtime::__private::PlainOf<Self>;
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
    impl ::msg_runtime::Encode for Pose {
        type Message = Self;
        #[inline]
        fn __encode(&self, __out: &mut ::msg_runtime::__private::Encoder<'_>) {
            ::msg_runtime::__private::encode_plain_root(self, __out);
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::FromView for Pose {
        #[inline]
        fn from_view(__view: &Self) -> Self {
            ::msg_runtime::__private::plain_copy(__view)
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::__private::Field for Pose {
        type Wire = ::msg_runtime::__private::PlainOf<Self>;
        #[inline]
        fn encode(
            &self,
            __out: &mut ::msg_runtime::__private::Encoder<'_>,
            __place: ::msg_runtime::__private::Place,
        ) {
            ::msg_runtime::__private::encode_plain(self, __out, __place);
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::__private::FromWire for Pose {
        #[inline]
        fn from_wire(__view: &Self) -> Self {
            ::msg_runtime::__private::plain_copy(__view)
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::__private::Element for Pose {
        #[inline]
        fn encode_all(
            __items: &[Self],
            __out: &mut ::msg_runtime::__private::Encoder<'_>,
            __place: ::msg_runtime::__private::Place,
        ) {
            ::msg_runtime::__private::encode_plain_slice(__items, __out, __place);
        }
    }
};
