// #[derive(Message)]
// struct Imu {
//     sequence: u64,
//     offset: usize,
// }

::core::compile_error! {
    "`Imu` has no namespace: write `#[message(namespace = \"robot\")]` above it; its full name is then `robot.Imu`"
}
::core::compile_error! {
    "`usize` has another size on other machines: write `u64` or `u32`"
}
/// A received [`Imu`]: it borrows from the payload.
#[allow(non_camel_case_types)]
struct ImuView<'view>(::msg_runtime::__private::Cursor<'view, Imu>);
#[automatically_derived]
impl ::core::clone::Clone for ImuView<'_> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}
#[automatically_derived]
impl ::core::marker::Copy for ImuView<'_> {}
#[allow(dead_code, deprecated, non_snake_case, private_interfaces, clippy::all)]
impl<'view> ImuView<'view> {
    /// The field `sequence`.
    #[inline]
    fn sequence(
        &self,
    ) -> <<u64 as ::msg_runtime::__private::Field>::Wire as ::msg_runtime::__private::Wire>::View<
        'view,
    > {
        ::msg_runtime::__private::Cursor::get::<
            <u64 as ::msg_runtime::__private::Field>::Wire,
            0,
        >(&self.0)
    }
}
#[automatically_derived]
impl ::core::fmt::Debug for ImuView<'_> {
    fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        ::core::unreachable!()
    }
}
#[automatically_derived]
impl ::msg_runtime::__private::Field for Imu {
    type Wire = ::msg_runtime::__private::TableOf<Imu>;
    fn encode(
        &self,
        _: &mut ::msg_runtime::__private::Encoder<'_>,
        _: ::msg_runtime::__private::Place,
    ) {
        ::core::unreachable!()
    }
}
#[automatically_derived]
impl ::msg_runtime::__private::FromWire for Imu {
    fn from_wire(
        _: <::msg_runtime::__private::TableOf<
            Imu,
        > as ::msg_runtime::__private::Wire>::View<'_>,
    ) -> Self {
        ::core::unreachable!()
    }
}
#[automatically_derived]
impl ::msg_runtime::__private::Element for Imu {}
#[automatically_derived]
impl ::msg_runtime::__private::Table for Imu {
    const NAME: &'static ::core::primitive::str = "Imu";
    const FIELDS: &'static [::msg_runtime::__private::FieldSpec] = &[];
    const VTABLE: &'static [::core::primitive::u16] = &[4, 4];
    const ABOUT: &'static ::msg_runtime::__private::About = ::msg_runtime::__private::About::NONE;
    type View<'view> = ImuView<'view>;
    fn from_cursor(__cursor: ::msg_runtime::__private::Cursor<'_, Self>) -> ImuView<'_> {
        ImuView(__cursor)
    }
}
#[automatically_derived]
impl ::msg_runtime::Message for Imu {
    const TYPE_NAME: &'static ::core::primitive::str = "Imu";
    type View<'view> = ImuView<'view>;
    type __Wire = ::msg_runtime::__private::TableOf<Self>;
    fn __view<'view>(
        __view: <<Self as ::msg_runtime::Message>::__Wire as ::msg_runtime::__private::Wire>::View<
            'view,
        >,
    ) -> <Self as ::msg_runtime::Message>::View<'view> {
        __view
    }
    fn __schema() -> &'static ::msg_runtime::__private::CompiledSchema {
        ::core::unreachable!()
    }
}
#[automatically_derived]
impl ::msg_runtime::Encode for Imu {
    type Message = Imu;
    fn __encode(&self, _: &mut ::msg_runtime::__private::Encoder<'_>) {
        ::core::unreachable!()
    }
}
#[automatically_derived]
impl ::msg_runtime::FromView for Imu {
    fn from_view(_: ImuView<'_>) -> Self {
        ::core::unreachable!()
    }
}
#[automatically_derived]
impl<'view> ::core::convert::From<ImuView<'view>> for Imu {
    fn from(_: ImuView<'view>) -> Self {
        ::core::unreachable!()
    }
}
