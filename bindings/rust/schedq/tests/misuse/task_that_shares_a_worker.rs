//! Two tasks do not wait with one worker.
use schedq::tokio::AsyncWorker;

async fn both(worker: &mut AsyncWorker<u32>) {
    let first = worker.next_pod();
    let second = worker.next_pod(); //~ E0499
    let _ = (first.await, second.await);
}

fn main() {
    let _ = both;
}
