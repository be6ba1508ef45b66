//! Compressed payloads: one match from a codec to the library that knows it, and every bound that a frame must keep.
//!
//! Slices in and out, so that slots of shared memory and buffers of networks serve alike. What a codec's bytes look like
//! stands in `frame`. Each library has its own file; `absent` stands in for one that is not compiled in.

#[cfg(not(all(feature = "lz4", feature = "zstd")))]
mod absent;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(feature = "zstd")]
mod zstd;

#[cfg(not(feature = "lz4"))]
use absent as lz4;
#[cfg(not(feature = "zstd"))]
use absent as zstd;

use crate::{
    endpoint::Compression,
    error::{Error, ErrorKind},
    frame::{BadFrame, Codec},
};

/// Bytes of the original size before a block.
const SIZE_BYTES: usize = 4;

/// Compresses payloads, one after the other; what the libraries need for it is kept.
#[derive(Debug)]
pub(crate) struct Compressor(Encoder);

#[derive(Debug)]
enum Encoder {
    None,
    Lz4(Box<lz4::Encoder>),
    Zstd(zstd::Encoder),
}

impl Compressor {
    /// # Errors
    ///
    /// `Unsupported`, if the codec is not compiled in.
    pub(crate) fn new(compression: Compression) -> Result<Self, Error> {
        let encoder = match compression {
            Compression::None => Some(Encoder::None),
            Compression::Lz4 => lz4::Encoder::new(0).map(|encoder| Encoder::Lz4(Box::new(encoder))),
            Compression::Zstd { level } => zstd::Encoder::new(level).map(Encoder::Zstd),
        };
        encoder.map(Self).ok_or_else(|| {
            let name = if compression == Compression::Lz4 { "lz4" } else { "zstd" };
            let text = format!(
                "this build has no `{name}`; turn on the feature `{name}` of msg-runtime, or write `none` for `{compression}`"
            );
            Error::new(ErrorKind::Unsupported, text)
        })
    }

    /// Bytes with which every payload of `len` bytes can be compressed at full speed.
    #[allow(dead_code, reason = "for buffers of networks; slots have their size")]
    pub(crate) fn bound(&self, len: usize) -> usize {
        match &self.0 {
            Encoder::None => 0,
            Encoder::Lz4(encoder) => SIZE_BYTES + encoder.bound(len),
            Encoder::Zstd(encoder) => SIZE_BYTES + encoder.bound(len),
        }
    }

    /// Writes the payload's size and the payload as one block into `out`, and says how many bytes that took.
    ///
    /// `None`: that is no smaller than the payload, or just fits `out` or less; the payload goes as it is. So do those of
    /// 4 GiB and more, whose size cannot be written.
    pub(crate) fn compress(&mut self, payload: &[u8], out: &mut [u8]) -> Option<(Codec, usize)> {
        let size = u32::try_from(payload.len()).ok()?;
        let (size_bytes, block) = out.split_first_chunk_mut::<SIZE_BYTES>()?;
        let (codec, len) = match &mut self.0 {
            Encoder::None => return None,
            Encoder::Lz4(encoder) => (Codec::Lz4, encoder.compress(payload, block)?),
            Encoder::Zstd(encoder) => (Codec::Zstd, encoder.compress(payload, block)?),
        };
        *size_bytes = size.to_le_bytes();
        (SIZE_BYTES + len < payload.len()).then_some((codec, SIZE_BYTES + len))
    }
}

/// Decompresses payloads of any codec; what the libraries need for it is kept.
#[derive(Debug, Default)]
pub(crate) struct Decompressor {
    lz4: lz4::Decoder,
    zstd: zstd::Decoder,
}

impl Decompressor {
    /// Bytes of the payload. A frame that says more than `max`, or more than a block of its length can hold, is refused:
    /// so nothing is allocated on a mere claim.
    pub(crate) fn decompressed_len(codec: Codec, body: &[u8], max: usize) -> Result<usize, BadFrame> {
        let (len, block) = claim(codec, body)?;
        if len > max {
            return Err(BadFrame::TooLarge { len, max });
        }
        let most = match codec {
            Codec::None => len,
            Codec::Lz4 => lz4::Decoder::most(block),
            Codec::Zstd => zstd::Decoder::most(block),
        };
        if len > most { Err(BadFrame::WrongSize { claimed: len }) } else { Ok(len) }
    }

    /// Writes the payload to `out`, which is as long as [`decompressed_len`](Self::decompressed_len) says.
    ///
    /// After an error the contents of `out` have no meaning.
    pub(crate) fn decompress(&mut self, codec: Codec, body: &[u8], out: &mut [u8]) -> Result<(), BadFrame> {
        let (claimed, block) = claim(codec, body)?;
        if claimed != out.len() {
            return Err(BadFrame::WrongSize { claimed });
        }
        let len = match codec {
            Codec::None => {
                out.copy_from_slice(block);
                Ok(claimed)
            }
            Codec::Lz4 => self.lz4.decompress(block, out),
            Codec::Zstd => self.zstd.decompress(block, out),
        };
        match len {
            Ok(len) if len == claimed => Ok(()),
            Ok(_) | Err(Undecodable::TooLong) => Err(BadFrame::WrongSize { claimed }),
            Err(Undecodable::Corrupt) => Err(BadFrame::Corrupt),
        }
    }
}

/// The size of the payload, as the frame says, and its block.
fn claim(codec: Codec, body: &[u8]) -> Result<(usize, &[u8]), BadFrame> {
    match codec {
        Codec::None => return Ok((body.len(), body)),
        Codec::Lz4 if !cfg!(feature = "lz4") => return Err(BadFrame::NoLz4),
        Codec::Zstd if !cfg!(feature = "zstd") => return Err(BadFrame::NoZstd),
        Codec::Lz4 | Codec::Zstd => {}
    }
    let (size, block) =
        body.split_first_chunk::<SIZE_BYTES>().ok_or(BadFrame::MissingSize { len: body.len() })?;
    Ok((u32::from_le_bytes(*size) as usize, block))
}

/// Why a library does not decode a block.
#[cfg_attr(not(any(feature = "lz4", feature = "zstd")), allow(dead_code, reason = "there is no library"))]
enum Undecodable {
    /// There is more than was asked for.
    TooLong,
    /// It makes no sense.
    Corrupt,
}

#[cfg(all(test, feature = "lz4", feature = "zstd"))]
mod tests;
