use crate::error::text;
use crate::pods::{gate_bit, History, Place, Pod};
use crate::{sys, Fences, Plugins, Profile, Queue};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Index;
use std::os::raw::c_char;
use std::sync::Arc;

/// A pod as a visitor sees it, during the visit.
pub struct PodInfo<'a, T> {
    raw: &'a sys::schedq_pod_info_t,
    object: PhantomData<&'a T>,
}

impl<'a, T> PodInfo<'a, T> {
    pub(crate) fn new(raw: &'a sys::schedq_pod_info_t) -> PodInfo<'a, T> {
        PodInfo { raw, object: PhantomData }
    }

    /// Its name.
    pub fn name(&self) -> &'a str {
        let bytes = unsafe {
            std::slice::from_raw_parts(self.raw.name.cast(), self.raw.name_length as usize)
        };
        std::str::from_utf8(bytes).expect("a name came as str")
    }

    /// Its object.
    pub fn object(&self) -> &'a T {
        unsafe { crate::hooks::object(self.raw.object) }.expect("a pod has an object")
    }

    /// Its object, to keep.
    pub fn share_object(&self) -> Arc<T> {
        unsafe { crate::pop::share(self.object()) }
    }

    /// Its handle.
    pub fn pod(&self) -> Pod {
        Pod(self.raw.pod)
    }

    /// Where it is.
    pub fn place(&self) -> Place {
        Place::new(self.raw.place)
    }

    /// Higher goes first.
    pub fn priority(&self) -> i32 {
        self.raw.priority
    }

    /// Whose plugins judge it.
    pub fn profile(&self) -> Profile {
        Profile(self.raw.profile)
    }

    /// What happened to it.
    pub fn history(&self) -> History {
        History::new(&self.raw.history)
    }

    /// In flight, deleted meanwhile.
    pub fn deleted(&self) -> bool {
        self.raw.deleted != 0
    }

    /// In a backoff: when it ends, on the queue's clock; else 0.
    pub fn backoff_expiry_ns(&self) -> i64 {
        self.raw.backoff_expiry_ns
    }

    /// The plugins that rejected it.
    pub fn rejected(&self) -> Plugins {
        Plugins(self.raw.unschedulable)
    }

    /// Those that only wait for something.
    pub fn pending(&self) -> Plugins {
        Plugins(self.raw.pending)
    }

    /// The plugin that gates it.
    pub fn gate(&self) -> Plugins {
        gate_bit(self.raw.gate)
    }

    /// In flight: grows from pop to pop; else 0.
    pub fn pop_order(&self) -> u64 {
        self.raw.pop_order
    }

    /// In flight, if the configuration counts cycles: number of the pop; else 0.
    pub fn cycle(&self) -> u64 {
        self.raw.cycle
    }

    /// Where it is nominated; 0: nowhere.
    pub fn nominated_node(&self) -> u64 {
        self.raw.nominated_node
    }

    /// Orders the pods nominated to one node; 0: not nominated.
    pub fn nomination(&self) -> u64 {
        self.raw.nomination
    }

    /// The time that keeps it back, or kept it back; 0: none.
    pub fn not_before_ns(&self) -> i64 {
        self.raw.not_before_ns
    }

    /// [`Worker::hold`](crate::Worker::hold) keeps it back; in flight: will.
    pub fn held(&self) -> bool {
        self.raw.held != 0
    }

    /// 0: none.
    pub fn label(&self) -> u64 {
        self.raw.label
    }

    /// What it is tried together with; 0: it is tried by itself.
    pub fn group(&self) -> u64 {
        self.raw.group
    }

    /// It is held until `not_before_ns`, or until its turn, since another pod of its class was rejected.
    pub fn kept_by_class(&self) -> bool {
        self.raw.kept_by_class != 0
    }

    /// The pods that fail alike; 0: none, or it has no effect.
    pub fn class(&self) -> u64 {
        self.raw.class_id
    }

    /// The pod of its class that was rejected, and is tried for all of them; None: there is none.
    pub fn scout(&self) -> Option<Pod> {
        Some(Pod(self.raw.scout)).filter(|_| self.raw.scout.bits != 0)
    }
}

