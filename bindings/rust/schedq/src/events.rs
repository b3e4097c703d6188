use crate::error::c_string;
use crate::hooks::{Gate, Hint};
use crate::{sys, Error, Pod};
use std::ffi::CString;
use std::ops::{BitOr, BitOrAssign};
use std::sync::Arc;

macro_rules! bits {
    ($name:ident) => {
        impl BitOr for $name {
            type Output = $name;

            fn bitor(self, other: $name) -> $name {
                $name(self.0 | other.0)
            }
        }

        impl BitOrAssign for $name {
            fn bitor_assign(&mut self, other: $name) {
                self.0 |= other.0;
            }
        }
    };
}

/// Plugins of one profile: what [`Builder::plugin`](crate::Builder::plugin) gives, or several of them with `|`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Plugins(pub(crate) u64);

bits!(Plugins);

impl Plugins {
    /// Of none.
    pub const NONE: Plugins = Plugins(0);
    /// What the rejectors share that have no bit of their own.
    pub const OTHERS: Plugins = Plugins(sys::SCHEDQ_REJECTOR_OTHERS);

    /// None is in it.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// One of `others` is in it.
    pub fn has(self, others: Plugins) -> bool {
        self.0 & others.0 != 0
    }

    /// As the library has them: the bit of a plugin is 1 << its number.
    pub fn bits(self) -> u64 {
        self.0
    }

    /// Each by itself.
    pub fn each(self) -> impl Iterator<Item = Plugins> {
        (0..64).map(|number| Plugins(1 << number)).filter(move |one| self.has(*one))
    }
}

/// A set of plugins that are numbered by themselves: [`Builder::profile`](crate::Builder::profile).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Profile(pub(crate) sys::schedq_profile_t);

/// What happened to an object, one or more of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Action(pub(crate) u32);

bits!(Action);

#[allow(missing_docs)] // schedq/events.h has them
impl Action {
    pub const ADD: Action = Action(sys::SCHEDQ_ACTION_ADD as u32);
    pub const DELETE: Action = Action(sys::SCHEDQ_ACTION_DELETE as u32);
    pub const UPDATE_NODE_ALLOCATABLE: Action =
        Action(sys::SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE as u32);
    pub const UPDATE_NODE_LABEL: Action = Action(sys::SCHEDQ_ACTION_UPDATE_NODE_LABEL as u32);
    pub const UPDATE_NODE_TAINT: Action = Action(sys::SCHEDQ_ACTION_UPDATE_NODE_TAINT as u32);
    pub const UPDATE_NODE_CONDITION: Action =
        Action(sys::SCHEDQ_ACTION_UPDATE_NODE_CONDITION as u32);
    pub const UPDATE_NODE_ANNOTATION: Action =
        Action(sys::SCHEDQ_ACTION_UPDATE_NODE_ANNOTATION as u32);
    pub const UPDATE_NODE_DECLARED_FEATURE: Action =
        Action(sys::SCHEDQ_ACTION_UPDATE_NODE_DECLARED_FEATURE as u32);
    pub const UPDATE_NODE_PREEMPTION_POLICY: Action =
        Action(sys::SCHEDQ_ACTION_UPDATE_NODE_PREEMPTION_POLICY as u32);
    pub const UPDATE_POD_LABEL: Action = Action(sys::SCHEDQ_ACTION_UPDATE_POD_LABEL as u32);
    pub const UPDATE_POD_SCALE_DOWN: Action =
        Action(sys::SCHEDQ_ACTION_UPDATE_POD_SCALE_DOWN as u32);
    pub const UPDATE_POD_SCALE_UP: Action = Action(sys::SCHEDQ_ACTION_UPDATE_POD_SCALE_UP as u32);
    pub const UPDATE_POD_TOLERATION: Action =
        Action(sys::SCHEDQ_ACTION_UPDATE_POD_TOLERATION as u32);
    pub const UPDATE_POD_GATES_ELIMINATED: Action =
        Action(sys::SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED as u32);
    pub const UPDATE_POD_GENERATED_CLAIM: Action =
        Action(sys::SCHEDQ_ACTION_UPDATE_POD_GENERATED_CLAIM as u32);
    pub const UPDATE: Action = Action(sys::SCHEDQ_ACTION_UPDATE as u32);
    pub const ALL: Action = Action(sys::SCHEDQ_ACTION_ALL as u32);
}

/// An event's number: a resource, actions and a label. Those that every queue knows are constants here;
/// [`Queue::define_event`](crate::Queue::define_event) gives others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(transparent)] // slices of them go to the library
pub struct Event(pub(crate) sys::schedq_event_t);

