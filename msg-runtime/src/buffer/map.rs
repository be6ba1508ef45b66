//! Maps: sorted vectors of tables of a key and a value, which FlatBuffers has in place of maps.

use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    hash::{BuildHasher, Hash},
    marker::PhantomData,
};

use super::{
    build::Encoder,
    describe::{About, Shape},
    field::{Field, FieldView, FromWire, MakeOwned},
    key::{KeyWire, Keyed},
    spec::{FieldSpec, assign_ids, clear, max_align, vtable},
    table::{Cursor, Table, TableOf},
    vector::{Vector, VectorView},
    verified::Verified,
    verify::Verifier,
    wire::{Inline, Place, Shown, Wire, sealed::Sealed},
};
use crate::error::Invalid;

/// The table of a map's entry. Its name in the schema is made from the field that holds the map.
#[derive(Debug)]
pub(super) struct Entry<K, V>(PhantomData<(K, V)>);

const KEY: &About = &About { documentation: &[], attributes: &[("key", "0")] };

impl<K: Wire, V: Wire> Entry<K, V> {
    const SPECS: [FieldSpec; 2] =
        assign_ids([FieldSpec::of::<K>("key").key().about(KEY), FieldSpec::of::<V>("value")]);
    /// Two sizes, the key, the value, and its number where it is a union.
    const ROOM: [u16; 5] = if V::TAG.size == 0 {
        let [vtable_size, table_size, key, value] = vtable::<4>(&Self::SPECS);
        [vtable_size, table_size, key, value, 0]
    } else {
        vtable::<5>(&Self::SPECS)
    };
    const LEN: usize = if V::TAG.size == 0 { 4 } else { 5 };
}

impl<K: Wire, V: Wire> Table for Entry<K, V> {
    const NAME: &'static str = "";
    const FIELDS: &'static [FieldSpec] = &Self::SPECS;
    const VTABLE: &'static [u16] = Self::ROOM.split_at(Self::LEN).0;
    const ABOUT: &'static About = About::NONE;
    const OWNED: usize = K::OWNED.saturating_add(V::OWNED);
    type View<'a> = EntryView<'a, K, V>;

    fn from_cursor(cursor: Cursor<'_, Self>) -> EntryView<'_, K, V> {
        EntryView(cursor)
    }
}

impl<K: Wire, V: Wire> Keyed for Entry<K, V> {
    type Key = K;

    fn key<'view>(view: Self::View<'view>) -> <Self::Key as Wire>::View<'view> {
        view.0.get::<K, 0>()
    }
}

/// A received entry.
pub(super) struct EntryView<'a, K, V>(Cursor<'a, Entry<K, V>>);

impl<K, V> Clone for EntryView<'_, K, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, V> Copy for EntryView<'_, K, V> {}

impl<'a, K: Wire, V: Wire> EntryView<'a, K, V> {
    fn pair(self) -> (K::View<'a>, V::View<'a>) {
        (self.0.get::<K, 0>(), self.0.get::<V, 1>())
    }
}

impl<K: Wire, V: Wire> fmt::Debug for EntryView<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, value) = self.pair();
        f.debug_tuple("Entry").field(&Shown::<K>(key)).field(&Shown::<V>(value)).finish()
    }
}

/// A received map.
///
/// # Examples
///
/// ```
/// use std::collections::HashMap;
///
/// #[derive(msg_runtime::Message)]
/// #[message(namespace = "demo")]
/// struct Limits {
///     limits: HashMap<String, f64>,
/// }
///
/// let limits = HashMap::from([("left".to_owned(), 1.5), ("right".to_owned(), 2.5)]);
/// let bytes = msg_runtime::encode(&Limits { limits })?;
/// let view = msg_runtime::decode::<Limits>(&bytes)?;
/// assert_eq!(view.limits().get("right"), Some(2.5));
/// assert_eq!(view.limits().iter().next(), Some(("left", 1.5)));
/// # Ok::<(), msg_runtime::error::Invalid>(())
/// ```
pub struct MapView<'a, K, V>(VectorView<'a, TableOf<Entry<K, V>>>);

impl<K, V> Clone for MapView<'_, K, V> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, V> Copy for MapView<'_, K, V> {}

impl<'a, K: KeyWire, V: Wire> MapView<'a, K, V> {
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True without entries.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Its entries with the facts about them.
    #[cfg(feature = "serde")]
    pub(super) fn entries(&self) -> impl ExactSizeIterator<Item = (Cursor<'a, ()>, &'static [FieldSpec; 2])> {
        self.0.iter().map(|entry| (entry.0.untyped(), &Entry::<K, V>::SPECS))
    }

