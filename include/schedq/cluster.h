/** @file
 * schedq/cluster: a snapshot of what runs where, for schedq/preemption.h.
 *
 * A snapshot has nodes, the pods that run on them, disruption budgets, and nominated pods. The
 * caller keeps it up to date, call by call. THREADS, ALLOCATION and ARGUMENTS are in
 * schedq/preemption.h. A level is a priority that running pods have. Tables of what each node has
 * room for are kept for 32 levels at most: with more levels a decision may read nodes that turn out
 * to have no room.
 */
#ifndef SCHEDQ_CLUSTER_H
#define SCHEDQ_CLUSTER_H

#include <schedq/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct schedq_cluster schedq_cluster_t; /**< a snapshot */

#define SCHEDQ_NO_NODE       UINT32_MAX           /**< the number of no node */
#define SCHEDQ_NO_RESOURCE   UINT32_MAX           /**< the number of no resource */
#define SCHEDQ_NO_START      INT64_MAX            /**< has not started: later than every time */
/** the most of one resource: of a node, and of all pods on it together */
#define SCHEDQ_QUANTITY_MAX  (INT64_C(1) << 60)
#define SCHEDQ_RESOURCES_MAX 1024                 /**< names of resources in a snapshot */
#define SCHEDQ_LABELS_MAX    1024                 /**< labels of a pod, requirements of a budget */

/**
 * Numbers of the resources that every snapshot has; schedq_cluster_resource gives those of others.
 */
enum { SCHEDQ_RESOURCE_CPU = 0, SCHEDQ_RESOURCE_MEMORY = 1, SCHEDQ_RESOURCE_PODS = 2 };

/** A handle: names a running pod from add to remove; later it is NOT_FOUND. {0} names none. */
typedef struct schedq_running {
    uint32_t index;      /**< opaque */
    uint32_t generation; /**< opaque */
} schedq_running_t;

/* ---- what a snapshot is told ----------------------------------------------------------------- */

/** An amount of an extended resource. */
typedef struct schedq_amount {
    uint32_t resource; /**< from schedq_cluster_resource; each at most once in a list */
    uint32_t reserved; /**< zero */
    int64_t  amount;   /**< 0..SCHEDQ_QUANTITY_MAX, in the caller's unit of that resource */
} schedq_amount_t;

/** What a pod requests, or a node has to give. */
typedef struct schedq_amounts {
    int64_t cpu_milli;    /**< 0..SCHEDQ_QUANTITY_MAX */
    int64_t memory_bytes; /**< 0..SCHEDQ_QUANTITY_MAX */
    const schedq_amount_t *extended; /**< amounts of other resources; a resource without one: 0 */
    uint32_t extended_count; /**< elements of `extended` */
    uint32_t reserved; /**< zero */
} schedq_amounts_t;

/** A node: a machine, with what it has to give. Begin with SCHEDQ_NODE_SPEC_INIT. */
typedef struct schedq_node_spec {
    uint32_t struct_size;         /**< set by SCHEDQ_NODE_SPEC_INIT */
    uint32_t reserved;            /**< zero */
    const char *name;             /**< 1..317 bytes */
    uint64_t object;              /**< the caller's own */
    schedq_amounts_t allocatable; /**< what pods may request of it in all */
    /** how many pods may run there, 0..SCHEDQ_QUANTITY_MAX; default 0: no pod fits there */
    int64_t pods;
} schedq_node_spec_t;

/** Nothing of anything. */
#define SCHEDQ_AMOUNTS_INIT \
    {                       \
        0, 0, NULL, 0, 0    \
    }

/** A node without name and amounts. */
#define SCHEDQ_NODE_SPEC_INIT                                                     \
    {                                                                             \
        sizeof(schedq_node_spec_t), 0, NULL, 0, SCHEDQ_AMOUNTS_INIT, 0 /* pods */ \
    }

/** A label of a pod. */
typedef struct schedq_label {
    const char *key;   /**< 1..317 bytes */
    const char *value; /**< 0..317 bytes */
} schedq_label_t;

