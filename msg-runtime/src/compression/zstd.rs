//! zstd frames, as `ZSTD_compress` makes and `ZSTD_decompress` reads.

use super::Undecodable;
use std::fmt;
use zstd_safe::{CCtx, DCtx, zstd_sys::ZSTD_ErrorCode};

/// The most that one block of a frame decodes to.
const BLOCK_MAX: usize = 128 << 10;
/// The fewest bytes that a block with contents has: its header, and the byte that it repeats.
const BLOCK_BYTES: usize = 4;

/// The library's context, which keeps its tables from payload to payload.
pub(super) struct Encoder {
    context: CCtx<'static>,
    level: i32,
}

impl Encoder {
    /// Levels are 1 to 22.
    pub(super) fn new(level: u8) -> Option<Self> {
        Some(Self { context: CCtx::create(), level: level.into() })
    }

    pub(super) fn bound(&self, len: usize) -> usize {
        zstd_safe::compress_bound(len)
    }

    pub(super) fn compress(&mut self, payload: &[u8], out: &mut [u8]) -> Option<usize> {
        // It fails if the frame does not fit, or if there is no memory for its tables.
        self.context.compress(out, payload, self.level).ok()
    }
}

impl fmt::Debug for Encoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("zstd::Encoder").field("level", &self.level).finish_non_exhaustive()
    }
}

/// The library's context, made when the first frame needs it.
///
/// It decodes straight to where the payload shall lie, so that no window is allocated, however large the frame says
/// it is.
#[derive(Default)]
pub(super) struct Decoder(Option<DCtx<'static>>);

impl Decoder {
    /// The most that a frame decodes to: what its own header says, and no more than its blocks can hold.
    pub(super) fn most(frame: &[u8]) -> usize {
        let possible = frame.len().div_ceil(BLOCK_BYTES).saturating_mul(BLOCK_MAX);
        match zstd_safe::get_frame_content_size(frame) {
            Ok(Some(size)) => usize::try_from(size).unwrap_or(usize::MAX).min(possible),
            // Nothing is said, or nothing can be read, which decoding finds out.
            Ok(None) | Err(_) => possible,
        }
    }

    pub(super) fn decompress(&mut self, frame: &[u8], out: &mut [u8]) -> Result<usize, Undecodable> {
        let context = self.0.get_or_insert_with(DCtx::create);
        context.decompress(out, frame).map_err(|code| {
            if zstd_safe::is_error_kind(code, ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall) {
                Undecodable::TooLong
            } else {
                Undecodable::Corrupt
            }
        })
    }
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("zstd::Decoder").finish_non_exhaustive()
    }
}
