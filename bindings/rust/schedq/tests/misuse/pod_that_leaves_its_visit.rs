//! What a visitor sees is valid during the visit.
use schedq::{PodInfo, Worker};
use std::ops::ControlFlow;

fn look(worker: &Worker<u32>) {
    let mut kept: Option<&PodInfo<'_, u32>> = None;
    let _ = worker.snapshot(|pod| {
        kept = Some(pod); //~ E0521
        ControlFlow::Continue(())
    });
    let _ = kept;
}

fn main() {
    let _ = look;
}
