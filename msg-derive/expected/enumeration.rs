// #[derive(Message)]
// #[message(namespace = "demo", bit_flags)]
// #[repr(u16)]
// pub enum Access {
//     Read = 1,
//     /// And truncate.
//     #[message(rename = "write")]
//     Write = 2,
// }

#[allow(deprecated, non_camel_case_types, clippy::all)]
const _: () = {
    const __MSG_NUMBER_0: ::core::primitive::u16 = Access::Read
        as ::core::primitive::u16;
    const _: () = ::msg_runtime::__private::check_flag(
        __MSG_NUMBER_0 as ::core::primitive::u64,
    );
    const __MSG_NUMBER_1: ::core::primitive::u16 = Access::Write
        as ::core::primitive::u16;
    const _: () = ::msg_runtime::__private::check_flag(
        __MSG_NUMBER_1 as ::core::primitive::u64,
    );
    #[automatically_derived]
    impl ::msg_runtime::__private::Enumeration for Access {
        type Repr = ::core::primitive::u16;
        const NAME: &'static ::core::primitive::str = "demo.Access";
        const VALUES: &'static [::msg_runtime::__private::EnumeratorSpec] = &[
            ::msg_runtime::__private::EnumeratorSpec {
                name: "Read",
                value: __MSG_NUMBER_0 as ::core::primitive::i64,
                about: ::msg_runtime::__private::About::NONE,
            },
            ::msg_runtime::__private::EnumeratorSpec {
                name: "write",
                value: __MSG_NUMBER_1 as ::core::primitive::i64,
                about: &::msg_runtime::__private::About {
                    documentation: &[" And truncate."],
                    attributes: &[],
                },
            },
        ];
        const NUMBERS: &'static [::core::primitive::u64] = &[
            __MSG_NUMBER_0 as ::core::primitive::u16 as ::core::primitive::u64,
            __MSG_NUMBER_1 as ::core::primitive::u16 as ::core::primitive::u64,
        ];
        const FIRST: Self = Self::Read;
        const ABOUT: &'static ::msg_runtime::__private::About = &::msg_runtime::__private::About {
            documentation: &[],
            attributes: &[("bit_flags", "0")],
        };
        #[inline]
        fn to_repr(&self) -> ::core::primitive::u16 {
            match self {
                Self::Read => __MSG_NUMBER_0,
                Self::Write => __MSG_NUMBER_1,
            }
        }
        #[inline]
        fn from_repr(__number: ::core::primitive::u16) -> ::core::option::Option<Self> {
            #[allow(unreachable_patterns)]
            match __number {
                __MSG_NUMBER_0 => ::core::option::Option::Some(Self::Read),
                __MSG_NUMBER_1 => ::core::option::Option::Some(Self::Write),
                _ => ::core::option::Option::None,
            }
        }
    }
    #[automatically_derived]
    unsafe impl ::msg_runtime::__private::Plain for Access {
        const ANY_BITS: ::core::primitive::bool = false;
        const ZERO_IS_VALID: ::core::primitive::bool = ::msg_runtime::__private::has_zero::<
            Self,
        >();
        #[inline]
        fn is_valid(__bytes: &[::core::primitive::u8]) -> ::core::primitive::bool {
            ::msg_runtime::__private::is_enumerator::<Self>(__bytes)
        }
        #[inline]
        fn plain_shape() -> ::msg_runtime::__private::Shape {
            ::msg_runtime::__private::enum_shape::<Self>()
        }
        #[inline]
        fn show_plain(
            &self,
            __f: &mut ::core::fmt::Formatter<'_>,
        ) -> ::core::fmt::Result {
            ::msg_runtime::__private::show_enumerator(self, __f)
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::__private::Field for Access {
        type Wire = ::msg_runtime::__private::Closed<Self>;
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
    impl ::msg_runtime::__private::KeyOrder for Access {
        #[inline]
        fn compare_keys(&self, __other: &Self) -> ::core::cmp::Ordering {
            ::msg_runtime::__private::compare_enumerators(self, __other)
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::__private::FromWire for Access {
        #[inline]
        fn from_wire(__view: Self) -> Self {
            __view
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::__private::Element for Access {
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
