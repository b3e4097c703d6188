//! Tasks that wait for pods in a tokio runtime: by the queue's descriptor, without a thread and without polling.
//!
//! The descriptor is readable while a pod is poppable, until a `try_pop` returns None. tokio hears of it once for each time
//! that it becomes readable, and remembers that until a task clears it. A task clears what it saw before its `try_pop` returned
//! None: if the descriptor became readable again since, tokio keeps that, and the task is woken. So no wake-up is lost, whichever
//! tasks, loops and threads share the queue.
//!
//! A pop of pods passes groups by, and the one that returns None makes the descriptor unreadable all the same. So it has the tasks look
//! again that wait for groups.

use crate::{Error, Popped, Queue, Taken, Worker};
use std::future::Future;
use std::io;
use std::ops::Deref;
use std::os::unix::io::OwnedFd;
use std::pin::Pin;
use std::sync::atomic::{fence, AtomicUsize, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::unix::{AsyncFd, AsyncFdReadyGuard};
use tokio::io::Interest;
use tokio::sync::futures::Notified;
use tokio::sync::Notify;

/// Pods that a task takes one after the other, before it lets other tasks run.
const POPS_IN_A_ROW: u32 = 64;

/// A queue in a runtime. Clones are the same.
pub struct AsyncQueue<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    queue: Queue<T>,
    /// A duplicate of the queue's descriptor: a runtime takes a descriptor once, and a queue may be in it twice.
    readable: AsyncFd<OwnedFd>,
}

impl<T> Clone for AsyncQueue<T> {
    fn clone(&self) -> AsyncQueue<T> {
        AsyncQueue { shared: self.shared.clone() }
    }
}

impl<T> AsyncQueue<T> {
    /// In the runtime that this is called in, which has I/O and time enabled.
    ///
    /// # Panics
    /// Outside of a runtime, as tokio's own sources do.
    pub fn new(queue: &Queue<T>) -> io::Result<AsyncQueue<T>> {
        let descriptor =
            queue.wait_fd().map_err(|error| io::Error::new(io::ErrorKind::Other, error))?;
        let readable =
            AsyncFd::with_interest(descriptor.try_clone_to_owned()?, Interest::READABLE)?;
        Ok(AsyncQueue { shared: Arc::new(Shared { queue: queue.clone(), readable }) })
    }

    /// A worker for one task.
    pub fn worker(&self) -> Result<AsyncWorker<T>, Error> {
        let worker = self.shared.queue.worker()?;
        Ok(AsyncWorker { worker, shared: self.shared.clone(), in_a_row: 0 })
    }
}

/// A worker whose waits are futures; it is a [`Worker`] otherwise.
pub struct AsyncWorker<T> {
    worker: Worker<T>,
    shared: Arc<Shared<T>>,
    in_a_row: u32,
}

impl<T> Deref for AsyncWorker<T> {
    type Target = Worker<T>;

    fn deref(&self) -> &Worker<T> {
        &self.worker
    }
}

/// Tasks of a queue that wait for groups.
#[derive(Debug, Default)]
pub(crate) struct GroupTasks {
    waiting: AtomicUsize,
    passed: Notify,
}

impl GroupTasks {
    /// After a pop of pods that found nothing. A task that is not counted here looks later than that pop did.
    pub(crate) fn look_again(&self) {
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::Relaxed) > 0 {
            self.passed.notify_waiters();
        }
    }

    fn count(&self) -> Counted<'_> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        Counted(self)
    }
}

struct Counted<'a>(&'a GroupTasks);

impl<'a> Counted<'a> {
    /// What is told from here on is not lost, also before this is awaited.
    fn told(&self) -> Notified<'a> {
        self.0.passed.notified()
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Why a task looks again.
enum Woken<'a> {
    /// The descriptor was readable: that has to be cleared if nothing is there.
    Readable(AsyncFdReadyGuard<'a, OwnedFd>),
    /// A pop of pods passed groups by.
    Told,
    /// Time is to be served.
    Late,
}

/// A future of a function: std has one from Rust 1.64 on.
struct Polled<F>(F);

impl<R, F: FnMut(&mut Context<'_>) -> Poll<R> + Unpin> Future for Polled<F> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<R> {
        (self.0)(context)
    }
}

