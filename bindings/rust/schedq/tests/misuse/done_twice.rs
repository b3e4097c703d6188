//! A token cannot be used twice.
use schedq::{Popped, Worker};

fn holder(worker: &Worker<u32>, pod: Popped<u32>) {
    let _ = worker.done(pod);
    let _ = worker.done(pod); //~ E0382
}

fn main() {
    let _ = holder;
}
