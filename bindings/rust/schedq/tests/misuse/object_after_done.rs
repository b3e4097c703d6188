//! So is the object of a pod, unless it is shared.
use schedq::{Popped, Worker};

fn holder(worker: &Worker<u32>, pod: Popped<u32>) -> u32 {
    let object = pod.object();
    let _ = worker.done_many(vec![pod]); //~ E0505
    *object
}

fn main() {
    let _ = holder;
}