/** A pod that occupies a node. Begin with SCHEDQ_RUNNING_SPEC_INIT. */
typedef struct schedq_running_spec {
    uint32_t struct_size; /**< set by SCHEDQ_RUNNING_SPEC_INIT */
    uint32_t node;        /**< the number of a node */
    const char *name;     /**< "namespace/name", 3..317 bytes */
    uint64_t object;      /**< the caller's own */
    uint64_t workload;    /**< the caller's key of the job that it belongs to; 0 = none */
    int32_t  priority;    /**< lower ones are evicted for higher ones */
    uint32_t label_count; /**< 0..SCHEDQ_LABELS_MAX */
    int64_t  start_ns;    /**< when it started; any value; with config.min_run_ns on the clock of
                               schedq_preemptor.now_ns; SCHEDQ_NO_START: min_run_ns spares it */
    schedq_amounts_t requests; /**< what it takes of its node */
    const schedq_label_t *labels; /**< each key once */
    uint8_t  terminating; /**< 0..1: it has a deletionTimestamp */
    uint8_t  is_protected; /**< 0..1: never a victim (kube's IsEligiblePod said no) */
    uint8_t  disruption_status; /**< 0..1: its condition DisruptionTarget is True */
    uint8_t  reserved[5]; /**< zero */
    const char *disruption_reason; /**< the condition's reason; NULL = no such condition. Only
                                        "PreemptionByScheduler" counts */
} schedq_running_spec_t;

/** A pod on node 0 without name and amounts. */
#define SCHEDQ_RUNNING_SPEC_INIT                                                          \
    {                                                                                     \
        sizeof(schedq_running_spec_t), 0, NULL, 0, 0, 0, 0, 0, SCHEDQ_AMOUNTS_INIT, NULL, \
            0, 0, 0, {0, 0, 0, 0, 0}, NULL                                                \
    }

/* budget.selector */
enum { SCHEDQ_SELECT_NIL = 0, SCHEDQ_SELECT_INVALID = 1, SCHEDQ_SELECT_ALL_OF = 2 };
/* requirement.kind */
enum { SCHEDQ_LABEL_EQUALS = 0, SCHEDQ_LABEL_EXISTS = 1 };

/** What a budget asks of a pod's labels. */
typedef struct schedq_requirement {
    const char *key;   /**< 1..317 bytes */
    const char *value; /**< EQUALS: 0..317 bytes; EXISTS: NULL */
    uint32_t kind;     /**< SCHEDQ_LABEL_EQUALS, SCHEDQ_LABEL_EXISTS */
    uint32_t reserved; /**< zero */
} schedq_requirement_t;

/** A PodDisruptionBudget. Begin with SCHEDQ_BUDGET_SPEC_INIT. */
typedef struct schedq_budget_spec {
    uint32_t struct_size; /**< set by SCHEDQ_BUDGET_SPEC_INIT */
    uint32_t reserved; /**< zero */
    const char *name;  /**< "namespace/name", 3..317 bytes; it concerns pods of this namespace */
    const schedq_requirement_t *requirements; /**< all have to be met */
    uint32_t requirement_count; /**< 0..SCHEDQ_LABELS_MAX; 0 unless selector is ALL_OF */
    uint32_t selector; /**< ALL_OF: it concerns pods that meet all requirements. NIL, INVALID, and
                            ALL_OF without requirements: it concerns no pod */
    int32_t  allowed;  /**< status.disruptionsAllowed; any value */
    uint32_t disrupted_count; /**< elements of `disrupted` */
    /** status.disruptedPods: names without a namespace, 1..317 bytes */
    const char *const *disrupted;
} schedq_budget_spec_t;

/** A budget of no pods. */
#define SCHEDQ_BUDGET_SPEC_INIT                                                       \
    {                                                                                 \
        sizeof(schedq_budget_spec_t), 0, NULL, NULL, 0, SCHEDQ_SELECT_NIL, 0, 0, NULL \
    }

/**
 * A waiting pod that an earlier decision promised a node. Begin with SCHEDQ_NOMINATED_SPEC_INIT.
 */
typedef struct schedq_nominated_spec {
    uint32_t struct_size; /**< set by SCHEDQ_NOMINATED_SPEC_INIT */
    uint32_t node;      /**< the number of a node */
    const char *name;   /**< "namespace/name", 3..317 bytes */
    uint64_t object;    /**< the caller's own */
    uint32_t reserved;  /**< zero */
    int32_t  priority;  /**< its nomination counts for pods of at most this priority */
    schedq_amounts_t requests; /**< what it will take there */
    int64_t  expires_ns; /**< end of its lease, on the clock of schedq_preemptor.now_ns, 0 or more;
                              0 and SCHEDQ_NO_DEADLINE = it has none. Pass
                              decision.nomination_expires_ns. It counts in evaluations with
                              config.nomination_lease_ns > 0, and in schedq_cluster_expire */
} schedq_nominated_spec_t;