    /// The value of a key.
    pub fn get(&self, key: K::View<'_>) -> Option<V::View<'a>> {
        self.0.get_by_key(key).map(|entry| entry.pair().1)
    }

    /// Keys and values, in the order of the keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (K::View<'a>, V::View<'a>)> + use<'a, K, V> {
        self.0.iter().map(EntryView::pair)
    }
}

impl<K: Wire, V: Wire> fmt::Debug for MapView<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |entry: EntryView<'_, K, V>| {
            let (key, value) = entry.pair();
            (format!("{:?}", Shown::<K>(key)), format!("{:?}", Shown::<V>(value)))
        };
        let mut map = f.debug_map();
        for (key, value) in self.0.iter().map(shown) {
            map.entry(&format_args!("{key}"), &format_args!("{value}"));
        }
        map.finish()
    }
}

/// The wire kind of a map; an absent one reads as empty.
#[derive(Debug)]
pub struct MapOf<K, V>(PhantomData<(K, V)>);

impl<K, V> Sealed for MapOf<K, V> {}

type Entries<K, V> = Vector<TableOf<Entry<K, V>>>;

impl<K: KeyWire, V: Wire> Wire for MapOf<K, V> {
    type View<'a> = MapView<'a, K, V>;
    const INLINE: Inline = Inline::OFFSET;

    fn shape() -> Shape {
        Shape::Map(Entry::<K, V>::FIELDS)
    }

    fn verify(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
        Entries::<K, V>::verify(verifier, place)
    }

    fn read<'a>(bytes: Verified<'a>, place: Place, default: u64) -> MapView<'a, K, V> {
        MapView(Entries::<K, V>::read(bytes, place, default))
    }

    fn copy(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
        Entries::<K, V>::copy(bytes, from, out, to);
    }

    fn show(view: MapView<'_, K, V>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&view, f)
    }
}

fn encode_entry<K: Field, V: Field>(key: &K, value: &V, out: &mut Encoder<'_>, place: Place) {
    let [key_spec, value_spec] = &Entry::<K::Wire, V::Wire>::SPECS;
    let mut room = Entry::<K::Wire, V::Wire>::ROOM;
    let (vtable, _) = room.split_at_mut(Entry::<K::Wire, V::Wire>::LEN);
    if value.is_absent() {
        clear(vtable, value_spec, out);
    }
    let Some(table) = out.open_table(place, vtable, max_align(&Entry::<K::Wire, V::Wire>::SPECS)) else {
        return;
    };
    if let Some(place) = table.place(vtable, key_spec) {
        key.encode(out, place);
    }
    if let Some(place) = table.place(vtable, value_spec) {
        value.encode(out, place);
    }
    out.close_table();
}

fn encode_entries<'m, K: Field + 'm, V: Field + 'm>(
    entries: impl ExactSizeIterator<Item = (&'m K, &'m V)>,
    out: &mut Encoder<'_>,
    place: Place,
) {
    let start = out.start_vector(place, entries.len(), Inline::OFFSET);
    for (index, (key, value)) in entries.enumerate() {
        encode_entry(key, value, out, Place::at(start + 4 * index));
    }
}

impl<K: Field<Wire: KeyWire> + Ord, V: Field> Field for BTreeMap<K, V> {
    type Wire = MapOf<K::Wire, V::Wire>;

    fn encode(&self, out: &mut Encoder<'_>, place: Place) {
        encode_entries(self.iter(), out, place);
    }
}

impl<K: Field<Wire: KeyWire> + Ord, V: Field, S> Field for HashMap<K, V, S> {
    type Wire = MapOf<K::Wire, V::Wire>;

    fn encode(&self, out: &mut Encoder<'_>, place: Place) {
        let mut entries: Vec<(&K, &V)> = self.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| *key);
        encode_entries(entries.into_iter(), out, place);
    }
}

fn pairs<K, V>(view: MapView<'_, K::Wire, V::Wire>) -> impl Iterator<Item = (K, V)>
where
    K: Field<Wire: KeyWire>,
    K::Wire: MakeOwned<K>,
    V: Field,
    V::Wire: MakeOwned<V>,
{
    view.iter().map(|(key, value)| (K::Wire::make_owned(key), V::Wire::make_owned(value)))
}

impl<K, V> FromWire for BTreeMap<K, V>
where
    K: Field<Wire: KeyWire> + Ord,
    K::Wire: MakeOwned<K>,
    V: Field,
    V::Wire: MakeOwned<V>,
{
    fn from_wire(view: FieldView<'_, Self>) -> Self {
        pairs(view).collect()
    }
}

impl<K, V, S> FromWire for HashMap<K, V, S>
where
    K: Field<Wire: KeyWire> + Ord + Hash,
    K::Wire: MakeOwned<K>,
    V: Field,
    V::Wire: MakeOwned<V>,
    S: BuildHasher + Default,
{
    fn from_wire(view: FieldView<'_, Self>) -> Self {
        pairs(view).collect()
    }
}
