//! Tasks that wait for pods in a tokio runtime: by the queue's descriptor, without a thread and without polling.
//!
//! The descriptor is readable while a pod is poppable, until a `try_pop` returns None. tokio hears of it once for each time
//! that it becomes readable, and remembers that until a task clears it. A task clears what it saw before its `try_pop` returned
//! None: if the descriptor became readable again since, tokio keeps that, and the task is woken. So no wake-up is lost, whichever
//! tasks, loops and threads share the queue.

use crate::{Error, Popped, Queue, Worker};
use std::future::Future;
use std::io;
use std::ops::Deref;
use std::os::unix::io::OwnedFd;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::io::Interest;

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

impl<T: Send + Sync> AsyncWorker<T> {
    /// Takes the best pod; waits for one, and serves time meanwhile. [`Error::Closed`] ends it.
    ///
    /// A future that is dropped has taken no pod.
    // Not async fn: that would hide that the future is Send.
    pub fn next_pod(&mut self) -> impl Future<Output = Result<Popped<T>, Error>> + Send + '_ {
        self.wait(Worker::try_pop)
    }

    /// Takes up to `most` of the best pods, best first; waits for the first, as [`next_pod`](AsyncWorker::next_pod).
    pub fn next_pods(
        &mut self,
        most: usize,
    ) -> impl Future<Output = Result<Vec<Popped<T>>, Error>> + Send + '_ {
        self.wait(
            move |worker| Ok(Some(worker.try_pop_many(most)?).filter(|pods| !pods.is_empty())),
        )
    }

    async fn wait<P: Send>(
        &mut self,
        try_pop: impl Fn(&Worker<T>) -> Result<Option<P>, Error> + Send,
    ) -> Result<P, Error> {
        // Before a pod is taken: a future that is dropped here has none.
        if self.in_a_row == POPS_IN_A_ROW {
            self.in_a_row = 0;
            tokio::task::yield_now().await;
        }
        // Pods that are there need no turn of the runtime.
        if let Some(popped) = try_pop(&self.worker)? {
            self.in_a_row += 1;
            return Ok(popped);
        }
        self.in_a_row = 0;
        loop {
            let readable = self.shared.readable.readable();
            let left = self.time_left();
            let ready = match left {
                None => readable.await,
                Some(left) => match tokio::time::timeout(left, readable).await {
                    Ok(ready) => ready,
                    Err(_) => {
                        self.worker.tick()?;
                        if let Some(popped) = try_pop(&self.worker)? {
                            return Ok(popped);
                        }
                        continue;
                    }
                },
            };
            let mut ready = ready.map_err(|error| Error::Invalid(error.to_string()))?;
            if let Some(popped) = try_pop(&self.worker)? {
                return Ok(popped);
            }
            ready.clear_ready();
        }
    }

    /// Until the queue's time is to be served; None: nothing will be due, or the clock is the caller's.
    fn time_left(&self) -> Option<Duration> {
        let queue = self.worker.queue();
        if queue.inner.external_clock {
            return None;
        }
        let left = queue.next_deadline_ns()? - queue.now_ns();
        Some(Duration::from_nanos(left.max(0) as u64))
    }
}
