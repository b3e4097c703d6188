//! All objects of a queue are of one type.
use schedq::{Spec, Worker};

fn add(worker: &Worker<u32>) {
    let _ = worker.add("a", &Spec::new("text")); //~ E0277
}

fn main() {
    let _ = add;
}
