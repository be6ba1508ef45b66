//! FlexBuffers: values without a schema, which a schema's fields may hold as bytes. Read and written as trees.
//!
//! ```text
//! | keys, strings, wide numbers, vectors, maps: what is referred to stands before | root value | its type | its width |
//! ```

mod read;
mod write;

pub(crate) use read::read;
pub(crate) use write::write;

/// Values within values that are read and written.
pub(crate) const MAX_DEPTH: u32 = 64;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Flex<'b> {
    Null,
    Bool(bool),
    Integer(i64),
    /// One that is no `i64`, or was written as unsigned.
    Unsigned(u64),
    Real(f64),
    Text(&'b str),
    List(Vec<Flex<'b>>),
    /// By key.
    Map(Vec<(&'b str, Flex<'b>)>),
    /// Bytes.
    Blob(&'b [u8]),
}

/// What stands in the upper six bits of a type's byte.
mod kind {
    pub(super) const NULL: u8 = 0;
    pub(super) const INT: u8 = 1;
    pub(super) const UINT: u8 = 2;
    pub(super) const FLOAT: u8 = 3;
    pub(super) const KEY: u8 = 4;
    pub(super) const STRING: u8 = 5;
    pub(super) const INDIRECT_INT: u8 = 6;
    pub(super) const INDIRECT_UINT: u8 = 7;
    pub(super) const INDIRECT_FLOAT: u8 = 8;
    pub(super) const MAP: u8 = 9;
    pub(super) const VECTOR: u8 = 10;
    pub(super) const VECTOR_INT: u8 = 11;
    pub(super) const VECTOR_KEY: u8 = 14;
    /// Its strings are read up to their zero.
    pub(super) const VECTOR_STRING: u8 = 15;
    /// Pairs, triples and fours of integers, unsigned ones and floats.
    pub(super) const TUPLE_FIRST: u8 = 16;
    pub(super) const TUPLE_LAST: u8 = 24;
    pub(super) const BLOB: u8 = 25;
    pub(super) const BOOL: u8 = 26;
    pub(super) const VECTOR_BOOL: u8 = 36;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let long = "x".repeat(70_000);
        let many: Vec<Flex<'_>> = (0..70_000).map(Flex::Integer).collect();
        let values = [
            Flex::Null,
            Flex::Bool(true),
            Flex::Integer(-1),
            Flex::Integer(300),
            Flex::Integer(i64::MIN),
            Flex::Unsigned(u64::MAX),
            Flex::Real(1.5),
            Flex::Real(0.1),
            Flex::Text(""),
            Flex::Text(&long),
            Flex::List(vec![]),
            Flex::Map(vec![]),
            Flex::List(many),
            Flex::List(vec![Flex::Text(&long), Flex::Integer(1), Flex::Real(2.5)]),
            Flex::Map(vec![
                ("a", Flex::Text(&long)),
                ("b", Flex::List(vec![Flex::Map(vec![("c", Flex::Null)])])),
            ]),
        ];
        for value in values {
            let bytes = write(&value);
            assert_eq!(read(&bytes).as_ref(), Some(&value));
            // Damaged ones are read as something else or not at all, and never further than their end.
            let step = bytes.len() / 50 + 1;
            for at in (0..bytes.len()).step_by(step).chain(bytes.len().saturating_sub(8)..bytes.len()) {
                for byte in [0, 1, 0x28, 0x7f, 0xff] {
                    let mut damaged = bytes.clone();
                    damaged[at] = byte;
                    let _ = read(&damaged);
                    let _ = read(&damaged[..at]);
                }
            }
        }
    }

    #[test]
    fn references_to_one_place_do_not_multiply() {
        // Each vector refers to the one before it twice: 2^40 values in 210 bytes.
        let mut bytes = vec![2, 0, 0, 0, 0];
        for _ in 0..40 {
            bytes.extend([2, 5, 6, kind::VECTOR << 2, kind::VECTOR << 2]);
        }
        bytes.extend([4, kind::VECTOR << 2, 1]);
        assert_eq!(read(&bytes), None);
    }
}
