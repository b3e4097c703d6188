/** @file
 * schedq/events: what brings waiting pods back.
 *
 * A plugin is a test that pods have to pass. It rejects a pod (schedq_fail names its bit), or it
 * gates one (its PreEnqueue keeps it out of active). An event is a kind of change ("a node was
 * added"). A plugin's interests are the events that could help the pods that it rejected. A change
 * is an event that happened. schedq_notify tells the queue of it; the queue tries those pods again.
 */
#ifndef SCHEDQ_EVENTS_H
#define SCHEDQ_EVENTS_H

#include <schedq/pod.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A hint's answer. SCHEDQ_HINT_ERROR and any other value count as SCHEDQ_HINT_QUEUE. */
typedef enum schedq_hint {
    SCHEDQ_HINT_SKIP = 0,  /**< no: the pod goes on waiting, unless another rejector's hint says
                                QUEUE */
    SCHEDQ_HINT_QUEUE = 1, /**< yes: it is tried again */
    SCHEDQ_HINT_ERROR = 2  /**< the hint could not tell */
} schedq_hint_t;

/** A hint: is this change worth another try of `pod`? All are objects; 0 = the change has none. */
typedef schedq_hint_t (*schedq_hint_fn)(void *ctx, uint64_t pod, uint64_t old_object,
                                        uint64_t new_object);

/**
 * PreEnqueue: may the pod with the object `pod` become active (with pop_from_backoff: or back off)?
 * 0 = no: this plugin gates it; else yes.
 */
typedef int (*schedq_pre_enqueue_fn)(void *ctx, uint64_t pod);

/** What a pre-queueing hint answers; any other value counts as SCHEDQ_PRE_HINT_ALL. */
typedef enum schedq_pre_hint {
    SCHEDQ_PRE_HINT_ALL = 0,   /**< the change may concern any pod; also: an error */
    SCHEDQ_PRE_HINT_LISTED = 1 /**< it concerns none but those that were listed, perhaps none */
} schedq_pre_hint_t;

/** The pods that a pre-queueing hint lists. */
typedef struct schedq_pod_list schedq_pod_list_t;

/**
 * A pre-queueing hint: which pods can this change concern at all? It lists them by
 * schedq_pod_list_add. Both are objects; 0 = the change has none.
 *
 * schedq_notify asks it once for a change, before it does anything else, with no lock held and on
 * its own thread; several threads may ask at once. It may call schedq_pod_list_add and what any
 * hint may call. If one plugin listed a pod and another one gave a list without it, the other one's
 * hints are not asked about that pod.
 */
typedef schedq_pre_hint_t (*schedq_pre_hint_fn)(void *ctx, uint64_t old_object,
                                                uint64_t new_object, schedq_pod_list_t *pods);

/** preCheck: does the change concern the waiting pod with the object `pod`? 0 = no. */
typedef int (*schedq_precheck_fn)(void *ctx, uint64_t pod);

/*
 * What happened to an object. An event has one or more of these bits, and so has an interest. The
 * names of updates are those that a scheduler of Kubernetes needs, and their values are those of
 * kube-scheduler 1.37. For a change that none of them names use SCHEDQ_ACTION_UPDATE, ADD or
 * DELETE, in the event and in the interest.
 */
enum {
    SCHEDQ_ACTION_ADD = 0x001,
    SCHEDQ_ACTION_DELETE = 0x002,
    SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE = 0x004,
    SCHEDQ_ACTION_UPDATE_NODE_LABEL = 0x008,
    SCHEDQ_ACTION_UPDATE_NODE_TAINT = 0x010, /**< taints, or unschedulable became false */
    SCHEDQ_ACTION_UPDATE_NODE_CONDITION = 0x020,
    SCHEDQ_ACTION_UPDATE_NODE_ANNOTATION = 0x040,
    SCHEDQ_ACTION_UPDATE_NODE_DECLARED_FEATURE = 0x080,
    SCHEDQ_ACTION_UPDATE_NODE_PREEMPTION_POLICY = 0x100,
    SCHEDQ_ACTION_UPDATE_POD_LABEL = 0x200,
    SCHEDQ_ACTION_UPDATE_POD_SCALE_DOWN = 0x400,
    SCHEDQ_ACTION_UPDATE_POD_SCALE_UP = 0x800,
    SCHEDQ_ACTION_UPDATE_POD_TOLERATION = 0x1000,
    SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED = 0x2000,
    SCHEDQ_ACTION_UPDATE_POD_GENERATED_CLAIM = 0x4000,
    SCHEDQ_ACTION_UPDATE = 0x7ffc,
    SCHEDQ_ACTION_ALL = 0x7fff
};

