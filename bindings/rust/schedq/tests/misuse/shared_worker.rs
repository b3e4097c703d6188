//! A worker is one caller's.
use schedq::Worker;

fn threads(worker: &Worker<u32>) {
    std::thread::scope(|scope| {
        scope.spawn(|| worker.try_pop().is_ok()); //~ E0277
    });
}

fn main() {
    let _ = threads;
}
