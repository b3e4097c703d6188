//! The descriptor is the queue's.
use schedq::Queue;
use std::os::unix::io::AsRawFd;

fn poll(queue: Queue<u32>) -> i32 {
    let fd = queue.wait_fd().unwrap();
    drop(queue); //~ E0505
    fd.as_raw_fd()
}

fn main() {
    let _ = poll;
}
