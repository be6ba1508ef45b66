//! A link that can be cut without anybody being told: bytes go through it until they do not.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

/// Passes bytes between its own port and a server's.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    stalled: Arc<AtomicBool>,
}

impl Relay {
    /// In front of the server on this port.
    pub fn new(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let stalled = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&stalled);
        // It ends with the process: nobody can tell a listener to stop.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) else { continue };
                pass(&client, &server, &shared);
                pass(&server, &client, &shared);
            }
        });
        Self { address, stalled }
    }

    /// Where clients connect to.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Swallows what comes from now on, or passes it on again.
    pub fn stall(&self, stalled: bool) {
        self.stalled.store(stalled, Ordering::SeqCst);
    }
}

/// What is swallowed is lost for its connection, so that one never comes back.
fn pass(from: &TcpStream, to: &TcpStream, stalled: &Arc<AtomicBool>) {
    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    let stalled = Arc::clone(stalled);
    thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        let mut lost = false;
        while let Ok(len @ 1..) = from.read(&mut bytes) {
            lost |= stalled.load(Ordering::SeqCst);
            if !lost && to.write_all(&bytes[..len]).is_err() {
                break;
            }
        }
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    });
}
