//! The shared-memory ring by itself.
