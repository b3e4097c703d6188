//! Tasks of a tokio runtime that take pods, which another thread adds.

use schedq::tokio::AsyncQueue;
use schedq::{Config, Failure, Queue, Spec};
use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::time::Duration;

const PODS: u32 = 100;

async fn work(pods: AsyncQueue<u32>, left: Arc<AtomicU32>) -> Result<u32, schedq::Error> {
    let mut worker = pods.worker()?;
    let mut failed = 0;
    // Waits; ends when the queue is closed.
    while let Ok(pod) = worker.next_pod().await {
        tokio::task::yield_now().await; // whatever the work waits for
        if pod.object() % 10 == 0 && pod.history().errors == 0 {
            failed += 1;
            worker.fail(pod, &Failure::error())?; // comes back after its backoff
            continue;
        }
        worker.done(pod)?;
        if left.fetch_sub(1, Ordering::Relaxed) == 1 {
            worker.queue().close()?;
        }
    }
    Ok(failed)
}

fn main() -> Result<(), Box<dyn Error>> {
    let queue = Queue::new(Config::new().initial_backoff(Duration::from_millis(10)))?;
    let adder = queue.worker()?;
    std::thread::spawn(move || {
        for number in 0..PODS {
            adder.add(&format!("job/{}", number), &Spec::new(number)).expect("room");
        }
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let (pods, left) = (AsyncQueue::new(&queue)?, Arc::new(AtomicU32::new(PODS)));
        let tasks: Vec<_> =
            (0..8).map(|_| tokio::spawn(work(pods.clone(), left.clone()))).collect();
        let mut failed = 0;
        for task in tasks {
            failed += task.await??;
        }
        println!("{} failed once, {} are done", failed, queue.stats()?.dones);
        Ok(())
    })
}
