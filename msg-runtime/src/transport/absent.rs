//! Shared memory where it is not: another platform than Linux, or a build without the feature `shm`.

use super::{Delivery, PublisherLink, Stream, SubscriberLink};
use crate::{
    endpoint::{Compression, ShmAddress},
    error::{Error, ErrorKind, SendError},
};
use std::{convert::Infallible, marker::PhantomData, ops, time::Duration};

/// No loan exists.
#[derive(Debug)]
pub(crate) struct Loan<'a>(Infallible, PhantomData<&'a ()>);

/// No payload exists.
#[derive(Debug)]
pub(crate) struct Payload(Infallible);

/// No message was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {}

impl Sent {
    pub(crate) fn age(self) -> Duration {
        match self {}
    }
}

impl Loan<'_> {
    pub(crate) fn send(self, _len: usize) -> Result<(), SendError> {
        match self.0 {}
    }

    pub(crate) fn wake_nobody(&mut self) {
        match self.0 {}
    }
}

impl ops::Deref for Loan<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self.0 {}
    }
}

impl ops::DerefMut for Loan<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        match self.0 {}
    }
}

impl ops::Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self.0 {}
    }
}

pub(super) fn open_publisher(
    _: &ShmAddress,
    _: Compression,
    _: &Stream,
) -> Result<Box<dyn PublisherLink>, Error> {
    Err(absent())
}

pub(super) fn open_subscriber(
    _: &ShmAddress,
    _: &Stream,
    _: Delivery,
) -> Result<Box<dyn SubscriberLink>, Error> {
    Err(absent())
}

pub(super) fn look(_: &ShmAddress) -> Result<Vec<super::Seen>, Error> {
    Err(absent())
}

fn absent() -> Error {
    let platform = std::env::consts::OS;
    let text = if cfg!(feature = "shm") {
        format!("shared memory is only there on linux, this is {platform}; choose another transport")
    } else {
        "this build has no shared memory; turn on the feature `shm` of msg-runtime".to_owned()
    };
    Error::new(ErrorKind::Unsupported, text)
}
