//! A group ends by a call of its own, and a pod by none of a group's.
use schedq::{GroupOutcome, Popped, PoppedGroup, Worker};

fn holder(worker: &Worker<u32>, group: PoppedGroup<u32>, pod: Popped<u32>) {
    let _ = worker.done(group); //~ E0308
    let _ = worker.group_done(pod, GroupOutcome::Placed); //~ E0308
}

fn main() {
    let _ = holder;
}
