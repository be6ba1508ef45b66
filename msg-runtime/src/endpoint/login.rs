//! User and password, percent-decoded.

use super::{
    mask::Masked,
    secret::Secret,
    text::{Complaint, Part},
};
use std::fmt;

/// A user and a password.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Login {
    /// May be empty where the server has a user without a name.
    pub user: String,
    /// Its password.
    pub password: Secret,
}

impl Login {
    /// Reads `user:password`; without the `:` there is no user, and what stands there is a secret by itself.
    pub(super) fn parse(login: Part<'_>, masked: &Masked) -> Result<(Option<String>, Secret), Complaint> {
        let (user, secret) = match login.split_once(':') {
            Some((user, secret)) => (Some(user), secret),
            None => (None, login),
        };
        let user = user.map(parse_user).transpose()?;
        Ok((user, parse_secret(secret, masked)?))
    }
}

fn parse_user(user: Part<'_>) -> Result<String, Complaint> {
    decode(user.text).map_err(|text| user.complain(format!("user `{}`: {text}", user.text)))
}

fn parse_secret(part: Part<'_>, masked: &Masked) -> Result<Secret, Complaint> {
    let Some(hidden) = masked.hidden(part) else {
        return Err(part.complain("no user and password can be told apart here; write `user:password@host`"));
    };
    if hidden.text.is_empty() {
        return Err(part.complain("the password or token is empty; write it, or leave out the `@`"));
    }
    if hidden.text == super::secret::MASK {
        return Err(part.complain(
            "`***` stands where a printed endpoint had its secret; write the secret (or `%2A%2A%2A`)",
        ));
    }
    // Where one of these is, something else may be wrong: a `+` too many, a misspelt option with an `@` in its value.
    if hidden.text.contains(['@', '/', '+', ';']) || hidden.text.contains('?') && !hidden.options_follow {
        return Err(part.complain(
            "a password or token (all of `***`) has `@`, `/`, `+`, `;` or `?`; write `%40`, `%2F`, `%2B`, `%3B`, `%3F` \
             (and a login before the first server only, if there are several)",
        ));
    }
    let decoded = decode(&hidden.text);
    decoded.map(Secret::new).map_err(|text| part.complain(format!("password or token: {text}")))
}

/// What `%41` and its like stand for.
fn decode(text: &str) -> Result<String, &'static str> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, others @ ..] = rest {
        rest = others;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digit = |at: usize| others.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        let (Some(high), Some(low)) = (digit(0), digit(1)) else {
            return Err("a `%` without two hexadecimal digits behind it; the character `%` is written `%25`");
        };
        bytes.push((high * 16 + low) as u8);
        rest = &others[2..];
    }
    String::from_utf8(bytes).map_err(|_| "percent-decoded it is not utf-8")
}

/// The inverse of `decode`: letters, digits, `.`, `_`, `~` and `-` stand for themselves.
pub(super) fn encode(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'~' | b'-' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// As it stands before the `@`, without the password.
impl fmt::Display for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", encode(&self.user), self.password)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_codes() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(decode(text).ok().as_deref(), expected, "{text:?}");
            if let Some(decoded) = expected {
                assert_eq!(decode(&encode(decoded)).as_deref(), Ok(decoded));
            }
        };
        check("", Some(""));
        check("abc", Some("abc"));
        check("a%2Fb%2fc", Some("a/b/c"));
        check("%C3%A4", Some("ä"));
        check("ä", Some("ä"));
        check("%", None);
        check("%4", None);
        check("%4g", None);
        check("%+1", None);
        check("%ä", None);
        check("%FF", None);
    }
}
