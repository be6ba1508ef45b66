//! A relay between clients and a server: what goes through it can be stopped, as by a cable that is pulled.
#![allow(clippy::unwrap_used, reason = "a test says what failed by panicking")]

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Condvar, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// Passes bytes on between whoever connects to it and a port of this host, until it is stopped.
#[derive(Debug)]
pub struct Relay {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    stopped: Mutex<bool>,
    resumed: Condvar,
    connections: AtomicUsize,
}

impl Shared {
    /// Waits while nothing is passed on.
    fn wait(&self) {
        let stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        let resumed = self.resumed.wait_while(stopped, |stopped| *stopped);
        drop(resumed.unwrap_or_else(PoisonError::into_inner));
    }
}

impl Relay {
    /// A relay to this port of 127.0.0.1. It lives as long as the process.
    pub fn to(server: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::<Shared>::default();
        let relay = Self { port, shared: Arc::clone(&shared) };
        thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                shared.connections.fetch_add(1, Ordering::Relaxed);
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, server)) else { continue };
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let shared = Arc::clone(&shared);
                    thread::spawn(move || pass(from, to, &shared));
                }
            }
        });
        relay
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Connections made to it so far.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// From here on nothing is passed on, and no connection is ended.
    pub fn stop(&self) {
        *self.shared.stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }

    /// What was held back is passed on, and what comes.
    pub fn resume(&self) {
        *self.shared.stopped.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.shared.resumed.notify_all();
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, shared: &Shared) {
    let mut bytes = vec![0; 64 << 10];
    loop {
        let count = from.read(&mut bytes).unwrap_or(0);
        shared.wait();
        if count == 0 || to.write_all(&bytes[..count]).is_err() {
            let _ = to.shutdown(Shutdown::Both);
            let _ = from.shutdown(Shutdown::Both);
            return;
        }
    }
}
