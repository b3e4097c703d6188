use crate::error::{c_string, text, Words};
use crate::hooks::{self, Hooks, Panic, PluginHooks, Walk};
use crate::look::Stats;
use crate::worker::Worker;
use crate::{sys, Action, Config, Error, Event, Plugin, Plugins, Profile};
use std::any::Any;
use std::fmt;
use std::os::raw::c_char;
use std::os::unix::io::BorrowedFd;
use std::ptr::{addr_of, null, null_mut};
use std::sync::Arc;

/// A queue that is being set up: profiles, plugins and affinity. [`build`](Builder::build) ends that, so that nothing of it can
/// overlap with a call on pods.
#[derive(Debug)]
#[must_use]
pub struct Builder<T> {
    inner: Inner<T>,
}

/// A queue of pods whose objects are of the type T. Any thread may use it; clones name the same queue.
///
/// Pods that differ in kind, and nodes or whatever else changes, are one type: an enum, say. The queue ends with the last clone,
/// worker and popped pod, and drops the pods that it has then. A hint, a gate, or an object in the queue must not own a clone:
/// the queue would keep itself.
pub struct Queue<T> {
    pub(crate) inner: Arc<Inner<T>>,
}

pub(crate) struct Inner<T> {
    pub(crate) raw: *mut sys::schedq_t,
    hooks: *mut Hooks<T>,
    #[cfg_attr(not(feature = "tokio"), allow(dead_code))]
    pub(crate) external_clock: bool,
    #[cfg(feature = "tokio")]
    pub(crate) group_tasks: crate::tokio::GroupTasks,
}

// The library takes calls of any thread. It calls hooks, which are Sync, and drops objects, on any thread.
unsafe impl<T: Send + Sync> Send for Inner<T> {}
unsafe impl<T: Send + Sync> Sync for Inner<T> {}

impl<T> Drop for Inner<T> {
    fn drop(&mut self) {
        unsafe {
            // NULL: it was refused.
            let ended = self.raw.is_null()
                || sys::schedq_stop(self.raw) == sys::SCHEDQ_OK
                    && sys::schedq_destroy_with_pods(self.raw, null_mut(), 0) == sys::SCHEDQ_OK;
            // Else the last clone was dropped in a callback, or by a child after fork. The queue goes on, and so do its hooks.
            if ended {
                drop(Box::from_raw(self.hooks));
            }
        }
    }
}

impl<T> fmt::Debug for Inner<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:p}", self.raw)
    }
}

impl<T> Builder<T> {
    /// Makes a queue. INVALID: the words name the field of the configuration, its value and the legal range.
    pub fn new(config: Config) -> Result<Builder<T>, Error>
    where
        T: Send + Sync + 'static,
    {
        let hooks = Hooks { affinity: None, plugins: Vec::new(), panic: Panic::default() };
        let mut inner = Inner {
            raw: null_mut(),
            hooks: Box::into_raw(Box::new(hooks)),
            external_clock: config.raw.external_clock != 0,
            #[cfg(feature = "tokio")]
            group_tasks: Default::default(),
        };
        let raw = sys::schedq_config_t {
            objects: sys::SCHEDQ_OBJECTS_COUNTED as u8,
            object_ctx: inner.hooks.cast(),
            retain: Some(hooks::retain::<T>),
            release: Some(hooks::release::<T>),
            affinity_matches: Some(hooks::affinity::<T>),
            ..config.raw
        };
        let mut words = Words::new();
        let status =
            unsafe { sys::schedq_create(&raw, &mut inner.raw, words.room(), words.size()) };
        words.check(status)?;
        Ok(Builder { inner })
    }

    /// Registers a plugin; returns what [`Failure::rejected`](crate::Failure::rejected) names it by.
    pub fn plugin(&mut self, plugin: Plugin<T>) -> Result<Plugins, Error> {
        let (name, resources) = plugin.c_names()?;
        if plugin.interests.len() > hooks::INTERESTS {
            let words =
                format!("interest_count {}: 0..{}", plugin.interests.len(), hooks::INTERESTS);
            return Err(Error::Invalid(words));
        }
        let interests: Vec<_> = plugin
            .interests
            .iter()
            .zip(&resources)
            .enumerate()
            .map(|(number, (interest, resource))| sys::schedq_interest_t {
                resource: resource.as_ptr(),
                actions: interest.actions.0,
                reserved: 0,
                hint: interest.hint.as_ref().and_then(|_| hooks::hint_fn::<T>(number)),
            })
            .collect();
        let own = Box::into_raw(Box::new(PluginHooks {
            hints: plugin.interests.into_iter().map(|interest| interest.hint).collect(),
            gate: plugin.gate,
            panic: unsafe { addr_of!((*self.inner.hooks).panic) },
        }));
        unsafe { &mut (*self.inner.hooks).plugins }.push(own);
        let raw = sys::schedq_plugin_t {
            profile: plugin.profile.0,
            flags: if plugin.spread { sys::SCHEDQ_PLUGIN_SPREAD as u8 } else { 0 },
            name: name.as_ptr(),
            interests: if interests.is_empty() { null() } else { interests.as_ptr() },
            interest_count: interests.len(),
            pre_enqueue: unsafe { &*own }.gate.as_ref().map(|_| hooks::gate::<T> as _),
            ctx: own.cast(),
            ..sys::SCHEDQ_PLUGIN_INIT
        };
        let (mut bit, mut words) = (0, Words::new());
        let status = unsafe {
            sys::schedq_plugin_register(self.inner.raw, &raw, &mut bit, words.room(), words.size())
        };
        words.check(status)?;
        Ok(Plugins(bit))
    }

