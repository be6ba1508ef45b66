//! Which geometry, patience and type a ring must have, and which it should have.

use std::time::Duration;

use super::attach::Opening;
use super::attachment::Attachment;
use super::layout::Geometry;
use super::options::{Description, Options};
use super::segment::Header;
use super::sync::Ordering;
use crate::error::{Error, ErrorKind};

/// What a ring would be like if one handle could choose.
#[derive(Debug)]
pub(super) struct Wish {
    pub(super) geometry: Geometry,
    pub(super) evict: Option<Duration>,
    pub(super) description: Description,
}

impl Wish {
    pub(super) fn is_met_by(&self, found: &Attachment) -> bool {
        self.geometry == found.layout.geometry
            && self.evict == found.evict
            && self.description == found.description
    }
}

impl Opening<'_> {
    pub(super) fn geometry_of_new(&self) -> Geometry {
        let default = self.options.default_slot_bytes.unwrap_or(Options::DEFAULT_SLOT_BYTES);
        Geometry {
            slots: self.options.slots.unwrap_or(Options::DEFAULT_SLOTS),
            slot_bytes: self.options.slot_bytes.unwrap_or(default.max(1)),
        }
    }

    /// What the ring would be like if we could choose: never smaller than what is there, unless we insist.
    pub(super) fn wished(&self, found: &Attachment) -> Wish {
        let Geometry { slots, slot_bytes } = found.layout.geometry;
        let named = found.membership.readers().flags.named.load(Ordering::Acquire) != 0;
        let at_least = self.options.default_slot_bytes.unwrap_or(0);
        let wished = Geometry {
            slots: self.options.slots.unwrap_or(slots),
            slot_bytes: self.options.slot_bytes.unwrap_or(slot_bytes.max(at_least)),
        };
        let geometry = if named { found.layout.geometry } else { wished };
        let evict = if named { found.evict } else { self.options.evict.or(found.evict) };
        let ours = &self.options.description;
        let unspecified = found.description.fingerprint == 0 && ours.fingerprint != 0;
        let description = if unspecified { ours.clone() } else { found.description.clone() };
        Wish { geometry, evict, description }
    }

    /// Refuses a ring of another topic or type.
    pub(super) fn check(&self, header: &Header) -> Result<(), Error> {
        let label = &self.names.label;
        if header.topic != self.options.topic {
            let text = format!("{label}: its files carry topic `{}`; use another channel", header.topic);
            return Err(Error::new(ErrorKind::Mismatch, text));
        }
        let (theirs, ours) = (&header.description, &self.options.description);
        if theirs.differs_from(ours)
            && let Err(why) = (self.options.check)(ours, theirs)
        {
            return Err(Error::new(ErrorKind::Incompatible, format!("{label}: {why}")));
        }
        Ok(())
    }

    /// Refuses a ring of another geometry or patience than we named.
    pub(super) fn check_shape(&self, found: Geometry, evict: Option<Duration>) -> Result<(), Error> {
        let Options { slots, slot_bytes, evict: age, .. } = self.options;
        let number = |number: usize| number.to_string();
        let time = |time: Option<Duration>| time.map_or_else(|| "never".into(), |time| format!("{time:?}"));
        let fields = [
            ("slots", number(found.slots), slots.map(number)),
            ("size", number(found.slot_bytes), slot_bytes.map(number)),
            ("evict", time(evict), age.map(|age| time(Some(age)))),
        ];
        for (field, theirs, ours) in fields {
            if let Some(ours) = ours.filter(|ours| *ours != theirs) {
                let label = &self.names.label;
                let text = format!(
                    "{label} is in use with {field}={theirs}, asked for {field}={ours}: name the same, or leave it out"
                );
                return Err(Error::new(ErrorKind::Mismatch, text));
            }
        }
        Ok(())
    }
}
