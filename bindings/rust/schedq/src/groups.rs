use crate::error::Refused;
use crate::pods::{gate_bit, History, Outcome, Place};
use crate::pop::{nanoseconds, on_own_worker};
use crate::worker::{no_result, Home, Worker};
use crate::{sys, Error, Plugins, Popped, Profile};
use std::fmt;
use std::mem::{take, ManuallyDrop, MaybeUninit};
use std::ptr::read;
use std::sync::Arc;
use std::time::Duration;

/// Room for members at first; more is made for a group that has more.
const ROOM: usize = 16;

/// A group as its caller describes it. `docs/GROUPS.md` says what groups are.
#[derive(Clone, Copy, Debug)]
pub struct GroupSpec {
    raw: sys::schedq_group_spec_t,
}

impl GroupSpec {
    /// It needs so many members, or groups right below it. 0: as 1, for a caller whose gate knows how many.
    pub fn new(quorum: u32) -> GroupSpec {
        GroupSpec { raw: sys::schedq_group_spec_t { quorum, ..sys::SCHEDQ_GROUP_SPEC_INIT } }
    }

    /// Of a root; higher first.
    pub fn priority(mut self, priority: i32) -> GroupSpec {
        self.raw.priority = priority;
        self
    }

    /// That of its members, and of its root's; a group keeps it.
    pub fn profile(mut self, profile: Profile) -> GroupSpec {
        self.raw.profile = profile.0;
        self
    }

    /// The caller's own 64 bits for the group. The queue only gives them back: it counts no references for them.
    pub fn object(mut self, object: u64) -> GroupSpec {
        self.raw.object = object;
        self
    }

    /// The group above it, declared or not; 0: it is a root. A group keeps it.
    pub fn parent(mut self, parent: u64) -> GroupSpec {
        self.raw.parent = parent;
        self
    }
}

/// What became of a group in its cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupOutcome {
    /// Members were placed. Those that are left are tried again at once.
    Placed = sys::SCHEDQ_GROUP_PLACED as isize,
    /// It fits nowhere: it is parked by what rejected its members.
    Rejected = sys::SCHEDQ_GROUP_REJECTED as isize,
    /// Something broke: it backs off.
    Error = sys::SCHEDQ_GROUP_ERROR as isize,
}

/// What a pop of groups took.
#[derive(Debug)]
#[must_use = "what was popped fails when it is dropped"]
pub enum Taken<T> {
    /// A pod that is in no group.
    Pod(Popped<T>),
    /// A group, with its members.
    Group(PoppedGroup<T>),
}

/// A popped group. Who has it is its holder: takes the members out, ends each of them, then the group by [`Worker::group_done`].
/// That takes it, so no cycle ends twice.
///
/// One that is dropped ends by [`GroupOutcome::Error`]: it backs off. The members that are still in it fail before that, as
/// dropped ones do.
#[must_use = "a popped group that is dropped ends by an error"]
pub struct PoppedGroup<T> {
    raw: sys::schedq_popped_group_t,
    members: Vec<Popped<T>>,
    home: Arc<Home<T>>,
}

// As a Popped is: its token works with any worker.
unsafe impl<T: Send + Sync> Send for PoppedGroup<T> {}
unsafe impl<T: Send + Sync> Sync for PoppedGroup<T> {}

impl<T> PoppedGroup<T> {
    /// The members that are still in it: sorted by group, then by priority (higher first), attempts (more first), Timestamp and name.
    pub fn members(&self) -> &[Popped<T>] {
        &self.members
    }

    /// Takes the members out, to be ended. One may end after its group.
    #[must_use = "popped pods that are dropped fail"]
    pub fn take_members(&mut self) -> Vec<Popped<T>> {
        take(&mut self.members)
    }

    /// The group, a root.
    pub fn group(&self) -> u64 {
        self.raw.group
    }

    /// The caller's own 64 bits.
    pub fn object(&self) -> u64 {
        self.raw.object
    }

    /// As at this pop.
    pub fn priority(&self) -> i32 {
        self.raw.priority
    }

    /// This pop is counted in it.
    pub fn history(&self) -> History {
        History::new(&self.raw.history)
    }

    /// As declared.
    pub fn profile(&self) -> Profile {
        Profile(self.raw.profile)
    }

    /// Number of this pop, which its members have too; 0 unless the configuration counts cycles.
    pub fn cycle(&self) -> u64 {
        self.raw.cycle
    }

