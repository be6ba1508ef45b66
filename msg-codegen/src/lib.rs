//! The schema compiler.
