//! Our compressed payloads beside the compression libraries by themselves, in the same run.
//!
//! `cargo bench -p msg-runtime --bench compression`. Each measurement is the fastest of many rounds, the two sides in turn,
//! so that what else the machine does hits both. `whole` is a message from `send` to its view over shared memory, beside
//! nothing but the library's compressing and decompressing. Without `--bench` it runs briefly.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout, reason = "a benchmark reports on its output")]
#![allow(clippy::unwrap_used, reason = "a benchmark has nobody to hand an error to")]

// The runtime keeps these to itself, so the benchmark has them compiled in once more.
#[allow(dead_code, unreachable_pub, unused_imports, reason = "as it stands in the runtime")]
#[path = "../src/compression/mod.rs"]
mod compression;
#[allow(dead_code, unreachable_pub, unused_imports, reason = "as it stands in the runtime")]
#[path = "../src/frame.rs"]
mod frame;
mod endpoint {
    pub(crate) use msg_runtime::Compression;
}
mod error {
    pub(crate) use msg_runtime::{Error, ErrorKind};
}

use compression::{Compressor, Decompressor};
use endpoint::Compression;
use frame::Codec;
use lz4_flex::block::{self, CompressTable};
use msg_runtime::{Message, Publisher, Subscriber};
use std::{
    hint::black_box,
    time::{Duration, Instant},
};
use zstd_safe::{CCtx, DCtx};

/// The least share of the library's own throughput.
const LEAST: f64 = 0.95;

#[derive(Message)]
#[message(namespace = "bench")]
struct Block {
    bytes: Vec<u8>,
}

/// A library by itself, with what it can keep from call to call kept.
enum Library {
    Lz4(CompressTable),
    Zstd(CCtx<'static>, DCtx<'static>, i32),
}

impl Library {
    fn new(compression: Compression, len: usize) -> Self {
        match compression {
            Compression::Zstd { level } => Self::Zstd(CCtx::create(), DCtx::create(), level.into()),
            _ if len < 65_535 => Self::Lz4(CompressTable::small()),
            _ => Self::Lz4(CompressTable::large()),
        }
    }

    /// The size in four bytes, and the block.
    fn compress(&mut self, payload: &[u8], out: &mut [u8]) -> usize {
        let (size, out) = out.split_at_mut(4);
        size.copy_from_slice(&(payload.len() as u32).to_le_bytes());
        let len = match self {
            Self::Lz4(table) => block::compress_into_with_table(payload, out, table).unwrap(),
            Self::Zstd(context, _, level) => context.compress(out, payload, *level).unwrap(),
        };
        4 + len
    }

    /// As one must who is not told the size: it stands before the lz4 block, and in the zstd frame.
    fn decompress(&mut self, body: &[u8], out: &mut [u8]) -> usize {
        match self {
            Self::Lz4(_) => {
                let (len, block) = block::uncompressed_size(body).unwrap();
                block::decompress_into(block, &mut out[..len]).unwrap()
            }
            Self::Zstd(_, context, _) => {
                let frame = &body[4..];
                let len = zstd_safe::get_frame_content_size(frame).unwrap().unwrap();
                context.decompress(&mut out[..len as usize], frame).unwrap()
            }
        }
    }
}

/// Records of a counter, slow readings and a few random bits.
fn payload(len: usize) -> Vec<u8> {
    let mut random = 1_u32;
    let mut record = |at: u32| {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let readings = [at / 40, at / 7 % 300, 1000 + (random >> 30)];
        [at.to_le_bytes(), readings[0].to_le_bytes(), readings[1].to_le_bytes(), readings[2].to_le_bytes()]
            .concat()
    };
    (0..).flat_map(&mut record).take(len).collect()
}

/// The fastest of the rounds, per call, of both.
fn compare(rounds: usize, calls: u32, ours: &mut dyn FnMut(), theirs: &mut dyn FnMut()) -> [f64; 2] {
    let time = |what: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..calls).for_each(|_| what());
        start.elapsed()
    };
    let mut fastest = [Duration::MAX; 2];
    for _ in 0..rounds {
        fastest[0] = fastest[0].min(time(ours));
        fastest[1] = fastest[1].min(time(theirs));
    }
    fastest.map(|time| time.as_secs_f64() / f64::from(calls))
}

