//! 1,000,000 pods through tasks of tokio that mostly wait, on each engine: no wake-up is lost.
//!
//! Few pods are in the queue at a time, fewer than tasks. For each that is done the task that adds is told, and adds one. So a task waits
//! before most pods, and nothing else wakes it than the descriptor. A wake-up that is lost stops everything, and the watchdog says so.
//!
//! With an argument, lockfree or mutex: that engine only.

use schedq::tokio::AsyncQueue;
use schedq::{Config, Engine, Queue, Spec, Worker};
use std::future::Future;
use std::pin::Pin;
use std::process::exit;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{unbounded_channel, UnboundedReceiver, UnboundedSender};

const PODS: u64 = 1_000_000;
const AT_ONCE: u64 = 2;
const TASKS: u64 = 16;
/// Nothing has been done for so long: a wake-up is lost.
const STOPPED: Duration = Duration::from_secs(20);

#[derive(Default)]
struct Count {
    done: AtomicU64,
    sum: AtomicU64,
    /// How often a task found no pod, and slept.
    sleeps: AtomicU64,
}

/// A future that counts how often its task sleeps.
struct Counting<'a, F> {
    future: Pin<Box<F>>,
    sleeps: &'a AtomicU64,
}

impl<F: Future> Future for Counting<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let answer = self.future.as_mut().poll(context);
        if answer.is_pending() {
            self.sleeps.fetch_add(1, Ordering::Relaxed);
        }
        answer
    }
}

async fn add(worker: Worker<u64>, mut done: UnboundedReceiver<u64>) {
    while let Some(number) = done.recv().await {
        let next = number + AT_ONCE;
        if next < PODS {
            worker.add(&format!("pod-{}", next), &Spec::new(next)).expect("room");
        }
    }
}

async fn work(pods: AsyncQueue<u64>, done: UnboundedSender<u64>, count: Arc<Count>) {
    let mut worker = pods.worker().expect("room for a worker");
    loop {
        let next = Counting { future: Box::pin(worker.next_pod()), sleeps: &count.sleeps };
        let pod = match next.await {
            Ok(pod) => pod,
            Err(schedq::Error::Closed) => return,
            Err(error) => panic!("{}", error),
        };
        let number = *pod.object();
        count.sum.fetch_add(number, Ordering::Relaxed);
        assert!(worker.done(pod).expect("its cycle ends"));
        done.send(number).expect("who adds is there");
        if count.done.fetch_add(1, Ordering::Relaxed) + 1 == PODS {
            worker.queue().close().expect("it closes");
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
    let wanted = std::env::args().nth(1);
    for engine in [Engine::LockFree, Engine::Mutex] {
        if wanted
            .as_deref()
            .map_or(false, |wanted| wanted != format!("{:?}", engine).to_lowercase())
        {
            continue;
        }
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
            let (sender, receiver) = unbounded_channel();
            let work: Vec<_> = (0..TASKS)
                .map(|_| tokio::spawn(work(pods.clone(), sender.clone(), count.clone())))
                .collect();
            tokio::spawn(add(queue.worker().expect("room for a worker"), receiver));
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
            "{:?}: {} pods through {} tasks in {:.1} s, {} sleeps; no wake-up was lost",
            engine,
            PODS,
            TASKS,
            seconds,
            count.sleeps.load(Ordering::Relaxed)
        );
    }
}