impl<T> fmt::Debug for PodInfo<'_, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", self.name(), self.place())
    }
}

/// A count for each place: `counts[Place::Parked]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtPlaces([u64; 10]);

impl Index<Place> for AtPlaces {
    type Output = u64;

    fn index(&self, place: Place) -> &u64 {
        &self.0[place as usize]
    }
}

macro_rules! stats {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {
        /// Counts and bytes; exact when the queue is quiet.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct Stats {
            /// Registered ones, the timer thread's too.
            pub workers: u32,
            $($(#[$doc])* pub $name: u64,)*
            /// Those in use.
            pub fences: Fences,
            /// Records of groups there; one each.
            pub groups_at: AtPlaces,
            /// Members that are aside, by the place of their group's record.
            pub members_at: AtPlaces,
        }

        impl Stats {
            pub(crate) fn new(raw: &sys::schedq_stats_t) -> Stats {
                let real = raw.fences == sys::SCHEDQ_FENCES_REAL as u8;
                Stats {
                    workers: raw.workers,
                    $($name: raw.$name,)*
                    fences: if real { Fences::Real } else { Fences::Asymmetric },
                    groups_at: AtPlaces(raw.groups_at),
                    members_at: AtPlaces(raw.members_at),
                }
            }
        }
    };
}

stats! {
    /// Pods there now.
    active,
    /// After a failure with a rejector.
    backoff,
    /// After one without.
    error_backoff,
    /// Pods there now.
    parked,
    /// Pods there now.
    gated,
    /// Pods there now.
    held,
    /// Pods there now.
    inflight,
    /// Pods that are nominated now.
    nominated,
    /// Pods that came.
    adds,
    /// Pods that were taken.
    pops,
    /// Cycles that ended in done.
    dones,
    /// Cycles that ended in a failure.
    failures,
    /// Pods that were deleted.
    deletes,
    /// Updates that changed a pod.
    updates,
    /// Pods that events and time moved out of a waiting place.
    moves,
    /// Changes that concern any plugin.
    events,
    /// Hints that were asked.
    hint_calls,
    /// Gates that were asked.
    pre_enqueue_calls,
    /// Memory for pods' records, used or not, as in all bytes.
    bytes_entries,
    /// For their names.
    bytes_names,
    /// For finding a pod by its name.
    bytes_index,
    /// For the places where pods wait.
    bytes_queues,
    /// For everything else.
    bytes_other,
    /// Fences in all threads that the queue asked the kernel for.
    membarriers,
    /// Members that are aside, of groups that are incomplete, or in their cycle.
    aside,
    /// Groups that are declared, or in their cycle.
    groups,
    /// How often a pod was kept back because of its class.
    class_hides,
    /// How often one of them was let go because the scout of its class left.
    class_turns,
}

/// Why a pod is where it is; displayed as a sentence. Times are nanoseconds on the queue's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Explanation {
    /// Where it is.
    pub place: Place,
    /// Its handle.
    pub pod: Pod,
    /// Whose plugins judge it.
    pub profile: Profile,
    /// The plugin that gates it.
    pub gate: Plugins,
    /// What rejected it.
    pub rejected: Plugins,
    /// Of that, what only waits for something.
    pub pending: Plugins,
    /// Since when, attempts, rejections, errors.
    pub history: History,
    /// When the call looked.
    pub now_ns: i64,
    /// When its backoff ends; 0: it has none.
    pub backoff_expiry_ns: i64,
    /// When time alone brings it on; None: it does not.
    pub wake_ns: Option<i64>,
    /// 0: not nominated.
    pub nominated_node: u64,
    /// Orders the pods nominated to one node.
    pub nomination: u64,
    /// What brought it out of parked or gated last; None: nothing did.
    pub freed_by: Option<String>,
    /// What it is tried together with; 0: it is tried by itself, and the rest of the group is 0.
    pub group: u64,
    /// As [`GroupInfo::root`](crate::GroupInfo::root); 0: it has none, or is not declared.
    pub group_root: u64,
    /// Members that are aside, as [`GroupInfo::waiting`](crate::GroupInfo::waiting).
    pub group_waiting: u64,
    /// As described; 0 means 1, or that it is not declared.
    pub group_quorum: u32,
    /// Of its root's record; aside: a quorum is missing; nowhere: it has no root.
    pub group_place: Place,
    /// True: it is declared.
    pub group_declared: bool,
    /// It is held since another pod of its class was rejected.
    pub kept_by_class: bool,
    /// The pods that fail alike; 0: none, or it has no effect.
    pub class: u64,
    /// The pod of its class that is tried for all of them; None: there is none.
    pub scout: Option<Pod>,
    text: String,
}

