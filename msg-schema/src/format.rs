//! The field numbers of `reflection.fbs`, the schema of binary schemas, as of FlatBuffers 25.12.19.

/// What the first bytes of a `.bfbs` file say.
pub(crate) const IDENTIFIER: &[u8; 4] = b"BFBS";

pub(crate) mod schema {
    pub(crate) const OBJECTS: u16 = 0;
    pub(crate) const ENUMS: u16 = 1;
    pub(crate) const FILE_IDENTIFIER: u16 = 2;
    pub(crate) const FILE_EXTENSION: u16 = 3;
    pub(crate) const ROOT: u16 = 4;
    // 5, the services, and 7, the names of the files, have no part in the model.
    pub(crate) const ADVANCED_FEATURES: u16 = 6;
}

pub(crate) mod object {
    pub(crate) const NAME: u16 = 0;
    pub(crate) const FIELDS: u16 = 1;
    pub(crate) const IS_STRUCT: u16 = 2;
    pub(crate) const MIN_ALIGN: u16 = 3;
    pub(crate) const BYTE_SIZE: u16 = 4;
    pub(crate) const ATTRIBUTES: u16 = 5;
    pub(crate) const DOCUMENTATION: u16 = 6;
    // 7 is the file it is declared in.
}

pub(crate) mod field {
    pub(crate) const NAME: u16 = 0;
    pub(crate) const TYPE: u16 = 1;
    pub(crate) const ID: u16 = 2;
    pub(crate) const OFFSET: u16 = 3;
    pub(crate) const DEFAULT_INTEGER: u16 = 4;
    pub(crate) const DEFAULT_REAL: u16 = 5;
    pub(crate) const DEPRECATED: u16 = 6;
    pub(crate) const REQUIRED: u16 = 7;
    pub(crate) const KEY: u16 = 8;
    pub(crate) const ATTRIBUTES: u16 = 9;
    pub(crate) const DOCUMENTATION: u16 = 10;
    pub(crate) const OPTIONAL: u16 = 11;
    pub(crate) const PADDING: u16 = 12;
    pub(crate) const OFFSET64: u16 = 13;
}

pub(crate) mod enumeration {
    pub(crate) const NAME: u16 = 0;
    pub(crate) const VALUES: u16 = 1;
    pub(crate) const IS_UNION: u16 = 2;
    pub(crate) const UNDERLYING: u16 = 3;
    pub(crate) const ATTRIBUTES: u16 = 4;
    pub(crate) const DOCUMENTATION: u16 = 5;
    // 6 is the file it is declared in.
}

pub(crate) mod value {
    pub(crate) const NAME: u16 = 0;
    pub(crate) const VALUE: u16 = 1;
    // 2 is gone.
    pub(crate) const UNION_TYPE: u16 = 3;
    pub(crate) const DOCUMENTATION: u16 = 4;
    pub(crate) const ATTRIBUTES: u16 = 5;
}

pub(crate) mod types {
    pub(crate) const BASE: u16 = 0;
    pub(crate) const ELEMENT: u16 = 1;
    pub(crate) const INDEX: u16 = 2;
    pub(crate) const FIXED_LENGTH: u16 = 3;
    pub(crate) const BASE_SIZE: u16 = 4;
    pub(crate) const ELEMENT_SIZE: u16 = 5;

    /// What an absent index means: no object and no enum.
    pub(crate) const NO_INDEX: i32 = -1;
    /// What an absent base size means: most types are references or 32-bit numbers.
    pub(crate) const DEFAULT_BASE_SIZE: u32 = 4;
}

pub(crate) mod attribute {
    pub(crate) const KEY: u16 = 0;
    pub(crate) const VALUE: u16 = 1;
}
