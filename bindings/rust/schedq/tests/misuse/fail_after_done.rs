//! What was placed cannot fail.
use schedq::{Failure, Popped, Worker};

fn holder(worker: &Worker<u32>, pod: Popped<u32>) {
    let _ = worker.done(pod);
    let _ = worker.fail(pod, &Failure::error()); //~ E0382
}

fn main() {
    let _ = holder;
}