    /// Another set of plugins, or the one of this name. The first, "default-scheduler", is `Profile::default()`.
    pub fn profile(&mut self, name: &str) -> Result<Profile, Error> {
        let name = c_string("profile name", name)?;
        let (mut profile, mut words) = (Profile::default(), Words::new());
        let (room, size) = (words.room(), words.size());
        let status = unsafe {
            sys::schedq_profile_define(self.inner.raw, name.as_ptr(), &mut profile.0, room, size)
        };
        words.check(status)?;
        Ok(profile)
    }

    /// Does a required affinity term of the first object match the second, an assigned pod? Without it: no.
    pub fn affinity(&mut self, matches: impl Fn(&T, &T) -> bool + Send + Sync + 'static) {
        unsafe { &mut (*self.inner.hooks).affinity }.replace(Box::new(matches));
    }

    /// As [`Queue::define_event`].
    pub fn event(&mut self, resource: &str, actions: Action, label: &str) -> Result<Event, Error> {
        self.inner.define_event(resource, actions, label)
    }

    /// The queue, set up.
    #[must_use]
    pub fn build(self) -> Queue<T> {
        Queue { inner: Arc::new(self.inner) }
    }
}

impl<T> Clone for Queue<T> {
    fn clone(&self) -> Queue<T> {
        Queue { inner: self.inner.clone() }
    }
}

impl<T> fmt::Debug for Queue<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Queue({:?})", self.inner)
    }
}

impl<T> Inner<T> {
    fn define_event(&self, resource: &str, actions: Action, label: &str) -> Result<Event, Error> {
        let (resource, label) = (c_string("resource", resource)?, c_string("label", label)?);
        let (mut event, mut words) = (0, Words::new());
        let (room, size) = (words.room(), words.size());
        let status = unsafe {
            let (resource, label) = (resource.as_ptr(), label.as_ptr());
            sys::schedq_event_define(self.raw, resource, actions.0, label, &mut event, room, size)
        };
        words.check(status)?;
        Ok(Event(event))
    }
}

impl<T> Queue<T> {
    /// A queue without plugins.
    pub fn new(config: Config) -> Result<Queue<T>, Error>
    where
        T: Send + Sync + 'static,
    {
        Ok(Builder::new(config)?.build())
    }

    /// A worker: what pods are added, popped and ended with. There are `max_workers` of them, 64 unless the configuration says
    /// otherwise, and each ends when it is dropped.
    pub fn worker(&self) -> Result<Worker<T>, Error> {
        let (mut worker, mut words) = (null_mut(), Words::new());
        let (room, size) = (words.room(), words.size());
        let status =
            unsafe { sys::schedq_worker_register(self.inner.raw, &mut worker, room, size) };
        words.check(status)?;
        Ok(Worker::new(self.clone(), worker))
    }

    /// Adds get [`Error::Closed`]; pops go on until nothing is poppable, then they get it too. Waits end.
    ///
    /// It does not wait for pods that back off, are parked or gated: to finish all, count the pods that are done or deleted, and close
    /// at the last one.
    pub fn close(&self) -> Result<(), Error> {
        self.check(unsafe { sys::schedq_close(self.inner.raw) })
    }

    /// The time on the queue's clock, in nanoseconds.
    pub fn now_ns(&self) -> i64 {
        unsafe { sys::schedq_now(self.inner.raw) }
    }

    /// When to call [`Worker::tick`]; None: nothing will be due.
    pub fn next_deadline_ns(&self) -> Option<i64> {
        let deadline = unsafe { sys::schedq_next_deadline(self.inner.raw) };
        Some(deadline).filter(|deadline| *deadline != sys::SCHEDQ_NO_DEADLINE)
    }

    /// Raises an external clock, never back. It serves no time: [`Worker::tick`] does.
    pub fn advance(&self, now_ns: i64) -> Result<(), Error> {
        match unsafe { sys::schedq_clock_advance(self.inner.raw, now_ns) } {
            sys::SCHEDQ_INVALID => Err(Error::Invalid("the queue has no external clock".into())),
            status => self.check(status),
        }
    }

    /// Starts the timer thread; false: it runs already. It is a worker, too.
    pub fn run(&self) -> Result<bool, Error> {
        let mut words = Words::new();
        match unsafe { sys::schedq_run(self.inner.raw, words.room(), words.size()) } {
            sys::SCHEDQ_EXISTS => Ok(false),
            status => words.check(status).map(|()| true),
        }
    }

