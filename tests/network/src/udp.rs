//! Multicast groups for tests.

use msg_tests::server::free_port;

/// An endpoint on this host in a group that nobody else has, with more options.
pub fn endpoint(options: &str) -> String {
    // Groups of one number share nothing with those of another, and the process's number is its own.
    let [high, low] = (std::process::id() as u16).to_be_bytes();
    format!("udp;239.255.{high}.{low}:{}{options}", free_port())
}