impl Explanation {
    pub(crate) fn new<T>(queue: &Queue<T>, raw: &sys::schedq_explanation_t) -> Explanation {
        let mut room: Vec<c_char> = Vec::new();
        // Once for the length, once for the text.
        for _ in 0..2 {
            let needed = unsafe {
                let (at, size) = (room.as_mut_ptr(), room.len());
                sys::schedq_explanation_text(queue.inner.raw, raw, at, size)
            };
            room.resize(needed.max(room.len()) + 1, 0);
        }
        Explanation {
            place: Place::new(raw.place),
            pod: Pod(raw.pod),
            profile: Profile(raw.profile),
            gate: gate_bit(raw.gate.into()),
            rejected: Plugins(raw.unschedulable),
            pending: Plugins(raw.pending),
            history: History::new(&raw.history),
            now_ns: raw.now_ns,
            backoff_expiry_ns: raw.backoff_expiry_ns,
            wake_ns: Some(raw.wake_ns).filter(|wake| *wake != sys::SCHEDQ_NO_DEADLINE),
            nominated_node: raw.nominated_node,
            nomination: raw.nomination,
            freed_by: Some(text(raw.freed_by)).filter(|_| !raw.freed_by.is_null()),
            group: raw.group,
            group_root: raw.group_root,
            group_waiting: raw.group_waiting,
            group_quorum: raw.group_quorum,
            group_place: Place::new(raw.group_place),
            group_declared: raw.group_declared != 0,
            kept_by_class: raw.kept_by_class != 0,
            class: raw.class_id,
            scout: Some(Pod(raw.scout)).filter(|_| raw.scout.bits != 0),
            text: text(room.as_ptr()),
        }
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

/// How many pods of a profile wait for what.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reasons {
    /// Pods of the profile.
    pub parked: u64,
    /// The same.
    pub gated: u64,
    /// Pods of all profiles, after a failure with a rejector.
    pub backoff: u64,
    /// The same, after one without.
    pub error_backoff: u64,
    /// Parked pods by the plugins that rejected them; a pod counts for each.
    pub parked_by: Vec<(Plugins, u64)>,
    /// Gated pods by the plugin that keeps them out.
    pub gated_by: Vec<(Plugins, u64)>,
}

impl Reasons {
    pub(crate) fn new(raw: &sys::schedq_reasons_t) -> Reasons {
        let some = |counts: &[u64; 64]| {
            let each = counts.iter().enumerate().filter(|(_, count)| **count > 0);
            each.map(|(number, count)| (Plugins(1 << number), *count)).collect()
        };
        Reasons {
            parked: raw.parked,
            gated: raw.gated,
            backoff: raw.backoff,
            error_backoff: raw.error_backoff,
            parked_by: some(&raw.parked_by),
            gated_by: some(&raw.gated_by),
        }
    }
}
