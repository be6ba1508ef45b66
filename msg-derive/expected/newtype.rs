// #[derive(Message)]
// #[message(plain)]
// #[repr(transparent)]
// pub struct Celsius(f32);

#[allow(deprecated, non_camel_case_types, clippy::all)]
const _: () = {
    #[automatically_derived]
    impl ::msg_runtime::__private::Field for Celsius {
        type Wire = <f32 as ::msg_runtime::__private::Field>::Wire;
        #[inline]
        fn is_absent(&self) -> ::core::primitive::bool {
            <f32 as ::msg_runtime::__private::Field>::is_absent(&self.0)
        }
        #[inline]
        fn encode(
            &self,
            __out: &mut ::msg_runtime::__private::Encoder<'_>,
            __place: ::msg_runtime::__private::Place,
        ) {
            <f32 as ::msg_runtime::__private::Field>::encode(&self.0, __out, __place);
        }
    }
    #[automatically_derived]
    impl ::msg_runtime::__private::Element for Celsius
    where
        for<'all> <f32 as ::msg_runtime::__private::Field>::Wire: ::msg_runtime::__private::ElementWire,
    {}
    #[automatically_derived]
    impl ::msg_runtime::__private::FromWire for Celsius {
        #[inline]
        fn from_wire(
            __view: <<f32 as ::msg_runtime::__private::Field>::Wire as ::msg_runtime::__private::Wire>::View<
                '_,
            >,
        ) -> Self {
            Self(
                <<f32 as ::msg_runtime::__private::Field>::Wire as ::msg_runtime::__private::MakeOwned<
                    f32,
                >>::make_owned(__view),
            )
        }
    }
    #[automatically_derived]
    unsafe impl ::msg_runtime::__private::Plain for Celsius {
        const ANY_BITS: ::core::primitive::bool = <f32 as ::msg_runtime::__private::Plain>::ANY_BITS;
        const ZERO_IS_VALID: ::core::primitive::bool = <f32 as ::msg_runtime::__private::Plain>::ZERO_IS_VALID;
        #[inline]
        fn is_valid(__bytes: &[::core::primitive::u8]) -> ::core::primitive::bool {
            <f32 as ::msg_runtime::__private::Plain>::is_valid(__bytes)
        }
        #[inline]
        fn plain_shape() -> ::msg_runtime::__private::Shape {
            <f32 as ::msg_runtime::__private::Plain>::plain_shape()
        }
        #[inline]
        fn show_plain(
            &self,
            __f: &mut ::core::fmt::Formatter<'_>,
        ) -> ::core::fmt::Result {
            <f32 as ::msg_runtime::__private::Plain>::show_plain(&self.0, __f)
        }
    }
};
