//! What a server says, as far as messages need it (RESP2): answers of one line, and what a subscription brings.
//!
//! ```text
//! +PONG            :3                 -NOAUTH Authentication required.
//! *3  $7 message   $5 topic   $65 <frame>          each part on a line of its own, ended by \r\n
//! ```
//!
//! A frame is read to where its payload is 64-byte aligned, so that it is verified and viewed there. Memory is taken for a
//! frame once its length is known to be allowed.

use super::super::network::{Pool, SharedBytes};
use std::{
    io::{Error, ErrorKind, Result},
    sync::Arc,
};

const BUFFER: usize = 64 << 10;
/// No server sends more in one piece.
const MAX_LEN: usize = 512 << 20;
/// Bytes before the frame in its buffer, so that what follows the header byte is aligned.
const HEADROOM: usize = 63;

/// Where bytes come from.
pub(super) trait Source {
    /// At least one byte.
    fn receive(&mut self, into: &mut [u8]) -> Result<usize>;
}

/// An answer of one line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It was done.
    Done,
    /// It was not, for this reason.
    Refused(String),
}

/// What a subscription brings.
#[derive(Debug)]
pub(super) enum Push {
    Frame(SharedBytes),
    /// A frame of more bytes than are allowed; it is gone.
    TooLarge,
    Subscribed,
    Pong,
    Refused(String),
}

/// Reads what a server says.
#[derive(Debug)]
pub(super) struct Reader<S> {
    pub(super) source: S,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
}

impl<S: Source> Reader<S> {
    pub(super) fn new(source: S) -> Self {
        Self { source, buffer: vec![0; BUFFER], start: 0, end: 0 }
    }

    /// Whether something has arrived that was not read yet.
    pub(super) fn has_more(&self) -> bool {
        self.start < self.end
    }

    /// The answer to a command that is answered in one line.
    pub(super) fn answer(&mut self) -> Result<Answer> {
        match self.line()? {
            (b'+' | b':', _) => Ok(Answer::Done),
            (b'-', text) => Ok(Answer::Refused(readable(text))),
            _ => Err(strange()),
        }
    }

    /// The next thing that a subscription brings. Frames have at most `max` bytes.
    pub(super) fn push(&mut self, max: usize, pool: &Arc<Pool>) -> Result<Push> {
        match self.line()? {
            (b'*', b"2" | b"3") => {}
            (b'+', b"PONG") => return Ok(Push::Pong),
            (b'-', text) => return Ok(Push::Refused(readable(text))),
            _ => return Err(strange()),
        }
        let mut kind = [0; 16];
        let len = self.bulk_len()?;
        let kind = kind.get_mut(..len).ok_or_else(strange)?;
        self.exact(kind)?;
        self.end_of_bulk()?;
        // The topic, or the text of a ping.
        let len = self.bulk_len()?;
        self.skip(len)?;
        self.end_of_bulk()?;
        match &*kind {
            b"message" => self.frame(max, pool),
            b"pong" => Ok(Push::Pong),
            b"subscribe" => match self.line()? {
                (b':', _) => Ok(Push::Subscribed),
                _ => Err(strange()),
            },
            _ => Err(strange()),
        }
    }

    fn frame(&mut self, max: usize, pool: &Arc<Pool>) -> Result<Push> {
        let len = self.bulk_len()?;
        if len > max {
            self.skip(len)?;
            self.end_of_bulk()?;
            return Ok(Push::TooLarge);
        }
        let mut buffer = pool.take();
        let room = buffer.reserve(HEADROOM + len);
        self.exact(&mut room[HEADROOM..HEADROOM + len])?;
        buffer.truncate(HEADROOM + len);
        self.end_of_bulk()?;
        Ok(Push::Frame(SharedBytes::new(buffer).skip(HEADROOM)))
    }

    /// The length of a text that follows.
    fn bulk_len(&mut self) -> Result<usize> {
        let (b'$', digits) = self.line()? else { return Err(strange()) };
        let number = digits.iter().try_fold(0_usize, |number, digit| {
            let digit = digit.is_ascii_digit().then(|| usize::from(digit - b'0'))?;
            number.checked_mul(10)?.checked_add(digit)
        });
        let number = number.filter(|&number| number <= MAX_LEN && !digits.is_empty());
        number.ok_or_else(strange)
    }

    fn end_of_bulk(&mut self) -> Result<()> {
        let mut end = [0; 2];
        self.exact(&mut end)?;
        if end == *b"\r\n" { Ok(()) } else { Err(strange()) }
    }

    /// The first byte of a line, and what follows until its end.
    fn line(&mut self) -> Result<(u8, &[u8])> {
        let mut searched = 0;
        let len = loop {
            let arrived = &self.buffer[self.start..self.end];
            if let Some(at) = arrived[searched..].iter().position(|&byte| byte == b'\n') {
                break searched + at;
            }
            searched = arrived.len();
            self.more()?;
        };
        let line = &self.buffer[self.start..self.start + len];
        self.start += len + 1;
        let line = line.strip_suffix(b"\r").ok_or_else(strange)?;
        line.split_first().map(|(&first, rest)| (first, rest)).ok_or_else(strange)
    }

