//! Where the endpoint of a handle comes from: the program, else the environment, else a default. The one place that
//! reads the environment.

use crate::{
    endpoint::{Compression, Endpoint},
    error::{Error, ErrorKind},
    topic::Topic,
};
use std::{
    collections::HashMap,
    env,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

/// For every topic.
const VARIABLE: &str = "MSG_ENDPOINT";
const DEFAULT_ENDPOINT: &str = "shm;default";

/// Opens at the endpoint that the program gave, else at the configured one; then errors name the variable that was read.
pub(crate) fn open<T>(
    given: Option<&str>,
    topic: &Topic,
    open: impl FnOnce(&Endpoint) -> Result<T, Error>,
) -> Result<T, Error> {
    if let Some(given) = given {
        return open(&given.parse()?);
    }
    let own = own_variable(topic);
    claim(&own, topic)?;
    for variable in [&own, VARIABLE] {
        if let Some(value) = read(variable)? {
            let opened = value.parse().and_then(|endpoint| open(&endpoint));
            return opened.map_err(|error| error.within(&format!("environment variable `{variable}`")));
        }
    }
    open(&DEFAULT_ENDPOINT.parse()?)
}

/// `MSG_ENDPOINT_LEFT_IMAGE` for `left.image`.
fn own_variable(topic: &Topic) -> String {
    let upper = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = topic.as_str().chars().map(upper).collect();
    format!("{VARIABLE}_{name}")
}

/// Takes the variable for the topic: two topics of a process that share one could not be told apart in it.
fn claim(variable: &str, topic: &Topic) -> Result<(), Error> {
    static CLAIMED: Mutex<Option<HashMap<String, Topic>>> = Mutex::new(None);
    let mut claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
    let first = claimed.get_or_insert_default().entry(variable.to_owned()).or_insert_with(|| topic.clone());
    if first == topic {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::InvalidTopic,
        format!(
            "topics `{first}` and `{topic}` of this program have the same environment variable `{variable}`; rename one, \
             or give its endpoint in the program"
        ),
    ))
}

/// The variable's value, if it is there and not empty.
fn read(variable: &str) -> Result<Option<String>, Error> {
    match env::var(variable) {
        Ok(value) => Ok(Some(value).filter(|value| !value.is_empty())),
        Err(env::VarError::NotPresent) => Ok(None),
        Err(env::VarError::NotUnicode(_)) => Err(Error::new(
            ErrorKind::InvalidEndpoint,
            format!(
                "the environment variable `{variable}` is not utf-8; set it to an endpoint, as in `shm;camera`"
            ),
        )),
    }
}

/// What to tell who gave a subscriber a compression, once a process.
pub(crate) fn notice_of_compression(compression: Compression) -> Option<String> {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if compression == Compression::None || TOLD.swap(true, Ordering::Relaxed) {
        return None;
    }
    Some(format!("a subscriber needs no compression, each message tells its own: `{compression}` is ignored"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables() {
        let check =
            |topic: &str, expected: &str| assert_eq!(own_variable(&Topic::new(topic).unwrap()), expected);
        check("left.image", "MSG_ENDPOINT_LEFT_IMAGE");
        check("a/b-c_D9", "MSG_ENDPOINT_A_B_C_D9");
    }

    #[test]
    fn a_subscriber_is_told_once() {
        assert_eq!(notice_of_compression(Compression::None), None);
        let notice = notice_of_compression(Compression::Lz4).unwrap();
        assert!(notice.contains("`lz4` is ignored"), "{notice}");
        assert_eq!(notice_of_compression(Compression::Zstd { level: 3 }), None);
    }
}
