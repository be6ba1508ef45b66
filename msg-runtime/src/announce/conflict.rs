//! Whether two handles of a topic would misread each other.

use super::message::Announce;
use msg_schema::Schema;

/// What stands between two handles. Raw payloads are anything; of typed ones, fields that only one side has are no
/// hindrance.
pub(super) fn between(ours: &Announce, theirs: &Announce) -> Option<String> {
    let raw = |announce: &Announce| ["raw", ""].contains(&announce.encoding.as_str());
    if raw(ours) || raw(theirs) {
        return None;
    }
    if ours.encoding != theirs.encoding {
        return Some(format!("ours sends {}, theirs {}", ours.encoding, theirs.encoding));
    }
    if ours.schema.is_empty() || theirs.schema.is_empty() {
        return None;
    }
    if ours.type_name != theirs.type_name {
        return Some(format!("ours is `{}`", ours.type_name));
    }
    match (Schema::from_bytes(&ours.schema), Schema::from_bytes(&theirs.schema)) {
        (Ok(our_schema), Ok(their_schema)) => msg_schema::conflict(&our_schema, &their_schema),
        (_, Err(error)) => Some(format!("their schema cannot be read: {error}")),
        (Err(error), _) => Some(format!("our schema cannot be read: {error}")),
    }
}
