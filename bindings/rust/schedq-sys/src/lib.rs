//! The C declarations of schedq: all of `schedq/schedq.h`, under the names that they have there.
//!
//! The headers in `include/schedq` say what each call promises: arguments, every status, threads, progress, ordering. The
//! crate `schedq` is the safe one. Left out are the two inline functions of C and nothing else: `tests/headers.rs` has the
//! C compiler compare each declaration here with the headers, and fails if one is missing on either side.

#![allow(non_camel_case_types)]

use std::mem::size_of;
use std::os::raw::{c_char, c_int, c_uint, c_void};

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[repr(C)]
        pub struct $name {
            _bytes: [u8; 0],
            _not_send: std::marker::PhantomData<(*mut u8, std::marker::PhantomPinned)>,
        }
    )*};
}

opaque! {
    /// A queue.
    schedq_t
    /// A handle of one caller at a time.
    schedq_worker_t
    /// The pods that a pre-queueing hint lists.
    schedq_pod_list_t
}

pub const SCHEDQ_VERSION_MAJOR: c_int = 0;
pub const SCHEDQ_VERSION_MINOR: c_int = 1;
pub const SCHEDQ_VERSION_PATCH: c_int = 0;
pub const SCHEDQ_NAME_MAX: usize = 317;
pub const SCHEDQ_NO_DEADLINE: i64 = i64::MAX;
pub const SCHEDQ_REJECTOR_OTHERS: u64 = 1 << 63;

pub type schedq_status_t = c_uint;
pub const SCHEDQ_OK: schedq_status_t = 0;
pub const SCHEDQ_EMPTY: schedq_status_t = 1;
pub const SCHEDQ_CLOSED: schedq_status_t = 2;
pub const SCHEDQ_TIMEDOUT: schedq_status_t = 3;
pub const SCHEDQ_EXISTS: schedq_status_t = 4;
pub const SCHEDQ_NOT_FOUND: schedq_status_t = 5;
pub const SCHEDQ_STALE: schedq_status_t = 6;
pub const SCHEDQ_GONE: schedq_status_t = 7;
pub const SCHEDQ_FULL: schedq_status_t = 8;
pub const SCHEDQ_NOMEM: schedq_status_t = 9;
pub const SCHEDQ_BUSY: schedq_status_t = 10;
pub const SCHEDQ_RETRY: schedq_status_t = 11;
pub const SCHEDQ_CHANGED: schedq_status_t = 12;
pub const SCHEDQ_INVALID: schedq_status_t = 13;
pub const SCHEDQ_NOT_EMPTY: schedq_status_t = 14;
pub const SCHEDQ_CANCELED: schedq_status_t = 15;

pub type schedq_preset_t = c_uint;
pub const SCHEDQ_PRESET_DEFAULT: schedq_preset_t = 0;
pub const SCHEDQ_PRESET_KUBE_1_12: schedq_preset_t = 12;
pub const SCHEDQ_PRESET_KUBE_1_26: schedq_preset_t = 26;
pub const SCHEDQ_PRESET_KUBE_1_34: schedq_preset_t = 34;
pub const SCHEDQ_PRESET_KUBE_1_37: schedq_preset_t = 37;

pub type schedq_objects_t = c_uint;
pub const SCHEDQ_OBJECTS_STABLE: schedq_objects_t = 0;
pub const SCHEDQ_OBJECTS_COUNTED: schedq_objects_t = 1;
pub const SCHEDQ_OBJECTS_BORROWED: schedq_objects_t = 2;

pub const SCHEDQ_ENGINE_LOCKFREE: c_int = 1;
pub const SCHEDQ_ENGINE_MUTEX: c_int = 2;

pub const SCHEDQ_ORDER_STRICT: c_int = 0;
pub const SCHEDQ_ORDER_RELAXED: c_int = 1;

pub const SCHEDQ_DECIDE_CALLBACKS: c_int = 0;
pub const SCHEDQ_DECIDE_HOST: c_int = 1;

pub const SCHEDQ_FENCES_ASYMMETRIC: c_int = 0;
pub const SCHEDQ_FENCES_REAL: c_int = 1;

pub type schedq_overdue_kind_t = c_uint;
pub const SCHEDQ_OVERDUE_INFLIGHT: schedq_overdue_kind_t = 1;
pub const SCHEDQ_OVERDUE_GATED: schedq_overdue_kind_t = 2;
pub const SCHEDQ_OVERDUE_LEFTOVER: schedq_overdue_kind_t = 3;
pub const SCHEDQ_OVERDUE_CALL: schedq_overdue_kind_t = 4;
pub const SCHEDQ_OVERDUE_CALLBACK: schedq_overdue_kind_t = 5;

pub type schedq_callback_t = c_uint;
pub const SCHEDQ_CALLBACK_NONE: schedq_callback_t = 0;
pub const SCHEDQ_CALLBACK_HINT: schedq_callback_t = 1;
pub const SCHEDQ_CALLBACK_PRE_HINT: schedq_callback_t = 2;
pub const SCHEDQ_CALLBACK_PRE_ENQUEUE: schedq_callback_t = 3;
pub const SCHEDQ_CALLBACK_PRECHECK: schedq_callback_t = 4;
pub const SCHEDQ_CALLBACK_AFFINITY: schedq_callback_t = 5;
pub const SCHEDQ_CALLBACK_CLOCK: schedq_callback_t = 6;
pub const SCHEDQ_CALLBACK_RETAIN: schedq_callback_t = 7;
pub const SCHEDQ_CALLBACK_RELEASE: schedq_callback_t = 8;
pub const SCHEDQ_CALLBACK_VISITOR: schedq_callback_t = 9;
pub const SCHEDQ_CALLBACK_WAKE: schedq_callback_t = 10;

