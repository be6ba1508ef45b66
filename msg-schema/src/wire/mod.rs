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

pub(crate) use reader::{Damage, Table, Vector, elements_at, number, root, structure_at, table_at, text_at};
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
number!(u8, i8, u16, i16, u32, i32, u64, i64, f32, f64);

#[cfg(test)]
mod tests {
    use super::{Draft, Writer, root};

    #[test]
    fn what_is_written_is_read() {
        let (mut writer, place) = Writer::new(Some(b"TEST"));
        let mut draft = Draft::new();
        draft.flag(0, true);
        draft.number(2, -5i64, 0);
        draft.number(3, 7u16, 7);
        for slot in [4, 5, 7] {
            draft.reference(slot);
        }
        let table = writer.table(place, draft);
        writer.string(table.place(4), "text");
        let places = writer.references(table.place(5), 2);
        for (place, number) in places.into_iter().zip([1u64, 2]) {
            let mut draft = Draft::new();
            draft.number(0, number, 0);
            let inner = writer.table(place, draft);
            if number == 2 {
                writer.refer(table.place(7), &inner);
            }
        }
        let bytes = writer.finish();
        let table = root(&bytes, b"TEST").unwrap();
        assert_eq!(
            (table.number(0, 0u8), table.number(1, 3i32), table.number(2, 0i64)),
            (Ok(1), Ok(3), Ok(-5))
        );
        assert_eq!((table.number(3, 7u16), table.number(9, 1u32)), (Ok(7), Ok(1)));
        assert_eq!((table.string(4), table.string(6)), (Ok(Some("text")), Ok(None)));
        let numbers = table.vector(5).unwrap().tables().map(|table| table?.number(0, 0u64));
        assert_eq!(numbers.collect::<Result<Vec<_>, _>>(), Ok(vec![1, 2]));
        assert_eq!(table.table(7).unwrap().map(|table| table.number(0, 0u64)), Some(Ok(2)));
    }

    #[test]
    fn numbers_are_aligned_to_their_size() {
        for text in ["", "a", "abcd", "abcdefghi"] {
            let (mut writer, place) = Writer::new(Some(b"TEST"));
            let mut draft = Draft::new();
            draft.reference(0);
            draft.reference(1);
            let table = writer.table(place, draft);
            writer.string(table.place(0), text);
            let mut draft = Draft::new();
            draft.flag(0, true);
            draft.number(1, 0x1122_3344_5566_7788u64, 0);
            draft.number(2, 0x99aau16, 0);
            writer.table(table.place(1), draft);
            let bytes = writer.finish();
            let at = |wanted: &[u8]| bytes.windows(wanted.len()).position(|window| window == wanted).unwrap();
            assert_eq!(at(&0x1122_3344_5566_7788u64.to_le_bytes()) % 8, 0, "after `{text}`");
            assert_eq!(at(&0x99aau16.to_le_bytes()) % 2, 0, "after `{text}`");
            assert_eq!(bytes.len() % 4, 0);
        }
    }

    #[test]
    fn equal_vtables_are_written_once() {
        let len = |tables: usize| {
            let (mut writer, place) = Writer::new(Some(b"TEST"));
            let mut draft = Draft::new();
            draft.reference(0);
            let table = writer.table(place, draft);
            for place in writer.references(table.place(0), tables) {
                let mut draft = Draft::new();
                draft.number(0, 1u32, 0);
                writer.table(place, draft);
            }
            writer.finish().len()
        };
        assert_eq!(len(11) - len(1), 10 * (4 + 8));
    }
}
