//! Names for generated code, and nothing else. What stands here may change at any time.

/// Implements `serde::Serialize` for the view of a table, if the runtime has the feature.
///
/// A macro of the runtime, because the features of the derive are those of all programs that are built together.
#[cfg(feature = "serde")]
#[doc(hidden)]
#[macro_export]
macro_rules! __serialize_view {
    ($view:ident) => {
        #[automatically_derived]
        impl $crate::__private::serde::Serialize for $view<'_> {
            fn serialize<__Serializer: $crate::__private::serde::Serializer>(
                &self,
                __to: __Serializer,
            ) -> ::core::result::Result<__Serializer::Ok, __Serializer::Error> {
                $crate::__private::serialize_view(&self.0, __to)
            }
        }
    };
}

/// Without the feature there is nothing to implement.
#[cfg(not(feature = "serde"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __serialize_view {
    ($view:ident) => {};
}

pub use __serialize_view as serialize_view;
#[cfg(feature = "serde")]
pub use {
    crate::buffer::{deserialize::array as serde_array, serialize::serialize_view},
    serde,
};

pub use crate::{
    buffer::{
        build::{Encoder, TableWriter},
        describe::{About, EnumeratorSpec, PlainFieldSpec, Shape},
        enumeration::{
            Closed, Enumeration, check_flag, enum_shape, has_zero, is_enumerator, show_enumerator,
        },
        field::{Comparable, Element, Field, FromWire, MakeOwned},
        key::{KeyOrder, KeyWire, Keyed, compare_enumerators},
        plain::{
            Plain, PlainOf, PlainStruct, check_end, check_gap, encode_plain, encode_plain_root,
            encode_plain_slice, part, plain_copy, plain_facts,
        },
        root::{TwinWire, encode_root, encode_view_root},
        spec::{
            FieldSpec, assign_ids, default_bits, default_text, element_align, empty_vector, same_kinds,
            twin_fields, vtable, vtable_len,
        },
        table::{Cursor, Table, TableOf, encode_view, show_table},
        union::{Member, MemberSpec, Union, UnionCursor, UnionOf, start_member},
        wire::{DefaultWire, ElementWire, Place, Shown, Wire},
    },
    schema::{CompiledSchema, SchemaCell},
};

#[cfg(all(fuzzing, feature = "udp", target_os = "linux"))]
pub use crate::transport::fuzz_udp;
