//! Takes secrets out of the string before it is parsed: the parser sees `***`, so no message can quote one.
//!
//! A secret is what stands between the first `:` of a login and its `@`, or all of the login where it has no `:`.
//! Which `@` ends it is plain where everything around is as it should be. Where it is not, all is hidden up to the last
//! `@`: rather a host too many than half a password.

use super::{is_compression, is_option, secret::MASK, text::Part};
use std::ops::Range;

/// An endpoint with `***` for its secrets.
pub(super) struct Masked {
    pub(super) text: String,
    secrets: Vec<Hidden>,
}

/// A secret as it was written.
pub(super) struct Hidden {
    /// Where its `***` begins.
    start: usize,
    pub(super) text: String,
    /// There is a `?` behind it.
    pub(super) options_follow: bool,
}

impl Masked {
    pub(super) fn new(text: &str) -> Self {
        let mut masked = Self { text: String::with_capacity(text.len()), secrets: Vec::new() };
        let mut done = 0;
        for range in secrets(text) {
            masked.text.push_str(&text[done..range.start]);
            masked.secrets.push(Hidden {
                start: masked.text.len(),
                text: text[range.clone()].to_owned(),
                options_follow: text[range.end..].contains('?'),
            });
            masked.text.push_str(MASK);
            done = range.end;
        }
        masked.text.push_str(&text[done..]);
        masked
    }

    /// What is hidden behind this part.
    pub(super) fn hidden(&self, part: Part<'_>) -> Option<&Hidden> {
        let found = self.secrets.iter().find(|hidden| hidden.start == part.start());
        found.filter(|_| part.text == MASK)
    }
}

/// Where secrets stand, in order.
fn secrets(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = address_start(text);
    while let Some(last) = text[at..].rfind('@').map(|last| at + last) {
        if text[at..].starts_with("unix:/") {
            return found;
        }
        let start = at + scheme_len(&text[at..]);
        let (login, end) = plain_server(&text[start..]);
        let (end, login) = (start + end, login.map(|len| login_secret(text, start..start + len)));
        match text[end..].chars().next() {
            Some('+') => {
                found.extend(login);
                at = end + 1;
            }
            Some('?') if begins_options(&text[end + 1..]) => {
                found.extend(login);
                return found;
            }
            _ => {
                found.push(login_secret(text, start..last));
                return found;
            }
        }
    }
    found.extend(password_without_host(text, at));
    found
}

/// The secret of `user:secret` or `secret`.
fn login_secret(text: &str, login: Range<usize>) -> Range<usize> {
    match text[login.clone()].find(':') {
        Some(colon) => login.start + colon + 1..login.end,
        None => login,
    }
}

/// The length of the login, if there is one, and of all that looks like `login@host:port/number`.
fn plain_server(text: &str) -> (Option<usize>, usize) {
    let special = text.find(|c| "@/?+;[".contains(c));
    let login = special.filter(|at| text[*at..].starts_with('@'));
    let host = login.map_or(0, |at| at + 1);
    let len_while = |start: usize, allowed: fn(char) -> bool| {
        text[start..].find(|c| !allowed(c)).unwrap_or(text.len() - start)
    };
    let mut end = host;
    if text[host..].starts_with('[') {
        let inside = len_while(host + 1, |c| c.is_ascii_hexdigit() || ":.".contains(c));
        end += if text[host + 1 + inside..].starts_with(']') { inside + 2 } else { 0 };
    } else {
        end += len_while(host, |c| c.is_ascii_alphanumeric() || "._-".contains(c));
    }
    for lead in [':', '/'] {
        if text[end..].starts_with(lead) {
            end += 1 + len_while(end + 1, |c| c.is_ascii_digit());
        }
    }
    (login, end)
}

/// What follows begins with a known option.
fn begins_options(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| is_option(name))
}

/// `nats://user:password`, where `@host` was forgotten: what stands in the port's place and is none.
fn password_without_host(text: &str, at: usize) -> Option<Range<usize>> {
    let schemes = ["nats://", "tls://", "redis://", "rediss://"];
    let has_login = ["nats;", "redis;"].iter().any(|transport| text.starts_with(transport))
        || schemes.iter().any(|scheme| text[at..].starts_with(scheme));
    let start = at + scheme_len(&text[at..]);
    let rest = &text[start..];
    let options = rest.rfind('?').filter(|at| begins_options(&rest[at + 1..]));
    let address = &rest[..options.unwrap_or(rest.len())];
    // `host:port`, more than one of them, a socket's path, or an IPv6 address that lacks its brackets.
    let mut servers = address.split('+').map(|server| &server[scheme_len(server)..]);
    let plain = servers.all(|server| plain_server(server).1 == server.len())
        || address.starts_with("unix:/")
        || address.starts_with('[')
        || address.matches(':').count() > 1 && address.chars().all(|c| c.is_ascii_hexdigit() || c == ':');
    let colon = address.find(':').filter(|_| has_login && !plain)?;
    Some(start + colon + 1..start + address.len())
}

/// The length of `scheme://`.
fn scheme_len(text: &str) -> usize {
    let word = text.find(|c: char| !(c.is_ascii_alphanumeric() || "-.".contains(c))).unwrap_or(text.len());
    if text[word..].starts_with("://") { word + 3 } else { 0 }
}

/// Where the address begins: behind the transport, and the compression where one is meant.
fn address_start(text: &str) -> usize {
    let word = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric());
    let Some((transport, rest)) = text.split_once(';').filter(|(transport, _)| word(transport)) else {
        return 0;
    };
    let behind_transport = transport.len() + 1;
    let Some((compression, address)) = rest.split_once(';') else { return behind_transport };
    // Also one that is misspelt, as long as it cannot be the beginning of a login.
    let login = address.rfind('@').map_or("", |at| &address[..at]);
    let name_and_level = compression.split_once(':').unwrap_or((compression, ""));
    let meant = is_compression(compression)
        || word(compression) && (login.is_empty() || login.contains(':'))
        || word(name_and_level.0) && word(name_and_level.1) && scheme_len(address) > 0;
    if meant { behind_transport + compression.len() + 1 } else { behind_transport }
}
