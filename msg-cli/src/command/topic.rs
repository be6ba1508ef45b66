//! Finding the topic that a command is about.

use std::{
    io::{self, Write},
    thread,
    time::{Duration, Instant},
};

use msg_runtime::{
    Endpoint,
    topics::{self, Direction, TopicInfo},
};

use crate::Failure;

/// How long others have for saying who they are.
pub(super) const ANSWERS: Duration = Duration::from_millis(500);
/// How long somebody has for announcing a topic on a network, where who does not announce itself may publish as well.
const UNANNOUNCED: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(100);

/// An endpoint as it may be printed: with `***` for a password.
pub(super) fn shown(endpoint: &str) -> Result<String, Failure> {
    Ok(endpoint.parse::<Endpoint>()?.to_string())
}

/// The topic of this name, or the only one that somebody publishes; waits until it is there.
pub(super) fn find(endpoint: &str, name: Option<&str>) -> Result<TopicInfo, Failure> {
    let (start, mut told, place) = (Instant::now(), false, shown(endpoint)?);
    loop {
        let found = topics::topics(endpoint, ANSWERS)?;
        if let Some(info) = choose(found, &place, name)? {
            return Ok(info);
        }
        if let Some(name) = name
            && !endpoint.starts_with("shm;")
            && start.elapsed() >= UNANNOUNCED
        {
            return Ok(TopicInfo::unknown(name));
        }
        if !std::mem::replace(&mut told, true) {
            let what = name.map_or_else(|| "a topic".to_owned(), |name| format!("topic `{name}`"));
            writeln!(io::stderr(), "waiting for {what} at `{place}`")?;
        }
        thread::sleep(PAUSE);
    }
}

fn choose(found: Vec<TopicInfo>, place: &str, name: Option<&str>) -> Result<Option<TopicInfo>, Failure> {
    let publishes =
        |info: &TopicInfo| info.handles.iter().any(|handle| handle.direction == Direction::Publisher);
    if let Some(name) = name {
        let mut named: Vec<TopicInfo> = found.into_iter().filter(|info| info.topic == name).collect();
        // Whose type it is that comes.
        named.sort_by_key(|info| !publishes(info));
        return Ok(named.into_iter().next());
    }
    let mut published: Vec<TopicInfo> = found.into_iter().filter(publishes).collect();
    let mut names: Vec<String> = published.iter().map(|info| format!("`{}`", info.topic)).collect();
    names.dedup();
    if names.len() > 1 {
        let text = format!("there are {} topics at `{place}`, name one: {}", names.len(), names.join(", "));
        return Err(Failure::Input(text));
    }
    Ok(published.pop())
}
