use crate::error::place_name;
use crate::hooks::bits;
use crate::{sys, Error, Plugins, Profile};
use std::fmt;
use std::os::raw::c_uint;
use std::sync::Arc;

/// A handle: names a pod from its add until it leaves the queue. No other pod gets the same one later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pod(pub(crate) sys::schedq_pod_t);

/// Where a pod is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// It left the queue.
    Nowhere = sys::SCHEDQ_NOWHERE as isize,
    /// A pop may take it.
    Active = sys::SCHEDQ_ACTIVE as isize,
    /// It waits for its backoff after a rejection.
    Backoff = sys::SCHEDQ_BACKOFF as isize,
    /// It waits for its backoff after an error.
    ErrorBackoff = sys::SCHEDQ_ERROR_BACKOFF as isize,
    /// It waits for an event that could help.
    Parked = sys::SCHEDQ_PARKED as isize,
    /// A plugin keeps it out.
    Gated = sys::SCHEDQ_GATED as isize,
    /// It was popped, and its cycle has not ended.
    InFlight = sys::SCHEDQ_INFLIGHT as isize,
    /// It is kept back, until it is released, or until a time.
    Held = sys::SCHEDQ_HELD as isize,
    /// It waits for its group; or it is a group that waits for members.
    Aside = sys::SCHEDQ_ASIDE as isize,
}

impl Place {
    pub(crate) fn new(place: u8) -> Place {
        match c_uint::from(place) {
            sys::SCHEDQ_ACTIVE => Place::Active,
            sys::SCHEDQ_BACKOFF => Place::Backoff,
            sys::SCHEDQ_ERROR_BACKOFF => Place::ErrorBackoff,
            sys::SCHEDQ_PARKED => Place::Parked,
            sys::SCHEDQ_GATED => Place::Gated,
            sys::SCHEDQ_INFLIGHT => Place::InFlight,
            sys::SCHEDQ_HELD => Place::Held,
            sys::SCHEDQ_ASIDE => Place::Aside,
            _ => Place::Nowhere,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(place_name(*self as isize as c_uint))
    }
}

/// The plugin of a gate's number, which counts from 1.
pub(crate) fn gate_bit(gate: u32) -> Plugins {
    Plugins(if gate == 0 { 0 } else { 1 << ((gate - 1) & 63) })
}

/// A pod as its caller describes it: its object, and what is not as usual.
///
/// `schedq_pod_spec_t` in `schedq/pod.h` says what each means. The object is anything: an `Arc<T>`, or a T that becomes one. The
/// queue shares it until the pod ends.
#[derive(Debug)]
pub struct Spec<T> {
    pub(crate) object: Arc<T>,
    pub(crate) raw: sys::schedq_pod_spec_t,
}

impl<T> Clone for Spec<T> {
    fn clone(&self) -> Spec<T> {
        Spec { object: self.object.clone(), raw: self.raw }
    }
}

impl<T> Spec<T> {
    /// Of priority 0.
    pub fn new(object: impl Into<Arc<T>>) -> Spec<T> {
        let object = object.into();
        let raw = sys::schedq_pod_spec_t { object: bits(&object), ..sys::SCHEDQ_POD_SPEC_INIT };
        Spec { object, raw }
    }

    /// Its object.
    pub fn object(&self) -> &Arc<T> {
        &self.object
    }

    /// Higher first.
    pub fn priority(mut self, priority: i32) -> Spec<T> {
        self.raw.priority = priority;
        self
    }

    /// Whose plugins judge it; a pod keeps its profile.
    pub fn profile(mut self, profile: Profile) -> Spec<T> {
        self.raw.profile = profile.0;
        self
    }

    /// It has a required affinity term: [`Builder::affinity`](crate::Builder::affinity) is asked.
    pub fn affinity(mut self) -> Spec<T> {
        self.raw.flags |= sys::SCHEDQ_POD_AFFINITY as u8;
        self
    }

    /// Replaces the Timestamp as order inside the priority; smaller first.
    pub fn order_key(mut self, key: i64) -> Spec<T> {
        self.raw.flags |= sys::SCHEDQ_POD_ORDER_KEY as u8;
        self.raw.order_key = key;
        self
    }

