//! Waits of threads: what ends them, and what does not.

mod support;

use schedq::{Error, Failure, Spec};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{scope, sleep, spawn};
use std::time::{Duration, Instant};
use support::{opened, with_engines, LATE, SOON};

#[test]
fn a_wait_ends_at_its_time() {
    with_engines(|config| {
        let (queue, worker) = opened::<u32>(config);
        let begin = Instant::now();
        assert!(worker.pop_for(SOON).unwrap().is_none());
        assert!(begin.elapsed() >= SOON);
        assert!(worker.pop_for(Duration::ZERO).unwrap().is_none());
        let until = queue.now_ns() + SOON.as_nanos() as i64;
        assert!(worker.pop_until(until).unwrap().is_none());
        assert!(queue.now_ns() >= until);
        assert!(worker.pop_many_for(4, SOON).unwrap().is_empty());
        assert!(worker.pop_many_until(4, queue.now_ns()).unwrap().is_empty());
        worker.add("a", &Spec::new(1)).unwrap();
        assert_eq!(worker.pop_for(Duration::MAX).unwrap().unwrap().name(), "a");
    });
}

#[test]
fn an_add_and_the_end_of_a_backoff_end_a_wait() {
    with_engines(|config| {
        let backoff = Duration::from_millis(1);
        let (queue, worker) = opened::<u32>(config.initial_backoff(backoff));
        let other = queue.worker().unwrap();
        let adder = spawn(move || {
            sleep(SOON);
            other.add("a", &Spec::new(1)).unwrap();
        });
        let pod = worker.pop_for(LATE).unwrap().unwrap();
        worker.fail(pod, &Failure::error()).unwrap();
        let pod = worker.pop_for(LATE).unwrap().unwrap();
        assert_eq!((pod.name(), pod.history().errors), ("a", 1));
        adder.join().unwrap();
    });
}

#[test]
fn close_ends_all_waits_when_nothing_is_left() {
    with_engines(|config| {
        let (queue, worker) = opened::<u32>(config);
        worker.add("last", &Spec::new(1)).unwrap();
        let popped = AtomicU64::new(0);
        scope(|threads| {
            for _ in 0..4 {
                let worker = queue.worker().unwrap();
                let popped = &popped;
                threads.spawn(move || {
                    while let Ok(pod) = worker.pop() {
                        popped.fetch_add(1, Ordering::SeqCst);
                        worker.done(pod).unwrap();
                    }
                    assert_eq!(worker.pop().unwrap_err(), Error::Closed);
                    assert_eq!(worker.pop_many(2).unwrap_err(), Error::Closed);
                });
            }
            sleep(SOON);
            queue.close().unwrap();
        });
        assert_eq!(popped.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_cancel_ends_one_wait_of_one_worker() {
    with_engines(|config| {
        let (_, worker) = opened::<u32>(config);
        let canceler = worker.canceler();
        worker.add("a", &Spec::new(1)).unwrap();
        assert!(canceler.cancel().unwrap() && canceler.clone().cancel().unwrap());
        assert_eq!(worker.pop().unwrap_err(), Error::Canceled);
        assert_eq!(worker.pop().unwrap().name(), "a");
        let waiting = spawn(move || {
            let error = worker.pop().unwrap_err();
            (worker, error)
        });
        sleep(SOON);
        assert!(canceler.cancel().unwrap());
        let (worker, error) = waiting.join().unwrap();
        assert_eq!(error, Error::Canceled);
        drop(worker);
        assert!(!canceler.cancel().unwrap());
    });
}

#[test]
fn the_descriptor_is_readable_while_a_pod_is_poppable() {
    use std::os::unix::io::AsRawFd;
    with_engines(|config| {
        let (queue, worker) = opened::<u32>(config);
        let fd = queue.wait_fd().unwrap().as_raw_fd();
        assert_eq!(queue.wait_fd().unwrap().as_raw_fd(), fd);
        assert!(worker.try_pop().unwrap().is_none());
        worker.add("a", &Spec::new(1)).unwrap();
        let link = std::fs::read_link(format!("/proc/self/fd/{}", fd)).unwrap();
        assert_eq!(link.to_str(), Some("anon_inode:[eventfd]"));
    });
}

#[test]
fn threads_share_a_queue() {
    with_engines(|config| {
        let (queue, _worker) = opened::<u64>(config);
        const PODS: u64 = 4000;
        let (sum, left) = (AtomicU64::new(0), AtomicU64::new(2 * PODS));
        scope(|threads| {
            for half in 0..2 {
                let worker = queue.worker().unwrap();
                threads.spawn(move || {
                    for number in half * PODS..(half + 1) * PODS {
                        worker.add(&format!("n{}", number), &Spec::new(number)).unwrap();
                    }
                });
            }
            for _ in 0..3 {
                let worker = queue.worker().unwrap();
                let (queue, sum, left) = (&queue, &sum, &left);
                threads.spawn(move || {
                    while let Ok(pod) = worker.pop() {
                        let number = *pod.object();
                        if pod.history().attempts == 1 && number % 100 == 0 {
                            drop(pod); // it comes again
                            continue;
                        }
                        sum.fetch_add(number, Ordering::SeqCst);
                        worker.done(pod).unwrap();
                        if left.fetch_sub(1, Ordering::SeqCst) == 1 {
                            queue.close().unwrap();
                        }
                    }
                });
            }
        });
        assert_eq!(sum.load(Ordering::SeqCst), (0..2 * PODS).sum());
        assert_eq!(queue.stats().unwrap().dones, 2 * PODS);
    });
}