pub const SCHEDQ_REQUEUE_HINTS: c_int = 0;
pub const SCHEDQ_REQUEUE_MOVE_CYCLE: c_int = 1;

pub const SCHEDQ_COUNT_FAILURES: c_int = 0;
pub const SCHEDQ_COUNT_ATTEMPTS: c_int = 1;

pub type schedq_place_t = c_uint;
pub const SCHEDQ_NOWHERE: schedq_place_t = 0;
pub const SCHEDQ_ACTIVE: schedq_place_t = 1;
pub const SCHEDQ_BACKOFF: schedq_place_t = 2;
pub const SCHEDQ_ERROR_BACKOFF: schedq_place_t = 3;
pub const SCHEDQ_PARKED: schedq_place_t = 4;
pub const SCHEDQ_GATED: schedq_place_t = 5;
pub const SCHEDQ_INFLIGHT: schedq_place_t = 6;
pub const SCHEDQ_HELD: schedq_place_t = 7;
pub const SCHEDQ_ASIDE: schedq_place_t = 8;

pub type schedq_group_outcome_t = c_uint;
pub const SCHEDQ_GROUP_PLACED: schedq_group_outcome_t = 0;
pub const SCHEDQ_GROUP_REJECTED: schedq_group_outcome_t = 1;
pub const SCHEDQ_GROUP_ERROR: schedq_group_outcome_t = 2;

pub const SCHEDQ_GROUP_DEPTH_MAX: c_int = 64;

pub const SCHEDQ_POD_AFFINITY: c_int = 1;
pub const SCHEDQ_POD_ORDER_KEY: c_int = 2;
pub const SCHEDQ_POD_ADD: c_int = 4;

pub type schedq_hint_t = c_uint;
pub const SCHEDQ_HINT_SKIP: schedq_hint_t = 0;
pub const SCHEDQ_HINT_QUEUE: schedq_hint_t = 1;
pub const SCHEDQ_HINT_ERROR: schedq_hint_t = 2;

pub type schedq_pre_hint_t = c_uint;
pub const SCHEDQ_PRE_HINT_ALL: schedq_pre_hint_t = 0;
pub const SCHEDQ_PRE_HINT_LISTED: schedq_pre_hint_t = 1;

pub const SCHEDQ_ACTION_ADD: c_int = 1;
pub const SCHEDQ_ACTION_DELETE: c_int = 2;
pub const SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE: c_int = 4;
pub const SCHEDQ_ACTION_UPDATE_NODE_LABEL: c_int = 8;
pub const SCHEDQ_ACTION_UPDATE_NODE_TAINT: c_int = 16;
pub const SCHEDQ_ACTION_UPDATE_NODE_CONDITION: c_int = 32;
pub const SCHEDQ_ACTION_UPDATE_NODE_ANNOTATION: c_int = 64;
pub const SCHEDQ_ACTION_UPDATE_NODE_DECLARED_FEATURE: c_int = 128;
pub const SCHEDQ_ACTION_UPDATE_NODE_PREEMPTION_POLICY: c_int = 256;
pub const SCHEDQ_ACTION_UPDATE_POD_LABEL: c_int = 512;
pub const SCHEDQ_ACTION_UPDATE_POD_SCALE_DOWN: c_int = 1024;
pub const SCHEDQ_ACTION_UPDATE_POD_SCALE_UP: c_int = 2048;
pub const SCHEDQ_ACTION_UPDATE_POD_TOLERATION: c_int = 4096;
pub const SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED: c_int = 8192;
pub const SCHEDQ_ACTION_UPDATE_POD_GENERATED_CLAIM: c_int = 16384;
pub const SCHEDQ_ACTION_UPDATE: c_int = 32764;
pub const SCHEDQ_ACTION_ALL: c_int = 32767;

pub const SCHEDQ_EVENT_NONE: c_int = 0;
pub const SCHEDQ_EVENT_WILDCARD: c_int = 1;
pub const SCHEDQ_EVENT_UNSCHEDULED_POD_ADD: c_int = 2;
pub const SCHEDQ_EVENT_UNSCHEDULED_POD_DELETE: c_int = 3;
pub const SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE: c_int = 4;
pub const SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL: c_int = 5;
pub const SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_DOWN: c_int = 6;
pub const SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED: c_int = 7;
pub const SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_TOLERATION: c_int = 8;
pub const SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GENERATED_CLAIM: c_int = 9;
pub const SCHEDQ_EVENT_ASSIGNED_POD_ADD: c_int = 10;
pub const SCHEDQ_EVENT_ASSIGNED_POD_DELETE: c_int = 11;
pub const SCHEDQ_EVENT_ASSIGNED_POD_UPDATE: c_int = 12;
pub const SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_LABEL: c_int = 13;
pub const SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_SCALE_DOWN: c_int = 14;
pub const SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_GATES_ELIMINATED: c_int = 15;
pub const SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_TOLERATION: c_int = 16;
pub const SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_GENERATED_CLAIM: c_int = 17;
pub const SCHEDQ_EVENT_NODE_ADD: c_int = 18;
pub const SCHEDQ_EVENT_NODE_DELETE: c_int = 19;
pub const SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE: c_int = 20;
pub const SCHEDQ_EVENT_NODE_UPDATE_LABEL: c_int = 21;
pub const SCHEDQ_EVENT_NODE_UPDATE_TAINT: c_int = 22;
pub const SCHEDQ_EVENT_NODE_UPDATE_CONDITION: c_int = 23;
pub const SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION: c_int = 24;
pub const SCHEDQ_EVENT_NODE_UPDATE_DECLARED_FEATURE: c_int = 25;
pub const SCHEDQ_EVENT_NODE_UPDATE_PREEMPTION_POLICY: c_int = 26;
pub const SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_UP: c_int = 27;
pub const SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_SCALE_UP: c_int = 28;
pub const SCHEDQ_EVENT_TARGET_POD_UPDATE: c_int = 29;
pub const SCHEDQ_EVENT_TARGET_POD_UPDATE_LABEL: c_int = 30;
pub const SCHEDQ_EVENT_TARGET_POD_UPDATE_SCALE_DOWN: c_int = 31;
pub const SCHEDQ_EVENT_TARGET_POD_UPDATE_SCALE_UP: c_int = 32;
pub const SCHEDQ_EVENT_TARGET_POD_UPDATE_GATES_ELIMINATED: c_int = 33;
pub const SCHEDQ_EVENT_TARGET_POD_UPDATE_TOLERATION: c_int = 34;
pub const SCHEDQ_EVENT_TARGET_POD_UPDATE_GENERATED_CLAIM: c_int = 35;
pub const SCHEDQ_EVENT_FIRST_FREE: c_int = 36;

