use crate::error::Refused;
use crate::pods::{Failure, History, Outcome, Pod};
use crate::worker::{no_result, Home, Worker};
use crate::{sys, Error, Plugins, Profile};
use std::fmt;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{null_mut, read};
use std::sync::Arc;
use std::time::Duration;

/// A popped pod. Who has it is its holder, and ends its cycle: [`Worker::done`] if it was placed, [`Worker::fail`] if it has to be
/// tried again. Both take it, so no cycle ends twice.
///
/// One that is dropped, by a panic say, fails: an error without a plugin that rejected it, so it backs off and comes again. That
/// takes the dropping thread's own worker of the library (`schedq_worker_get`); if there is no room for one, the pod stays in flight.
#[must_use = "a popped pod that is dropped fails"]
pub struct Popped<T> {
    raw: sys::schedq_popped_t,
    home: Arc<Home<T>>,
}

// Its memory, the queue's, stays as it is until the cycle ends, and that takes the pod. Its token works with any worker.
unsafe impl<T: Send + Sync> Send for Popped<T> {}
unsafe impl<T: Send + Sync> Sync for Popped<T> {}

impl<T> Popped<T> {
    /// Its name.
    pub fn name(&self) -> &str {
        let bytes = unsafe {
            std::slice::from_raw_parts(self.raw.name.cast(), self.raw.name_length as usize)
        };
        std::str::from_utf8(bytes).expect("a name came as str")
    }

    /// Its object.
    pub fn object(&self) -> &T {
        unsafe { crate::hooks::object(self.raw.object) }.expect("a pod has an object")
    }

    /// Its object, to keep.
    pub fn share_object(&self) -> Arc<T> {
        unsafe { share(self.object()) }
    }

    /// Its handle.
    pub fn pod(&self) -> Pod {
        Pod(self.raw.pod)
    }

    /// As at this pop.
    pub fn priority(&self) -> i32 {
        self.raw.priority
    }

    /// This pop is counted in it.
    pub fn history(&self) -> History {
        History::new(&self.raw.history)
    }

    /// Whose plugins judge it.
    pub fn profile(&self) -> Profile {
        Profile(self.raw.profile)
    }

    /// The plugins that rejected it before this pop.
    pub fn rejected(&self) -> Plugins {
        Plugins(self.raw.unschedulable)
    }

    /// Those that only waited for something.
    pub fn pending(&self) -> Plugins {
        Plugins(self.raw.pending)
    }

    /// Number of this pop, from 1; 0 unless the configuration counts cycles.
    pub fn cycle(&self) -> u64 {
        self.raw.cycle
    }

    /// Where it is nominated; 0: nowhere.
    pub fn nominated_node(&self) -> u64 {
        self.raw.nominated_node
    }

    /// End of its last backoff, on the queue's clock; 0: it had none.
    pub fn backoff_expiry_ns(&self) -> i64 {
        self.raw.backoff_expiry_ns
    }

    /// Nothing was active, and it was taken out of backoff.
    pub fn from_backoff(&self) -> bool {
        self.raw.from_backoff != 0
    }

    /// Another pod is poppable, perhaps.
    pub fn more(&self) -> bool {
        self.raw.more != 0
    }

    /// The leftover limit brought it out of where it waited, and nothing else did since.
    pub fn flushed(&self) -> bool {
        self.raw.flushed != 0
    }

    pub(crate) fn new(raw: sys::schedq_popped_t, home: &Arc<Home<T>>) -> Popped<T> {
        Popped { raw, home: home.clone() }
    }

    /// Its cycle has ended: what it held is the library's affair.
    fn ended(self) {
        let this = ManuallyDrop::new(self);
        drop(unsafe { read(&this.home) });
    }
}

/// # Safety
/// The object is one that the library was given, so it stands in an Arc.
pub(crate) unsafe fn share<T>(object: &T) -> Arc<T> {
    Arc::increment_strong_count(object);
    Arc::from_raw(object)
}

impl<T> Drop for Popped<T> {
    fn drop(&mut self) {
        let (token, why) = (&mut self.raw.token, &sys::SCHEDQ_FAILURE_INIT);
        on_own_worker(&self.home, |worker| unsafe {
            sys::schedq_fail(worker, token, why, null_mut());
        });
    }
}

