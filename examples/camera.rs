//! A camera that publishes 4 MiB frames without copying them: `cargo run --release --example camera`.
//!
//! Start it before or after `cargo run --release --example viewer`, in another terminal.

use msg_runtime::{FillWith, Message, Publisher, SendError};
use std::{error::Error, thread, time::Duration};

#[derive(Message)]
#[message(namespace = "demo")]
struct Frame<'a> {
    number: u64,
    width: u32,
    height: u32,
    pixels: FillWith<'a, u8>, // written in the slot, where the viewer reads it
}

const WIDTH: u32 = 2048;
const HEIGHT: u32 = 2048;

fn main() -> Result<(), Box<dyn Error>> {
    let frames = Publisher::<Frame>::open("shm;none;camera?slots=8,size=5MiB,timeout=1s")?;
    println!(
        "sending 30 frames of {} MiB a second on topic {}, Ctrl-C ends",
        (WIDTH * HEIGHT) >> 20,
        frames.topic()
    );
    for number in 0.. {
        let mut expose = |pixels: &mut [u8]| pixels.fill(number as u8);
        let pixels = FillWith::new((WIDTH * HEIGHT) as usize, &mut expose);
        match frames.send(&Frame { number, width: WIDTH, height: HEIGHT, pixels }) {
            Err(SendError::Timeout) => {
                println!("frame {number}: no free slot within a second, a viewer is stopped")
            }
            other => other?,
        }
        thread::sleep(Duration::from_millis(33));
    }
    Ok(())
}
