//! Keys: what vectors of tables are sorted by, and the search in them.

use std::cmp::Ordering;

use super::{
    enumeration::{Closed, Enumeration},
    open::{Flags, FlagsOf, Open, OpenOf},
    plain::{Plain, PlainOf, PlainStruct},
    table::{Table, TableOf},
    text::Text,
    vector::VectorView,
    wire::Wire,
};

/// A value with a place in the order of keys.
pub trait KeyOrder {
    /// Numbers by value, floats in their total order, structs by their own key.
    fn compare_keys(&self, other: &Self) -> Ordering;
}

/// A wire kind that vectors may be searched by.
#[diagnostic::on_unimplemented(
    message = "nothing can be looked up by this kind of value",
    label = "not a key",
    note = "a key is a string, a number, `bool`, an enum, or a plain struct with a field that is its `key`"
)]
pub trait KeyWire: Wire {
    /// The order of two keys.
    fn compare(one: Self::View<'_>, other: Self::View<'_>) -> Ordering;
}

/// A derived table with a key.
pub trait Keyed: Table {
    /// The wire kind of the key.
    type Key: Wire;

    /// The key of an element.
    fn key<'view>(view: Self::View<'view>) -> <Self::Key as Wire>::View<'view>;
}

macro_rules! numbers {
    ($order:ident: $($number:ty)*) => {$(
        impl KeyOrder for $number {
            #[inline]
            fn compare_keys(&self, other: &Self) -> Ordering {
                Self::$order(self, other)
            }
        }

        impl KeyWire for $number {
            #[inline]
            fn compare(one: Self, other: Self) -> Ordering {
                one.compare_keys(&other)
            }
        }
    )*};
}

numbers!(cmp: u8 i8 u16 i16 u32 i32 u64 i64 bool);
numbers!(total_cmp: f32 f64);

/// The order of two enumerators: that of their numbers.
#[inline]
pub fn compare_enumerators<E: Enumeration>(one: &E, other: &E) -> Ordering {
    one.to_repr().compare_keys(&other.to_repr())
}

impl<E: Enumeration> KeyOrder for Open<E> {
    fn compare_keys(&self, other: &Self) -> Ordering {
        self.number().compare_keys(&other.number())
    }
}

impl<E: Enumeration> KeyOrder for Flags<E> {
    fn compare_keys(&self, other: &Self) -> Ordering {
        self.bits().compare_keys(&other.bits())
    }
}

impl<E: Enumeration> KeyWire for OpenOf<E> {
    fn compare(one: Open<E>, other: Open<E>) -> Ordering {
        one.compare_keys(&other)
    }
}

impl<E: Enumeration> KeyWire for FlagsOf<E> {
    fn compare(one: Flags<E>, other: Flags<E>) -> Ordering {
        one.compare_keys(&other)
    }
}

impl<E: Enumeration + Plain> KeyWire for Closed<E> {
    fn compare(one: E, other: E) -> Ordering {
        compare_enumerators(&one, &other)
    }
}

impl<T: Plain + PlainStruct + KeyOrder> KeyWire for PlainOf<T> {
    fn compare(one: &T, other: &T) -> Ordering {
        one.compare_keys(other)
    }
}

/// By bytes, as every FlatBuffers library compares them.
impl KeyWire for Text {
    fn compare(one: &str, other: &str) -> Ordering {
        one.cmp(other)
    }
}

impl<'a, T: Keyed<Key: KeyWire>> VectorView<'a, TableOf<T>> {
    /// The element with this key, in a vector that its sender has sorted by key. Of several equal ones it is any.
    ///
    /// # Examples
    ///
    /// ```
    /// #[derive(msg_runtime::Message)]
    /// #[message(namespace = "demo")]
    /// struct Word {
    ///     #[message(key)]
    ///     text: String,
    ///     count: u32,
    /// }
    ///
    /// #[derive(msg_runtime::Message)]
    /// #[message(namespace = "demo")]
    /// struct Words {
    ///     words: Vec<Word>,
    /// }
    ///
    /// let word = |text: &str, count| Word { text: text.into(), count };
    /// let mut words = vec![word("b", 2), word("a", 1)];
    /// words.sort_by(|one, other| one.text.cmp(&other.text));
    /// let bytes = msg_runtime::encode(&Words { words })?;
    /// let view = msg_runtime::decode::<Words>(&bytes)?;
    /// assert_eq!(view.words().get_by_key("b").map(|word| word.count()), Some(2));
    /// # Ok::<(), msg_runtime::error::Invalid>(())
    /// ```
    pub fn get_by_key(&self, key: <T::Key as Wire>::View<'_>) -> Option<T::View<'a>> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let element = self.get(middle)?;
            match T::Key::compare(T::key(element), key) {
                Ordering::Equal => return Some(element),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        None
    }
}