    /// The next bytes, all that there is room for.
    fn exact(&mut self, mut into: &mut [u8]) -> Result<()> {
        while !into.is_empty() {
            let arrived = &self.buffer[self.start..self.end];
            if arrived.is_empty() && into.len() >= BUFFER / 2 {
                // Straight to where they belong.
                let count = self.source.receive(into)?;
                into = &mut into[count..];
            } else if arrived.is_empty() {
                self.more()?;
            } else {
                let count = arrived.len().min(into.len());
                into[..count].copy_from_slice(&arrived[..count]);
                self.start += count;
                into = &mut into[count..];
            }
        }
        Ok(())
    }

    fn skip(&mut self, mut count: usize) -> Result<()> {
        loop {
            let arrived = (self.end - self.start).min(count);
            self.start += arrived;
            count -= arrived;
            if count == 0 {
                return Ok(());
            }
            self.more()?;
        }
    }

    /// Receives more, behind what was not read yet.
    fn more(&mut self) -> Result<()> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            return Err(strange());
        }
        self.end += self.source.receive(&mut self.buffer[self.end..])?;
        Ok(())
    }
}

/// One line of a server as text that can be shown.
fn readable(text: &[u8]) -> String {
    const MOST: usize = 200;
    let text = String::from_utf8_lossy(text);
    text.chars().take(MOST).flat_map(char::escape_debug).collect()
}

fn strange() -> Error {
    Error::new(ErrorKind::InvalidData, "it answers what no Redis server does")
}

/// A command of these words, as it goes over the link.
pub(super) fn command(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives what it has in pieces of a size.
    struct Pieces<'a>(&'a [u8], usize);

    impl Source for Pieces<'_> {
        fn receive(&mut self, into: &mut [u8]) -> Result<usize> {
            let count = self.1.min(self.0.len()).min(into.len());
            if count == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn message(frame: &[u8]) -> Vec<u8> {
        command(&[b"message", b"a.topic", frame])
    }

    /// What a subscription makes of these bytes, however they arrive.
    fn check(bytes: &[u8], max: usize, expected: &[&str]) {
        for size in [1, 2, 3, 7, 1000, usize::MAX] {
            let mut reader = Reader::new(Pieces(bytes, size));
            let pool = Arc::new(Pool::default());
            let mut got = Vec::new();
            loop {
                got.push(match reader.push(max, &pool) {
                    Ok(Push::Frame(frame)) => {
                        assert!(frame[1..].as_ptr().addr().is_multiple_of(64));
                        format!("{} bytes {:?}", frame.len(), frame.last())
                    }
                    Ok(other) => format!("{other:?}"),
                    Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
                    Err(error) => {
                        got.push(error.kind().to_string());
                        break;
                    }
                });
            }
            assert_eq!(got, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn frames_come_as_they_were_sent() {
        let bytes = [
            b"*3\r\n$9\r\nsubscribe\r\n$1\r\nt\r\n:1\r\n".to_vec(),
            message(&[1, 2, b'\n']),
            message(&[9; 200_000]),
            b"*2\r\n$4\r\npong\r\n$0\r\n\r\n".to_vec(),
            message(&[5; 40]),
        ];
        let expected = ["Subscribed", "3 bytes Some(10)", "200000 bytes Some(9)", "Pong", "40 bytes Some(5)"];
        check(&bytes.concat(), 200_000, &expected);
    }

    #[test]
    fn a_frame_that_is_too_large_is_passed_over() {
        let bytes = [message(&[0; 150_000]), message(&[7; 10])].concat();
        check(&bytes, 149_999, &["TooLarge", "10 bytes Some(7)"]);
    }

    #[test]
    fn what_no_server_says_is_an_error() {
        for bytes in [
            "HTTP/1.1 400 Bad Request\r\n",
            "*3\n",
            "\r\n",
            "*4\r\n",
            "*3\r\n$7\r\nmessage\r\n$-1\r\n",
            "*3\r\n$7\r\nmessage\r\n$99999999999999999999999\r\n",
            "*3\r\n$536870913\r\n",
            "*3\r\n$17\r\nsomething-else-17\r\n",
            "*3\r\n$7\r\nmessage\r\n$1\r\ntx\r\n",
            "*3\r\n$8\r\npmessage\r\n$1\r\nt\r\n",
        ] {
            check(bytes.as_bytes(), 1 << 20, &["invalid data"]);
        }
        check(&[b'+'; 70_000], 1 << 20, &["invalid data"]);
    }

    #[test]
    fn answers_of_a_line() {
        let mut reader =
            Reader::new(Pieces(b"+OK\r\n:12\r\n-WRONGPASS no\tsuch\r\n$3\r\nabc\r\n", usize::MAX));
        assert_eq!(reader.answer().unwrap(), Answer::Done);
        assert_eq!(reader.answer().unwrap(), Answer::Done);
        assert_eq!(reader.answer().unwrap(), Answer::Refused("WRONGPASS no\\tsuch".to_owned()));
        assert!(reader.has_more());
        assert_eq!(reader.answer().unwrap_err().kind(), ErrorKind::InvalidData);
    }

    #[test]
    fn commands_are_written_as_lengths_and_words() {
        assert_eq!(command(&[b"SELECT", b"2"]), b"*2\r\n$6\r\nSELECT\r\n$1\r\n2\r\n");
    }
}
