//! Bytes by hand, and hostile ones.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

const LIMIT: usize = 64 << 20;

fn lz4() -> Compressor {
    Compressor::new(Compression::Lz4).unwrap()
}

fn zstd(level: u8) -> Compressor {
    Compressor::new(Compression::Zstd { level }).unwrap()
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

/// Numbers without a pattern.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..len).map(|_| next()).collect()
}

/// As samples of a slow signal: repetitive, and not all the same.
fn signal(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at / 7 % 50 * (at / 1000 % 5)) as u8).collect()
}

fn compressed(compressor: &mut Compressor, payload: &[u8]) -> Option<(Codec, Vec<u8>)> {
    let mut out = vec![0xee; compressor.bound(payload.len())];
    let (codec, len) = compressor.compress(payload, &mut out)?;
    out.truncate(len);
    Some((codec, out))
}

fn decompressed(decompressor: &mut Decompressor, codec: Codec, body: &[u8]) -> Result<Vec<u8>, BadFrame> {
    let mut out = vec![0xee; Decompressor::decompressed_len(codec, body, LIMIT)?];
    decompressor.decompress(codec, body, &mut out).map(|()| out)
}

/// By the formats' specifications, and not by any library: twenty letters `a`.
#[test]
fn bytes_by_hand_are_decoded() {
    let check = |codec, body: &str, payload: &[u8]| {
        let decoded = decompressed(&mut Decompressor::default(), codec, &hex(body));
        assert_eq!(decoded.as_deref(), Ok(payload), "{body}");
    };
    let letters = [b'a'; 20];
    // One literal and a match of 14 at distance 1; five literals.
    check(Codec::Lz4, "14000000 1a 61 0100 50 6161616161", &letters);
    // A single segment of 20 bytes, in one last block that repeats a byte.
    check(Codec::Zstd, "14000000 28b52ffd 20 14 a30000 61", &letters);
    // One raw block; the frame says no size of its own, but a window of 1 KiB.
    check(Codec::Zstd, "03000000 28b52ffd 00 00 190000 616263", b"abc");
    check(Codec::Lz4, "00000000 00", b"");
    check(Codec::Zstd, "00000000 28b52ffd 20 00 010000", b"");
    check(Codec::None, "616263", b"abc");
    check(Codec::None, "", b"");
}

#[test]
fn bytes_that_we_send_stay_as_they_are() {
    let check = |mut compressor: Compressor, codec, start: &str| {
        let (found, body) = compressed(&mut compressor, &[b'a'; 40]).unwrap();
        assert_eq!((found, &body[..hex(start).len()]), (codec, &hex(start)[..]));
    };
    check(lz4(), Codec::Lz4, "28000000 1f 61 0100 0e 60 616161616161");
    // The size once more, in the frame's own header; the block is as the library's version likes it.
    check(zstd(3), Codec::Zstd, "28000000 28b52ffd 20 28");
}

#[test]
fn every_size_and_level_comes_back() {
    let mut decompressor = Decompressor::default();
    let mut check = |compressor: &mut Compressor, payload: &[u8]| {
        let (codec, body) = compressed(compressor, payload).unwrap_or((Codec::None, payload.to_vec()));
        assert!(body.len() <= payload.len());
        assert_eq!(decompressed(&mut decompressor, codec, &body).as_deref(), Ok(payload));
    };
    let (mut lz4, mut zstd3) = (lz4(), zstd(3));
    let payloads = [0, 1, 2, 12, 13, 64, 1 << 10, 65_534, 65_535, 65_536, 300_000, 10 << 20].map(signal);
    for payload in payloads.iter().chain(&[noise(100), noise(70_000)]) {
        check(&mut lz4, payload);
        check(&mut zstd3, payload);
    }
    for level in 1..=22 {
        check(&mut zstd(level), &payloads[8]);
    }
}

#[test]
fn what_would_not_shrink_goes_as_it_is() {
    for mut compressor in [lz4(), zstd(1), zstd(19)] {
        for payload in [noise(0), noise(1), noise(64), noise(1 << 20), b"abc".to_vec()] {
            assert_eq!(compressed(&mut compressor, &payload), None, "{} bytes", payload.len());
        }
    }
    let mut none = Compressor::new(Compression::None).unwrap();
    assert_eq!(compressed(&mut none, &signal(1000)), None);
}

#[test]
fn room_may_be_short() {
    for mut compressor in [lz4(), zstd(3)] {
        let payload = signal(10_000);
        let (codec, body) = compressed(&mut compressor, &payload).unwrap();
        let mut tight = vec![0; body.len() + 16];
        assert_eq!(compressor.compress(&payload, &mut tight), Some((codec, body.len())));
        assert_eq!(tight[..body.len()], body);
        for short in [0, 3, 4, 5, body.len() / 2] {
            assert_eq!(compressor.compress(&payload, &mut vec![0; short]), None, "{short} bytes of room");
        }
        // And the next one is as good as the first.
        assert_eq!(compressed(&mut compressor, &payload), Some((codec, body)));
    }
}