/**
 * Events that every queue knows. The wildcard is {"*", SCHEDQ_ACTION_ALL}, with any label; it
 * concerns every plugin.
 */
enum {
    SCHEDQ_EVENT_NONE = 0, /* no event: refused where one is wanted */
    SCHEDQ_EVENT_WILDCARD,
    /* resource UnschedulablePod (kube_minor 37: UnscheduledPod): a pod without a node */
    SCHEDQ_EVENT_UNSCHEDULED_POD_ADD,
    SCHEDQ_EVENT_UNSCHEDULED_POD_DELETE,
    SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE,
    SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL,
    SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_DOWN,
    SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED,
    SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_TOLERATION,
    SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GENERATED_CLAIM,
    SCHEDQ_EVENT_ASSIGNED_POD_ADD, /* resource AssignedPod: a pod that has a node */
    SCHEDQ_EVENT_ASSIGNED_POD_DELETE,
    SCHEDQ_EVENT_ASSIGNED_POD_UPDATE,
    SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_LABEL,
    SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_SCALE_DOWN,
    SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_GATES_ELIMINATED,
    SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_TOLERATION,
    SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_GENERATED_CLAIM,
    SCHEDQ_EVENT_NODE_ADD,
    SCHEDQ_EVENT_NODE_DELETE,
    SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE,
    SCHEDQ_EVENT_NODE_UPDATE_LABEL,
    SCHEDQ_EVENT_NODE_UPDATE_TAINT,
    SCHEDQ_EVENT_NODE_UPDATE_CONDITION,
    SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION,
    SCHEDQ_EVENT_NODE_UPDATE_DECLARED_FEATURE,
    SCHEDQ_EVENT_NODE_UPDATE_PREEMPTION_POLICY,
    SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_UP,
    SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_SCALE_UP,
    SCHEDQ_EVENT_TARGET_POD_UPDATE, /* resource TargetPod: the waiting pod itself */
    SCHEDQ_EVENT_TARGET_POD_UPDATE_LABEL,
    SCHEDQ_EVENT_TARGET_POD_UPDATE_SCALE_DOWN,
    SCHEDQ_EVENT_TARGET_POD_UPDATE_SCALE_UP,
    SCHEDQ_EVENT_TARGET_POD_UPDATE_GATES_ELIMINATED,
    SCHEDQ_EVENT_TARGET_POD_UPDATE_TOLERATION,
    SCHEDQ_EVENT_TARGET_POD_UPDATE_GENERATED_CLAIM,
    SCHEDQ_EVENT_FIRST_FREE /* schedq_event_define gives this and what follows */
};

/**
 * Gives an event its id, so that no later call has to compare strings. Allowed after setup too.
 *
 * @param resource 1..127 bytes and a NUL, any word of the caller's; copied
 * @param actions  one or more SCHEDQ_ACTION bits
 * @param label    for metrics, 0..127 bytes and a NUL; NULL or "" = resource and action as kube
 *                 writes them ("NodeAdd"); copied
 * @param event    receives the id; written with OK only
 * @retval SCHEDQ_OK       also when the same {resource, actions, label} was known: the same id
 * @retval SCHEDQ_FULL     max_events; nothing changed
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [queue]  Progress: locks; O(events + interests of all plugins); allocates.
 */
SCHEDQ_API schedq_status_t schedq_event_define(schedq_t *queue, const char *resource,
                                               uint32_t actions, const char *label,
                                               schedq_event_t *event, char *why, size_t why_size);

