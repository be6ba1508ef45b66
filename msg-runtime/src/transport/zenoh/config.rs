//! From an address to Zenoh's configuration, and to words for people.

use crate::{
    endpoint::{Server, ZenohAddress},
    error::{Error, ErrorKind},
};
use nix::{
    ifaddrs::{InterfaceAddress, getifaddrs},
    net::if_::InterfaceFlags,
};
use std::time::Duration;
use zenoh::Config;

/// How long Zenoh waits for room in a link that does not move before it gives the link up.
const WAIT_BEFORE_CLOSE: Duration = Duration::from_secs(60);
/// How long the other side waits for a sign of life, of which it gets six in this time: longer than people stop a program
/// to look at it, and no longer than they wait for a lost one.
const LEASE: Duration = Duration::from_secs(15);
/// Batches of 64 KiB that wait for each link.
const BATCHES: usize = 16;
/// An attempt to connect takes at most this long, so that one that is no longer wanted ends.
const ATTEMPT: Duration = Duration::from_secs(5);

/// Whether others are looked for by multicast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scouting {
    On,
    Off,
}

/// Zenoh's configuration for an address.
pub(super) fn config(address: &ZenohAddress, scouting: Scouting) -> Result<Config, Error> {
    // A client has one link, to a router or a peer, which passes on what it sends; if that ends it tries them all again.
    let client = !address.connect.is_empty() && address.listen.is_empty();
    let attempt = address.options.connect_timeout.min(ATTEMPT).as_millis();
    let listen = match address.listen.is_empty() {
        true if client => Vec::new(),
        // Found by multicast, others connect here.
        true => vec!["\"tcp/[::]:0\"".to_owned()],
        false => address.listen.iter().map(locator).collect(),
    };
    let connect: Vec<String> = address.connect.iter().map(locator).collect();
    // The address has no character that would end these strings: its parser takes none.
    let text = format!(
        r#"{{
            mode: "{mode}",
            connect: {{
                endpoints: [{connect}],
                timeout_ms: {{ client: 0, peer: -1 }},
                exit_on_failure: {{ client: true, peer: false }},
                retry: {{ period_init_ms: 100, period_max_ms: 1000, period_increase_factor: 2 }},
            }},
            listen: {{ endpoints: [{listen}], timeout_ms: 0, exit_on_failure: true }},
            scouting: {{
                delay: 300,
                multicast: {{ enabled: {scouts}, interface: "{interface}" }},
            }},
            transport: {{
                unicast: {{ open_timeout: {attempt} }},
                link: {{ tx: {{ lease: {lease}, keep_alive: 6, queue: {{
                    size: {{ data: {BATCHES} }},
                    congestion_control: {{ block: {{ wait_before_close: {before_close} }} }},
                }} }} }},
            }},
        }}"#,
        mode = if client { "client" } else { "peer" },
        connect = connect.join(", "),
        listen = listen.join(", "),
        scouts = scouting == Scouting::On,
        interface = address.interface.as_deref().unwrap_or("auto"),
        lease = LEASE.as_millis(),
        before_close = WAIT_BEFORE_CLOSE.as_micros(),
    );
    Config::from_json5(&text).map_err(|error| {
        let text = format!("zenoh refuses what {} makes of its configuration: {error}", place(address));
        Error::new(ErrorKind::Unsupported, text)
    })
}

/// A server in Zenoh's words, in quotes.
fn locator(server: &Server) -> String {
    format!("\"tcp/{server}\"")
}

/// The endpoint as people write it.
pub(super) fn place(address: &ZenohAddress) -> String {
    let urls = |servers: &[Server]| -> Vec<String> {
        servers.iter().map(|server| format!("tcp://{server}")).collect()
    };
    match (&address.connect[..], &address.listen[..]) {
        ([], []) => "zenoh peer".to_owned(),
        ([], listen) => format!("zenoh peer that listens on {}", urls(listen).join(" and ")),
        (connect, _) => format!("zenoh at {}", urls(connect).join(" or ")),
    }
}

/// Why this host cannot look for peers by multicast, if it cannot: Zenoh would find nobody in silence.
pub(super) fn no_multicast(address: &ZenohAddress) -> Option<String> {
    let interfaces: Vec<InterfaceAddress> = getifaddrs().ok()?.collect();
    let is_up = |interface: &&InterfaceAddress| interface.flags.contains(InterfaceFlags::IFF_UP);
    let why = match &address.interface {
        Some(name) => {
            let named = || interfaces.iter().filter(|interface| interface.interface_name == *name);
            if named().next().is_none() {
                format!("there is no network interface `{name}`")
            } else if !named().any(|interface| is_up(&interface)) {
                format!("network interface `{name}` is down")
            } else {
                return None;
            }
        }
        None => {
            let can = |interface: &&InterfaceAddress| {
                let internet = interface.address.as_ref();
                interface.flags.contains(InterfaceFlags::IFF_MULTICAST)
                    && !interface.flags.contains(InterfaceFlags::IFF_LOOPBACK)
                    && internet
                        .is_some_and(|it| it.as_sockaddr_in().is_some() || it.as_sockaddr_in6().is_some())
            };
            if interfaces.iter().filter(is_up).any(|interface| can(&interface)) {
                return None;
            }
            "no network interface of this host is up and has multicast".to_owned()
        }
    };
    Some(format!(
        "{why}, so `peer` finds nobody; name one with `iface=`, or let one process listen with \
         `zenoh;peer?listen=tcp://HOST:7447` and the others connect with `zenoh;tcp://HOST:7447`"
    ))
}
