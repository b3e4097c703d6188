use crate::sys;
use std::os::raw::c_uint;
use std::time::Duration;

/// The behaviour that a configuration begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Preset {
    /// schedq's own: exact expiries, hints, pop from backoff, errors back off.
    Default = sys::SCHEDQ_PRESET_DEFAULT as isize,
    /// That of kube-scheduler 1.12.
    Kube1_12 = sys::SCHEDQ_PRESET_KUBE_1_12 as isize,
    /// That of kube-scheduler 1.26.
    Kube1_26 = sys::SCHEDQ_PRESET_KUBE_1_26 as isize,
    /// That of kube-scheduler 1.34.
    Kube1_34 = sys::SCHEDQ_PRESET_KUBE_1_34 as isize,
    /// That of kube-scheduler 1.37.
    Kube1_37 = sys::SCHEDQ_PRESET_KUBE_1_37 as isize,
}

/// Which queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// No lock: a thread that stops inside a call stops no other.
    LockFree = sys::SCHEDQ_ENGINE_LOCKFREE as isize,
    /// The whole queue behind one lock.
    Mutex = sys::SCHEDQ_ENGINE_MUTEX as isize,
}

/// Order inside a priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The older Timestamp first.
    Strict = sys::SCHEDQ_ORDER_STRICT as isize,
    /// Any.
    Relaxed = sys::SCHEDQ_ORDER_RELAXED as isize,
}

/// How a call marks that it reads memory that others may free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fences {
    /// By a plain store; a call that frees asks the kernel for a fence in all threads.
    Asymmetric = sys::SCHEDQ_FENCES_ASYMMETRIC as isize,
    /// By a fence in each call.
    Real = sys::SCHEDQ_FENCES_REAL as isize,
}

/// Which pods a change reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requeue {
    /// Those whose rejectors it concerns.
    Hints = sys::SCHEDQ_REQUEUE_HINTS as isize,
    /// As kube-scheduler up to 1.27.
    MoveCycle = sys::SCHEDQ_REQUEUE_MOVE_CYCLE as isize,
}

/// The n of the n-th backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackoffCounts {
    /// The pod's errors if there are any, else its rejections.
    Failures = sys::SCHEDQ_COUNT_FAILURES as isize,
    /// Its pops.
    Attempts = sys::SCHEDQ_COUNT_ATTEMPTS as isize,
}

/// How a queue behaves; begins with a preset. `schedq/config.h` says what each field means, and its legal range;
/// [`Builder::new`](crate::Builder::new) checks it.
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) raw: sys::schedq_config_t,
}

// The pointers in it are NULL: the crate sets them in a copy.
unsafe impl Send for Config {}
unsafe impl Sync for Config {}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

macro_rules! setters {
    ($($(#[$doc:meta])* $name:ident($value:ident: $type:ty) => $field:ident = $as:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name(mut self, $value: $type) -> Config {
            self.raw.$field = $as;
            self
        }
    )*};
}

impl Config {
    /// schedq's own behaviour.
    pub fn new() -> Config {
        Config { raw: sys::SCHEDQ_CONFIG_INIT }
    }

    /// The behaviour of a preset.
    pub fn preset(preset: Preset) -> Config {
        let mut config = Config::new();
        let status =
            unsafe { sys::schedq_config_preset(&mut config.raw, preset as isize as c_uint) };
        assert_eq!(status, sys::SCHEDQ_OK, "the library does not know {:?}", preset);
        config
    }

    /// The kube-scheduler release whose details it has: 0, 12, 26, 34 or 37.
    pub fn kube_minor(&self) -> u8 {
        self.raw.kube_minor
    }

    setters! {
        /// Which queue; the default is [`Engine::LockFree`].
        engine(engine: Engine) => engine = engine as u8;
        /// Order inside a priority.
        order(order: Order) => order = order as u8;
        /// How memory is given back.
        fences(fences: Fences) => fences = fences as u8;
        /// Which pods a change reaches.
        requeue(requeue: Requeue) => requeue = requeue as u8;
        /// The n of the n-th backoff.
        backoff_counts(counts: BackoffCounts) => backoff_counts = counts as u8;
        /// Pods at once; 0: no cap.
        max_pods(pods: u32) => max_pods = pods;
        /// Distinct priorities of active pods; 0: no cap.
        max_bands(bands: u32) => max_bands = bands;
        /// Workers at once, 1..512.
        max_workers(workers: u32) => max_workers = workers;
        /// Events, those that every queue knows included.
        max_events(events: u32) => max_events = events;
        /// Changes that are kept to ask hints when a pod in flight fails.
        event_log(changes: u32) => event_log = changes;
        /// Rejector sets that are kept apart.
        max_lots(lots: u32) => max_lots = lots;
        /// Of so many calls one is timed, for the metrics; 0: none.
        sample_calls(calls: u16) => sample_calls = calls;
        /// The first backoff; the n-th is 2^(n-1) times as long.
        initial_backoff(time: Duration) => initial_backoff_ns = nanoseconds(time);
        /// The longest backoff; zero: none.
        max_backoff(time: Duration) => max_backoff_ns = nanoseconds(time);
        /// A pod that is parked for longer is tried again.
        max_parked(time: Duration) => max_parked_ns = nanoseconds(time);
        /// How late the timer thread may be.
        tick(time: Duration) => tick_ns = nanoseconds(time);
        /// So long, at most, a pod is kept back because another one of its class was rejected. 0: classes have no effect.
        class_patience(time: Duration) => class_patience_ns = nanoseconds(time);
        /// With the rules of a kube release: the least time between two flushes.
        flush(time: Duration) => flush_ns = nanoseconds(time);
        /// Time is what [`Queue::advance`](crate::Queue::advance) says, for tests.
        external_clock(on: bool) => external_clock = on.into();
        /// The first reading of an external clock.
        start_ns(time_ns: i64) => start_ns = time_ns;
        /// When nothing is active, pops take from backoff.
        pop_from_backoff(on: bool) => pop_from_backoff = on.into();
        /// Expiries are compared in whole seconds.
        backoff_window(on: bool) => backoff_window = on.into();
        /// At exactly its expiry a pod still backs off.
        backoff_at_expiry(on: bool) => backoff_at_expiry = on.into();
        /// A failure without rejectors is parked.
        errors_park(on: bool) => errors_park = on.into();
        /// A failed pod keeps its place inside its priority.
        keep_order(on: bool) => keep_order = on.into();
        /// Wildcards and the leftover limit try gated pods again.
        gates_see_wildcards(on: bool) => gates_see_wildcards = on.into();
        /// Pops are numbered: [`Popped::cycle`](crate::Popped::cycle).
        count_cycles(on: bool) => count_cycles = on.into();
        /// Priorities do not order.
        fifo(on: bool) => fifo = on.into();
    }
}

impl Default for Config {
    fn default() -> Config {
        Config::new()
    }
}
