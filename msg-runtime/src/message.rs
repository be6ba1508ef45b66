//! The trait of what a topic carries.