pub const SCHEDQ_PLUGIN_SPREAD: c_int = 1;
pub type schedq_event_t = u16;
pub type schedq_profile_t = u8;
pub type schedq_hint_fn = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        pod: u64,
        old_object: u64,
        new_object: u64,
    ) -> schedq_hint_t,
>;
pub type schedq_pre_enqueue_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, pod: u64) -> c_int>;
pub type schedq_pre_hint_fn = Option<
    unsafe extern "C" fn(
        ctx: *mut c_void,
        old_object: u64,
        new_object: u64,
        pods: *mut schedq_pod_list_t,
    ) -> schedq_pre_hint_t,
>;
pub type schedq_precheck_fn = Option<unsafe extern "C" fn(ctx: *mut c_void, pod: u64) -> c_int>;
pub type schedq_visit_fn =
    Option<unsafe extern "C" fn(ctx: *mut c_void, pod: *const schedq_pod_info_t) -> c_int>;

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_allocator_t {
    pub alloc:
        Option<unsafe extern "C" fn(ctx: *mut c_void, bytes: usize, align: usize) -> *mut c_void>,
    pub free: Option<unsafe extern "C" fn(ctx: *mut c_void, memory: *mut c_void, bytes: usize)>,
    pub ctx: *mut c_void,
    pub reserved: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_clock_t {
    pub now_ns: Option<unsafe extern "C" fn(ctx: *mut c_void) -> i64>,
    pub ctx: *mut c_void,
    pub is_virtual: u32,
    pub reserved: [u32; 3],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_config_t {
    pub struct_size: u32,
    pub max_pods: u32,
    pub max_bands: u32,
    pub max_workers: u32,
    pub max_events: u32,
    pub event_log: u32,
    pub max_lots: u32,
    pub fences: u8,
    pub pre_queueing_hints: u8,
    pub sample_calls: u16,
    pub initial_backoff_ns: i64,
    pub max_backoff_ns: i64,
    pub max_parked_ns: i64,
    pub tick_ns: i64,
    pub engine: u8,
    pub order: u8,
    pub objects: u8,
    pub decide: u8,
    pub external_clock: u8,
    pub requeue: u8,
    pub pop_from_backoff: u8,
    pub backoff_window: u8,
    pub backoff_at_expiry: u8,
    pub backoff_counts: u8,
    pub errors_park: u8,
    pub keep_order: u8,
    pub gates_see_wildcards: u8,
    pub count_cycles: u8,
    pub fifo: u8,
    pub kube_minor: u8,
    pub flush_ns: i64,
    pub start_ns: i64,
    pub clock: schedq_clock_t,
    pub allocator: schedq_allocator_t,
    pub object_ctx: *mut c_void,
    pub retain: Option<unsafe extern "C" fn(ctx: *mut c_void, object: u64)>,
    pub release: Option<unsafe extern "C" fn(ctx: *mut c_void, object: u64)>,
    pub affinity_matches:
        Option<unsafe extern "C" fn(ctx: *mut c_void, pod: u64, assigned: u64) -> c_int>,
    pub class_patience_ns: i64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct schedq_pod_t {
    pub bits: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_result_t {
    pub pod: schedq_pod_t,
    pub object: u64,
    pub ref_: u64,
    pub unschedulable: u64,
    pub pending: u64,
    pub sequence: u64,
    pub timestamp_ns: i64,
    pub to_active: u32,
    pub to_backoff: u32,
    pub to_parked: u32,
    pub to_gated: u32,
    pub place: u8,
    pub gate: u8,
    pub poppable: u8,
    pub added: u8,
    pub left: u8,
    pub backing_off: u8,
    pub reserved: [u8; 2],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_pod_spec_t {
    pub struct_size: u32,
    pub priority: i32,
    pub profile: schedq_profile_t,
    pub flags: u8,
    pub gate: u8,
    pub reserved: [u8; 5],
    pub object: u64,
    pub nominated_node: u64,
    pub timestamp_ns: i64,
    pub order_key: i64,
    pub judged_up_to: u64,
    pub only: schedq_pod_t,
    pub not_before_ns: i64,
    pub label: u64,
    pub group: u64,
    pub class_id: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_add_item_t {
    pub name_offset: u32,
    pub name_length: u32,
    pub spec: schedq_pod_spec_t,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct schedq_token_t {
    pub bits: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_history_t {
    pub timestamp_ns: i64,
    pub initial_attempt_ns: i64,
    pub attempts: u32,
    pub rejections: u32,
    pub errors: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_popped_t {
    pub token: schedq_token_t,
    pub pod: schedq_pod_t,
    pub object: u64,
    pub name: *const c_char,
    pub name_length: u32,
    pub priority: i32,
    pub history: schedq_history_t,
    pub unschedulable: u64,
    pub pending: u64,
    pub seen: u64,
    pub cycle: u64,
    pub nominated_node: u64,
    pub backoff_expiry_ns: i64,
    pub from_backoff: u8,
    pub more: u8,
    pub profile: schedq_profile_t,
    pub flags: u8,
    pub flushed: u8,
    pub reserved: [u8; 3],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_failure_t {
    pub struct_size: u32,
    pub place: u8,
    pub gate: u8,
    pub own_reasons: u8,
    pub reserved: u8,
    pub unschedulable: u64,
    pub pending: u64,
    pub judged_up_to: u64,
    pub newest: *const schedq_pod_spec_t,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_group_spec_t {
    pub struct_size: u32,
    pub priority: i32,
    pub quorum: u32,
    pub profile: schedq_profile_t,
    pub reserved: [u8; 3],
    pub object: u64,
    pub parent: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_popped_group_t {
    pub token: schedq_token_t,
    pub group: u64,
    pub object: u64,
    pub history: schedq_history_t,
    pub seen: u64,
    pub cycle: u64,
    pub backoff_expiry_ns: i64,
    pub priority: i32,
    pub more: u8,
    pub profile: schedq_profile_t,
    pub flushed: u8,
    pub reserved: [u8; 25],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_group_end_t {
    pub struct_size: u32,
    pub outcome: u8,
    pub place: u8,
    pub gate: u8,
    pub reserved: u8,
    pub judged_up_to: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_group_info_t {
    pub struct_size: u32,
    pub priority: i32,
    pub quorum: u32,
    pub place: u8,
    pub gate: u8,
    pub profile: schedq_profile_t,
    pub declared: u8,
    pub object: u64,
    pub parent: u64,
    pub root: u64,
    pub history: schedq_history_t,
    pub backoff_expiry_ns: i64,
    pub unschedulable: u64,
    pub pending: u64,
    pub waiting: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_interest_t {
    pub resource: *const c_char,
    pub actions: u32,
    pub reserved: u32,
    pub hint: schedq_hint_fn,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_plugin_t {
    pub struct_size: u32,
    pub profile: schedq_profile_t,
    pub flags: u8,
    pub reserved: [u8; 2],
    pub name: *const c_char,
    pub interests: *const schedq_interest_t,
    pub interest_count: usize,
    pub pre_enqueue: schedq_pre_enqueue_fn,
    pub ctx: *mut c_void,
    pub pre_hints: *const schedq_pre_hint_fn,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_change_t {
    pub struct_size: u32,
    pub event: schedq_event_t,
    pub reserved: [u8; 2],
    pub old_object: u64,
    pub new_object: u64,
    pub target: schedq_pod_t,
    pub precheck: schedq_precheck_fn,
    pub precheck_ctx: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_quantity_t {
    pub resource: u64,
    pub milli: i64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_pod_facts_t {
    pub labels: u64,
    pub claims: u64,
    pub gates: u32,
    pub tolerations: u32,
    pub assigned: u8,
    pub target: u8,
    pub scale_up: u8,
    pub reserved: [u8; 5],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_node_facts_t {
    pub allocatable: u64,
    pub labels: u64,
    pub taints: u64,
    pub conditions: u64,
    pub annotations: u64,
    pub unschedulable: u8,
    pub preemption_policy: u8,
    pub reserved: [u8; 2],
    pub declared_features: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_pod_info_t {
    pub struct_size: u32,
    pub place: u8,
    pub profile: schedq_profile_t,
    pub flags: u8,
    pub deleted: u8,
    pub pod: schedq_pod_t,
    pub object: u64,
    pub name: *const c_char,
    pub name_length: u32,
    pub priority: i32,
    pub history: schedq_history_t,
    pub backoff_expiry_ns: i64,
    pub unschedulable: u64,
    pub pending: u64,
    pub gate: u32,
    pub freed_by: u32,
    pub pop_order: u64,
    pub cycle: u64,
    pub nominated_node: u64,
    pub nomination: u64,
    pub not_before_ns: i64,
    pub held: u8,
    pub kept_by_class: u8,
    pub reserved_too: [u8; 6],
    pub label: u64,
    pub group: u64,
    pub class_id: u64,
    pub scout: schedq_pod_t,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_words_t {
    pub parked: u64,
    pub gated: u64,
    pub backoff: u64,
    pub error_backoff: u64,
    pub nominations: u64,
    pub event_sequence: u64,
    pub next_deadline_ns: i64,
    pub now_ns: i64,
    pub closed: u32,
    pub poppable: u32,
    pub held: u64,
    pub aside: u64,
    pub reserved: [u64; 5],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_named_queue_t {
    pub queue: *mut schedq_t,
    pub name: *const c_char,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_stats_t {
    pub struct_size: u32,
    pub workers: u32,
    pub active: u64,
    pub backoff: u64,
    pub error_backoff: u64,
    pub parked: u64,
    pub gated: u64,
    pub inflight: u64,
    pub nominated: u64,
    pub adds: u64,
    pub pops: u64,
    pub dones: u64,
    pub failures: u64,
    pub deletes: u64,
    pub updates: u64,
    pub moves: u64,
    pub events: u64,
    pub hint_calls: u64,
    pub pre_enqueue_calls: u64,
    pub bytes_entries: u64,
    pub bytes_names: u64,
    pub bytes_index: u64,
    pub bytes_queues: u64,
    pub bytes_other: u64,
    pub membarriers: u64,
    pub fences: u8,
    pub groups_known: u8,
    pub reserved: [u8; 6],
    pub held: u64,
    pub aside: u64,
    pub groups: u64,
    pub groups_at: [u64; 10],
    pub members_at: [u64; 10],
    pub class_hides: u64,
    pub class_turns: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_explanation_t {
    pub struct_size: u32,
    pub place: u8,
    pub profile: schedq_profile_t,
    pub gate: u8,
    pub kept_by_class: u8,
    pub pod: schedq_pod_t,
    pub unschedulable: u64,
    pub pending: u64,
    pub history: schedq_history_t,
    pub now_ns: i64,
    pub backoff_expiry_ns: i64,
    pub wake_ns: i64,
    pub nominated_node: u64,
    pub nomination: u64,
    pub freed_by: *const c_char,
    pub group: u64,
    pub group_root: u64,
    pub group_waiting: u64,
    pub group_quorum: u32,
    pub group_place: u8,
    pub group_declared: u8,
    pub reserved_too: [u8; 2],
    pub class_id: u64,
    pub scout: schedq_pod_t,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_watch_t {
    pub struct_size: u32,
    pub leftovers: u32,
    pub inflight_ns: i64,
    pub gated_ns: i64,
    pub call_ns: i64,
    pub callback_ns: i64,
    pub notes: [u64; 66],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_overdue_t {
    pub kind: u8,
    pub callback: u8,
    pub profile: schedq_profile_t,
    pub plugin: u8,
    pub worker: u32,
    pub thread: u32,
    pub reserved: u32,
    pub pod: schedq_pod_t,
    pub rejectors: u64,
    pub for_ns: i64,
    pub reserved_too: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_reasons_t {
    pub struct_size: u32,
    pub reserved: u32,
    pub parked: u64,
    pub gated: u64,
    pub backoff: u64,
    pub error_backoff: u64,
    pub parked_by: [u64; 64],
    pub gated_by: [u64; 64],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_query_t {
    pub struct_size: u32,
    pub profile: schedq_profile_t,
    pub backoff: u8,
    pub reserved: [u8; 2],
    pub rejectors: u64,
    pub gates: u64,
    pub not_after_ns: i64,
    pub cursor: [u64; 3],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_candidate_t {
    pub ref_: u64,
    pub object: u64,
    pub pod: schedq_pod_t,
    pub unschedulable: u64,
    pub pending: u64,
    pub timestamp_ns: i64,
    pub expiry_ns: i64,
    pub place: u8,
    pub gate: u8,
    pub backing_off: u8,
    pub profile: schedq_profile_t,
    pub reserved: [u8; 4],
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct schedq_decision_t {
    pub struct_size: u32,
    pub event: schedq_event_t,
    pub place: u8,
    pub gate: u8,
    pub uncounted: u8,
    pub if_backing_off: u8,
    pub flushed: u8,
    pub reserved: [u8; 5],
    pub ref_: u64,
    pub judged_up_to: u64,
}

macro_rules! zeroed {
    ($type:ty) => {
        // All zero bits are a value of each of these types: integers, pointers, and functions that may be None.
        unsafe { std::mem::transmute::<[u8; size_of::<$type>()], $type>([0; size_of::<$type>()]) }
    };
}

macro_rules! init {
    ($($name:ident: $type:ident { $($field:ident: $value:expr),* })*) => {$(
        pub const $name: $type = $type {
            struct_size: size_of::<$type>() as u32,
            $($field: $value,)*
            ..zeroed!($type)
        };
    )*};
}

init! {
    SCHEDQ_CONFIG_INIT: schedq_config_t {
        max_pods: 1048576,
        max_workers: 64,
        max_events: 256,
        event_log: 4096,
        max_lots: 1024,
        initial_backoff_ns: 1000000000,
        max_backoff_ns: 10000000000,
        max_parked_ns: 300000000000,
        tick_ns: 1000000,
        class_patience_ns: 300000000000,
        engine: SCHEDQ_ENGINE_LOCKFREE as u8,
        pop_from_backoff: 1,
        gates_see_wildcards: 1
    }
    SCHEDQ_POD_SPEC_INIT: schedq_pod_spec_t {}
    SCHEDQ_FAILURE_INIT: schedq_failure_t {}
    SCHEDQ_PLUGIN_INIT: schedq_plugin_t {}
    SCHEDQ_CHANGE_INIT: schedq_change_t {}
    SCHEDQ_STATS_INIT: schedq_stats_t {}
    SCHEDQ_EXPLANATION_INIT: schedq_explanation_t {}
    SCHEDQ_REASONS_INIT: schedq_reasons_t {}
    SCHEDQ_WATCH_INIT: schedq_watch_t {
        leftovers: 1,
        inflight_ns: 900000000000,
        gated_ns: 3600000000000,
        call_ns: 10000000000,
        callback_ns: 1000000000
    }
    SCHEDQ_GROUP_SPEC_INIT: schedq_group_spec_t {}
    SCHEDQ_GROUP_END_INIT: schedq_group_end_t {}
    SCHEDQ_GROUP_INFO_INIT: schedq_group_info_t {}
    SCHEDQ_QUERY_INIT: schedq_query_t { not_after_ns: i64::MAX }
    SCHEDQ_DECISION_INIT: schedq_decision_t {}
}

pub const SCHEDQ_ADD_ITEM_INIT: schedq_add_item_t =
    schedq_add_item_t { name_offset: 0, name_length: 0, spec: SCHEDQ_POD_SPEC_INIT };

extern "C" {
    pub fn schedq_config_preset(
        config: *mut schedq_config_t,
        preset: schedq_preset_t,
    ) -> schedq_status_t;
    pub fn schedq_status_name(status: schedq_status_t) -> *const c_char;
    pub fn schedq_status_text(status: schedq_status_t) -> *const c_char;
    pub fn schedq_version() -> u32;
    pub fn schedq_create(
        config: *const schedq_config_t,
        queue: *mut *mut schedq_t,
        why: *mut c_char,
        why_size: usize,
    ) -> schedq_status_t;
    pub fn schedq_close(queue: *mut schedq_t) -> schedq_status_t;
    pub fn schedq_destroy(
        queue: *mut schedq_t,
        why: *mut c_char,
        why_size: usize,
    ) -> schedq_status_t;
    pub fn schedq_destroy_with_pods(
        queue: *mut schedq_t,
        why: *mut c_char,
        why_size: usize,
    ) -> schedq_status_t;
    pub fn schedq_reserve(
        queue: *mut schedq_t,
        pods: u32,
        bands: u32,
        workers: u32,
        why: *mut c_char,
        why_size: usize,
    ) -> schedq_status_t;
    pub fn schedq_trim(queue: *mut schedq_t) -> schedq_status_t;
    pub fn schedq_worker_register(
        queue: *mut schedq_t,
        worker: *mut *mut schedq_worker_t,
        why: *mut c_char,
        why_size: usize,
    ) -> schedq_status_t;
    pub fn schedq_worker_get(
        queue: *mut schedq_t,
        worker: *mut *mut schedq_worker_t,
        why: *mut c_char,
        why_size: usize,
    ) -> schedq_status_t;
    pub fn schedq_worker_unregister(worker: *mut schedq_worker_t) -> schedq_status_t;
    pub fn schedq_worker_adopt(
        queue: *mut schedq_t,
        abandoned: *mut schedq_worker_t,
    ) -> schedq_status_t;
    pub fn schedq_worker_error(worker: *const schedq_worker_t) -> *const c_char;
    pub fn schedq_place_name(place: schedq_place_t) -> *const c_char;
    pub fn schedq_add(
        worker: *mut schedq_worker_t,
        name: *const c_char,
        length: usize,
        spec: *const schedq_pod_spec_t,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_add_many(
        worker: *mut schedq_worker_t,
        names: *const c_char,
        names_length: usize,
        items: *const schedq_add_item_t,
        count: usize,
        pods: *mut schedq_pod_t,
        statuses: *mut u8,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_update(
        worker: *mut schedq_worker_t,
        name: *const c_char,
        length: usize,
        spec: *const schedq_pod_spec_t,
        old_object: u64,
        events: *const schedq_event_t,
        event_count: usize,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_delete(
        worker: *mut schedq_worker_t,
        pod: schedq_pod_t,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_delete_name(
        worker: *mut schedq_worker_t,
        name: *const c_char,
        length: usize,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_activate(
        worker: *mut schedq_worker_t,
        pods: *const schedq_pod_t,
        count: usize,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_nominate(
        worker: *mut schedq_worker_t,
        pod: schedq_pod_t,
        node: u64,
    ) -> schedq_status_t;
    pub fn schedq_try_pop(
        worker: *mut schedq_worker_t,
        out: *mut schedq_popped_t,
    ) -> schedq_status_t;
    pub fn schedq_try_pop_many(
        worker: *mut schedq_worker_t,
        out: *mut schedq_popped_t,
        capacity: usize,
        count: *mut usize,
    ) -> schedq_status_t;
    pub fn schedq_pop(worker: *mut schedq_worker_t, out: *mut schedq_popped_t) -> schedq_status_t;
    pub fn schedq_pop_for(
        worker: *mut schedq_worker_t,
        wait_ns: i64,
        out: *mut schedq_popped_t,
    ) -> schedq_status_t;
    pub fn schedq_pop_until(
        worker: *mut schedq_worker_t,
        deadline_ns: i64,
        out: *mut schedq_popped_t,
    ) -> schedq_status_t;
    pub fn schedq_pop_many(
        worker: *mut schedq_worker_t,
        out: *mut schedq_popped_t,
        capacity: usize,
        count: *mut usize,
    ) -> schedq_status_t;
    pub fn schedq_pop_many_for(
        worker: *mut schedq_worker_t,
        wait_ns: i64,
        out: *mut schedq_popped_t,
        capacity: usize,
        count: *mut usize,
    ) -> schedq_status_t;
    pub fn schedq_pop_many_until(
        worker: *mut schedq_worker_t,
        deadline_ns: i64,
        out: *mut schedq_popped_t,
        capacity: usize,
        count: *mut usize,
    ) -> schedq_status_t;
    pub fn schedq_done(worker: *mut schedq_worker_t, token: schedq_token_t) -> schedq_status_t;
    pub fn schedq_done_many(
        worker: *mut schedq_worker_t,
        tokens: *const schedq_token_t,
        count: usize,
        statuses: *mut u8,
    ) -> schedq_status_t;
    pub fn schedq_token_alive(
        worker: *mut schedq_worker_t,
        token: schedq_token_t,
    ) -> schedq_status_t;
    pub fn schedq_fail(
        worker: *mut schedq_worker_t,
        token: *mut schedq_token_t,
        failure: *const schedq_failure_t,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_readd(
        worker: *mut schedq_worker_t,
        name: *const c_char,
        length: usize,
        spec: *const schedq_pod_spec_t,
        history: *const schedq_history_t,
        failure: *const schedq_failure_t,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_now(queue: *mut schedq_t) -> i64;
    pub fn schedq_tick(
        worker: *mut schedq_worker_t,
        next_ns: *mut i64,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_run(queue: *mut schedq_t, why: *mut c_char, why_size: usize) -> schedq_status_t;
    pub fn schedq_stop(queue: *mut schedq_t) -> schedq_status_t;
    pub fn schedq_clock_advance(queue: *mut schedq_t, now_ns: i64) -> schedq_status_t;
    pub fn schedq_event_define(
        queue: *mut schedq_t,
        resource: *const c_char,
        actions: u32,
        label: *const c_char,
        event: *mut schedq_event_t,
        why: *mut c_char,
        why_size: usize,
    ) -> schedq_status_t;
    pub fn schedq_profile_define(
        queue: *mut schedq_t,
        name: *const c_char,
        profile: *mut schedq_profile_t,
        why: *mut c_char,
        why_size: usize,
    ) -> schedq_status_t;
    pub fn schedq_plugin_register(
        queue: *mut schedq_t,
        plugin: *const schedq_plugin_t,
        bit: *mut u64,
        why: *mut c_char,
        why_size: usize,
    ) -> schedq_status_t;
    pub fn schedq_plugin_name(
        queue: *mut schedq_t,
        profile: schedq_profile_t,
        name: *const c_char,
        length: usize,
        bit: *mut u64,
        why: *mut c_char,
        why_size: usize,
    ) -> schedq_status_t;
    pub fn schedq_event_plugins(
        queue: *mut schedq_t,
        profile: schedq_profile_t,
        event: schedq_event_t,
    ) -> u64;
    pub fn schedq_rejector_bit(
        queue: *mut schedq_t,
        profile: schedq_profile_t,
        name: *const c_char,
        length: usize,
    ) -> u64;
    pub fn schedq_pod_list_add(
        list: *mut schedq_pod_list_t,
        name: *const c_char,
        length: usize,
    ) -> schedq_status_t;
    pub fn schedq_notify(
        worker: *mut schedq_worker_t,
        change: *const schedq_change_t,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_assigned_pod_added(
        worker: *mut schedq_worker_t,
        change: *const schedq_change_t,
        namespace_name: *const c_char,
        namespace_length: usize,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_assigned_pod_updated(
        worker: *mut schedq_worker_t,
        change: *const schedq_change_t,
        namespace_name: *const c_char,
        namespace_length: usize,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_classify_pod_update(
        old_facts: *const schedq_pod_facts_t,
        old_requests: *const schedq_quantity_t,
        old_count: usize,
        new_facts: *const schedq_pod_facts_t,
        new_requests: *const schedq_quantity_t,
        new_count: usize,
        events: *mut schedq_event_t,
    ) -> usize;
    pub fn schedq_classify_node_update(
        old_facts: *const schedq_node_facts_t,
        new_facts: *const schedq_node_facts_t,
        events: *mut schedq_event_t,
    ) -> usize;
    pub fn schedq_wait_fd(
        queue: *mut schedq_t,
        fd: *mut c_int,
        why: *mut c_char,
        why_size: usize,
    ) -> schedq_status_t;
    pub fn schedq_wait_callback(
        queue: *mut schedq_t,
        wake: Option<unsafe extern "C" fn(ctx: *mut c_void)>,
        ctx: *mut c_void,
        why: *mut c_char,
        why_size: usize,
    ) -> schedq_status_t;
    pub fn schedq_next_deadline(queue: *mut schedq_t) -> i64;
    pub fn schedq_wait_cancel(worker: *mut schedq_worker_t) -> schedq_status_t;
    pub fn schedq_hold(
        worker: *mut schedq_worker_t,
        pod: schedq_pod_t,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_release(
        worker: *mut schedq_worker_t,
        pod: schedq_pod_t,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_not_before(
        worker: *mut schedq_worker_t,
        pod: schedq_pod_t,
        time_ns: i64,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_label_cancel(
        worker: *mut schedq_worker_t,
        label: u64,
        results: *mut schedq_result_t,
        room: usize,
        count: *mut usize,
    ) -> schedq_status_t;
    pub fn schedq_label_hold(
        worker: *mut schedq_worker_t,
        label: u64,
        count: *mut usize,
    ) -> schedq_status_t;
    pub fn schedq_label_release(
        worker: *mut schedq_worker_t,
        label: u64,
        count: *mut usize,
    ) -> schedq_status_t;
    pub fn schedq_label_count(
        worker: *mut schedq_worker_t,
        label: u64,
        count: *mut usize,
    ) -> schedq_status_t;
    pub fn schedq_group_add(
        worker: *mut schedq_worker_t,
        group: u64,
        spec: *const schedq_group_spec_t,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_group_update(
        worker: *mut schedq_worker_t,
        group: u64,
        spec: *const schedq_group_spec_t,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_group_delete(
        worker: *mut schedq_worker_t,
        group: u64,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_group_activate(
        worker: *mut schedq_worker_t,
        group: u64,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_group_get(
        worker: *mut schedq_worker_t,
        group: u64,
        info: *mut schedq_group_info_t,
    ) -> schedq_status_t;
    pub fn schedq_try_pop_group(
        worker: *mut schedq_worker_t,
        group: *mut schedq_popped_group_t,
        members: *mut schedq_popped_t,
        room: usize,
        count: *mut usize,
    ) -> schedq_status_t;
    pub fn schedq_pop_group_for(
        worker: *mut schedq_worker_t,
        wait_ns: i64,
        group: *mut schedq_popped_group_t,
        members: *mut schedq_popped_t,
        room: usize,
        count: *mut usize,
    ) -> schedq_status_t;
    pub fn schedq_pop_group_until(
        worker: *mut schedq_worker_t,
        deadline_ns: i64,
        group: *mut schedq_popped_group_t,
        members: *mut schedq_popped_t,
        room: usize,
        count: *mut usize,
    ) -> schedq_status_t;
    pub fn schedq_group_done(
        worker: *mut schedq_worker_t,
        token: *mut schedq_token_t,
        end: *const schedq_group_end_t,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_find(
        worker: *mut schedq_worker_t,
        name: *const c_char,
        length: usize,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_get(
        worker: *mut schedq_worker_t,
        pod: schedq_pod_t,
        visit: schedq_visit_fn,
        ctx: *mut c_void,
    ) -> schedq_status_t;
    pub fn schedq_snapshot(
        worker: *mut schedq_worker_t,
        visit: schedq_visit_fn,
        ctx: *mut c_void,
    ) -> schedq_status_t;
    pub fn schedq_nominated_pods(
        worker: *mut schedq_worker_t,
        node: u64,
        visit: schedq_visit_fn,
        ctx: *mut c_void,
    ) -> schedq_status_t;
    pub fn schedq_pending_text(queue: *mut schedq_t, text: *mut c_char, size: usize) -> usize;
    pub fn schedq_words(queue: *mut schedq_t) -> *mut schedq_words_t;
    pub fn schedq_stats(queue: *mut schedq_t, stats: *mut schedq_stats_t) -> schedq_status_t;
    pub fn schedq_metrics_write(
        queue: *mut schedq_t,
        write: Option<
            unsafe extern "C" fn(ctx: *mut c_void, text: *const c_char, length: usize) -> c_int,
        >,
        ctx: *mut c_void,
    ) -> schedq_status_t;
    pub fn schedq_metrics_write_named(
        queues: *const schedq_named_queue_t,
        count: usize,
        write: Option<
            unsafe extern "C" fn(ctx: *mut c_void, text: *const c_char, length: usize) -> c_int,
        >,
        ctx: *mut c_void,
        why: *mut c_char,
        why_size: usize,
    ) -> schedq_status_t;
    pub fn schedq_peek(
        worker: *mut schedq_worker_t,
        visit: schedq_visit_fn,
        ctx: *mut c_void,
    ) -> schedq_status_t;
    pub fn schedq_peek_many(
        worker: *mut schedq_worker_t,
        count: usize,
        visit: schedq_visit_fn,
        ctx: *mut c_void,
    ) -> schedq_status_t;
    pub fn schedq_position(
        worker: *mut schedq_worker_t,
        pod: schedq_pod_t,
        lower: *mut u64,
        upper: *mut u64,
    ) -> schedq_status_t;
    pub fn schedq_explain(
        worker: *mut schedq_worker_t,
        pod: schedq_pod_t,
        explanation: *mut schedq_explanation_t,
    ) -> schedq_status_t;
    pub fn schedq_explanation_text(
        queue: *mut schedq_t,
        explanation: *const schedq_explanation_t,
        text: *mut c_char,
        size: usize,
    ) -> usize;
    pub fn schedq_rejector_name(
        queue: *mut schedq_t,
        profile: schedq_profile_t,
        bit: u64,
    ) -> *const c_char;
    pub fn schedq_count_reasons(
        worker: *mut schedq_worker_t,
        profile: schedq_profile_t,
        reasons: *mut schedq_reasons_t,
    ) -> schedq_status_t;
    pub fn schedq_watch(
        worker: *mut schedq_worker_t,
        watch: *mut schedq_watch_t,
        out: *mut schedq_overdue_t,
        room: usize,
        found: *mut usize,
    ) -> schedq_status_t;
    pub fn schedq_overdue_text(
        worker: *mut schedq_worker_t,
        overdue: *const schedq_overdue_t,
        text: *mut c_char,
        size: usize,
    ) -> usize;
    pub fn schedq_event_begin(worker: *mut schedq_worker_t, sequence: *mut u64) -> schedq_status_t;
    pub fn schedq_event_stamp(
        worker: *mut schedq_worker_t,
        sequence: u64,
        profile: schedq_profile_t,
        plugins: u64,
    ) -> schedq_status_t;
    pub fn schedq_candidates(
        worker: *mut schedq_worker_t,
        query: *mut schedq_query_t,
        out: *mut schedq_candidate_t,
        capacity: usize,
        count: *mut usize,
    ) -> schedq_status_t;
    pub fn schedq_apply(
        worker: *mut schedq_worker_t,
        decision: *const schedq_decision_t,
        result: *mut schedq_result_t,
    ) -> schedq_status_t;
    pub fn schedq_apply_many(
        worker: *mut schedq_worker_t,
        decisions: *const schedq_decision_t,
        count: usize,
        statuses: *mut u8,
        results: *mut schedq_result_t,
        sum: *mut schedq_result_t,
    ) -> schedq_status_t;
}
