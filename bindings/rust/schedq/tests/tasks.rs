//! Tasks that wait in a tokio runtime.

mod support;

use schedq::tokio::{AsyncQueue, AsyncWorker};
use schedq::{Error, Failure, GroupOutcome, GroupSpec, Spec, Taken};
use std::future::Future;
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};
use support::{opened, with_engines, LATE, SOON};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{unbounded_channel, UnboundedSender};
use tokio::time::timeout;

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// In a runtime of one thread and in one of several; what waits too long fails.
fn in_runtimes<F: Future<Output = ()>>(test: impl Fn() -> F) {
    let one_thread = Builder::new_current_thread().enable_all().build().unwrap();
    for runtime in [one_thread, runtime()] {
        runtime.block_on(async { timeout(LATE, test()).await.expect("a wait that ends") });
    }
}

fn is_send<T: Send>(value: T) -> T {
    value
}

#[test]
fn a_task_waits_for_what_a_thread_adds() {
    with_engines(|config| {
        in_runtimes(|| async {
            let (queue, adder) = opened::<u64>(config.clone());
            let pods = AsyncQueue::new(&queue).unwrap();
            let mut worker = pods.worker().unwrap();
            let adding = spawn(move || {
                for number in 0..3 {
                    sleep(SOON);
                    adder.add(&format!("n{}", number), &Spec::new(number)).unwrap();
                }
            });
            for number in 0..3 {
                let pod = is_send(worker.next_pod()).await.unwrap();
                assert_eq!(*pod.object(), number);
                assert!(worker.done(pod).unwrap());
            }
            adding.join().unwrap();
            queue.close().unwrap();
            assert_eq!(worker.next_pod().await.unwrap_err(), Error::Closed);
            assert_eq!(is_send(worker.next_pods(3)).await.unwrap_err(), Error::Closed);
        });
    });
}

#[test]
fn a_future_that_is_dropped_has_taken_no_pod() {
    with_engines(|config| {
        in_runtimes(|| async {
            let (queue, adder) = opened::<u64>(config.clone());
            let mut worker = AsyncQueue::new(&queue).unwrap().worker().unwrap();
            assert!(timeout(SOON, worker.next_pod()).await.is_err());
            adder.add("a", &Spec::new(1)).unwrap();
            drop(worker.next_pod());
            assert_eq!(queue.stats().unwrap().inflight, 0);
            assert_eq!(worker.next_pods(8).await.unwrap().len(), 1);
        });
    });
}

#[test]
fn a_task_serves_time() {
    with_engines(|config| {
        in_runtimes(|| async {
            let backoff = Duration::from_millis(30);
            let (queue, adder) = opened::<u64>(config.clone().initial_backoff(backoff));
            let mut worker = AsyncQueue::new(&queue).unwrap().worker().unwrap();
            adder.add("a", &Spec::new(1)).unwrap();
            let pod = worker.next_pod().await.unwrap();
            let begin = Instant::now();
            worker.fail(pod, &Failure::error()).unwrap();
            // The wait begins with a time, and a sooner one comes while it lasts.
            let waiting = tokio::spawn(async move {
                let pod = worker.next_pod().await.unwrap();
                worker.done(pod).unwrap();
                (worker, begin.elapsed())
            });
            let (mut worker, elapsed) = waiting.await.unwrap();
            assert!(elapsed >= backoff && elapsed < LATE / 2, "{:?}", elapsed);
            adder
                .add("b", &Spec::new(1).not_before_ns(queue.now_ns() + 3_600_000_000_000))
                .unwrap();
            let waiting = tokio::spawn(async move { worker.next_pod().await.map(|pod| pod.pod()) });
            tokio::time::sleep(SOON).await;
            let held = adder.find("b").unwrap().unwrap().pod;
            adder.not_before(held, queue.now_ns() + backoff.as_nanos() as i64).unwrap();
            assert_eq!(waiting.await.unwrap().unwrap(), held);
        });
    });
}

#[test]
fn a_task_that_always_finds_a_pod_lets_others_run() {
    let one_thread = Builder::new_current_thread().enable_all().build().unwrap();
    one_thread.block_on(async {
        let (queue, adder) = opened::<u64>(schedq::Config::new());
        for number in 0..1000 {
            adder.add(&format!("n{}", number), &Spec::new(number)).unwrap();
        }
        let mut worker = AsyncQueue::new(&queue).unwrap().worker().unwrap();
        let other = tokio::spawn(async {});
        let mut pops = 0;
        while !other.is_finished() && pops < 1000 {
            let pod = worker.next_pod().await.unwrap();
            worker.done(pod).unwrap();
            pops += 1;
        }
        assert!(pops <= 65, "{}", pops);
    });
}

