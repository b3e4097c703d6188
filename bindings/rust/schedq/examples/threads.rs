//! Threads that take pods, and one that adds them.

use schedq::{Batch, Config, Error, Queue, Spec};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const PODS: u64 = 1000;

fn main() -> Result<(), Error> {
    let queue: Queue<u64> = Queue::new(Config::new())?;
    let (done, sum) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|threads| {
        for _ in 0..4 {
            let worker = queue.worker()?;
            let (queue, done, sum) = (&queue, &done, &sum);
            threads.spawn(move || {
                // Waits; ends when the queue is closed.
                while let Ok(pod) = worker.pop() {
                    let number = *pod.object();
                    sum.fetch_add(number * number, Ordering::Relaxed);
                    worker.done(pod).expect("its cycle ends");
                    if done.fetch_add(1, Ordering::Relaxed) + 1 == PODS {
                        queue.close().expect("it closes");
                    }
                }
            });
        }
        let mut batch = Batch::new();
        for number in 0..PODS {
            batch.push(&format!("job/{}", number), Spec::new(number));
        }
        queue.worker()?.add_many(&batch)?;
        Ok::<(), Error>(())
    })?;
    println!("{} {}", done.into_inner(), sum.into_inner());
    Ok(())
}
