//! `#[derive(Message)]`.
