//! `<scheme>://<login>@<host>:<port>`: the parts of what several transports call a server.

use super::{
    options::quoted,
    secret::MASK,
    text::{Complaint, Part, suggestion},
};
use core::net::Ipv6Addr; // a value: what the system resolves and connects to is elsewhere
use std::fmt;

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Server {
    /// A name, an IPv4 address, or an IPv6 address without its brackets.
    pub host: String,
    /// 1 to 65535.
    pub port: u16,
}

/// A server's string in its parts.
pub(super) struct Url<'a> {
    pub(super) scheme: Option<Part<'a>>,
    /// What stands before the `@`.
    pub(super) login: Option<Part<'a>>,
    /// What stands behind it.
    pub(super) server: Part<'a>,
}

impl<'a> Url<'a> {
    /// Splits `<scheme>://<login>@<server>`, the scheme being one of `schemes`.
    pub(super) fn split(part: Part<'a>, schemes: &[&str]) -> Result<Self, Complaint> {
        let (scheme, rest) = match part.text.find("://") {
            Some(at) => (Some(part.split_at(at).0), part.split_at(at + 3).1),
            None => (None, part),
        };
        if let Some(scheme) = scheme.filter(|scheme| !schemes.contains(&scheme.text)) {
            return Err(scheme.complain(format!(
                "unknown scheme `{}`, expected {}{}",
                scheme.text,
                quoted(schemes),
                suggestion(scheme.text, schemes)
            )));
        }
        let (login, server) = match rest.rsplit_once('@') {
            Some((login, server)) => (Some(login), server),
            None => (None, rest),
        };
        Ok(Self { scheme, login, server })
    }

    /// The server, where there is no login.
    pub(super) fn without_login(self, transport: &str) -> Result<Part<'a>, Complaint> {
        match self.login {
            None => Ok(self.server),
            Some(login) => {
                Err(login
                    .complain(format!("`{transport}` has no user and no password; write the host alone")))
            }
        }
    }
}

impl Server {
    /// Reads `host:port`; a `default_port` makes the port optional.
    pub(super) fn parse(part: Part<'_>, default_port: Option<u16>) -> Result<Self, Complaint> {
        let (host, port) = split_port(part)?;
        let port = match (port, default_port) {
            (Some(port), _) => parse_port(port)?,
            (None, Some(port)) => port,
            (None, None) => {
                return Err(part.complain(format!("`{}` has no port; write `host:port`", part.text)));
            }
        };
        Ok(Self { host: parse_host(host)?, port })
    }
}

/// The host, with its brackets, and the port.
fn split_port(part: Part<'_>) -> Result<(Part<'_>, Option<Part<'_>>), Complaint> {
    let bracket = part.text.starts_with('[').then(|| part.text.find(']')).flatten();
    let host_len = match bracket {
        Some(end) => end + 1,
        None => part.text.find(':').unwrap_or(part.text.len()),
    };
    let (host, rest) = part.split_at(host_len);
    if bracket.is_none() && rest.text.matches(':').count() > 1 {
        return Err(part.complain(format!(
            "`{}` has more than one `:`; an IPv6 address stands in brackets, as in `[::1]:4222`",
            part.text
        )));
    }
    match rest.split_once(':') {
        _ if rest.text.is_empty() => Ok((host, None)),
        Some((nothing, port)) if nothing.text.is_empty() => Ok((host, Some(port))),
        _ => Err(rest.complain(format!("`{}` behind the host, expected `:` and a port", rest.text))),
    }
}

fn parse_port(part: Part<'_>) -> Result<u16, Complaint> {
    if part.text == MASK {
        return Err(part.complain(
            "no port (and not shown, as it may be a password whose `@host` is missing); expected 1 to 65535",
        ));
    }
    let digits = part.text.bytes().all(|byte| byte.is_ascii_digit());
    match part.text.parse() {
        Ok(port @ 1..) if digits => Ok(port),
        _ => Err(part.complain(format!("port `{}`, expected 1 to 65535", part.text))),
    }
}

fn parse_host(part: Part<'_>) -> Result<String, Complaint> {
    let text = part.text;
    if text.is_empty() {
        return Err(part.complain("the host is empty; write a name or an address"));
    }
    if let Some(inside) = text.strip_prefix('[') {
        let inside = inside.strip_suffix(']').unwrap_or(inside);
        return match inside.parse::<Ipv6Addr>() {
            Ok(address) if text.ends_with(']') => Ok(address.to_string()),
            _ => Err(part.complain(format!("`{text}`, expected an IPv6 address in brackets, as in `[::1]`"))),
        };
    }
    if !text.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)) {
        let text = text.escape_debug();
        return Err(part.complain(format!("host `{text}`, expected a name or an address")));
    }
    Ok(text.to_owned())
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

/// Servers, with `+` between them.
pub(super) fn join(servers: &[Server]) -> String {
    servers.iter().map(Server::to_string).collect::<Vec<_>>().join("+")
}

/// The name of a network interface: 1 to 15 characters, as the kernel has it.
pub(super) fn interface(value: Part<'_>) -> Result<String, Complaint> {
    let name = value.text;
    if name.len() <= 15 && name.chars().all(|c| c.is_ascii_alphanumeric() || "._-@:".contains(c)) {
        return Ok(name.to_owned());
    }
    Err(value.complain(format!(
        "iface `{}`, expected the name of a network interface, as in `lo` or `eth0`",
        name.escape_debug()
    )))
}