/** A pod without name and amounts, nominated to node 0. */
#define SCHEDQ_NOMINATED_SPEC_INIT                                                                 \
    {                                                                                              \
        sizeof(schedq_nominated_spec_t), 0, NULL, 0, 0, 0, SCHEDQ_AMOUNTS_INIT, 0 /* expires_ns */ \
    }

/**
 * All of a snapshot, for schedq_cluster_load. Begin with SCHEDQ_CLUSTER_ARRAYS_INIT. A pod's or a
 * nomination's node is the position of a node in `nodes`.
 */
typedef struct schedq_cluster_arrays {
    uint32_t struct_size;     /**< set by SCHEDQ_CLUSTER_ARRAYS_INIT */
    uint32_t node_count;      /**< of `nodes` */
    const schedq_node_spec_t      *nodes;     /**< their numbers are 0, 1, ... */
    const schedq_running_spec_t   *pods;      /**< that occupy them */
    const schedq_budget_spec_t    *budgets;   /**< that limit evictions */
    const schedq_nominated_spec_t *nominated; /**< that were promised a node */
    uint32_t pod_count;       /**< of `pods` */
    uint32_t budget_count;    /**< of `budgets` */
    uint32_t nominated_count; /**< of `nominated` */
    uint32_t reserved;        /**< zero */
} schedq_cluster_arrays_t;

/** Nothing in any of them. */
#define SCHEDQ_CLUSTER_ARRAYS_INIT                                             \
    {                                                                          \
        sizeof(schedq_cluster_arrays_t), 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0 \
    }

/** A running pod as the snapshot has it, without its name, texts and lists. */
typedef struct schedq_running_view {
    uint64_t object;       /**< this and all other members: as in schedq_running_spec_t */
    uint64_t workload;     /**< key of what it belongs to */
    uint32_t node;         /**< the number of its node */
    int32_t  priority;     /**< its priority */
    int64_t  start_ns;     /**< when it started */
    uint8_t  terminating;  /**< 1: it has a deletionTimestamp */
    uint8_t  is_protected; /**< 1: never a victim */
    uint8_t  reserved[6]; /**< zero */
} schedq_running_view_t;

/* ---- the snapshot ---------------------------------------------------------------------------- */

/**
 * Makes an empty snapshot.
 *
 * @param allocator copied; NULL or all zero: libc's malloc
 * @param cluster   receives it, NULL if there is none
 * @retval SCHEDQ_OK       *cluster is the caller's until schedq_cluster_destroy
 * @retval SCHEDQ_INVALID  *cluster is NULL; `why` says what is wrong
 * @retval SCHEDQ_NOMEM    *cluster is NULL
 *
 * Threads: any thread  Progress: wait-free but for the allocator; allocates.
 */
SCHEDQ_API schedq_status_t schedq_cluster_create(const schedq_allocator_t *allocator,
                                                 schedq_cluster_t **cluster, char *why,
                                                 size_t why_size);

/**
 * Frees a snapshot; NULL is allowed. Handles in decisions made from it name nothing afterwards.
 *
 * Threads: [cluster]  Progress: O(all that is in the snapshot).
 */
SCHEDQ_API void schedq_cluster_destroy(schedq_cluster_t *cluster);

/**
 * Removes nodes, pods, budgets, nominations and the record of evictions. Resources keep their
 * numbers.
 *
 * Threads: [cluster]  Progress: O(all that is in the snapshot).
 */
SCHEDQ_API void schedq_cluster_clear(schedq_cluster_t *cluster);

/**
 * Says what the last [cluster] call that returns a status found wrong; "" if it succeeded, or was
 * NOMEM. Valid until the next [cluster] call.
 *
 * Threads: [cluster]  Progress: wait-free.
 */
SCHEDQ_API const char *schedq_cluster_error(const schedq_cluster_t *cluster);

/**
 * Gives the number of an extended resource, and registers the name if it is new.
 *
 * @param name     1..317 bytes; not "cpu", "memory", "pods"
 * @param resource receives the number, 3 or more
 * @retval SCHEDQ_OK       the number is *resource
 * @retval SCHEDQ_FULL     SCHEDQ_RESOURCES_MAX names; nothing changed
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 *
 * Threads: [cluster]  Progress: O(names); a new name: O(nodes * levels * names); allocates.
 */