/**
 * Defines another profile: a set of plugins that are numbered by themselves.
 *
 * Profile 0, "default-scheduler", always exists.
 * @param name    1..127 bytes and a NUL; copied
 * @param profile receives its number; written with OK only
 * @retval SCHEDQ_OK       also when the name was known: the same number
 * @retval SCHEDQ_FULL     there are 255 profiles; nothing changed
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 * @retval SCHEDQ_BUSY     a worker is registered, or called from a callback; nothing changed
 *
 * Threads: [setup]  Progress: locks; O(profiles + events); allocates.
 */
SCHEDQ_API schedq_status_t schedq_profile_define(schedq_t *queue, const char *name,
                                                 schedq_profile_t *profile, char *why,
                                                 size_t why_size);

/**
 * An interest: events that could help what the plugin rejected or gates. Layout frozen (24 bytes).
 */
typedef struct schedq_interest {
    const char *resource; /**< as in schedq_event_define, or "*" = all; "Pod" matches AssignedPod,
                               UnschedulablePod (kube_minor 37: UnscheduledPod) and TargetPod too.
                               One that no event has is legal, since events may be defined later:
                               a misspelt one matches none. Copied */
    uint32_t    actions;  /**< one or more SCHEDQ_ACTION bits; events that have one of them match.
                               All bits of SCHEDQ_ACTION_UPDATE together are one thing: an interest
                               in some of them does not match. (kube_minor 34, 37: an event
                               matches if it has one of the bits and its bits, as a number, are at
                               most these, as kube-scheduler compares them; 26: one of the bits is
                               enough, and "*" means all only with SCHEDQ_ACTION_ALL; 12: all
                               events match) */
    uint32_t    reserved; /**< zero */
    /** NULL: every such event is worth another try; [host] must be NULL */
    schedq_hint_fn hint;
} schedq_interest_t;

enum {
    SCHEDQ_PLUGIN_SPREAD = 1 /**< schedq_assigned_pod_* reach the pods that this plugin rejected, in
                                  the namespace of the assigned pod */
};

/** A plugin as its caller describes it. Begin with SCHEDQ_PLUGIN_INIT. */
typedef struct schedq_plugin {
    uint32_t struct_size; /**< set by SCHEDQ_PLUGIN_INIT */
    schedq_profile_t profile; /**< default 0 */
    uint8_t flags;        /**< SCHEDQ_PLUGIN_SPREAD or 0 (default) */
    uint8_t reserved[2]; /**< zero */
    const char *name;     /**< 1..127 bytes and a NUL; copied */
    const schedq_interest_t *interests; /**< copied; NULL if interest_count is 0 */
    size_t interest_count; /**< 0..256; 0 (default): only wildcards and max_parked_ns bring its pods
                                back */
    schedq_pre_enqueue_fn pre_enqueue; /**< NULL (default): no gate; [host] must be NULL */
    void *ctx;            /**< passed to the hints, the pre-queueing hints and to pre_enqueue */
    const schedq_pre_hint_fn *pre_hints; /**< with config.pre_queueing_hints: one for each interest,
                                              each NULL or its pre-queueing hint; copied. NULL
                                              (default): none; [host] must be NULL */
} schedq_plugin_t;

/** The defaults, without a name. */
#define SCHEDQ_PLUGIN_INIT                                                    \
    {                                                                         \
        sizeof(schedq_plugin_t), 0, 0, {0, 0}, NULL, NULL, 0, NULL, NULL, NULL \
    }

/**
 * Registers a plugin.
 *
 * A profile has room for 63 plugins, late names (schedq_rejector_bit) included. PreEnqueue asks
 * plugins in the order of their registration.
 * @param plugin what it is called, and asks for; copied
 * @param bit receives its bit in this profile's rejector sets
 * @retval SCHEDQ_OK       *bit is its bit
 * @retval SCHEDQ_EXISTS   the name is taken, *bit is its bit; nothing changed
 * @retval SCHEDQ_FULL     it would be the 64th; nothing changed
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 * @retval SCHEDQ_BUSY     a worker is registered, or called from a callback; nothing changed
 *
 * Threads: [setup]  Progress: locks; O(events * interests); allocates.
 */
SCHEDQ_API schedq_status_t schedq_plugin_register(schedq_t *queue, const schedq_plugin_t *plugin,
                                                  uint64_t *bit, char *why, size_t why_size);

