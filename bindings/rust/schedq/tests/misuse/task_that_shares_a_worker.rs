//! Two tasks do not wait with one worker.
use schedq::tokio::AsyncWorker;

async fn both(worker: &mut AsyncWorker<u32>) {
    let first = worker.next();
    let second = worker.next(); //~ E0499
    let _ = (first.await, second.await);
}

fn main() {
    let _ = both;
}
