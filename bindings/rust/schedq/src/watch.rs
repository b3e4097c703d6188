//! A watchdog: what takes too long.

use crate::{Error, Plugins, Pod, Worker};
use schedq_sys as sys;

/// What is overdue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OverdueKind {
    /// A pod whose cycle has not ended.
    InFlight,
    /// A pod that a gate keeps out.
    Gated,
    /// A pod that nothing freed but the limit of waiting.
    Leftover,
    /// A worker inside of a call.
    Call,
    /// A callback that has not returned.
    Callback,
}

/// One that is overdue.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overdue {
    /// What it is.
    pub kind: OverdueKind,
    /// None: it is a worker.
    pub pod: Option<Pod>,
    /// Leftover: what rejected the pod, until its next pop.
    pub rejectors: Plugins,
    /// Of a worker: its number.
    pub worker: u32,
    /// Of a worker: the kernel's number of the thread.
    pub thread: u32,
    /// At least so long, nanoseconds.
    pub for_ns: i64,
    /// All of it as a sentence.
    pub text: String,
}

/// Limits, and what the looks of one watchdog leave for its next one; of one queue.
#[derive(Clone, Debug)]
pub struct Watchdog {
    raw: sys::schedq_watch_t,
    complete: bool,
}

impl Default for Watchdog {
    /// 15 minutes in flight, an hour gated, 10 s in a call, 1 s in a callback; leftovers too.
    fn default() -> Watchdog {
        Watchdog { raw: sys::SCHEDQ_WATCH_INIT, complete: true }
    }
}

impl Watchdog {
    /// The default limits.
    pub fn new() -> Watchdog {
        Watchdog::default()
    }

    /// Limits in nanoseconds; 0: not looked for.
    pub fn limits(mut self, in_flight: i64, gated: i64, call: i64, callback: i64) -> Watchdog {
        self.raw.inflight_ns = in_flight;
        self.raw.gated_ns = gated;
        self.raw.call_ns = call;
        self.raw.callback_ns = callback;
        self
    }

    /// Did the last look see the pods too? False (only with the mutex engine): the lock was not to be had.
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}

impl<T> Worker<T> {
    /// Looks once, and names what is overdue, `room` of them at most. To be called once a period.
    pub fn watch(&self, watchdog: &mut Watchdog, room: usize) -> Result<Vec<Overdue>, Error> {
        let mut out: Vec<sys::schedq_overdue_t> = crate::error::room("room", room)?;
        let mut found = 0;
        let status = unsafe {
            sys::schedq_watch(self.raw(), &mut watchdog.raw, out.as_mut_ptr(), room, &mut found)
        };
        watchdog.complete = status != sys::SCHEDQ_TIMEDOUT;
        if watchdog.complete {
            self.check(status)?;
        }
        unsafe { out.set_len(found.min(room)) };
        Ok(out.iter().map(|raw| self.overdue(raw)).collect())
    }

    fn overdue(&self, raw: &sys::schedq_overdue_t) -> Overdue {
        let mut text = vec![0u8; 512];
        let length = unsafe {
            sys::schedq_overdue_text(self.raw(), raw, text.as_mut_ptr().cast(), text.len())
        };
        text.truncate(length.min(511));
        Overdue {
            kind: match sys::schedq_overdue_kind_t::from(raw.kind) {
                sys::SCHEDQ_OVERDUE_INFLIGHT => OverdueKind::InFlight,
                sys::SCHEDQ_OVERDUE_GATED => OverdueKind::Gated,
                sys::SCHEDQ_OVERDUE_LEFTOVER => OverdueKind::Leftover,
                sys::SCHEDQ_OVERDUE_CALL => OverdueKind::Call,
                _ => OverdueKind::Callback,
            },
            pod: if raw.pod.bits == 0 { None } else { Some(Pod(raw.pod)) },
            rejectors: Plugins(raw.rejectors),
            worker: raw.worker,
            thread: raw.thread,
            for_ns: raw.for_ns,
            text: String::from_utf8_lossy(&text).into_owned(),
        }
    }
}
