//! Messages of errors that are found while constants are evaluated, where `format!` does not exist.

const CAPACITY: usize = 400;

/// A text under construction; what does not fit is cut off.
#[derive(Debug)]
pub(crate) struct ConstText {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl ConstText {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; CAPACITY], len: 0 }
    }

    pub(crate) const fn text(mut self, text: &str) -> Self {
        let from = text.as_bytes();
        let mut index = 0;
        while index < from.len() && self.len < CAPACITY {
            self.bytes[self.len] = from[index];
            self.len += 1;
            index += 1;
        }
        self
    }

    pub(crate) const fn number(self, number: u64) -> Self {
        let mut digits = [0u8; 20];
        let mut start = digits.len();
        let mut rest = number;
        loop {
            start -= 1;
            digits[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        match std::str::from_utf8(digits.split_at(start).1) {
            Ok(digits) => self.text(digits),
            Err(_) => self,
        }
    }

    /// Ends the evaluation with the text as the compiler's message.
    #[track_caller]
    pub(crate) const fn fail(&self) -> ! {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => panic!("{}", text),
            Err(_) => panic!("a message cut inside a character"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_joined() {
        let text = ConstText::new().text("a ").number(0).text(" ").number(u64::MAX);
        assert_eq!(&text.bytes[..text.len], b"a 0 18446744073709551615");
    }
}