#[test]
fn claims_are_refused_before_anything_is_allocated() {
    let check = |codec, body: &str, bad: BadFrame| {
        assert_eq!(Decompressor::decompressed_len(codec, &hex(body), LIMIT), Err(bad), "{body}");
    };
    let too_large = BadFrame::TooLarge { len: u32::MAX as usize, max: LIMIT };
    check(Codec::Lz4, "ffffffff 1a 61 0100 50 6161616161", too_large);
    check(Codec::Zstd, "ffffffff 28b52ffd 20 14 a30000 61", too_large);
    check(Codec::Lz4, "01000004 00", BadFrame::TooLarge { len: LIMIT + 1, max: LIMIT });
    // Below the limit, and more than ten bytes can be.
    check(Codec::Lz4, "00000004 1a 61 0100 50 6161616161", BadFrame::WrongSize { claimed: LIMIT });
    check(Codec::Zstd, "00000004 28b52ffd 20 14 a30000 61", BadFrame::WrongSize { claimed: LIMIT });
    check(Codec::Zstd, "00000004 28b52ffd 00 00 190000 616263", BadFrame::WrongSize { claimed: LIMIT });
    check(Codec::Lz4, "140000", BadFrame::MissingSize { len: 3 });
    check(Codec::Zstd, "", BadFrame::MissingSize { len: 0 });
    let five = Decompressor::decompressed_len(Codec::None, b"abcde", 4);
    assert_eq!(five, Err(BadFrame::TooLarge { len: 5, max: 4 }));
}

#[test]
fn another_size_than_claimed_is_an_error() {
    let check = |codec, body: &str, claimed| {
        let decoded = decompressed(&mut Decompressor::default(), codec, &hex(body));
        assert_eq!(decoded, Err(BadFrame::WrongSize { claimed }), "{body}");
    };
    check(Codec::Lz4, "13000000 1a 61 0100 50 6161616161", 19);
    check(Codec::Lz4, "15000000 1a 61 0100 50 6161616161", 21);
    check(Codec::Lz4, "00000000 1a 61 0100 50 6161616161", 0);
    check(Codec::Zstd, "13000000 28b52ffd 20 14 a30000 61", 19);
    check(Codec::Zstd, "15000000 28b52ffd 20 14 a30000 61", 21);
    check(Codec::Zstd, "04000000 28b52ffd 00 00 190000 616263", 4);
    let mut out = [0; 5];
    let other = Decompressor::default().decompress(Codec::None, b"abcd", &mut out);
    assert_eq!(other, Err(BadFrame::WrongSize { claimed: 4 }));
}

#[test]
fn behind_a_zstd_frame_is_nothing() {
    let check = |body: &str, bad: BadFrame| {
        let decoded = decompressed(&mut Decompressor::default(), Codec::Zstd, &hex(body));
        assert_eq!(decoded, Err(bad), "{body}");
    };
    check("14000000 28b52ffd 20 14 a30000 61 00", BadFrame::Corrupt);
    check("14000000 28b52ffd 20 14 a30000 61 28b52ffd 20", BadFrame::Corrupt);
    let two = "28b52ffd 20 14 a30000 61 28b52ffd 20 14 a30000 61";
    check(&format!("14000000 {two}"), BadFrame::WrongSize { claimed: 20 });
    // A skippable one.
    check("01000000 502a4d18 01000000 61", BadFrame::WrongSize { claimed: 1 });
}

/// Damage is found or gives other bytes, of the size that was claimed; never a panic, never more.
#[test]
fn damaged_frames_are_survived() {
    let mut decompressor = Decompressor::default();
    for mut compressor in [lz4(), zstd(3), zstd(19)] {
        let payload = signal(5000);
        let (codec, body) = compressed(&mut compressor, &payload).unwrap();
        for end in 0..body.len() {
            assert!(decompressed(&mut decompressor, codec, &body[..end]).is_err(), "{codec:?} cut at {end}");
        }
        for at in 0..body.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut bad = body.clone();
                bad[at] ^= flip;
                if let Ok(decoded) = decompressed(&mut decompressor, codec, &bad) {
                    assert_eq!(decoded.len(), payload.len(), "{codec:?} byte {at}");
                }
            }
        }
        // What was bad leaves nothing behind.
        assert_eq!(decompressed(&mut decompressor, codec, &body), Ok(payload));
    }
    let random = noise(60_000);
    for (at, body) in random.windows(40).enumerate() {
        let mut body = body[..at % 40].to_vec();
        body.splice(0..body.len().min(4), [200, 0, 0, 0]);
        for codec in [Codec::Lz4, Codec::Zstd] {
            if let Ok(decoded) = decompressed(&mut decompressor, codec, &body) {
                assert_eq!(decoded.len(), 200);
            }
        }
    }
}

#[test]
fn compressors_go_to_other_threads() {
    fn is_send<T: Send>() {}
    is_send::<Compressor>();
    is_send::<Decompressor>();
}