/**
 * Registers a plugin that has only a name, for a host that matches events itself.
 *
 * As schedq_plugin_register otherwise.
 * @param profile a defined one
 * @param name   bytes, need not end in NUL; copied
 * @param length 1..127 bytes, none of them NUL
 * @param bit    receives its bit in this profile's rejector sets
 * @retval SCHEDQ_OK       *bit is its bit
 * @retval SCHEDQ_EXISTS   the name is taken, *bit is its bit; nothing changed
 * @retval SCHEDQ_FULL     it would be the 64th; nothing changed
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 * @retval SCHEDQ_BUSY     a worker is registered, or called from a callback; nothing changed
 *
 * Threads: [setup]  Progress: locks; O(events); allocates.
 */
SCHEDQ_API schedq_status_t schedq_plugin_name(schedq_t *queue, schedq_profile_t profile,
                                              const char *name, size_t length, uint64_t *bit,
                                              char *why, size_t why_size);

/**
 * Returns the plugins of a profile that an event concerns, as bits. schedq_notify uses the same.
 *
 * A host whose plugins were registered with interests gets its masks here. Late names and
 * SCHEDQ_REJECTOR_OTHERS are among them. For a wildcard all 64 bits are set.
 * @param profile a defined one
 * @param event   a defined one
 * @retval 0 unknown profile or event, or called from a callback
 *
 * Threads: [queue]  Progress: locks.
 */
SCHEDQ_API uint64_t schedq_event_plugins(schedq_t *queue, schedq_profile_t profile,
                                         schedq_event_t event);

/** The bit of all rejectors that have none of their own. Every event concerns it. */
#define SCHEDQ_REJECTOR_OTHERS (UINT64_C(1) << 63)

/**
 * Returns the bit of a rejector by its name. A name that no plugin has becomes a late name.
 *
 * The same name gives the same bit; a plugin's name gives the plugin's. Every event concerns a late
 * name ([host]: the library adds such bits to the host's masks).
 * @param profile a defined one
 * @param name   bytes, need not end in NUL; copied
 * @param length 1..127 bytes, none of them NUL
 * @retval SCHEDQ_REJECTOR_OTHERS the 63 numbers are used up, or there is no memory (never with
 *         MUTEX)
 * @retval 0 unknown profile, bad name, or called from a callback; nothing changed
 *
 * Threads: [queue]  Progress: locks; O(plugins); allocates (MUTEX: not).
 */
SCHEDQ_API uint64_t schedq_rejector_bit(schedq_t *queue, schedq_profile_t profile, const char *name,
                                        size_t length);

/**
 * Lists a pod: for pre-queueing hints, while they run, on their own thread.
 *
 * No such pod need exist. One that comes later under the name counts as listed.
 * @param list   what the hint was given
 * @param name   bytes, need not end in NUL; copied
 * @param length 1..317 bytes
 * @retval SCHEDQ_OK       it is listed
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_NOMEM    the hint's answer counts as SCHEDQ_PRE_HINT_ALL
 *
 * Threads: in a pre-queueing hint  Progress: O(1) on the average; allocates.
 */
SCHEDQ_API schedq_status_t schedq_pod_list_add(schedq_pod_list_t *list, const char *name,
                                               size_t length);

/* ---- [callbacks] changes (with SCHEDQ_DECIDE_HOST these calls return INVALID) ---------------- */

/** A change: an event that happened, with its objects. Begin with SCHEDQ_CHANGE_INIT. */
typedef struct schedq_change {
    uint32_t struct_size; /**< set by SCHEDQ_CHANGE_INIT */
    schedq_event_t event; /**< a defined one */
    uint8_t reserved[2]; /**< zero */
    uint64_t old_object; /**< what hints get of the object before the change; 0 = absent */
    uint64_t new_object; /**< the same, after it */
    schedq_pod_t target; /**< with a wildcard: the only pod that it reaches; {0} = no target. A
                              wildcard with a new_object and no target reaches no pod (kube_minor
                              12, 26: target and new_object do not narrow a wildcard) */
    schedq_precheck_fn precheck; /**< NULL = all pods pass; schedq_assigned_pod_* ignore it */
    void *precheck_ctx;  /**< passed to precheck */
} schedq_change_t;