fn report(name: &str, len: usize, [ours, theirs]: [f64; 2], least: Option<f64>) {
    let speed = |seconds: f64| len as f64 / seconds / 1e6;
    let least = least.map_or(String::new(), |least| format!(" (at least {least:.2})"));
    println!(
        "{name:22} {len:8} B  {:8.1} MB/s   library {:8.1} MB/s   ratio {:.3}{least}",
        speed(ours),
        speed(theirs),
        theirs / ours
    );
}

fn measure(compression: Compression, len: usize, full: bool) {
    let rounds = if full { 100 } else { 2 };
    let calls = if full { (200_000 / len).clamp(1, 500) as u32 } else { 1 };
    let payload = payload(len);
    let (mut library, mut compressor) =
        (Library::new(compression, len), Compressor::new(compression).unwrap());
    let mut frame = vec![0; compressor.bound(len)];
    let mut block = frame.clone();

    let mut compress_ours = || {
        black_box(compressor.compress(black_box(&payload), &mut frame));
    };
    let mut compress_theirs = || {
        black_box(library.compress(black_box(&payload), &mut block));
    };
    let compressing = compare(rounds, calls, &mut compress_ours, &mut compress_theirs);
    let block_len = library.compress(&payload, &mut block);
    println!("{compression}: {len} bytes become {block_len}");
    report(&format!("{compression} compress"), len, compressing, Some(LEAST));
    if let Some((codec, frame_len)) = compressor.compress(&payload, &mut frame) {
        let decompressing = decompress(&mut library, (codec, &frame[..frame_len]), (rounds, calls));
        report(&format!("{compression} decompress"), len, decompressing, Some(LEAST));
    }
    let whole = whole(compression, &mut library, payload, (rounds, calls));
    report(&format!("{compression} whole"), len, whole, None);
}

fn decompress(
    library: &mut Library,
    (codec, body): (Codec, &[u8]),
    (rounds, calls): (usize, u32),
) -> [f64; 2] {
    let mut decompressor = Decompressor::default();
    let len = Decompressor::decompressed_len(codec, body, 64 << 20).unwrap();
    let (mut out, mut other) = (vec![0; len], vec![0; len]);
    let mut ours = || {
        let len = Decompressor::decompressed_len(codec, black_box(body), 64 << 20).unwrap();
        decompressor.decompress(codec, body, &mut out[..len]).unwrap();
        black_box(&out);
    };
    let mut theirs = || {
        black_box(library.decompress(black_box(body), &mut other));
    };
    compare(rounds, calls, &mut ours, &mut theirs)
}

fn whole(
    compression: Compression,
    library: &mut Library,
    payload: Vec<u8>,
    (rounds, calls): (usize, u32),
) -> [f64; 2] {
    let address = format!("bench-compression-{}?size=2MiB", std::process::id());
    let blocks = Subscriber::<Block>::open(&format!("shm;{address}")).unwrap();
    let publisher = Publisher::<Block>::open(&format!("shm;{compression};{address}")).unwrap();
    let message = Block { bytes: payload };
    let mut ours = || {
        publisher.send(black_box(&message)).unwrap();
        black_box(blocks.try_recv().unwrap().view().bytes());
    };
    let (mut block, mut out) = (vec![0; 2 * message.bytes.len() + 1000], vec![0; message.bytes.len()]);
    let mut theirs = || {
        let len = library.compress(black_box(&message.bytes), &mut block);
        black_box(library.decompress(&block[..len], &mut out));
    };
    compare(rounds, calls, &mut ours, &mut theirs)
}

fn main() {
    let full = std::env::args().any(|argument| argument == "--bench");
    for compression in [Compression::Lz4, Compression::Zstd { level: 3 }] {
        for len in [64, 1 << 10, 64 << 10, 1 << 20] {
            measure(compression, len, full);
        }
    }
}
