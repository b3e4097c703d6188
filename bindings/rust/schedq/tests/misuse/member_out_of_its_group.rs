//! A member that is looked at is still the group's: it ends when it was taken out.
use schedq::{PoppedGroup, Worker};

fn holder(worker: &Worker<u32>, group: &PoppedGroup<u32>) {
    let _ = worker.done(group.members()[0]); //~ E0508
}

fn main() {
    let _ = holder;
}