/** The defaults, without an event. */
#define SCHEDQ_CHANGE_INIT                                                            \
    {                                                                                 \
        sizeof(schedq_change_t), SCHEDQ_EVENT_NONE, {0, 0}, 0, 0, {0}, NULL, NULL     \
    }

/**
 * Tells the queue that something changed in the cluster.
 *
 * Parked and gated pods that the change could help are tried again. A pod in flight takes it into
 * account when it fails. Before this call the change must be visible where holders look.
 *
 * With config.pre_queueing_hints the pre-queueing hints of the interests that match are asked
 * first, unless the event is a wildcard or has no object. If there are some and all of them list
 * pods, only listed pods of those that wait are tried, whatever plugins rejected them. Without
 * memory for the lists all are. Pods in flight take the change into account, listed or not.
 * @param change the event and its objects. Hints of pods in flight get the objects later, too
 *               (schedq_objects_t); nothing else is referenced after the call
 * @retval SCHEDQ_OK       `result` counts the pods that moved
 * @retval SCHEDQ_INVALID  unknown event, SCHEDQ_EVENT_NONE too; a target, and the event is no
 *                         wildcard; SCHEDQ_DECIDE_HOST; nothing changed
 * @retval SCHEDQ_NOMEM    (never with MUTEX) the change counts for every pod; the next schedq_tick
 *                         moves those that were not moved yet
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * What was done before this call happens before the return of a pop that takes a pod that it moved.
 * Threads: [worker]  Progress: locks; O(distinct rejector sets + pods that match * log n).
 */
SCHEDQ_API schedq_status_t schedq_notify(schedq_worker_t *worker, const schedq_change_t *change,
                                         schedq_result_t *result);

/**
 * Tells the queue that a pod got a node: it is an assigned pod now.
 *
 * As schedq_notify, but it reaches only two kinds of waiting pods: those in the assigned pod's
 * namespace that a SCHEDQ_PLUGIN_SPREAD plugin rejected, and those whose affinity matches
 * change->new_object. For SCHEDQ_REQUEUE_MOVE_CYCLE; with hints schedq_notify is enough.
 * Pre-queueing hints are not asked.
 * @param change           as schedq_notify
 * @param namespace_name   of the assigned pod, need not end in NUL
 * @param namespace_length 1..253 bytes
 * @retval SCHEDQ_OK       `result` counts the pods that moved
 * @retval SCHEDQ_INVALID  as schedq_notify; bad namespace; nothing changed
 * @retval SCHEDQ_NOMEM    (never with MUTEX) as schedq_notify
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks; O(distinct rejector sets + pods that such a plugin rejected +
 *          pods with SCHEDQ_POD_AFFINITY and groups; LOCKFREE: + those that share a rejector set
 *          with such a one).
 */
SCHEDQ_API schedq_status_t schedq_assigned_pod_added(schedq_worker_t *worker,
                                                     const schedq_change_t *change,
                                                     const char *namespace_name,
                                                     size_t namespace_length,
                                                     schedq_result_t *result);

/**
 * Tells the queue that an assigned pod changed.
 *
 * As schedq_assigned_pod_added, but a scale-down reaches what schedq_notify reaches without a
 * precheck and pre-queueing hints.
 * @param change           as schedq_notify
 * @param namespace_name   of the assigned pod, need not end in NUL
 * @param namespace_length 1..253 bytes
 * @retval SCHEDQ_OK       `result` counts the pods that moved
 * @retval SCHEDQ_INVALID  as schedq_notify; bad namespace; nothing changed
 * @retval SCHEDQ_NOMEM    (never with MUTEX) as schedq_notify
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks; as schedq_assigned_pod_added, a scale-down as
 *                    schedq_notify.
 */
SCHEDQ_API schedq_status_t schedq_assigned_pod_updated(schedq_worker_t *worker,
                                                       const schedq_change_t *change,
                                                       const char *namespace_name,
                                                       size_t namespace_length,
                                                       schedq_result_t *result);

/* ---- classification of updates --------------------------------------------------------------- */

