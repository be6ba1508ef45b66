//! What pushing costs, beside the two known designs and beside `rtrb`, measured in the same run.
//!
//! `cargo bench -p msg-runtime --features realtime --bench realtime [-- cost | paced | tight | table]`. Without
//! `--bench` (as under `cargo test --benches`) it runs briefly. Pushing threads run under FIFO where that is allowed.

#![allow(clippy::print_stdout, reason = "a benchmark reports on its output")]
#![allow(clippy::unwrap_used, reason = "a benchmark has nobody to hand an error to")]

#[cfg(all(feature = "realtime", target_os = "linux"))]
mod cost;
#[cfg(all(feature = "realtime", target_os = "linux"))]
mod designs;
#[cfg(all(feature = "realtime", target_os = "linux"))]
mod load;
#[cfg(all(feature = "realtime", target_os = "linux"))]
mod tables;

#[cfg(all(feature = "realtime", target_os = "linux"))]
fn main() {
    /// What can be asked for alone.
    const NAMES: [&str; 4] = ["cost", "paced", "tight", "table"];
    let arguments: Vec<String> = std::env::args().collect();
    let full = arguments.iter().any(|argument| argument == "--bench");
    let wanted = |name: &str| !arguments.iter().any(|other| NAMES.contains(&&**other) && other != name);
    if wanted("cost") {
        cost::report(if full { 300 } else { 3 });
    }
    let effort = if full { tables::Effort::FULL } else { tables::Effort::BRIEF };
    if wanted("paced") {
        tables::report_paced(&effort);
    }
    if wanted("tight") {
        tables::report_tight(&effort);
    }
    if wanted("table") {
        tables::report_table(&effort);
    }
}

#[cfg(not(all(feature = "realtime", target_os = "linux")))]
fn main() {}