    /// The caller's number of the node that it is nominated to; 0: none.
    pub fn nominated_node(mut self, node: u64) -> Spec<T> {
        self.raw.nominated_node = node;
        self
    }

    /// Its Timestamp, on the queue's clock; 0: now.
    pub fn timestamp_ns(mut self, time_ns: i64) -> Spec<T> {
        self.raw.timestamp_ns = time_ns;
        self
    }

    /// It is held until then, on the queue's clock; 0: not.
    pub fn not_before_ns(mut self, time_ns: i64) -> Spec<T> {
        self.raw.not_before_ns = time_ns;
        self
    }

    /// What it shares with others; 0: nothing.
    pub fn label(mut self, label: u64) -> Spec<T> {
        self.raw.label = label;
        self
    }

    /// The group that it is tried with, and in no other way: [`Worker::try_pop_group`](crate::Worker::try_pop_group). 0: none.
    pub fn group(mut self, group: u64) -> Spec<T> {
        self.raw.group = group;
        self
    }

    /// The pods of its priority and profile that fail alike: while one of them waits, rejected, the others are kept back
    /// untried ([`Builder::class_patience`](crate::Builder::class_patience)). 0: none.
    pub fn class(mut self, class: u64) -> Spec<T> {
        self.raw.class_id = class;
        self
    }
}

/// Pods for [`Worker::add_many`](crate::Worker::add_many); may be cleared and filled again.
#[derive(Debug)]
pub struct Batch<T> {
    pub(crate) names: String,
    pub(crate) items: Vec<sys::schedq_add_item_t>,
    objects: Vec<Arc<T>>,
}

impl<T> Default for Batch<T> {
    fn default() -> Batch<T> {
        Batch { names: String::new(), items: Vec::new(), objects: Vec::new() }
    }
}

impl<T> Batch<T> {
    /// Of no pods.
    pub fn new() -> Batch<T> {
        Batch::default()
    }

    /// One more. Names of one batch have room in 4 GiB.
    ///
    /// # Panics
    /// If they have not.
    pub fn push(&mut self, name: &str, spec: Spec<T>) {
        let offset = u32::try_from(self.names.len()).expect("names of a batch: less than 4 GiB");
        let length = u32::try_from(name.len()).expect("a name: 1..317 bytes");
        self.names.push_str(name);
        self.items.push(sys::schedq_add_item_t {
            name_offset: offset,
            name_length: length,
            spec: spec.raw,
        });
        self.objects.push(spec.object);
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// None are in it.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Takes all out, and keeps the room.
    pub fn clear(&mut self) {
        self.names.clear();
        self.items.clear();
        self.objects.clear();
    }
}

/// Why a cycle failed.
#[derive(Debug)]
pub struct Failure<T> {
    pub(crate) rejected: Plugins,
    pub(crate) pending: Plugins,
    pub(crate) newest: Option<Spec<T>>,
    pub(crate) own_reasons: bool,
}

impl<T> Failure<T> {
    /// An error: no plugin rejected the pod. It backs off and comes again.
    pub fn error() -> Failure<T> {
        Failure::rejected(Plugins::NONE)
    }

    /// These plugins rejected it: it waits for an event that could help.
    pub fn rejected(by: Plugins) -> Failure<T> {
        Failure { rejected: by, pending: Plugins::NONE, newest: None, own_reasons: false }
    }

    /// These too, which only wait for something: if a hint of theirs says yes, the pod skips its backoff.
    pub fn pending(mut self, by: Plugins) -> Failure<T> {
        self.pending = by;
        self
    }

    /// These rejections say nothing about the others of its class, which are tried.
    pub fn own_reasons(mut self) -> Failure<T> {
        self.own_reasons = true;
        self
    }

    /// The pod's description from now on.
    pub fn newest(mut self, spec: Spec<T>) -> Failure<T> {
        self.newest = Some(spec);
        self
    }

