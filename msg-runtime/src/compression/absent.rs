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

#[cfg(test)]
mod tests {
    use crate::{
        compression::{Compressor, Decompressor},
        endpoint::Compression,
        error::{BadFrame, ErrorKind},
        frame::Codec,
    };

    #[test]
    fn what_is_not_compiled_in_is_named() {
        let check = |compression, codec, feature: &str, bad: BadFrame| {
            let error = Compressor::new(compression).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.to_string().contains(&format!("turn on the feature `{feature}`")), "{error}");
            assert_eq!(Decompressor::decompressed_len(codec, b"\x05\0\0\0\x50hello", 100), Err(bad));
            let mut out = [0; 5];
            let decompressed = Decompressor::default().decompress(codec, b"\x05\0\0\0\x50hello", &mut out);
            assert_eq!(decompressed, Err(bad));
        };
        if !cfg!(feature = "lz4") {
            check(Compression::Lz4, Codec::Lz4, "lz4", BadFrame::NoLz4);
        }
        if !cfg!(feature = "zstd") {
            check(Compression::Zstd { level: 5 }, Codec::Zstd, "zstd", BadFrame::NoZstd);
        }
    }
}