#[allow(missing_docs)] // schedq/events.h has them
impl Event {
    pub const WILDCARD: Event = Event(sys::SCHEDQ_EVENT_WILDCARD as u16);
    pub const UNSCHEDULED_POD_ADD: Event = Event(sys::SCHEDQ_EVENT_UNSCHEDULED_POD_ADD as u16);
    pub const UNSCHEDULED_POD_DELETE: Event =
        Event(sys::SCHEDQ_EVENT_UNSCHEDULED_POD_DELETE as u16);
    pub const UNSCHEDULED_POD_UPDATE: Event =
        Event(sys::SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE as u16);
    pub const UNSCHEDULED_POD_UPDATE_LABEL: Event =
        Event(sys::SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL as u16);
    pub const UNSCHEDULED_POD_UPDATE_SCALE_DOWN: Event =
        Event(sys::SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_DOWN as u16);
    pub const UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED: Event =
        Event(sys::SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED as u16);
    pub const UNSCHEDULED_POD_UPDATE_TOLERATION: Event =
        Event(sys::SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_TOLERATION as u16);
    pub const UNSCHEDULED_POD_UPDATE_GENERATED_CLAIM: Event =
        Event(sys::SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GENERATED_CLAIM as u16);
    pub const ASSIGNED_POD_ADD: Event = Event(sys::SCHEDQ_EVENT_ASSIGNED_POD_ADD as u16);
    pub const ASSIGNED_POD_DELETE: Event = Event(sys::SCHEDQ_EVENT_ASSIGNED_POD_DELETE as u16);
    pub const ASSIGNED_POD_UPDATE: Event = Event(sys::SCHEDQ_EVENT_ASSIGNED_POD_UPDATE as u16);
    pub const ASSIGNED_POD_UPDATE_LABEL: Event =
        Event(sys::SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_LABEL as u16);
    pub const ASSIGNED_POD_UPDATE_SCALE_DOWN: Event =
        Event(sys::SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_SCALE_DOWN as u16);
    pub const ASSIGNED_POD_UPDATE_GATES_ELIMINATED: Event =
        Event(sys::SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_GATES_ELIMINATED as u16);
    pub const ASSIGNED_POD_UPDATE_TOLERATION: Event =
        Event(sys::SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_TOLERATION as u16);
    pub const ASSIGNED_POD_UPDATE_GENERATED_CLAIM: Event =
        Event(sys::SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_GENERATED_CLAIM as u16);
    pub const NODE_ADD: Event = Event(sys::SCHEDQ_EVENT_NODE_ADD as u16);
    pub const NODE_DELETE: Event = Event(sys::SCHEDQ_EVENT_NODE_DELETE as u16);
    pub const NODE_UPDATE_ALLOCATABLE: Event =
        Event(sys::SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE as u16);
    pub const NODE_UPDATE_LABEL: Event = Event(sys::SCHEDQ_EVENT_NODE_UPDATE_LABEL as u16);
    pub const NODE_UPDATE_TAINT: Event = Event(sys::SCHEDQ_EVENT_NODE_UPDATE_TAINT as u16);
    pub const NODE_UPDATE_CONDITION: Event = Event(sys::SCHEDQ_EVENT_NODE_UPDATE_CONDITION as u16);
    pub const NODE_UPDATE_ANNOTATION: Event =
        Event(sys::SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION as u16);
    pub const NODE_UPDATE_DECLARED_FEATURE: Event =
        Event(sys::SCHEDQ_EVENT_NODE_UPDATE_DECLARED_FEATURE as u16);
    pub const NODE_UPDATE_PREEMPTION_POLICY: Event =
        Event(sys::SCHEDQ_EVENT_NODE_UPDATE_PREEMPTION_POLICY as u16);
    pub const UNSCHEDULED_POD_UPDATE_SCALE_UP: Event =
        Event(sys::SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_UP as u16);
    pub const ASSIGNED_POD_UPDATE_SCALE_UP: Event =
        Event(sys::SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_SCALE_UP as u16);
    pub const TARGET_POD_UPDATE: Event = Event(sys::SCHEDQ_EVENT_TARGET_POD_UPDATE as u16);
    pub const TARGET_POD_UPDATE_LABEL: Event =
        Event(sys::SCHEDQ_EVENT_TARGET_POD_UPDATE_LABEL as u16);
    pub const TARGET_POD_UPDATE_SCALE_DOWN: Event =
        Event(sys::SCHEDQ_EVENT_TARGET_POD_UPDATE_SCALE_DOWN as u16);
    pub const TARGET_POD_UPDATE_SCALE_UP: Event =
        Event(sys::SCHEDQ_EVENT_TARGET_POD_UPDATE_SCALE_UP as u16);
    pub const TARGET_POD_UPDATE_GATES_ELIMINATED: Event =
        Event(sys::SCHEDQ_EVENT_TARGET_POD_UPDATE_GATES_ELIMINATED as u16);
    pub const TARGET_POD_UPDATE_TOLERATION: Event =
        Event(sys::SCHEDQ_EVENT_TARGET_POD_UPDATE_TOLERATION as u16);
    pub const TARGET_POD_UPDATE_GENERATED_CLAIM: Event =
        Event(sys::SCHEDQ_EVENT_TARGET_POD_UPDATE_GENERATED_CLAIM as u16);
}