impl<T: Send + Sync> AsyncWorker<T> {
    /// Takes the best pod; waits for one, and serves time meanwhile. [`Error::Closed`] ends it.
    ///
    /// A future that is dropped has taken no pod.
    // Not async fn: that would hide that the future is Send.
    pub fn next_pod(&mut self) -> impl Future<Output = Result<Popped<T>, Error>> + Send + '_ {
        self.wait(false, Worker::try_pop)
    }

    /// Takes up to `most` of the best pods, best first; waits for the first, as [`next_pod`](AsyncWorker::next_pod).
    pub fn next_pods(
        &mut self,
        most: usize,
    ) -> impl Future<Output = Result<Vec<Popped<T>>, Error>> + Send + '_ {
        self.wait(false, move |worker| {
            Ok(Some(worker.try_pop_many(most)?).filter(|pods| !pods.is_empty()))
        })
    }

    /// Takes a group with its members, or a pod that is in no group; waits for it, as [`next_pod`](AsyncWorker::next_pod).
    pub fn next_group(&mut self) -> impl Future<Output = Result<Taken<T>, Error>> + Send + '_ {
        self.wait(true, Worker::try_pop_group)
    }

    async fn wait<P: Send>(
        &mut self,
        groups: bool,
        try_pop: impl Fn(&Worker<T>) -> Result<Option<P>, Error> + Send,
    ) -> Result<P, Error> {
        // Before a pod is taken: a future that is dropped here has none.
        if self.in_a_row == POPS_IN_A_ROW {
            self.in_a_row = 0;
            tokio::task::yield_now().await;
        }
        let AsyncWorker { worker, shared, in_a_row } = self;
        let counted = groups.then(|| shared.queue.inner.group_tasks.count());
        let mut told = counted.as_ref().map(Counted::told);
        // Pods that are there need no turn of the runtime.
        if let Some(popped) = try_pop(worker)? {
            *in_a_row += 1;
            return Ok(popped);
        }
        *in_a_row = 0;
        loop {
            // Rust 1.63 would keep the reference to the worker, which is not Send, to the end of the statement that makes it.
            let resting = rest(worker.queue(), &shared.readable, told);
            let woken = resting.await?;
            if let Woken::Late = woken {
                worker.tick()?;
            }
            told = counted.as_ref().map(Counted::told);
            if let Some(popped) = try_pop(worker)? {
                return Ok(popped);
            }
            if let Woken::Readable(mut ready) = woken {
                ready.clear_ready();
            }
        }
    }
}

/// Waits until there is a reason to look again.
async fn rest<'a, T>(
    queue: &Queue<T>,
    descriptor: &'a AsyncFd<OwnedFd>,
    told: Option<Notified<'_>>,
) -> Result<Woken<'a>, Error> {
    let readable = descriptor.readable();
    tokio::pin!(readable, told);
    let woken = Polled(|context: &mut Context<'_>| {
        if let Some(told) = told.as_mut().as_pin_mut() {
            if told.poll(context).is_ready() {
                return Poll::Ready(Ok(Woken::Told));
            }
        }
        readable.as_mut().poll(context).map(|ready| ready.map(Woken::Readable))
    });
    let woken = match time_left(queue) {
        None => woken.await,
        Some(left) => tokio::time::timeout(left, woken).await.unwrap_or(Ok(Woken::Late)),
    };
    woken.map_err(|error| Error::Invalid(error.to_string()))
}

/// Until the queue's time is to be served; None: nothing will be due, or the clock is the caller's.
fn time_left<T>(queue: &Queue<T>) -> Option<Duration> {
    if queue.inner.external_clock {
        return None;
    }
    let left = queue.next_deadline_ns()? - queue.now_ns();
    Some(Duration::from_nanos(left.max(0) as u64))
}