/** An amount of one resource. Layout frozen (16 bytes). */
typedef struct schedq_quantity {
    uint64_t resource; /**< the caller's number for it, unique in its array */
    int64_t  milli;    /**< the amount in thousandths; above INT64_MIN */
} schedq_quantity_t;

/**
 * What schedq_classify_pod_update compares. Equal `labels` must mean equal contents, equal `claims`
 * too (a hash or a version). `target` and `scale_up` say which events there are: kube-scheduler has
 * them from 1.37 on. Layout frozen (32 bytes).
 */
typedef struct schedq_pod_facts {
    uint64_t labels;         /**< the label map */
    uint64_t claims;         /**< the resource claim statuses */
    uint32_t gates;          /**< how many scheduling gates are left */
    uint32_t tolerations;    /**< how many tolerations it has */
    uint8_t  assigned;       /**< 1: the pod has a node */
    uint8_t  target;         /**< 1: events of TargetPod in place of UnscheduledPod: it is the
                                  waiting pod itself (schedq_update) */
    uint8_t  scale_up;       /**< 1: a request that grew is an event of its own */
    uint8_t  reserved[5]; /**< zero */
} schedq_pod_facts_t;

/**
 * Says which events an update of a pod is, in kube's order: label, scale-down, scale-up, gates
 * eliminated, toleration, claim.
 *
 * Scale-down: a resource of the old requests is smaller in the new ones, or missing there. Scale-up
 * the other way round; an update may be both. new_facts decides: `assigned` 1 gives events of
 * AssignedPod, else `target` 1 those of TargetPod; without `scale_up` there is no scale-up.
 * Arguments are not checked.
 * @param old_facts    not NULL
 * @param old_requests NULL if old_count is 0
 * @param old_count    elements of `old_requests`
 * @param new_facts    not NULL
 * @param new_requests NULL if new_count is 0
 * @param new_count    elements of `new_requests`
 * @param events       receives the ids; room for 6 (without scale_up for 5)
 * @retval 1..6 how many; if the update is none of these kinds, 1: the event ..._POD_UPDATE
 *
 * Threads: [any]  Progress: wait-free; O(old_count * new_count).
 */
SCHEDQ_API size_t schedq_classify_pod_update(const schedq_pod_facts_t *old_facts,
                                             const schedq_quantity_t *old_requests,
                                             size_t old_count, const schedq_pod_facts_t *new_facts,
                                             const schedq_quantity_t *new_requests,
                                             size_t new_count, schedq_event_t events[6]);

/** What schedq_classify_node_update compares, as schedq_pod_facts. Layout frozen (48 bytes). */
typedef struct schedq_node_facts {
    uint64_t allocatable;   /**< its resources */
    uint64_t labels;        /**< the label map */
    uint64_t taints;        /**< the list of taints */
    uint64_t conditions;    /**< type and status of each, not heartbeat times */
    uint64_t annotations;   /**< the annotation map */
    uint8_t  unschedulable; /**< 1: spec.unschedulable is true */
    uint8_t  preemption_policy;  /**< which one it has; 0: it has none, or none is known */
    uint8_t  reserved[2]; /**< zero */
    uint32_t declared_features;  /**< the list of declared features. It is compared like any fact: a
                                      caller that does not know it passes 0 in both */
} schedq_node_facts_t;

/**
 * Says which events an update of a node is, in kube's order: taint (unschedulable became false),
 * allocatable, label, taint, condition, annotation, preemption policy, declared feature.
 *
 * Call schedq_notify for each (kube 1.26: for the first only). Arguments are not checked.
 * @param old_facts not NULL
 * @param new_facts not NULL
 * @param events    receives the ids, none twice; room for 7 (5 if preemption_policy and
 *                  declared_features are the same in both)
 * @retval 0..7 how many; 0: nothing that matters (a heartbeat)
 *
 * Threads: [any]  Progress: wait-free.
 */
SCHEDQ_API size_t schedq_classify_node_update(const schedq_node_facts_t *old_facts,
                                              const schedq_node_facts_t *new_facts,
                                              schedq_event_t events[7]);

#ifdef __cplusplus
}
#endif

#endif
