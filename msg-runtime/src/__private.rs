//! Names for generated code, and nothing else.
