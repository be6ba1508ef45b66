//! Endpoints as text: what is accepted is shown as a text that means the same, but for passwords, which are not shown.
#![no_main]

use libfuzzer_sys::fuzz_target;
use msg_runtime::{Address, Endpoint};

fuzz_target!(|text: &str| {
    match text.parse::<Endpoint>() {
        Ok(endpoint) => {
            let shown = endpoint.to_string();
            match (shown.parse::<Endpoint>(), &endpoint.address) {
                (again, Address::Shm(_)) => assert_eq!(again.expect("it was an endpoint"), endpoint),
                (Ok(again), _) => assert_eq!(again.to_string(), shown),
                (Err(error), _) => assert!(!error.to_string().is_empty()),
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
