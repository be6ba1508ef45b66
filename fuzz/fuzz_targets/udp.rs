//! Datagrams and their pieces: whatever arrives, what comes out was sent, and no memory is taken for a claim.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| msg_runtime::__private::fuzz_udp(input));
