//! A handle is no token.
use schedq::{Pod, Worker};

fn holder(worker: &Worker<u32>, pod: Pod) {
    let _ = worker.done(pod); //~ E0308
}

fn main() {
    let _ = holder;
}