#[test]
fn a_queue_may_be_in_a_runtime_twice_and_in_two_runtimes() {
    let (queue, adder) = opened::<u64>(schedq::Config::new());
    let runtimes = [runtime(), runtime()];
    let mut waiting = Vec::new();
    for runtime in &runtimes {
        for _ in 0..2 {
            let _inside = runtime.enter();
            let mut worker = AsyncQueue::new(&queue).unwrap().worker().unwrap();
            waiting.push(runtime.spawn(async move {
                let pod = timeout(LATE, worker.next_pod()).await.unwrap().unwrap();
                worker.done(pod).unwrap()
            }));
        }
    }
    for number in 0..4 {
        sleep(SOON);
        adder.add(&format!("n{}", number), &Spec::new(number)).unwrap();
    }
    for task in waiting {
        assert!(runtimes[0].block_on(task).unwrap());
    }
}

const PODS: u64 = 10_000;
const AT_ONCE: u64 = 4;

/// For each pod that is done the task that adds is told, so the queue is empty most of the time.
async fn holder(mut worker: AsyncWorker<u64>, done: UnboundedSender<u64>) -> u64 {
    let mut sum = 0;
    while let Ok(pod) = worker.next_pod().await {
        let number = *pod.object();
        sum += number;
        worker.done(pod).unwrap();
        done.send(number).unwrap();
    }
    sum
}

#[test]
fn no_wake_up_is_lost_among_tasks_that_mostly_wait() {
    with_engines(|config| {
        in_runtimes(|| async {
            let (queue, adder) = opened::<u64>(config.clone());
            let pods = AsyncQueue::new(&queue).unwrap();
            let (sender, mut done) = unbounded_channel();
            let tasks: Vec<_> = (0..8)
                .map(|_| tokio::spawn(holder(pods.worker().unwrap(), sender.clone())))
                .collect();
            for number in 0..AT_ONCE {
                adder.add(&format!("n{}", number), &Spec::new(number)).unwrap();
            }
            for _ in 0..PODS {
                let next = done.recv().await.unwrap() + AT_ONCE;
                if next < PODS {
                    adder.add(&format!("n{}", next), &Spec::new(next)).unwrap();
                }
            }
            queue.close().unwrap();
            let mut sum = 0;
            for task in tasks {
                sum += task.await.unwrap();
            }
            assert_eq!(sum, (0..PODS).sum());
        });
    });
}

#[test]
fn a_task_waits_for_a_group_or_a_pod() {
    with_engines(|config| {
        in_runtimes(|| async {
            let (queue, adder) = opened::<u64>(config.clone());
            let mut worker = AsyncQueue::new(&queue).unwrap().worker().unwrap();
            adder.group_add(7, &GroupSpec::new(2)).unwrap();
            let adding = spawn(move || {
                for number in 0..2 {
                    sleep(SOON);
                    adder.add(&format!("n{}", number), &Spec::new(number).group(7)).unwrap();
                }
                sleep(SOON);
                adder.add("alone", &Spec::new(2)).unwrap();
            });
            match is_send(worker.next_group()).await.unwrap() {
                Taken::Group(mut group) => {
                    assert_eq!(worker.done_many(group.take_members()).unwrap(), 2);
                    worker.group_done(group, GroupOutcome::Placed).unwrap();
                }
                other => panic!("{:?}", other),
            }
            match worker.next_group().await.unwrap() {
                Taken::Pod(pod) => assert_eq!(*pod.object(), 2),
                other => panic!("{:?}", other),
            }
            adding.join().unwrap();
        });
    });
}

/// A pop of pods that finds nothing makes the descriptor unreadable, though a group is there.
#[test]
fn a_task_that_waits_for_a_group_gets_it_beside_pops_of_pods() {
    with_engines(|config| {
        in_runtimes(|| async {
            let (queue, adder) = opened::<u64>(config.clone());
            let tasks = AsyncQueue::new(&queue).unwrap();
            adder.group_add(7, &GroupSpec::new(1)).unwrap();
            let (mut of_pods, mut of_groups) = (tasks.worker().unwrap(), tasks.worker().unwrap());
            let pods = tokio::spawn(async move { of_pods.next_pod().await.map(|_| ()) });
            let groups = tokio::spawn(async move {
                for _ in 0..100 {
                    match of_groups.next_group().await.unwrap() {
                        Taken::Group(mut group) => {
                            of_groups.done_many(group.take_members()).unwrap();
                            of_groups.group_done(group, GroupOutcome::Placed).unwrap();
                        }
                        other => panic!("{:?}", other),
                    }
                }
            });
            for number in 0..100 {
                adder.add("n", &Spec::new(number).group(7)).unwrap();
                assert!(adder.try_pop().unwrap().is_none());
                while adder.find("n").unwrap().is_some() {
                    tokio::task::yield_now().await;
                    assert!(adder.try_pop().unwrap().is_none());
                }
            }
            groups.await.unwrap();
            queue.close().unwrap();
            assert_eq!(pods.await.unwrap(), Err(Error::Closed));
        });
    });
}