/// With this thread's own worker of the library; not at all if there is no room for one.
pub(crate) fn on_own_worker<T>(home: &Home<T>, call: impl FnOnce(*mut sys::schedq_worker_t)) {
    let mut worker = null_mut();
    let queue = home.queue.inner.raw;
    if unsafe { sys::schedq_worker_get(queue, &mut worker, null_mut(), 0) } == sys::SCHEDQ_OK {
        call(worker);
    }
}

impl<T> fmt::Debug for Popped<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Popped({:?})", self.name())
    }
}

pub(crate) fn nanoseconds(wait: Duration) -> i64 {
    i64::try_from(wait.as_nanos()).unwrap_or(i64::MAX)
}

impl<T> Worker<T> {
    fn one(
        &self,
        pop: impl FnOnce(*mut sys::schedq_popped_t) -> sys::schedq_status_t,
    ) -> Result<Option<Popped<T>>, Error> {
        let mut raw = MaybeUninit::uninit();
        match pop(raw.as_mut_ptr()) {
            sys::SCHEDQ_OK => Ok(Some(Popped::new(unsafe { raw.assume_init() }, &self.home))),
            sys::SCHEDQ_EMPTY | sys::SCHEDQ_TIMEDOUT => Ok(None),
            status => Err(self.error(status)),
        }
    }

    fn many(
        &self,
        most: usize,
        pop: impl FnOnce(*mut sys::schedq_popped_t, *mut usize) -> sys::schedq_status_t,
    ) -> Result<Vec<Popped<T>>, Error> {
        let (mut raw, mut count) = (crate::error::room("most", most)?, 0);
        match pop(raw.as_mut_ptr(), &mut count) {
            sys::SCHEDQ_OK => unsafe { raw.set_len(count) },
            sys::SCHEDQ_EMPTY | sys::SCHEDQ_TIMEDOUT => {}
            status => return Err(self.error(status)),
        }
        Ok(raw.into_iter().map(|raw| Popped::new(raw, &self.home)).collect())
    }

    /// Takes the best pod, without waiting; None: nothing is poppable. It does not serve time.
    pub fn try_pop(&self) -> Result<Option<Popped<T>>, Error> {
        let popped = self.one(|out| unsafe { sys::schedq_try_pop(self.raw(), out) })?;
        if popped.is_none() {
            self.queue().passed_groups();
        }
        Ok(popped)
    }

    /// Takes up to `most` of the best pods, best first, without waiting; none: nothing is poppable.
    pub fn try_pop_many(&self, most: usize) -> Result<Vec<Popped<T>>, Error> {
        let popped = self.many(most, |out, count| unsafe {
            sys::schedq_try_pop_many(self.raw(), out, most, count)
        })?;
        if popped.is_empty() {
            self.queue().passed_groups();
        }
        Ok(popped)
    }

    /// Takes the best pod; waits for one, and serves time meanwhile.
    pub fn pop(&self) -> Result<Popped<T>, Error> {
        let popped = self.one(|out| unsafe { sys::schedq_pop(self.raw(), out) })?;
        Ok(popped.expect("a wait without an end gives a pod"))
    }

    /// As [`pop`](Worker::pop), for at most a time; None: it is over.
    pub fn pop_for(&self, wait: Duration) -> Result<Option<Popped<T>>, Error> {
        self.one(|out| unsafe { sys::schedq_pop_for(self.raw(), nanoseconds(wait), out) })
    }

    /// As [`pop`](Worker::pop), until a time on the queue's clock; None: it passed.
    pub fn pop_until(&self, deadline_ns: i64) -> Result<Option<Popped<T>>, Error> {
        self.one(|out| unsafe { sys::schedq_pop_until(self.raw(), deadline_ns, out) })
    }

    /// Takes up to `most` of the best pods, best first; waits for the first.
    pub fn pop_many(&self, most: usize) -> Result<Vec<Popped<T>>, Error> {
        self.many(most, |out, count| unsafe { sys::schedq_pop_many(self.raw(), out, most, count) })
    }

