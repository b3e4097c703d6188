//! 1,000,000 pods through tasks of tokio that mostly wait, on each engine: no wake-up is lost.
//!
//! Few pods are in the queue at a time, fewer than tasks: a pod comes for each that goes. So a task waits before almost each pod, and nothing
//! else wakes it than the descriptor. A wake-up that is lost stops everything, and the watchdog says so.

use schedq::tokio::AsyncQueue;
use schedq::{Config, Engine, Queue, Spec};
use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

const PODS: u64 = 1_000_000;
const AT_ONCE: u64 = 8;
const TASKS: u64 = 16;
/// Nothing has been done for so long: a wake-up is lost.
const STOPPED: Duration = Duration::from_secs(20);

#[derive(Default)]
struct Count {
    done: AtomicU64,
    sum: AtomicU64,
    /// Waits that were not over at once.
    waits: AtomicU64,
}

async fn work(pods: AsyncQueue<u64>, queue: Queue<u64>, count: Arc<Count>) {
    let mut worker = pods.worker().expect("room for a worker");
    loop {
        let next = match worker.try_pop() {
            Ok(Some(pod)) => Ok(pod),
            _ => {
                count.waits.fetch_add(1, Ordering::Relaxed);
                worker.next().await
            }
        };
        let pod = match next {
            Ok(pod) => pod,
            Err(schedq::Error::Closed) => return,
            Err(error) => panic!("{}", error),
        };
        let number = *pod.object();
        count.sum.fetch_add(number, Ordering::Relaxed);
        assert!(worker.done(pod).expect("its cycle ends"));
        if number + AT_ONCE < PODS {
            let next = number + AT_ONCE;
            worker.add(&format!("pod-{}", next), &Spec::new(next)).expect("room");
        }
        if count.done.fetch_add(1, Ordering::Relaxed) + 1 == PODS {
            queue.close().expect("it closes");
        }
    }
}

async fn watch(engine: Engine, count: Arc<Count>) {
    let mut before = 0;
    loop {
        tokio::time::sleep(STOPPED).await;
        let done = count.done.load(Ordering::Relaxed);
        if done == before {
            println!(
                "{:?}: {} of {} pods, and none for {:?}: a wake-up is lost",
                engine, done, PODS, STOPPED
            );
            exit(1);
        }
        before = done;
    }
}

fn main() {
    for engine in [Engine::LockFree, Engine::Mutex] {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(4)
            .enable_all()
            .build()
            .expect("a runtime");
        let (count, begin) = (Arc::new(Count::default()), Instant::now());
        runtime.block_on(async {
            let queue = Queue::new(Config::new().engine(engine)).expect("a queue");
            let pods = AsyncQueue::new(&queue).expect("a descriptor");
            let watchdog = tokio::spawn(watch(engine, count.clone()));
            let work: Vec<_> = (0..TASKS)
                .map(|_| tokio::spawn(work(pods.clone(), queue.clone(), count.clone())))
                .collect();
            let adder = queue.worker().expect("room for a worker");
            for number in 0..AT_ONCE {
                adder.add(&format!("pod-{}", number), &Spec::new(number)).expect("room");
            }
            for task in work {
                task.await.expect("a task that ends");
            }
            watchdog.abort();
            assert_eq!(queue.stats().expect("stats").dones, PODS);
        });
        let (seconds, sum) = (begin.elapsed().as_secs_f64(), count.sum.load(Ordering::Relaxed));
        assert_eq!(sum, (0..PODS).sum());
        println!(
            "{:?}: {} pods through {} tasks in {:.1} s, {} waits; none was lost",
            engine,
            PODS,
            TASKS,
            seconds,
            count.waits.load(Ordering::Relaxed)
        );
    }
}
