//! A group's token cannot be used twice.
use schedq::{GroupOutcome, PoppedGroup, Worker};

fn holder(worker: &Worker<u32>, group: PoppedGroup<u32>) {
    let _ = worker.group_done(group, GroupOutcome::Placed);
    let _ = worker.group_done(group, GroupOutcome::Error); //~ E0382
}

fn main() {
    let _ = holder;
}
