//! The handles of channels inside this process: a list instead of announcements.

use super::{
    lock,
    message::{Announce, AnnounceKind},
    own::{Own, Tell},
};
use std::sync::Mutex;

/// With the channel of each.
static HANDLES: Mutex<Vec<(String, Own)>> = Mutex::new(Vec::new());

pub(super) fn add(channel: &str, own: Own) {
    lock(&HANDLES).push((channel.to_owned(), own));
}

pub(super) fn remove(handle: u64) {
    let mut handles = lock(&HANDLES);
    let at = handles.iter().position(|(_, own)| own.facts.handle == handle);
    let removed = at.map(|at| handles.swap_remove(at));
    drop(handles);
    // With it goes what it borrowed from its handle.
    drop(removed);
}

/// Everybody in a channel.
pub(super) fn all(channel: &str) -> Vec<Announce> {
    let handles = lock(&HANDLES);
    let here = handles.iter().filter(|(place, _)| place == channel);
    here.map(|(_, own)| own.announcement(AnnounceKind::Here)).collect()
}

/// Tells a handle of those that do not go with it, and them of it.
pub(super) fn compare(channel: &str, handle: u64, tell: Tell) {
    let mut handles = lock(&HANDLES);
    let Some(at) = handles.iter().position(|(_, own)| own.facts.handle == handle) else { return };
    handles[at].1.set_tell(tell);
    let newcomer = handles[at].1.facts.clone();
    let mut news = Vec::new();
    let mut others = Vec::new();
    for (_, own) in handles.iter_mut().filter(|(place, _)| place == channel) {
        news.extend(own.news(&newcomer));
        others.push(own.facts.clone());
    }
    news.extend(others.iter().filter_map(|other| handles[at].1.news(other)));
    drop(handles);
    news.iter().for_each(|(tell, event)| tell(event));
}
