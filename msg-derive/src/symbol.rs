//! The words of `#[message(..)]`.

/// The attribute itself.
pub(crate) const MESSAGE: &str = "message";

pub(crate) const ALIGN: &str = "align";
pub(crate) const ATTRIBUTE: &str = "attribute";
pub(crate) const BIT_FLAGS: &str = "bit_flags";
pub(crate) const CRATE: &str = "crate";
pub(crate) const DEFAULT: &str = "default";
pub(crate) const DEPRECATED: &str = "deprecated";
pub(crate) const EXTENSION: &str = "extension";
pub(crate) const ID: &str = "id";
pub(crate) const IDENTIFIER: &str = "identifier";
pub(crate) const KEY: &str = "key";
pub(crate) const LIKE: &str = "like";
pub(crate) const NAME: &str = "name";
pub(crate) const NAMESPACE: &str = "namespace";
pub(crate) const PLAIN: &str = "plain";
pub(crate) const RENAME: &str = "rename";
pub(crate) const REQUIRED: &str = "required";
pub(crate) const SKIP: &str = "skip";
pub(crate) const TOPIC: &str = "topic";
pub(crate) const UNKNOWN: &str = "unknown";
pub(crate) const VIEW: &str = "view";
pub(crate) const WITH: &str = "with";

/// What may stand on a type.
pub(crate) const CONTAINER: &[&str] =
    &[NAMESPACE, NAME, TOPIC, PLAIN, VIEW, CRATE, IDENTIFIER, EXTENSION, BIT_FLAGS, LIKE, ATTRIBUTE];

/// What may stand on a field.
pub(crate) const FIELD: &[&str] =
    &[ID, DEFAULT, REQUIRED, RENAME, DEPRECATED, KEY, ALIGN, SKIP, WITH, ATTRIBUTE];

/// What may stand on an enumerator or a member of a union.
pub(crate) const VARIANT: &[&str] = &[ID, RENAME, UNKNOWN, ATTRIBUTE];
