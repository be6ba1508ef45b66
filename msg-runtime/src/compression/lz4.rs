//! Raw lz4 blocks, as `LZ4_compress_default` makes and `LZ4_decompress_safe` reads.

use super::Undecodable;
use lz4_flex::block::{self, CompressTable, DecompressError};
use std::fmt;

/// From here on positions in a payload need the large table.
const SMALL: usize = u16::MAX as usize;

/// The tables in which repetitions are found, made when the first payload needs them.
#[derive(Default)]
pub(super) struct Encoder {
    small: Option<CompressTable>,
    large: Option<CompressTable>,
    /// Where a block is made if its place may be too short: the library does not begin then.
    spare: Vec<u8>,
}

impl Encoder {
    /// lz4 has no levels.
    pub(super) fn new(_level: u8) -> Option<Self> {
        Some(Self::default())
    }

    pub(super) fn bound(&self, len: usize) -> usize {
        block::get_maximum_output_size(len)
    }

    pub(super) fn compress(&mut self, payload: &[u8], out: &mut [u8]) -> Option<usize> {
        let table = if payload.len() < SMALL {
            self.small.get_or_insert_with(CompressTable::small)
        } else {
            self.large.get_or_insert_with(CompressTable::large)
        };
        let bound = block::get_maximum_output_size(payload.len());
        if out.len() >= bound {
            return block::compress_into_with_table(payload, out, table).ok();
        }
        if self.spare.len() < bound {
            self.spare.resize(bound, 0);
        }
        let len = block::compress_into_with_table(payload, &mut self.spare, table).ok()?;
        out.get_mut(..len)?.copy_from_slice(&self.spare[..len]);
        Some(len)
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("lz4::Encoder").finish_non_exhaustive()
    }
}

/// Keeps nothing.
#[derive(Debug, Default)]
pub(super) struct Decoder;

impl Decoder {
    /// The most that a block of this length decodes to: a byte says at most 255 bytes of a repetition.
    pub(super) fn most(block: &[u8]) -> usize {
        block.len().saturating_mul(255)
    }

    pub(super) fn decompress(&mut self, block: &[u8], out: &mut [u8]) -> Result<usize, Undecodable> {
        block::decompress_into(block, out).map_err(|error| match error {
            DecompressError::OutputTooSmall { .. } => Undecodable::TooLong,
            _ => Undecodable::Corrupt,
        })
    }
}