    pub(crate) fn raw(&self) -> sys::schedq_failure_t {
        sys::schedq_failure_t {
            unschedulable: self.rejected.0,
            pending: self.pending.0,
            own_reasons: self.own_reasons.into(),
            newest: self.newest.as_ref().map_or(std::ptr::null(), |spec| &spec.raw),
            ..sys::SCHEDQ_FAILURE_INIT
        }
    }
}

/// An update of a pod: what it was classified as, and what hints get as the old object.
pub struct Update<'a, T> {
    pub(crate) spec: &'a Spec<T>,
    pub(crate) events: &'a [crate::Event],
    pub(crate) before: Option<&'a Arc<T>>,
    pub(crate) only: Option<Pod>,
    pub(crate) add: bool,
}

impl<'a, T> Update<'a, T> {
    /// Nothing that could help.
    pub fn new(spec: &'a Spec<T>) -> Update<'a, T> {
        Update { spec, events: &[], before: None, only: None, add: false }
    }

    /// [`classify_pod_update`](crate::classify_pod_update) gives them.
    pub fn events(mut self, events: &'a [crate::Event]) -> Update<'a, T> {
        self.events = events;
        self
    }

    /// The object before the update.
    pub fn before(mut self, object: &'a Arc<T>) -> Update<'a, T> {
        self.before = Some(object);
        self
    }

    /// The pod that is meant: if another has the name, the name counts as unknown.
    pub fn only(mut self, pod: Pod) -> Update<'a, T> {
        self.only = Some(pod);
        self
    }

    /// Adds the pod if its name is unknown.
    pub fn or_add(mut self) -> Update<'a, T> {
        self.add = true;
        self
    }
}

/// What a pod went through. Times are nanoseconds on the queue's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct History {
    /// When it entered the queue, or failed last.
    pub timestamp_ns: i64,
    /// When it first became active; 0: never yet.
    pub initial_attempt_ns: i64,
    /// Pops.
    pub attempts: u32,
    /// Failures with a rejector.
    pub rejections: u32,
    /// Failures without a rejector, since the last rejection.
    pub errors: u32,
}

impl History {
    pub(crate) fn new(raw: &sys::schedq_history_t) -> History {
        History {
            timestamp_ns: raw.timestamp_ns,
            initial_attempt_ns: raw.initial_attempt_ns,
            attempts: raw.attempts,
            rejections: raw.rejections,
            errors: raw.errors,
        }
    }

    pub(crate) fn raw(&self) -> sys::schedq_history_t {
        sys::schedq_history_t {
            timestamp_ns: self.timestamp_ns,
            initial_attempt_ns: self.initial_attempt_ns,
            attempts: self.attempts,
            rejections: self.rejections,
            errors: self.errors,
            reserved: 0,
        }
    }
}

/// What a call did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// The pod; none: a sum over many.
    pub pod: Pod,
    /// Where the pod is now.
    pub place: Place,
    /// Its rejectors, but for those in `pending`.
    pub rejected: Plugins,
    /// Its rejectors that only wait for something.
    pub pending: Plugins,
    /// The plugin that gates it.
    pub gate: Plugins,
    /// Nanoseconds on the queue's clock.
    pub timestamp_ns: i64,
    /// Pods that this call put there.
    pub to_active: u32,
    /// The same; error backoff too.
    pub to_backoff: u32,
    /// The same.
    pub to_parked: u32,
    /// The same.
    pub to_gated: u32,
    /// This call made a pod poppable.
    pub poppable: bool,
    /// An update made a new pod.
    pub added: bool,
}

impl Outcome {
    pub(crate) fn new(raw: &sys::schedq_result_t) -> Outcome {
        Outcome {
            pod: Pod(raw.pod),
            place: Place::new(raw.place),
            rejected: Plugins(raw.unschedulable),
            pending: Plugins(raw.pending),
            gate: gate_bit(raw.gate.into()),
            timestamp_ns: raw.timestamp_ns,
            to_active: raw.to_active,
            to_backoff: raw.to_backoff,
            to_parked: raw.to_parked,
            to_gated: raw.to_gated,
            poppable: raw.poppable != 0,
            added: raw.added != 0,
        }
    }
}

/// The words for one element of a batch.
pub(crate) fn element_error(status: u8) -> Error {
    Error::new(status.into(), String::new())
}
