//! Nor can a member's.
use schedq::{PoppedGroup, Worker};

fn holder(worker: &Worker<u32>, mut group: PoppedGroup<u32>) {
    for pod in group.take_members() {
        let _ = worker.done(pod);
        let _ = worker.done(pod); //~ E0382
    }
}

fn main() {
    let _ = holder;
}