    /// Ends the timer thread, if it runs, and waits for its end.
    pub fn stop(&self) -> Result<(), Error> {
        self.check(unsafe { sys::schedq_stop(self.inner.raw) })
    }

    /// The descriptor for poll and the like: readable while a pod is poppable, until a `try_pop` returns None.
    ///
    /// A loop that takes groups calls `try_pop_group` instead, and so does each loop beside it: a `try_pop` that returns None passes
    /// groups by, and makes the descriptor unreadable all the same.
    /// `schedq/wait.h` has the loop. Do not read it; the feature `tokio` does all of that.
    pub fn wait_fd(&self) -> Result<BorrowedFd<'_>, Error> {
        let (mut fd, mut words) = (-1, Words::new());
        let status =
            unsafe { sys::schedq_wait_fd(self.inner.raw, &mut fd, words.room(), words.size()) };
        words.check(status)?;
        Ok(unsafe { BorrowedFd::borrow_raw(fd) })
    }

    /// A pop of pods found nothing: tasks that wait for groups look again, since the descriptor is not readable any more.
    pub(crate) fn passed_groups(&self) {
        #[cfg(feature = "tokio")]
        self.inner.group_tasks.look_again();
    }

    /// An event of the caller's own, or the one that has this resource, these actions and this label ("": as kube writes them).
    pub fn define_event(
        &self,
        resource: &str,
        actions: Action,
        label: &str,
    ) -> Result<Event, Error> {
        self.inner.define_event(resource, actions, label)
    }

    /// The plugins that an event concerns.
    pub fn event_plugins(&self, profile: Profile, event: Event) -> Plugins {
        Plugins(unsafe { sys::schedq_event_plugins(self.inner.raw, profile.0, event.0) })
    }

    /// A rejector by its name; a name that no plugin has becomes one that every event concerns. None: bad name or profile.
    pub fn rejector(&self, profile: Profile, name: &str) -> Option<Plugins> {
        let bit = unsafe {
            let name_at = name.as_ptr().cast();
            sys::schedq_rejector_bit(self.inner.raw, profile.0, name_at, name.len())
        };
        Some(Plugins(bit)).filter(|bit| !bit.is_empty())
    }

    /// The name of one rejector; None: nobody has that.
    pub fn rejector_name(&self, profile: Profile, rejector: Plugins) -> Option<&str> {
        unsafe {
            let name = sys::schedq_rejector_name(self.inner.raw, profile.0, rejector.0);
            if name.is_null() {
                return None;
            }
            std::ffi::CStr::from_ptr(name).to_str().ok()
        }
    }

    /// Allocates for that many pods, priorities and workers.
    pub fn reserve(&self, pods: u32, bands: u32, workers: u32) -> Result<(), Error> {
        let mut words = Words::new();
        let (room, size) = (words.room(), words.size());
        let status =
            unsafe { sys::schedq_reserve(self.inner.raw, pods, bands, workers, room, size) };
        words.check(status)
    }

    /// Frees memory that holds no pod.
    pub fn trim(&self) -> Result<(), Error> {
        self.check(unsafe { sys::schedq_trim(self.inner.raw) })
    }

    /// Counts and bytes; exact when the queue is quiet.
    pub fn stats(&self) -> Result<Stats, Error> {
        let mut raw = sys::SCHEDQ_STATS_INIT;
        self.check(unsafe { sys::schedq_stats(self.inner.raw, &mut raw) })?;
        Ok(Stats::new(&raw))
    }

    /// The metrics in the Prometheus text format.
    pub fn metrics(&self) -> Result<String, Error> {
        fn metrics<T, F: FnMut(&[u8])>(queue: &Queue<T>, each: F) -> Result<(), Error> {
            let mut walk = Walk::new(each);
            let (write, ctx) = (hooks::write::<F>, walk.ctx());
            let status = unsafe { sys::schedq_metrics_write(queue.inner.raw, Some(write), ctx) };
            walk.panic.go_on();
            queue.check(status)
        }
        let mut bytes = Vec::new();
        metrics(self, |piece| bytes.extend_from_slice(piece))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// "activeQ:%d; backoffQ:%d; unschedulablePods:%d"; "; pendingPodGroupMemberPods:%d; incompletePodGroupPods:%d" too in a queue
    /// that knows groups.
    pub fn pending_text(&self) -> String {
        let mut room: [c_char; 256] = [0; 256];
        unsafe { sys::schedq_pending_text(self.inner.raw, room.as_mut_ptr(), room.len()) };
        text(room.as_ptr())
    }

    /// What a hint, a gate, an affinity, or the destructor of an object panicked with: the first since the last call of this.
    pub fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        unsafe { &(*self.inner.hooks).panic }.take()
    }

    /// Of a call of the queue's that gives no words.
    fn check(&self, status: sys::schedq_status_t) -> Result<(), Error> {
        match status {
            sys::SCHEDQ_BUSY => Err(Error::Busy("called from a callback of this queue".into())),
            status => Words::new().check(status),
        }
    }
}
