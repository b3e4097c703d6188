use crate::error::text;
use crate::hooks::{self, bits_of, Precheck, Walk};
use crate::look::{Explanation, PodInfo, Reasons};
use crate::pods::{element_error, Batch, Failure, History, Outcome, Pod, Spec, Update};
use crate::{sys, Change, Error, Profile, Queue};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::os::raw::c_char;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex};

/// What pods are added, popped and ended with: a handle of one caller at a time.
///
/// A thread that got it from another may go on with it, so it is Send. Two threads must not call with it at once, so it is not
/// Sync: each thread, or task, has its own. It ends when it is dropped; what it popped may be ended with any other.
pub struct Worker<T> {
    pub(crate) home: Arc<Home<T>>,
    _one_caller: PhantomData<Cell<()>>,
}

/// What a worker shares with its cancelers and the pods that it popped. It keeps the queue.
pub(crate) struct Home<T> {
    pub(crate) queue: Queue<T>,
    raw: *mut sys::schedq_worker_t,
    registered: Mutex<bool>,
}

// Only the Worker calls with `raw`, but for schedq_wait_cancel, which any thread may call while it is registered.
unsafe impl<T: Send + Sync> Send for Home<T> {}
unsafe impl<T: Send + Sync> Sync for Home<T> {}

/// Ends the waits of one worker, from any thread.
pub struct Canceler<T> {
    home: Arc<Home<T>>,
}

impl<T> Clone for Canceler<T> {
    fn clone(&self) -> Canceler<T> {
        Canceler { home: self.home.clone() }
    }
}

impl<T> Canceler<T> {
    /// The worker's waiting pop, or else its next one, returns [`Error::Canceled`] and takes nothing.
    ///
    /// False: the worker has ended. Several before one is answered are one.
    pub fn cancel(&self) -> Result<bool, Error> {
        let registered =
            self.home.registered.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if !*registered {
            return Ok(false);
        }
        match unsafe { sys::schedq_wait_cancel(self.home.raw) } {
            sys::SCHEDQ_OK => Ok(true),
            status => Err(Error::new(status, "called from a callback of this queue".into())),
        }
    }
}

impl<T> Drop for Worker<T> {
    fn drop(&mut self) {
        // From here on no canceler uses it. The lock is free again when the library lets objects go.
        *self.home.registered.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = false;
        // BUSY: dropped in a callback, by an object that owned it. It stays registered.
        unsafe { sys::schedq_worker_unregister(self.home.raw) };
    }
}

impl<T> fmt::Debug for Worker<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Worker({:p} of {:?})", self.home.raw, self.home.queue)
    }
}

pub(crate) fn no_result() -> sys::schedq_result_t {
    // All zero bits are one.
    unsafe { std::mem::zeroed() }
}

fn c_chars(name: &str) -> *const c_char {
    name.as_ptr().cast()
}

