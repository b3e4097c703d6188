//! A name is the queue's memory, until the cycle ends.
use schedq::{Popped, Worker};

fn holder(worker: &Worker<u32>, pod: Popped<u32>) -> usize {
    let name = pod.name();
    let _ = worker.done(pod); //~ E0505
    name.len()
}

fn main() {
    let _ = holder;
}
