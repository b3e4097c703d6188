use crate::{sys, Event};

/// An amount of one resource, in thousandths; the caller numbers resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Quantity {
    pub resource: u64,
    pub milli: i64,
}

/// What [`classify_pod_update`] compares. Equal numbers mean equal contents: a hash or a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodFacts {
    /// The label map.
    pub labels: u64,
    /// The resource claim statuses.
    pub claims: u64,
    /// How many scheduling gates are left.
    pub gates: u32,
    /// How many tolerations it has.
    pub tolerations: u32,
    /// The pod has a node.
    pub assigned: bool,
    /// Events of TargetPod in place of UnscheduledPod (kube 1.37).
    pub target: bool,
    /// A request that grew is an event of its own (kube 1.37).
    pub scale_up: bool,
    /// What it asks for.
    pub requests: Vec<Quantity>,
}

/// What [`classify_node_update`] compares, as [`PodFacts`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeFacts {
    /// Its resources.
    pub allocatable: u64,
    /// The label map.
    pub labels: u64,
    /// The list of taints.
    pub taints: u64,
    /// Type and status of each, not heartbeat times.
    pub conditions: u64,
    /// The annotation map.
    pub annotations: u64,
    /// spec.unschedulable is true.
    pub unschedulable: bool,
    /// Which one it has; 0: none, or none is known.
    pub preemption_policy: u8,
    /// The list of declared features; 0: it is not compared.
    pub declared_features: u32,
}

impl PodFacts {
    fn raw(&self) -> (sys::schedq_pod_facts_t, Vec<sys::schedq_quantity_t>) {
        let facts = sys::schedq_pod_facts_t {
            labels: self.labels,
            claims: self.claims,
            gates: self.gates,
            tolerations: self.tolerations,
            assigned: self.assigned.into(),
            target: self.target.into(),
            scale_up: self.scale_up.into(),
            reserved: [0; 5],
        };
        let raw = |quantity: &Quantity| sys::schedq_quantity_t {
            resource: quantity.resource,
            milli: quantity.milli,
        };
        (facts, self.requests.iter().map(raw).collect())
    }
}

impl NodeFacts {
    fn raw(&self) -> sys::schedq_node_facts_t {
        sys::schedq_node_facts_t {
            allocatable: self.allocatable,
            labels: self.labels,
            taints: self.taints,
            conditions: self.conditions,
            annotations: self.annotations,
            unschedulable: self.unschedulable.into(),
            preemption_policy: self.preemption_policy,
            reserved: [0; 2],
            declared_features: self.declared_features,
        }
    }
}

/// Which events an update of a pod is, in kube's order; one at least.
pub fn classify_pod_update(old: &PodFacts, new: &PodFacts) -> Vec<Event> {
    let ((old, old_requests), (new, new_requests)) = (old.raw(), new.raw());
    let mut events = [0; 6];
    let count = unsafe {
        let (old_at, new_at) = (old_requests.as_ptr(), new_requests.as_ptr());
        let (old_count, new_count) = (old_requests.len(), new_requests.len());
        let events = events.as_mut_ptr();
        sys::schedq_classify_pod_update(&old, old_at, old_count, &new, new_at, new_count, events)
    };
    events[..count].iter().copied().map(Event).collect()
}

/// Which events an update of a node is, in kube's order; none: nothing that matters.
pub fn classify_node_update(old: &NodeFacts, new: &NodeFacts) -> Vec<Event> {
    let mut events = [0; 7];
    let count =
        unsafe { sys::schedq_classify_node_update(&old.raw(), &new.raw(), events.as_mut_ptr()) };
    events[..count].iter().copied().map(Event).collect()
}