SCHEDQ_API schedq_status_t schedq_cluster_resource(schedq_cluster_t *cluster, const char *name,
                                                   uint32_t *resource);

/**
 * Fills an empty snapshot from arrays, in their order. Nodes get the numbers 0, 1, ...
 *
 * schedq_cluster_error names the array and the position.
 * @param arrays nodes, pods, budgets and nominations; copied
 * @retval SCHEDQ_OK         all of it is in the snapshot
 * @retval SCHEDQ_INVALID    also if the snapshot is not empty; nothing changed
 * @retval SCHEDQ_EXISTS     a name occurs twice; nothing changed
 * @retval SCHEDQ_NOT_FOUND  a pod or a nomination names a node that is not there; nothing changed
 * @retval SCHEDQ_FULL       as schedq_cluster_add_pod and _nominate; nothing changed
 * @retval SCHEDQ_NOMEM      nothing changed
 *
 * Threads: [cluster]  Progress: as the calls for each element; allocates.
 */
SCHEDQ_API schedq_status_t schedq_cluster_load(schedq_cluster_t *cluster,
                                               const schedq_cluster_arrays_t *arrays);

/**
 * Adds a node.
 *
 * It gets the lowest number that is free. Nodes are visited in the order of their numbers.
 * @param spec what the node is; copied
 * @param node receives the number; may be NULL
 * @retval SCHEDQ_OK       *node is its number
 * @retval SCHEDQ_EXISTS   a node has that name; nothing changed
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 *
 * Threads: [cluster]  Progress: O(levels * resources), amortized; allocates.
 */
SCHEDQ_API schedq_status_t schedq_cluster_add_node(schedq_cluster_t *cluster,
                                                   const schedq_node_spec_t *spec, uint32_t *node);

/**
 * Gives a node a new object and new amounts. Its pods stay, also if they exceed the amounts now.
 *
 * @param node the number of a node
 * @param spec its name is NULL or the node's
 * @retval SCHEDQ_OK         the snapshot has the new object and amounts
 * @retval SCHEDQ_NOT_FOUND  no node has that number; nothing changed
 * @retval SCHEDQ_INVALID    nothing changed
 * @retval SCHEDQ_NOMEM      nothing changed
 *
 * Threads: [cluster]  Progress: O(levels * resources); allocates.
 */
SCHEDQ_API schedq_status_t schedq_cluster_update_node(schedq_cluster_t *cluster, uint32_t node,
                                                      const schedq_node_spec_t *spec);

/**
 * Removes a node, with the pods that run on it and the nominations to it. Nominations to it in the
 * queue stay: end them (schedq_nominate), since another node may get the number.
 *
 * @param node the number of a node
 * @retval SCHEDQ_OK         the node, its pods and nominations are gone
 * @retval SCHEDQ_NOT_FOUND  no node has that number; nothing changed
 * @retval SCHEDQ_INVALID    nothing changed
 *
 * Threads: [cluster]  Progress: as schedq_cluster_remove_pod for each of its pods.
 */
SCHEDQ_API schedq_status_t schedq_cluster_remove_node(schedq_cluster_t *cluster, uint32_t node);

/**
 * Finds a node's number by its name.
 *
 * @param name ends in NUL
 * @param node receives the number
 * @retval SCHEDQ_OK         *node is its number
 * @retval SCHEDQ_NOT_FOUND  *node is SCHEDQ_NO_NODE
 * @retval SCHEDQ_INVALID    *node is SCHEDQ_NO_NODE
 *
 * Threads: [read]  Progress: O(1).
 */
SCHEDQ_API schedq_status_t schedq_cluster_find_node(const schedq_cluster_t *cluster,
                                                    const char *name, uint32_t *node);

/**
 * Returns 1 + the highest number of a node: the length of schedq_preemptor.statuses. 0: no node.
 *
 * Threads: [read]  Progress: O(1).
 */
SCHEDQ_API uint32_t schedq_cluster_nodes_end(const schedq_cluster_t *cluster);

/**
 * Returns the object of a node; 0 if no node has that number.
 *
 * @param node the number of a node
 *
 * Threads: [read]  Progress: O(1).
 */