    /// End of its last backoff, on the queue's clock; 0: it had none.
    pub fn backoff_expiry_ns(&self) -> i64 {
        self.raw.backoff_expiry_ns
    }

    /// Something else is poppable, perhaps.
    pub fn more(&self) -> bool {
        self.raw.more != 0
    }

    /// The leftover limit brought it out of where it waited, and nothing else did since.
    pub fn flushed(&self) -> bool {
        self.raw.flushed != 0
    }

    /// Its cycle has ended, and its members were taken out.
    fn ended(self) {
        let mut this = ManuallyDrop::new(self);
        drop(take(&mut this.members));
        drop(unsafe { read(&this.home) });
    }
}

fn how(outcome: GroupOutcome) -> sys::schedq_group_end_t {
    sys::schedq_group_end_t { outcome: outcome as u8, ..sys::SCHEDQ_GROUP_END_INIT }
}

impl<T> Drop for PoppedGroup<T> {
    fn drop(&mut self) {
        self.members.clear(); // they fail: before the group's end, as any members
        let (token, end) = (&mut self.raw.token, how(GroupOutcome::Error));
        on_own_worker(&self.home, |worker| unsafe {
            sys::schedq_group_done(worker, token, &end, std::ptr::null_mut());
        });
    }
}

impl<T> fmt::Debug for PoppedGroup<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "PoppedGroup({} {:?})", self.group(), self.members)
    }
}

/// A group as it is. Times are nanoseconds on the queue's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupInfo {
    /// As described.
    pub priority: i32,
    /// As described.
    pub quorum: u32,
    /// Where its record is; below a root: Aside.
    pub place: Place,
    /// The plugin that gates it.
    pub gate: Plugins,
    /// Of its members.
    pub profile: Profile,
    /// False: it was undeclared in its cycle, which goes on.
    pub declared: bool,
    /// As described.
    pub object: u64,
    /// As described.
    pub parent: u64,
    /// The topmost above it, or itself; 0: one above is not declared.
    pub root: u64,
    /// Of its record.
    pub history: History,
    /// While it backs off: the end of that; else 0.
    pub backoff_expiry_ns: i64,
    /// What rejected its record.
    pub rejected: Plugins,
    /// Of that, what only waits for something.
    pub pending: Plugins,
    /// Members that are aside, of it and of all groups below it.
    pub waiting: u64,
}

impl GroupInfo {
    fn new(raw: &sys::schedq_group_info_t) -> GroupInfo {
        GroupInfo {
            priority: raw.priority,
            quorum: raw.quorum,
            place: Place::new(raw.place),
            gate: gate_bit(raw.gate.into()),
            profile: Profile(raw.profile),
            declared: raw.declared != 0,
            object: raw.object,
            parent: raw.parent,
            root: raw.root,
            history: History::new(&raw.history),
            backoff_expiry_ns: raw.backoff_expiry_ns,
            rejected: Plugins(raw.unschedulable),
            pending: Plugins(raw.pending),
            waiting: raw.waiting,
        }
    }
}

/// Pods that are tried together: `docs/GROUPS.md`.
impl<T> Worker<T> {
    /// Declares a group: a number of the caller's, not 0, that pods name by [`Spec::group`](crate::Spec::group).
    pub fn group_add(&self, group: u64, spec: &GroupSpec) -> Result<Outcome, Error> {
        let mut result = no_result();
        let status = unsafe { sys::schedq_group_add(self.raw(), group, &spec.raw, &mut result) };
        self.check(status).map(|()| Outcome::new(&result))
    }

    /// Replaces priority, quorum and object of a group; None: it is not declared.
    pub fn group_update(&self, group: u64, spec: &GroupSpec) -> Result<Option<Outcome>, Error> {
        let mut result = no_result();
        let status = unsafe { sys::schedq_group_update(self.raw(), group, &spec.raw, &mut result) };
        self.found(status, &result)
    }

    /// Ends a declaration; its members stay, and wait for another one. None: it is not declared.
    pub fn group_delete(&self, group: u64) -> Result<Option<Outcome>, Error> {
        let mut result = no_result();
        let status = unsafe { sys::schedq_group_delete(self.raw(), group, &mut result) };
        self.found(status, &result)
    }

    /// Makes the record of a group's root active, if it waits and no member's gate refuses. None: the group is not declared.
    pub fn group_activate(&self, group: u64) -> Result<Option<Outcome>, Error> {
        let mut result = no_result();
        let status = unsafe { sys::schedq_group_activate(self.raw(), group, &mut result) };
        self.found(status, &result)
    }

