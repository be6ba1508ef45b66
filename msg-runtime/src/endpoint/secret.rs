//! Passwords and tokens.

use std::fmt;

/// What a secret looks like wherever an endpoint is shown.
pub(super) const MASK: &str = "***";

/// A password or token: it prints as `***`.
///
/// # Examples
///
/// ```
/// use msg_runtime::{Address, Endpoint};
///
/// let endpoint: Endpoint = "nats;nats://ada:lovelace@127.0.0.1:4222".parse()?;
/// assert_eq!(endpoint.to_string(), "nats;none;nats://ada:***@127.0.0.1:4222");
/// assert!(!format!("{endpoint:?}").contains("lovelace"));
///
/// let error = "nats;nats://ada:lovelace@127.0.0.1:0".parse::<Endpoint>().expect_err("0 is no port");
/// assert!(!error.to_string().contains("lovelace"));
/// # Ok::<(), msg_runtime::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub(super) fn new(text: String) -> Self {
        Self(text)
    }

    /// The secret itself: for the client library, and for nothing that prints.
    #[allow(dead_code, reason = "read by transports, and a build may have none that logs in")]
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}
