//! Who ended a group does not look at its members.
use schedq::{GroupOutcome, PoppedGroup, Worker};

fn holder(worker: &Worker<u32>, group: PoppedGroup<u32>) -> usize {
    let members = group.members();
    let _ = worker.group_done(group, GroupOutcome::Placed); //~ E0505
    members.len()
}

fn main() {
    let _ = holder;
}
