//! schedq: which pod (job, task) does a scheduler look at next.
//!
//! A queue keeps every pod that is not placed yet: active, backing off after a failure, parked until something changes that could help,
//! gated, held, or in flight. Pops take the best active pod. Its holder ends the cycle with done or fail.
//!
//! ```
//! use schedq::{Config, Queue, Spec};
//!
//! # fn main() -> Result<(), schedq::Error> {
//! let queue: Queue<u32> = Queue::new(Config::new())?;
//! let worker = queue.worker()?;
//! worker.add("web/1", &Spec::new(2))?;
//! worker.add("web/2", &Spec::new(4))?;
//! worker.add("db/1", &Spec::new(8).priority(10))?;
//! while let Some(pod) = worker.try_pop()? {
//!     println!("{} {}", pod.name(), pod.object());
//!     worker.done(pod)?;
//! }
//! # Ok(())
//! # }
//! ```
//!
//! * A [`Queue`] is shared: Send, Sync, and its clones are the same queue.
//! * A [`Worker`] is one caller's: each thread or task has its own. It is Send, and not Sync.
//! * A [`Popped`] pod is ended once: what ends it takes it. So is a [`PoppedGroup`]: pods that are tried together.
//! * A [`Builder`] is a queue before the first worker: plugins are registered there, and nowhere else.
//! * Objects are Arcs that the library counts. Hints and gates are closures. No panic goes through the library: see [`Plugin`].
//! * With the feature `tokio` tasks wait in a runtime: module [`tokio`].
//!
//! The library's headers, `schedq/schedq.h` first, say what holds for every call: guarantees, order, threads, progress.

#![warn(missing_docs)]

use schedq_sys as sys;

mod classify;
mod config;
mod error;
mod events;
mod groups;
mod hooks;
mod look;
mod pods;
mod pop;
mod queue;
#[cfg(feature = "tokio")]
pub mod tokio;
mod watch;
mod worker;

pub use classify::{classify_node_update, classify_pod_update, NodeFacts, PodFacts, Quantity};
pub use config::{BackoffCounts, Config, Engine, Fences, Order, Preset, Requeue};
pub use error::{Error, Refused};
pub use events::{Action, Change, Event, Plugin, Plugins, Profile};
pub use groups::{GroupInfo, GroupOutcome, GroupSpec, PoppedGroup, Taken};
pub use look::{AtPlaces, Explanation, PodInfo, Reasons, Stats};
pub use pods::{Batch, Failure, History, Outcome, Place, Pod, Spec, Update};
pub use pop::Popped;
pub use queue::{Builder, Queue};
pub use watch::{Overdue, OverdueKind, Watchdog};
pub use worker::{Canceler, Worker};
