//! What this process uses, from `/proc`.

use std::{fs, time::Duration};

/// Processor time so far.
pub fn cpu() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    // The name before may hold spaces: what comes after its bracket does not.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
    // Ticks of `/proc` are hundredths of a second on every Linux.
    Duration::from_millis(10 * ticks)
}

/// Threads now.
pub fn threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

/// Open descriptors now.
pub fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Bytes in memory now.
pub fn memory() -> usize {
    let statm = fs::read_to_string("/proc/self/statm").unwrap();
    // Pages of 4 KiB, or larger: then the figure is too small by that.
    4096 * statm.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()
}
