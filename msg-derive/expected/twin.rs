// #[derive(Message)]
// #[message(like = Scan)]
// struct ScanRef<'a> {
//     #[message(skip)]
//     cache: Cache,
//     #[message(with = "stamps")]
//     stamp: Stamp,
//     ranges: &'a [f32],
// }

#[allow(deprecated, non_camel_case_types, clippy::all)]
const _: () = {
    const __MSG_FIELDS: [::msg_runtime::__private::FieldSpec; 2] = ::msg_runtime::__private::twin_fields(
        <<<Scan as ::msg_runtime::Message>::__Wire as ::msg_runtime::__private::TwinWire>::Message as ::msg_runtime::__private::Table>::FIELDS,
        ["stamp", "ranges"],
    );
    const __MSG_VTABLE: [::core::primitive::u16; ::msg_runtime::__private::vtable_len(
        &__MSG_FIELDS,
    )] = ::msg_runtime::__private::vtable(&__MSG_FIELDS);
    #[allow(dead_code, non_snake_case, clippy::all)]
    trait __Surplus: ::core::marker::Sized {
        fn stamp(&self) -> ! {
            ::core::unreachable!()
        }
        fn ranges(&self) -> ! {
            ::core::unreachable!()
        }
    }
    #[automatically_derived]
    impl __Surplus
    for <<<Scan as ::msg_runtime::Message>::__Wire as ::msg_runtime::__private::TwinWire>::Message as ::msg_runtime::__private::Table>::View<
        '_,
    > {}
    #[allow(dead_code, unreachable_code, unused_variables)]
    fn __same_kinds<'view>(
        __view: <<<Scan as ::msg_runtime::Message>::__Wire as ::msg_runtime::__private::TwinWire>::Message as ::msg_runtime::__private::Table>::View<
            'view,
        >,
    ) {
        let _: <<stamps::Field as ::msg_runtime::__private::Field>::Wire as ::msg_runtime::__private::Wire>::View<
            'view,
        > = __view.stamp();
        let _: <<&'static [f32] as ::msg_runtime::__private::Field>::Wire as ::msg_runtime::__private::Wire>::View<
            'view,
        > = __view.ranges();
    }
    #[automatically_derived]
    impl<'a> ::msg_runtime::__private::Field for ScanRef<'a> {
        type Wire = ::msg_runtime::__private::TableOf<
            <<Scan as ::msg_runtime::Message>::__Wire as ::msg_runtime::__private::TwinWire>::Message,
        >;
        #[inline]
        fn encode(
            &self,
            __out: &mut ::msg_runtime::__private::Encoder<'_>,
            __place: ::msg_runtime::__private::Place,
        ) {
            ::msg_runtime::__private::same_kinds(
                &__MSG_FIELDS,
                [
                    ::core::any::TypeId::of::<
                        <stamps::Field as ::msg_runtime::__private::Field>::Wire,
                    >(),
                    ::core::any::TypeId::of::<
                        <&'static [f32] as ::msg_runtime::__private::Field>::Wire,
                    >(),
                ],
            );
            #[allow(unused_mut)]
            let mut __vtable = __MSG_VTABLE;
            let __value_0: stamps::Field = stamps::to_field(&self.stamp);
            <stamps::Field as ::msg_runtime::__private::Field>::__clear_absent(
                &__value_0,
                &mut __vtable,
                &__MSG_FIELDS[0],
                __out,
            );
            <&'a [f32] as ::msg_runtime::__private::Field>::__clear_absent(
                &self.ranges,
                &mut __vtable,
                &__MSG_FIELDS[1],
                __out,
            );
            let __align = <<<Scan as ::msg_runtime::Message>::__Wire as ::msg_runtime::__private::TwinWire>::Message as ::msg_runtime::__private::Table>::ALIGN;
            #[allow(unused_variables)]
            if let ::core::option::Option::Some(__table) = __out
                .open_table(__place, &__vtable, __align)
            {
                <stamps::Field as ::msg_runtime::__private::Field>::__encode_in(
                    &__value_0,
                    __table,
                    &__vtable,
                    &__MSG_FIELDS[0],
                    __out,
                );
                <&'a [f32] as ::msg_runtime::__private::Field>::__encode_in(
                    &self.ranges,
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
    impl<'a> ::msg_runtime::__private::Element for ScanRef<'a> {}
    #[automatically_derived]
    impl<'a> ::msg_runtime::Encode for ScanRef<'a> {
        type Message = <<Scan as ::msg_runtime::Message>::__Wire as ::msg_runtime::__private::TwinWire>::Message;
        #[inline]
        fn __encode(&self, __out: &mut ::msg_runtime::__private::Encoder<'_>) {
            ::msg_runtime::__private::encode_root::<
                <<Scan as ::msg_runtime::Message>::__Wire as ::msg_runtime::__private::TwinWire>::Message,
                Self,
            >(self, __out);
        }
    }
};
