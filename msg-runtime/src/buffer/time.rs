//! Durations and points in time, as nanoseconds.

use std::{
    cmp::Ordering,
    fmt,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::{
    build::Encoder,
    describe::Shape,
    field::{Element, Field, FromWire},
    key::KeyWire,
    vector::{Vector, VectorView},
    verified::Verified,
    verify::Verifier,
    wire::{ElementWire, Inline, Kind, Place, Wire, copy_flat, sealed::Sealed},
};
use crate::error::Invalid;

/// The wire kind of a `Duration`: a `ulong` of nanoseconds, 584 years at most.
#[derive(Debug)]
pub struct Nanoseconds;

/// The wire kind of a `SystemTime`: a `long` of nanoseconds since 1970, which reaches from 1677 to 2262.
#[derive(Debug)]
pub struct UnixNanoseconds;

impl Nanoseconds {
    fn number(duration: Duration) -> u64 {
        duration.as_nanos().try_into().unwrap_or(u64::MAX)
    }

    fn value(number: u64) -> Duration {
        Duration::from_nanos(number)
    }
}

impl UnixNanoseconds {
    fn number(time: SystemTime) -> i64 {
        match time.duration_since(UNIX_EPOCH) {
            Ok(since) => since.as_nanos().try_into().unwrap_or(i64::MAX),
            Err(error) => i64::try_from(error.duration().as_nanos()).map_or(i64::MIN, |before| -before),
        }
    }

    fn value(number: i64) -> SystemTime {
        let distance = Duration::from_nanos(number.unsigned_abs());
        let time =
            if number < 0 { UNIX_EPOCH.checked_sub(distance) } else { UNIX_EPOCH.checked_add(distance) };
        time.unwrap_or(UNIX_EPOCH)
    }
}

macro_rules! times {
    ($($kind:ident $time:ident $number:ident)*) => {$(
        impl Sealed for $kind {}

        impl Wire for $kind {
            type View<'a> = $time;
            const INLINE: Inline = Inline::of::<$number>();
            const IS_KEY: bool = true;
            const KIND: Kind = Kind::Inline;

            fn shape() -> Shape {
                <$number as Wire>::shape()
            }

            fn verify(verifier: &mut Verifier<'_>, place: Place) -> Result<(), Invalid> {
                <$number as Wire>::verify(verifier, place)
            }

            #[inline]
            fn read<'a>(bytes: Verified<'a>, place: Place, default: u64) -> $time {
                Self::value(<$number as Wire>::read(bytes, place, default))
            }

            fn show(view: $time, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&view, f)
            }
        }

        impl ElementWire for $kind {
            type Vector = Vector<Self>;
            type Slice<'a> = VectorView<'a, Self>;

            fn to_vec<F>(slice: VectorView<'_, Self>, make: impl Fn(Self::View<'_>) -> F) -> Vec<F> {
                slice.iter().map(make).collect()
            }

            fn copy_vector(bytes: Verified<'_>, from: Place, out: &mut Encoder<'_>, to: Place) {
                copy_flat::<Self>(bytes, from, out, to);
            }

            fn verify_elements(_: &mut Verifier<'_>, _: usize, _: usize) -> Result<(), Invalid> {
                Ok(())
            }

            fn slice(bytes: Verified<'_>, start: usize, len: usize) -> VectorView<'_, Self> {
                VectorView::new(bytes, start, len)
            }

            fn show_slice(slice: VectorView<'_, Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&slice, f)
            }
        }

        impl KeyWire for $kind {
            fn compare(one: $time, other: $time) -> Ordering {
                one.cmp(&other)
            }
        }

        impl Field for $time {
            type Wire = $kind;

            #[inline]
            fn encode(&self, out: &mut Encoder<'_>, place: Place) {
                $kind::number(*self).encode(out, place);
            }
        }

        impl FromWire for $time {
            fn from_wire(view: Self) -> Self {
                view
            }
        }

        impl Element for $time {}
    )*};
}

times! {
    Nanoseconds Duration u64
    UnixNanoseconds SystemTime i64
}
