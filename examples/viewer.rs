//! Looks at the frames of the example `camera` where they lie, without copying them.

use msg_runtime::{Message, Subscriber};
use std::{error::Error, time::Duration};

#[derive(Message)]
#[message(namespace = "demo")]
struct Frame {
    number: u64,
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let frames = Subscriber::<Frame>::open("shm;camera")?; // slots and their size are the camera's
    println!("waiting for frames on topic {}, Ctrl-C ends", frames.topic());
    for sample in &frames {
        let sample = sample?;
        let frame = sample.view();
        let pixels: &[u8] = frame.pixels();
        let right = pixels.iter().all(|pixel| *pixel == frame.number() as u8);
        let info = sample.info();
        println!(
            "frame {}: {} x {}, {} bytes in place at {:p}, {}, {:.1?} old, {} lost",
            frame.number(),
            frame.width(),
            frame.height(),
            pixels.len(),
            pixels.as_ptr(),
            if right { "as sent" } else { "DAMAGED" },
            info.age().unwrap_or(Duration::ZERO),
            info.lost.unwrap_or(0),
        );
    }
    Ok(())
}
