//! Names for generated code, and nothing else. What stands here may change at any time.

pub use crate::{
    buffer::{
        build::{Encoder, TableWriter},
        describe::{About, EnumeratorSpec, PlainFieldSpec, Shape},
        enumeration::{
            Closed, Enumeration, check_flag, enum_shape, has_zero, is_enumerator, show_enumerator,
        },
        field::{Element, Field, FieldView, FromWire},
        plain::{
            Plain, PlainOf, PlainStruct, ShownPlain, check_end, check_gap, encode_plain, encode_plain_root,
            encode_plain_slice, part, plain_facts,
        },
        root::encode_root,
        spec::{
            FieldSpec, assign_ids, clear, default_constant, default_number, max_align, vtable, vtable_len,
        },
        table::{Cursor, Table, TableOf},
        wire::{Place, Shown, Wire},
    },
    schema::{CompiledSchema, SchemaCell},
};
