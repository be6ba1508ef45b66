//! Names for generated code, and nothing else. What stands here may change at any time.

pub use crate::{
    buffer::{
        build::{Encoder, TableWriter},
        describe::{About, EnumeratorSpec, PlainFieldSpec, Shape},
        enumeration::{
            Closed, Enumeration, check_flag, enum_shape, has_zero, is_enumerator, show_enumerator,
        },
        field::{Element, Field, FromWire, MakeOwned, equals_owned},
        key::{KeyOrder, KeyWire, Keyed, compare_enumerators},
        plain::{
            Plain, PlainOf, PlainStruct, check_end, check_gap, encode_plain, encode_plain_root,
            encode_plain_slice, part, plain_copy, plain_facts,
        },
        root::{encode_root, encode_view_root},
        spec::{FieldSpec, assign_ids, clear, default_bits, max_align, twin_fields, vtable, vtable_len},
        table::{Cursor, Table, TableOf, encode_view},
        union::{Member, MemberSpec, Union, UnionCursor, UnionOf, start_member},
        wire::{DefaultWire, ElementWire, Place, Shown, Wire},
    },
    schema::{CompiledSchema, SchemaCell},
};
