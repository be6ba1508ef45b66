//! Takes secrets out of the string before it is parsed: the parser sees `***`, so no message can quote one.
//!
//! A secret is what stands between the first `:` of a login and its `@`, or all of the login where it has no `:`.
//! Which `@` ends it is plain where everything around is as it should be. Where it is not, all is hidden up to the last
//! `@`: rather a host too many than half a password.

use super::{is_compression, is_option, secret::MASK, text::Part};
use std::{iter, ops::Range};

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
    let at = address_start(text);
    let Some(last) = text[at..].rfind('@').map(|last| at + last) else {
        return password_without_host(text, at).into_iter().collect();
    };
    let logins = if text[at..].starts_with("unix:/") { Some(Vec::new()) } else { plain_logins(text, at) };
    let logins = logins.unwrap_or_else(|| iter::once(at + scheme_len(&text[at..])..last).collect());
    logins.into_iter().map(|login| login_secret(text, login)).collect()
}

/// The logins of servers with `+` between them, if all are plain: one before the first, and none or the same before others.
fn plain_logins(text: &str, mut at: usize) -> Option<Vec<Range<usize>>> {
    let first = at;
    let mut found: Vec<Range<usize>> = Vec::new();
    loop {
        let start = at + scheme_len(&text[at..]);
        let (login, len) = plain_server(&text[start..]);
        if let Some(login) = login.map(|len| start..start + len) {
            let same = found.first().map_or(at == first, |first| text[first.clone()] == text[login.clone()]);
            if !same {
                return None;
            }
            found.push(login);
        }
        let rest = &text[start + len..];
        match rest.chars().next() {
            Some('+') => at = start + len + 1,
            Some('?') if begins_options(&rest[1..]) => return Some(found),
            _ if !rest.contains('@') => return Some(found),
            _ => return None,
        }
    }
}

/// The secret of `user:secret` or `secret`. What is no plain user is hidden too: the `:` may belong to something else.
fn login_secret(text: &str, login: Range<usize>) -> Range<usize> {
    let user = text[login.clone()].find(':').map(|colon| &text[login.start..login.start + colon]);
    match user {
        Some(user) if !user.contains(['@', '/', '?', '+', ';']) => login.start + user.len() + 1..login.end,
        _ => login,
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
        || address.starts_with("unix:")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_all_but_secrets() {
        let check = |text: &str, expected: &str| assert_eq!(Masked::new(text).text, expected, "{text:?}");
        check("", "");
        check("shm;demo?slots=8", "shm;demo?slots=8");
        check("shm;demo?group=a@b", "shm;demo?group=a@b");
        check("nats;127.0.0.1", "nats;127.0.0.1");
        check("nats;nats://u:pw@h:4222", "nats;nats://u:***@h:4222");
        check("nats;none;u:pw@h", "nats;none;u:***@h");
        check("nats;zstd:10;u:pw@h", "nats;zstd:10;u:***@h");
        check("nats;tls://token@h?max=1MiB", "nats;tls://***@h?max=1MiB");
        check("nats;nats://u:p:w@h", "nats;nats://u:***@h");
        check("nats;nats://u:@h", "nats;nats://u:***@h");
        check("nats;u:pw@a+b:1", "nats;u:***@a+b:1");
        check("nats;nats://u:pw@a+nats://u:pw@b", "nats;nats://u:***@a+nats://u:***@b");
        check("nats;h?creds=/a@b/c", "nats;h?creds=/a@b/c");
        check("nats;nats://[::1]:1?creds=/a@b", "nats;nats://[::1]:1?creds=/a@b");
        check("redis;rediss://:pw@h:6379/3", "redis;rediss://:***@h:6379/3");
        check("redis;unix:/run/a@b", "redis;unix:/run/a@b");
        // What is around is wrong.
        check("nats://u:pw@h", "nats://u:***@h");
        check("natz;zstdd:10;nats://u:pw@h", "natz;zstdd:10;nats://u:***@h");
        check("nats;gzip;u:pw@h", "nats;gzip;u:***@h");
        check("shm;nats://u:pw@h", "shm;nats://u:***@h");
        check("nats;nats:/u:pw@h", "nats;nats:***@h");
        check("nats;nats://u:pw@h?quue=1B", "nats;nats://u:***@h?quue=1B");
        check("nats;nats://u:pw@a:x+b", "nats;nats://u:***@a:x+b");
        check("nats;nats://u:pw", "nats;nats://u:***");
        check("nats;u:pw/x?max=1MiB", "nats;u:***?max=1MiB");
        check("redis;redis://h:6379x", "redis;redis://h:***");
        check("nats;::1:4222", "nats;::1:4222");
        // The password has what should be percent-encoded.
        check("nats;nats://u:p@w@h", "nats;nats://u:***@h");
        check("nats;nats://u:p?w@h", "nats;nats://u:***@h");
        check("nats;nats://u:p;w@h?max=1MiB", "nats;nats://u:***@h?max=1MiB");
        check("nats://u:p;w@h", "nats://u:***@h");
        check("nats;u:p;w@h", "nats;u:***@h");
        check("nats;nats://u:p+w@h", "nats;nats://u:***@h");
        check("nats;nats://u:1+w@h", "nats;nats://u:***@h");
        check("nats;nats://u:p@x+w@h", "nats;nats://u:***@h");
        check("nats;nats://u:p@x?w@h", "nats;nats://u:***@h");
        check("nats;nats://u:p://w@h", "nats;nats://u:***@h");
        check("nats;nats://u:p+nats://w@h", "nats;nats://u:***@h");
        check("nats;nats://u+v:pw@h", "nats;nats://***@h");
        check("nats;nats://token@h:1?@max=1B", "nats;nats://***@max=1B");
    }
}