pub(crate) struct Interest<T> {
    pub(crate) resource: String,
    pub(crate) actions: Action,
    pub(crate) hint: Option<Hint<T>>,
}

/// A plugin: a test that pods have to pass. Its interests are the events that could help the pods that it rejected.
///
/// Hints and gates run inside of calls, on the caller's thread or on the timer thread, perhaps on several at once. They must
/// be quick. They must not call the queue, but for its time: such a call returns [`Error::Busy`]. One that panics counts as
/// yes; [`Queue::take_panic`](crate::Queue::take_panic) has what it panicked with.
pub struct Plugin<T> {
    pub(crate) name: String,
    pub(crate) profile: Profile,
    pub(crate) spread: bool,
    pub(crate) interests: Vec<Interest<T>>,
    pub(crate) gate: Option<Gate<T>>,
}

impl<T> Plugin<T> {
    /// One without interests and without a gate, in the first profile.
    pub fn new(name: &str) -> Plugin<T> {
        Plugin {
            name: name.to_string(),
            profile: Profile::default(),
            spread: false,
            interests: Vec::new(),
            gate: None,
        }
    }

    /// Every such event is worth another try. `resource`: "*" is all.
    pub fn interest(mut self, resource: &str, actions: Action) -> Plugin<T> {
        self.interests.push(Interest { resource: resource.to_string(), actions, hint: None });
        self
    }

    /// Such an event is worth another try of a pod if `hint` says so. It gets three objects: the pod's, and those of what
    /// changed, as it was and as it is.
    pub fn interest_if(
        mut self,
        resource: &str,
        actions: Action,
        hint: impl Fn(&T, Option<&T>, Option<&T>) -> bool + Send + Sync + 'static,
    ) -> Plugin<T> {
        let hint: Option<Hint<T>> = Some(Box::new(hint));
        self.interests.push(Interest { resource: resource.to_string(), actions, hint });
        self
    }

    /// PreEnqueue: the plugin keeps a pod out of active until `gate` says yes.
    pub fn gate(mut self, gate: impl Fn(&T) -> bool + Send + Sync + 'static) -> Plugin<T> {
        self.gate = Some(Box::new(gate));
        self
    }

    /// It is of another profile.
    pub fn profile(mut self, profile: Profile) -> Plugin<T> {
        self.profile = profile;
        self
    }

    /// [`Worker::assigned_pod_added`](crate::Worker::assigned_pod_added) and its like reach the pods that it rejected.
    pub fn spread(mut self) -> Plugin<T> {
        self.spread = true;
        self
    }

    pub(crate) fn c_names(&self) -> Result<(CString, Vec<CString>), Error> {
        let resources =
            self.interests.iter().map(|interest| c_string("resource", &interest.resource));
        Ok((c_string("plugin name", &self.name)?, resources.collect::<Result<_, _>>()?))
    }
}

/// A change: an event that happened, with its objects. What hints get, and which pods it reaches.
pub struct Change<'a, T> {
    pub(crate) event: Event,
    pub(crate) before: Option<&'a Arc<T>>,
    pub(crate) after: Option<&'a Arc<T>>,
    pub(crate) target: Option<Pod>,
    pub(crate) precheck: Option<&'a (dyn Fn(&T) -> bool + Sync)>,
}

impl<'a, T> Change<'a, T> {
    /// Without objects.
    pub fn new(event: Event) -> Change<'a, T> {
        Change { event, before: None, after: None, target: None, precheck: None }
    }

    /// The object before the change.
    pub fn before(mut self, object: &'a Arc<T>) -> Change<'a, T> {
        self.before = Some(object);
        self
    }

    /// The object after it.
    pub fn after(mut self, object: &'a Arc<T>) -> Change<'a, T> {
        self.after = Some(object);
        self
    }

    /// With [`Event::WILDCARD`]: the only pod that it reaches.
    pub fn target(mut self, pod: Pod) -> Change<'a, T> {
        self.target = Some(pod);
        self
    }

    /// It reaches only the waiting pods whose objects `precheck` agrees to. A panic in it ends the call, and goes on.
    pub fn precheck(mut self, precheck: &'a (dyn Fn(&T) -> bool + Sync)) -> Change<'a, T> {
        self.precheck = Some(precheck);
        self
    }
}
