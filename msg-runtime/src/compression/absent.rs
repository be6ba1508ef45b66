//! A codec that is not compiled in.

use super::Undecodable;

/// None exists.
#[derive(Debug)]
pub(super) enum Encoder {}

impl Encoder {
    pub(super) fn new(_level: u8) -> Option<Self> {
        None
    }

    pub(super) fn bound(&self, _len: usize) -> usize {
        match *self {}
    }

    pub(super) fn compress(&mut self, _payload: &[u8], _out: &mut [u8]) -> Option<usize> {
        match *self {}
    }
}

/// Decodes nothing.
#[derive(Debug, Default)]
pub(super) struct Decoder;

impl Decoder {
    pub(super) fn most(_block: &[u8]) -> usize {
        0
    }

    pub(super) fn decompress(&mut self, _block: &[u8], _out: &mut [u8]) -> Result<usize, Undecodable> {
        Err(Undecodable::Corrupt)
    }
}
