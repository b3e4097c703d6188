//! What several tests want.

#![allow(dead_code)] // not each of them wants all of it

use schedq::{Builder, Config, Engine, Place, Queue, Worker};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

/// The test on a queue of each engine.
pub fn with_engines(test: impl Fn(Config)) {
    for engine in [Engine::LockFree, Engine::Mutex] {
        println!("{:?}", engine);
        test(Config::new().engine(engine));
    }
}

pub fn opened<T: Send + Sync + 'static>(config: Config) -> (Queue<T>, Worker<T>) {
    built(Builder::new(config).unwrap())
}

pub fn built<T: Send + Sync + 'static>(builder: Builder<T>) -> (Queue<T>, Worker<T>) {
    let queue = builder.build();
    let worker = queue.worker().unwrap();
    (queue, worker)
}

pub fn place_of<T>(worker: &Worker<T>, name: &str) -> Option<Place> {
    worker.find(name).unwrap().map(|found| found.place)
}

/// An object that counts how many there are.
#[derive(Debug)]
pub struct Counted(pub u64, Arc<AtomicUsize>);

impl Counted {
    pub fn new(number: u64, living: &Arc<AtomicUsize>) -> Counted {
        living.fetch_add(1, Ordering::SeqCst);
        Counted(number, living.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.1.fetch_sub(1, Ordering::SeqCst);
    }
}

pub const SOON: Duration = Duration::from_millis(20);
/// Nothing that works takes so long.
pub const LATE: Duration = Duration::from_secs(60);