/// Calls for one pod that answer a result: None if there is no such pod.
macro_rules! calls_for_a_pod {
    ($($(#[$doc:meta])* $name:ident = $call:ident($($argument:ident: $type:ty),*);)*) => {$(
        $(#[$doc])*
        pub fn $name(&self, pod: Pod $(, $argument: $type)*) -> Result<Option<Outcome>, Error> {
            let mut result = no_result();
            let status = unsafe { sys::$call(self.raw(), pod.0 $(, $argument)*, &mut result) };
            self.found(status, &result)
        }
    )*};
}

/// Calls for the pods of a label that answer how many.
macro_rules! calls_for_a_label {
    ($($(#[$doc:meta])* $name:ident = $call:ident($($argument:expr),*);)*) => {$(
        $(#[$doc])*
        pub fn $name(&self, label: u64) -> Result<usize, Error> {
            let mut count = 0;
            let status = unsafe { sys::$call(self.raw(), label, $($argument,)* &mut count) };
            self.check(status).map(|()| count)
        }
    )*};
}

/// Calls that visit pods.
macro_rules! walks {
    ($($(#[$doc:meta])* $name:ident = $call:ident($($argument:ident: $type:ty),*);)*) => {$(
        $(#[$doc])*
        pub fn $name<F>(&self $(, $argument: $type)*, each: F) -> Result<bool, Error>
        where
            F: FnMut(&PodInfo<'_, T>) -> ControlFlow<()>,
        {
            let mut walk = Walk::new(each);
            let visit = Some(hooks::visit::<T, F> as _);
            let status = unsafe { sys::$call(self.raw(), $($argument,)* visit, walk.ctx()) };
            walk.panic.go_on();
            match status {
                sys::SCHEDQ_EMPTY => Ok(false),
                status => self.check(status).map(|()| true),
            }
        }
    )*};
}

impl<T> Worker<T> {
    pub(crate) fn new(queue: Queue<T>, raw: *mut sys::schedq_worker_t) -> Worker<T> {
        let home = Arc::new(Home { queue, raw, registered: Mutex::new(true) });
        Worker { home, _one_caller: PhantomData }
    }

    pub(crate) fn raw(&self) -> *mut sys::schedq_worker_t {
        self.home.raw
    }

    pub(crate) fn check(&self, status: sys::schedq_status_t) -> Result<(), Error> {
        match status {
            sys::SCHEDQ_OK => Ok(()),
            status => Err(self.error(status)),
        }
    }

    pub(crate) fn error(&self, status: sys::schedq_status_t) -> Error {
        let words = match status {
            sys::SCHEDQ_INVALID | sys::SCHEDQ_FULL | sys::SCHEDQ_BUSY => {
                text(unsafe { sys::schedq_worker_error(self.raw()) })
            }
            _ => String::new(),
        };
        Error::new(status, words)
    }

    pub(crate) fn found(
        &self,
        status: sys::schedq_status_t,
        result: &sys::schedq_result_t,
    ) -> Result<Option<Outcome>, Error> {
        match status {
            sys::SCHEDQ_NOT_FOUND => Ok(None),
            status => self.check(status).map(|()| Some(Outcome::new(result))),
        }
    }

    /// Its queue.
    pub fn queue(&self) -> &Queue<T> {
        &self.home.queue
    }

    /// What ends its waits.
    pub fn canceler(&self) -> Canceler<T> {
        Canceler { home: self.home.clone() }
    }

    // ---- pods -----------------------------------------------------------------------------------

    /// Puts a new pod in the queue: active, or gated. `name`: 1..317 bytes, without a NUL.
    pub fn add(&self, name: &str, spec: &Spec<T>) -> Result<Outcome, Error> {
        let mut result = no_result();
        let status = unsafe {
            sys::schedq_add(self.raw(), c_chars(name), name.len(), &spec.raw, &mut result)
        };
        self.check(status).map(|()| Outcome::new(&result))
    }

    /// Adds many pods: for each what [`add`](Worker::add) would have returned, without words.
    pub fn add_many(&self, batch: &Batch<T>) -> Result<Vec<Result<Pod, Error>>, Error> {
        let count = batch.len();
        let mut pods = vec![sys::schedq_pod_t { bits: 0 }; count];
        let mut statuses = vec![u8::MAX; count];
        let status = unsafe {
            let (names, items) = (c_chars(&batch.names), batch.items.as_ptr());
            let (pods, statuses) = (pods.as_mut_ptr(), statuses.as_mut_ptr());
            let length = batch.names.len();
            sys::schedq_add_many(
                self.raw(),
                names,
                length,
                items,
                count,
                pods,
                statuses,
                null_mut(),
            )
        };
        if statuses.first() == Some(&u8::MAX) {
            return Err(self.error(status)); // no array was written
        }
        let each = pods.into_iter().zip(statuses);
        Ok(each
            .map(
                |(pod, status)| if status == 0 { Ok(Pod(pod)) } else { Err(element_error(status)) },
            )
            .collect())
    }

    /// Replaces the description of a pod; None: the name is unknown.
    pub fn update(&self, name: &str, update: &Update<'_, T>) -> Result<Option<Outcome>, Error> {
        let mut spec = update.spec.raw;
        if update.add {
            spec.flags |= sys::SCHEDQ_POD_ADD as u8;
        }
        if let Some(only) = update.only {
            spec.only = only.0;
        }
        let mut result = no_result();
        let status = unsafe {
            let (events, count) = (update.events.as_ptr().cast(), update.events.len());
            let (name, length) = (c_chars(name), name.len());
            let before = bits_of(update.before);
            sys::schedq_update(self.raw(), name, length, &spec, before, events, count, &mut result)
        };
        self.found(status, &result)
    }

    /// Puts back a pod that failed after its done, with its history: as it was before this failure, which is added to it.
    pub fn readd(
        &self,
        name: &str,
        spec: &Spec<T>,
        history: &History,
        failure: &Failure<T>,
    ) -> Result<Outcome, Error> {
        let mut result = no_result();
        let (history, failure) = (history.raw(), failure.raw());
        let status = unsafe {
            let (name, length) = (c_chars(name), name.len());
            sys::schedq_readd(self.raw(), name, length, &spec.raw, &history, &failure, &mut result)
        };
        self.check(status).map(|()| Outcome::new(&result))
    }

    calls_for_a_pod! {
        /// Removes a pod. `place` is InFlight if a holder has it: its name is free, and its holder will be told.
        delete = schedq_delete();
        /// Keeps a pod back until it is released.
        hold = schedq_hold();
        /// Lets a pod go that [`hold`](Worker::hold) keeps back.
        release = schedq_release();
        /// Keeps a pod back until a time, instead of the time that it had; 0: none.
        not_before = schedq_not_before(time_ns: i64);
    }

    /// Removes the pod that has a name.
    pub fn delete_name(&self, name: &str) -> Result<Option<Outcome>, Error> {
        let mut result = no_result();
        let status =
            unsafe { sys::schedq_delete_name(self.raw(), c_chars(name), name.len(), &mut result) };
        self.found(status, &result)
    }

    /// Makes waiting pods active, if PreEnqueue lets them. Unknown ones are left out.
    pub fn activate(&self, pods: &[Pod]) -> Result<Outcome, Error> {
        let raw: Vec<_> = pods.iter().map(|pod| pod.0).collect();
        let mut result = no_result();
        let status =
            unsafe { sys::schedq_activate(self.raw(), raw.as_ptr(), raw.len(), &mut result) };
        self.check(status).map(|()| Outcome::new(&result))
    }

    /// Nominates a pod to a node, by the caller's number from 1; 0: to none. False: no such pod.
    pub fn nominate(&self, pod: Pod, node: u64) -> Result<bool, Error> {
        match unsafe { sys::schedq_nominate(self.raw(), pod.0, node) } {
            sys::SCHEDQ_NOT_FOUND => Ok(false),
            status => self.check(status).map(|()| true),
        }
    }

    calls_for_a_label! {
        /// Deletes the pods of a label, which is not 0.
        label_cancel = schedq_label_cancel(null_mut(), 0);
        /// Holds the pods of a label.
        label_hold = schedq_label_hold();
        /// Releases the pods of a label.
        label_release = schedq_label_release();
        /// Counts the pods of a label, those in flight too.
        label_count = schedq_label_count();
    }

    // ---- changes --------------------------------------------------------------------------------

    /// Tells the queue that something changed; the change is visible where holders look already. Parked and gated pods that it could help
    /// are tried again.
    pub fn notify(&self, change: &Change<'_, T>) -> Result<Outcome, Error> {
        self.change(change, |raw, result| unsafe { sys::schedq_notify(self.raw(), raw, result) })
    }

    /// Tells the queue that a pod of this namespace got a node.
    pub fn assigned_pod_added(
        &self,
        change: &Change<'_, T>,
        namespace: &str,
    ) -> Result<Outcome, Error> {
        let (name, length) = (c_chars(namespace), namespace.len());
        self.change(change, |raw, result| unsafe {
            sys::schedq_assigned_pod_added(self.raw(), raw, name, length, result)
        })
    }

    /// Tells the queue that a pod of this namespace, which has a node, changed.
    pub fn assigned_pod_updated(
        &self,
        change: &Change<'_, T>,
        namespace: &str,
    ) -> Result<Outcome, Error> {
        let (name, length) = (c_chars(namespace), namespace.len());
        self.change(change, |raw, result| unsafe {
            sys::schedq_assigned_pod_updated(self.raw(), raw, name, length, result)
        })
    }

    fn change(
        &self,
        change: &Change<'_, T>,
        call: impl FnOnce(
            *const sys::schedq_change_t,
            *mut sys::schedq_result_t,
        ) -> sys::schedq_status_t,
    ) -> Result<Outcome, Error> {
        let mut raw = sys::schedq_change_t {
            event: change.event.0,
            old_object: bits_of(change.before),
            new_object: bits_of(change.after),
            ..sys::SCHEDQ_CHANGE_INIT
        };
        if let Some(target) = change.target {
            raw.target = target.0;
        }
        let precheck =
            change.precheck.map(|check| Precheck { check, panic: hooks::Panic::default() });
        if let Some(precheck) = &precheck {
            raw.precheck = Some(hooks::precheck::<T>);
            raw.precheck_ctx = (precheck as *const Precheck<'_, T>) as *mut _;
        }
        let mut result = no_result();
        let status = call(&raw, &mut result);
        if let Some(precheck) = &precheck {
            precheck.panic.go_on();
        }
        self.check(status).map(|()| Outcome::new(&result))
    }

    /// Serves time: pods whose backoff is over become active, leftovers are tried again. Returns when to call again.
    pub fn tick(&self) -> Result<Option<i64>, Error> {
        let mut next = sys::SCHEDQ_NO_DEADLINE;
        let status = unsafe { sys::schedq_tick(self.raw(), &mut next, null_mut()) };
        self.check(status)?;
        Ok(Some(next).filter(|next| *next != sys::SCHEDQ_NO_DEADLINE))
    }

    // ---- looks ----------------------------------------------------------------------------------

    /// Finds a pod by its name; None: no pod has it.
    pub fn find(&self, name: &str) -> Result<Option<Outcome>, Error> {
        let mut result = no_result();
        let status =
            unsafe { sys::schedq_find(self.raw(), c_chars(name), name.len(), &mut result) };
        self.found(status, &result)
    }

    /// Looks at one pod; None: it is in no place.
    pub fn get<R>(
        &self,
        pod: Pod,
        look: impl FnOnce(&PodInfo<'_, T>) -> R,
    ) -> Result<Option<R>, Error> {
        let (mut look, mut found) = (Some(look), None);
        let status = self.visit(pod, |info: &PodInfo<'_, T>| {
            found = look.take().map(|look| look(info));
            ControlFlow::Continue(())
        });
        match status {
            sys::SCHEDQ_NOT_FOUND => Ok(None),
            status => self.check(status).map(|()| found),
        }
    }

    fn visit<F>(&self, pod: Pod, each: F) -> sys::schedq_status_t
    where
        F: FnMut(&PodInfo<'_, T>) -> ControlFlow<()>,
    {
        let mut walk = Walk::new(each);
        let visit = Some(hooks::visit::<T, F> as _);
        let status = unsafe { sys::schedq_get(self.raw(), pod.0, visit, walk.ctx()) };
        walk.panic.go_on();
        status
    }

    walks! {
        /// Visits every pod, in no order; those in flight too. True.
        snapshot = schedq_snapshot();
        /// Visits the pods nominated to a node, in the order of their nominations. True.
        nominated_pods = schedq_nominated_pods(node: u64);
        /// Visits the pod that `try_pop` would take now; false: nothing is poppable.
        peek = schedq_peek();
        /// Visits the pods that the next pops would take, in that order; false: nothing is poppable.
        peek_many = schedq_peek_many(count: usize);
    }

    /// How many active pods rank before one: a lower and an upper bound. None: it is not active.
    pub fn position(&self, pod: Pod) -> Result<Option<(u64, u64)>, Error> {
        let (mut lower, mut upper) = (0, 0);
        match unsafe { sys::schedq_position(self.raw(), pod.0, &mut lower, &mut upper) } {
            sys::SCHEDQ_GONE | sys::SCHEDQ_NOT_FOUND => Ok(None),
            status => self.check(status).map(|()| Some((lower, upper))),
        }
    }

    /// Why a pod is where it is; None: it is in no place.
    pub fn explain(&self, pod: Pod) -> Result<Option<Explanation>, Error> {
        let mut raw = sys::SCHEDQ_EXPLANATION_INIT;
        match unsafe { sys::schedq_explain(self.raw(), pod.0, &mut raw) } {
            sys::SCHEDQ_NOT_FOUND => Ok(None),
            status => self.check(status).map(|()| Some(Explanation::new(self.queue(), &raw))),
        }
    }

    /// How many pods of a profile wait for what.
    pub fn count_reasons(&self, profile: Profile) -> Result<Reasons, Error> {
        let mut raw = sys::SCHEDQ_REASONS_INIT;
        let status = unsafe { sys::schedq_count_reasons(self.raw(), profile.0, &mut raw) };
        self.check(status).map(|()| Reasons::new(&raw))
    }
}