    /// As [`pop_many`](Worker::pop_many), for at most a time; none: it is over.
    pub fn pop_many_for(&self, most: usize, wait: Duration) -> Result<Vec<Popped<T>>, Error> {
        self.many(most, |out, count| unsafe {
            sys::schedq_pop_many_for(self.raw(), nanoseconds(wait), out, most, count)
        })
    }

    /// As [`pop_many`](Worker::pop_many), until a time on the queue's clock; none: it passed.
    pub fn pop_many_until(&self, most: usize, deadline_ns: i64) -> Result<Vec<Popped<T>>, Error> {
        self.many(most, |out, count| unsafe {
            sys::schedq_pop_many_until(self.raw(), deadline_ns, out, most, count)
        })
    }

    /// Is that of the same queue?
    pub(crate) fn has_home(&self, home: &Home<T>) -> bool {
        Arc::ptr_eq(&home.queue.inner, &self.queue().inner)
    }

    fn is_own(&self, pod: &Popped<T>) -> Result<(), Error> {
        if self.has_home(&pod.home) {
            return Ok(());
        }
        Err(Error::Invalid(format!("pod {:?}: it is of another queue", pod.name())))
    }

    /// Ends the cycle of a pod that was placed: it leaves the queue. False: it was deleted meanwhile.
    pub fn done(&self, pod: Popped<T>) -> Result<bool, Refused<Popped<T>>> {
        if let Err(error) = self.is_own(&pod) {
            return Err(Refused { error, pod: Box::new(pod) });
        }
        match unsafe { sys::schedq_done(self.raw(), pod.raw.token) } {
            status @ (sys::SCHEDQ_OK | sys::SCHEDQ_GONE) => {
                pod.ended();
                Ok(status == sys::SCHEDQ_OK)
            }
            status => Err(Refused { error: self.error(status), pod: Box::new(pod) }),
        }
    }

    /// Ends many cycles; returns how many pods were not deleted meanwhile.
    pub fn done_many(&self, pods: Vec<Popped<T>>) -> Result<usize, Refused<Vec<Popped<T>>>> {
        if let Some(error) = pods.iter().find_map(|pod| self.is_own(pod).err()) {
            return Err(Refused { error, pod: Box::new(pods) });
        }
        let tokens: Vec<_> = pods.iter().map(|pod| pod.raw.token).collect();
        let mut statuses = vec![sys::SCHEDQ_INVALID as u8; pods.len()];
        let status = unsafe {
            let (tokens, count) = (tokens.as_ptr(), tokens.len());
            sys::schedq_done_many(self.raw(), tokens, count, statuses.as_mut_ptr())
        };
        if status == sys::SCHEDQ_INVALID {
            return Err(Refused { error: self.error(status), pod: Box::new(pods) });
        }
        pods.into_iter().for_each(Popped::ended);
        Ok(statuses.iter().filter(|status| **status == sys::SCHEDQ_OK as u8).count())
    }

    /// Ends a cycle without success: the pod is parked, backs off, is gated or tried again. None: it was deleted meanwhile.
    pub fn fail(
        &self,
        mut pod: Popped<T>,
        failure: &Failure<T>,
    ) -> Result<Option<Outcome>, Refused<Popped<T>>> {
        if let Err(error) = self.is_own(&pod) {
            return Err(Refused { error, pod: Box::new(pod) });
        }
        let (raw, mut result) = (failure.raw(), no_result());
        match unsafe { sys::schedq_fail(self.raw(), &mut pod.raw.token, &raw, &mut result) } {
            sys::SCHEDQ_OK => {
                pod.ended();
                Ok(Some(Outcome::new(&result)))
            }
            sys::SCHEDQ_GONE => {
                pod.ended();
                Ok(None)
            }
            status => Err(Refused { error: self.error(status), pod: Box::new(pod) }),
        }
    }

    /// Does a pod in flight still exist? False: it was deleted meanwhile, and its cycle still has to end.
    pub fn is_alive(&self, pod: &Popped<T>) -> Result<bool, Error> {
        self.is_own(pod)?;
        match unsafe { sys::schedq_token_alive(self.raw(), pod.raw.token) } {
            sys::SCHEDQ_GONE => Ok(false),
            status => self.check(status).map(|()| true),
        }
    }
}
