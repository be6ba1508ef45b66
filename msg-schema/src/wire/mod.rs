//! FlatBuffers without generated code: a checked reader and a writer of tables, strings and vectors.
//!
//! ```text
//! buffer:  root offset (u32) | file identifier (4 bytes, optional) | ...
//! table:   distance back to its vtable (i32) | fields
//! vtable:  its size (u16) | the table's size (u16) | offset in the table of field 0, 1, .. (u16, 0 = absent)
//! string:  length (u32) | UTF-8 | zero byte        vector:  length (u32) | elements
//! ```
//!
//! References are unsigned distances forward, from the place of the reference. Neither side knows a schema: which
//! field is what, the caller says. Both are plain safe code; the message path has its own faster twin in the runtime.

mod reader;
mod writer;

pub(crate) use reader::{Damage, Table, Vector, root};
pub(crate) use writer::{Draft, Place, Writer};

/// A number as it stands in a buffer: little-endian, aligned to its size.
pub(crate) trait Number: Copy {
    /// Bytes it takes.
    const SIZE: usize;
    /// The number from its `SIZE` bytes.
    fn from_slice(bytes: &[u8]) -> Self;
    /// Its bytes, in the first `SIZE` of eight.
    fn to_array(self) -> [u8; 8];
}

macro_rules! number {
    ($($name:ident),*) => {$(
        impl Number for $name {
            const SIZE: usize = size_of::<$name>();

            fn from_slice(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("the caller takes SIZE bytes"))
            }

            fn to_array(self) -> [u8; 8] {
                let mut all = [0; 8];
                all[..Self::SIZE].copy_from_slice(&self.to_le_bytes());
                all
            }
        }
    )*};
}
number!(u8, i8, u16, u32, i32, u64, i64, f64);
