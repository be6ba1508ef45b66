<<<<<<< HEAD
//! What the tests in `tests/` share: other people's tools to compare with, and the comparison of schemas.

pub mod json;
pub mod random;
pub mod schemas;
pub mod tools;
=======
//! The tests of the workspace live in `tests/`.

pub mod shm;
>>>>>>> ring
