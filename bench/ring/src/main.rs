//! How fast the ring is, beside a bare ring (the limit) and iceoryx2, driven by the same workloads in the same run.
//!
//! `cargo run --release [-- [--runs N] [--quick] NAME ..]`; see `docs/performance.md`.

mod bare;
mod calls;
mod iceoryx;
mod link;
mod machine;
mod report;
mod ring;
mod workload;

use bare::Bare;
use iceoryx::Iceoryx2;
use link::Peer;
use ring::Ring;
use workload::Run;

/// Runs one half of a workload for the peer of that name.
fn half(sends: bool, peer: &str, name: &str, run: &Run) {
    fn half<P: Peer>(sends: bool, name: &str, run: &Run) {
        if sends { workload::send::<P>(run, name) } else { workload::receive::<P>(run, name) }
    }
    match peer {
        Ring::NAME => half::<Ring>(sends, name, run),
        Bare::NAME => half::<Bare>(sends, name, run),
        Iceoryx2::NAME => half::<Iceoryx2>(sends, name, run),
        other => panic!("unknown peer `{other}`"),
    }
}

fn main() {
    iceoryx2::prelude::set_log_level(iceoryx2::prelude::LogLevel::Error);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some(way @ ("--send" | "--receive")) => {
            let run = Run::from_arguments(&arguments[3..]);
            half(way == "--send", &arguments[1], &arguments[2], &run);
        }
        _ => report::main(&arguments),
    }
}