SCHEDQ_API uint64_t schedq_cluster_node_object(const schedq_cluster_t *cluster, uint32_t node);

/**
 * Adds a running pod. A nomination of that name stays: call schedq_cluster_unnominate before, else
 * the pod counts twice.
 *
 * @param spec what the pod is; copied
 * @param pod receives the handle; may be NULL
 * @retval SCHEDQ_OK         *pod is its handle
 * @retval SCHEDQ_EXISTS     a running pod has that name; nothing changed
 * @retval SCHEDQ_NOT_FOUND  no node has that number; nothing changed
 * @retval SCHEDQ_FULL       the node's pods together would exceed SCHEDQ_QUANTITY_MAX; nothing
 *         changed
 * @retval SCHEDQ_INVALID    nothing changed
 * @retval SCHEDQ_NOMEM      nothing changed
 *
 * Threads: [cluster]  Progress: O(log pods + pods of the node + levels * resources), the first pod
 *          of a priority O(all pods); allocates.
 */
SCHEDQ_API schedq_status_t schedq_cluster_add_pod(schedq_cluster_t *cluster,
                                                  const schedq_running_spec_t *spec,
                                                  schedq_running_t *pod);

/**
 * Replaces the description of a running pod. With another spec->node it moves there, behind pods of
 * equal priority and start.
 *
 * Only the name stays of the old description: pass requests and labels again.
 *
 * @param spec its name is NULL or the pod's
 * @retval SCHEDQ_OK         the snapshot has the new description
 * @retval SCHEDQ_NOT_FOUND  no such pod or node; nothing changed
 * @retval SCHEDQ_FULL       as schedq_cluster_add_pod; nothing changed
 * @retval SCHEDQ_INVALID    nothing changed
 * @retval SCHEDQ_NOMEM      nothing changed
 *
 * Threads: [cluster]  Progress: as schedq_cluster_add_pod and _remove_pod; allocates.
 */
SCHEDQ_API schedq_status_t schedq_cluster_update_pod(schedq_cluster_t *cluster,
                                                     schedq_running_t pod,
                                                     const schedq_running_spec_t *spec);

/**
 * Removes a running pod. What it took of its node is free.
 *
 * @retval SCHEDQ_OK         the pod is gone; its handle names none
 * @retval SCHEDQ_NOT_FOUND  nothing changed
 * @retval SCHEDQ_INVALID    nothing changed
 *
 * Threads: [cluster]  Progress: O(pods of the node + levels * resources); the last pod of a
 *          priority, if there are more priorities than levels: O(all pods).
 */
SCHEDQ_API schedq_status_t schedq_cluster_remove_pod(schedq_cluster_t *cluster,
                                                     schedq_running_t pod);

/**
 * Finds a running pod by "namespace/name".
 *
 * @param name ends in NUL
 * @param pod  receives the handle
 * @retval SCHEDQ_OK         *pod is its handle
 * @retval SCHEDQ_NOT_FOUND  *pod is {0}
 * @retval SCHEDQ_INVALID    *pod is {0}
 *
 * Threads: [read]  Progress: O(1).
 */
SCHEDQ_API schedq_status_t schedq_cluster_find_pod(const schedq_cluster_t *cluster,
                                                   const char *name, schedq_running_t *pod);

/**
 * Describes a running pod.
 *
 * @param pod  its handle
 * @param view receives the description
 * @retval SCHEDQ_OK         *view is set
 * @retval SCHEDQ_NOT_FOUND  *view is all zero
 * @retval SCHEDQ_INVALID    *view is all zero
 *
 * Threads: [read]  Progress: O(1).
 */
SCHEDQ_API schedq_status_t schedq_cluster_pod(const schedq_cluster_t *cluster, schedq_running_t pod,
                                              schedq_running_view_t *view);

/**
 * Adds a disruption budget, or replaces the one of that name.
 *
 * @param spec what the budget is; copied
 * @retval SCHEDQ_OK       the budget is new, or replaced
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 *
 * Threads: [cluster]  Progress: O(budgets of the namespace + elements of its lists); allocates.
 */
SCHEDQ_API schedq_status_t schedq_cluster_set_budget(schedq_cluster_t *cluster,
                                                     const schedq_budget_spec_t *spec);