    /// Looks at a group; None: it is neither declared nor in its cycle.
    pub fn group_get(&self, group: u64) -> Result<Option<GroupInfo>, Error> {
        let mut info = sys::SCHEDQ_GROUP_INFO_INIT;
        match unsafe { sys::schedq_group_get(self.raw(), group, &mut info) } {
            sys::SCHEDQ_NOT_FOUND => Ok(None),
            status => self.check(status).map(|()| Some(GroupInfo::new(&info))),
        }
    }

    /// Takes the best of what is active, without waiting: a group with all its members that wait, or a pod that is in no group.
    /// None: nothing is poppable. It does not serve time.
    pub fn try_pop_group(&self) -> Result<Option<Taken<T>>, Error> {
        self.group(|group, members, room, count| unsafe {
            sys::schedq_try_pop_group(self.raw(), group, members, room, count)
        })
    }

    /// As [`try_pop_group`](Worker::try_pop_group); waits, and serves time meanwhile.
    pub fn pop_group(&self) -> Result<Taken<T>, Error> {
        let taken = self.pop_group_until(sys::SCHEDQ_NO_DEADLINE)?;
        Ok(taken.expect("a wait without an end gives something"))
    }

    /// As [`pop_group`](Worker::pop_group), for at most a time; None: it is over.
    pub fn pop_group_for(&self, wait: Duration) -> Result<Option<Taken<T>>, Error> {
        self.pop_group_until(self.queue().now_ns().saturating_add(nanoseconds(wait)))
    }

    /// As [`pop_group`](Worker::pop_group), until a time on the queue's clock; None: it passed.
    pub fn pop_group_until(&self, deadline_ns: i64) -> Result<Option<Taken<T>>, Error> {
        self.group(|group, members, room, count| unsafe {
            sys::schedq_pop_group_until(self.raw(), deadline_ns, group, members, room, count)
        })
    }

    /// With more room as long as that is too little for the group that is the best.
    fn group(
        &self,
        pop: impl Fn(
            *mut sys::schedq_popped_group_t,
            *mut sys::schedq_popped_t,
            usize,
            *mut usize,
        ) -> sys::schedq_status_t,
    ) -> Result<Option<Taken<T>>, Error> {
        let (mut group, mut members, mut count) = (MaybeUninit::uninit(), Vec::new(), 0);
        let mut room = ROOM;
        loop {
            members.reserve(room);
            match pop(group.as_mut_ptr(), members.as_mut_ptr(), room, &mut count) {
                sys::SCHEDQ_OK => break,
                sys::SCHEDQ_FULL => room = count.max(2 * room),
                sys::SCHEDQ_EMPTY | sys::SCHEDQ_TIMEDOUT => return Ok(None),
                status => return Err(self.error(status)),
            }
        }
        unsafe { members.set_len(count) };
        let raw = unsafe { group.assume_init() };
        let mut members: Vec<_> =
            members.into_iter().map(|raw| Popped::new(raw, &self.home)).collect();
        if raw.group == 0 {
            return Ok(members.pop().map(Taken::Pod));
        }
        Ok(Some(Taken::Group(PoppedGroup { raw, members, home: self.home.clone() })))
    }

    /// Ends the cycle of a group, whose members were taken out and tried. The place is that of its record; Nowhere: it was undeclared.
    ///
    /// Members that are still in it: [`Error::Invalid`], and nothing changed.
    pub fn group_done(
        &self,
        mut group: PoppedGroup<T>,
        outcome: GroupOutcome,
    ) -> Result<Outcome, Refused<PoppedGroup<T>>> {
        let left = group.members.len();
        let error = if !self.has_home(&group.home) {
            Error::Invalid(format!("group {}: it is of another queue", group.group()))
        } else if left > 0 {
            Error::Invalid(format!("members {}: 0: take them out and end them first", left))
        } else {
            let (end, mut result) = (how(outcome), no_result());
            let token = &mut group.raw.token;
            match unsafe { sys::schedq_group_done(self.raw(), token, &end, &mut result) } {
                sys::SCHEDQ_OK => {
                    group.ended();
                    return Ok(Outcome::new(&result));
                }
                status => self.error(status),
            }
        };
        Err(Refused { error, pod: Box::new(group) })
    }
}