/**
 * Removes a disruption budget by "namespace/name".
 *
 * @param name "namespace/name", ends in NUL
 * @retval SCHEDQ_OK         the budget is gone
 * @retval SCHEDQ_NOT_FOUND  nothing changed
 * @retval SCHEDQ_INVALID    nothing changed
 *
 * Threads: [cluster]  Progress: O(budgets of the namespace).
 */
SCHEDQ_API schedq_status_t schedq_cluster_remove_budget(schedq_cluster_t *cluster,
                                                        const char *name);

/**
 * Nominates a waiting pod to a node, behind those that are nominated there. An earlier nomination
 * of that name ends.
 *
 * @param spec       what the pod is, and its node; copied
 * @param generation receives its number, never 0, for schedq_cluster_unnominate; may be NULL
 * @retval SCHEDQ_OK         the pod is nominated
 * @retval SCHEDQ_NOT_FOUND  no node has that number; nothing changed
 * @retval SCHEDQ_FULL       all nominated there together would exceed SCHEDQ_QUANTITY_MAX; nothing
 *         changed
 * @retval SCHEDQ_INVALID    nothing changed
 * @retval SCHEDQ_NOMEM      nothing changed
 *
 * Threads: [cluster]  Progress: O(pods nominated to the node * resources asked for); allocates.
 */
SCHEDQ_API schedq_status_t schedq_cluster_nominate(schedq_cluster_t *cluster,
                                                   const schedq_nominated_spec_t *spec,
                                                   uint64_t *generation);

/**
 * Ends a nomination by "namespace/name".
 *
 * @param name       "namespace/name", ends in NUL
 * @param generation of the nomination that is meant; 0 = any
 * @retval SCHEDQ_OK         the nomination has ended
 * @retval SCHEDQ_NOT_FOUND  nothing changed
 * @retval SCHEDQ_STALE      a later nomination replaced it; nothing changed
 * @retval SCHEDQ_INVALID    nothing changed
 *
 * Threads: [cluster]  Progress: O(1).
 */
SCHEDQ_API schedq_status_t schedq_cluster_unnominate(schedq_cluster_t *cluster, const char *name,
                                                     uint64_t generation);

/**
 * Ends the nominations whose lease is over: expires_ns <= now_ns. Nominations in the queue stay:
 * call schedq_nominate with 0 for each pod, then schedq_notify (AssignedPodDelete), since no other
 * event says that their room is free.
 *
 * @param now_ns  0 or more, on the clock of schedq_preemptor.now_ns
 * @param expired gets the object of each; may be NULL; must not call this snapshot
 * @retval SCHEDQ_OK       also if none was over
 * @retval SCHEDQ_INVALID  nothing changed
 *
 * Threads: [cluster]  Progress: O(nominations).
 */
SCHEDQ_API schedq_status_t schedq_cluster_expire(schedq_cluster_t *cluster, int64_t now_ns,
                                                 void (*expired)(void *ctx, uint64_t object),
                                                 void *ctx);

/**
 * Records that a pod of this workload was evicted, for config.evict_again_ns. Nothing else writes
 * that record.
 *
 * @param workload not 0
 * @param now_ns   0 or more, on the clock of schedq_preemptor.now_ns
 * @retval SCHEDQ_OK       it is recorded
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 *
 * Threads: [cluster]  Progress: O(1), amortized; allocates.
 */
SCHEDQ_API schedq_status_t schedq_cluster_record_eviction(schedq_cluster_t *cluster,
                                                          uint64_t workload, int64_t now_ns);

/**
 * Forgets evictions before `before_ns` (now - evict_again_ns). The record has the last eviction of
 * each workload, until this is called.
 *
 * @param before_ns on the clock of schedq_preemptor.now_ns; any value
 *
 * Threads: [cluster]  Progress: O(record).
 */
SCHEDQ_API void schedq_cluster_forget_evictions(schedq_cluster_t *cluster, int64_t before_ns);

/**
 * Writes all of the snapshot as text: for people, and to compare. The format may change.
 *
 * @param write gets pieces of text, without a NUL; returns 0 to stop
 * @retval SCHEDQ_OK       also when stopped
 * @retval SCHEDQ_INVALID  nothing was written
 *
 * Threads: [read]  Progress: O(all that is in the snapshot).
 */
SCHEDQ_API schedq_status_t schedq_cluster_write(const schedq_cluster_t *cluster,
                                                int (*write)(void *ctx, const char *text,
                                                             size_t length),
                                                void *ctx);

#ifdef __cplusplus
}
#endif

#endif
