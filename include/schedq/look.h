/** @file
 * schedq/look: looking at pods and numbers without taking or changing anything: one pod, all of
 * them, the next in line, how many are before one, why one waits, and how many wait for what.
 *
 * None of these calls stops other threads (MUTEX: but for the lock). What they tell was true during
 * the call; it may be untrue when the call returns.
 */
#ifndef SCHEDQ_LOOK_H
#define SCHEDQ_LOOK_H

#include <schedq/cycle.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Finds a pod by its name: place, handle, object, rejectors, [host] ref. Changes nothing (LOCKFREE:
 * see CALLBACKS in schedq/schedq.h; what it finishes may allocate).
 *
 * @param name as schedq_add, and length; not referenced after the call
 * @retval SCHEDQ_OK         `result` describes the pod
 * @retval SCHEDQ_NOT_FOUND  no pod has that name; one in flight that was deleted has none
 * @retval SCHEDQ_INVALID    bad name
 * @retval SCHEDQ_BUSY       nothing was looked at
 *
 * Threads: [worker]  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_find(schedq_worker_t *worker, const char *name,
                                       size_t length, schedq_result_t *result);

/**
 * A pod as a visitor sees it: a copy, valid during the visit. Times are nanoseconds on the queue's
 * clock.
 */
typedef struct schedq_pod_info {
    uint32_t struct_size;  /**< set by the library */
    uint8_t  place;        /**< schedq_place_t */
    schedq_profile_t profile; /**< whose plugins judge it */
    uint8_t  flags;        /**< SCHEDQ_POD_* */
    uint8_t  deleted;      /**< 1: in flight, deleted meanwhile */
    schedq_pod_t pod;      /**< its handle */
    uint64_t object;       /**< COUNTED: held during the visit; BORROWED: not valid any more if the
                                pod has left the queue by now */
    const char *name;      /**< ends in NUL */
    uint32_t name_length;  /**< bytes, without the NUL */
    int32_t  priority;     /**< higher goes first */
    schedq_history_t history; /**< what happened to it */
    int64_t  backoff_expiry_ns; /**< BACKOFF, ERROR_BACKOFF: when its backoff ends, cut to the
                                     second with backoff_window; else 0 */
    uint64_t unschedulable; /**< bits of the plugins that rejected it; kept until the next pop */
    uint64_t pending;      /**< bits of those that only wait for something; the same */
    uint32_t gate;         /**< 1 + number of the plugin that gates it, or, of a member ASIDE,
                                refuses it; 0 = none */
    uint32_t freed_by;     /**< what brought it out of PARKED or GATED last, as a number
                                (schedq_explain has the name); 0: nothing did */
    uint64_t pop_order;    /**< in flight: grows from pop to pop; else 0 (LOCKFREE: 0 also while the
                                pop has not returned; `history` is that before the pop then) */
    uint64_t cycle;        /**< in flight, with config.count_cycles: popped.cycle; else 0 */
    uint64_t nominated_node; /**< 0 = not nominated */
    uint64_t nomination;   /**< orders the pods nominated to one node; 0 = not nominated */
    int64_t not_before_ns; /**< the time that keeps it back, or kept it back; 0 = none */
    uint8_t held;          /**< 1: schedq_hold keeps it back; in flight: will */
    uint8_t kept_by_class; /**< 1: HELD until not_before_ns, or until its turn, since another pod of
                                its class was rejected */
    uint8_t reserved_too[6]; /**< zero */
    uint64_t label;        /**< 0 = none */
    uint64_t group;        /**< what it is tried together with; 0 = it is tried by itself */
    uint64_t class_id;     /**< the pods that fail alike (spec.class_id); 0 = none, or it has no
                                effect: a member of a group, or config.class_patience_ns 0 */
    schedq_pod_t scout;    /**< the pod of its class that was rejected, and that is tried for all of
                                them; its own handle: it is that one; {0}: there is none */
} schedq_pod_info_t;

/** A visitor: gets one pod; returns 0 to end the walk. See CALLBACKS in schedq/schedq.h. */
typedef int (*schedq_visit_fn)(void *ctx, const schedq_pod_info_t *pod);

/**
 * Visits one pod, in flight too.
 *
 * The visitor runs without any lock.
 * @param visit is called for the pod, once
 * @retval SCHEDQ_OK         it was visited
 * @retval SCHEDQ_NOT_FOUND  it is in no place, or was deleted in flight
 * @retval SCHEDQ_INVALID    visit is NULL
 * @retval SCHEDQ_BUSY       it was not visited
 *
 * Threads: [worker]  Progress: locks. LOCKFREE: what it finishes may allocate.
 */
SCHEDQ_API schedq_status_t schedq_get(schedq_worker_t *worker, schedq_pod_t pod,
                                      schedq_visit_fn visit, void *ctx);

/**
 * Visits every pod, in no order: those in flight too, and of these also the deleted ones.
 *
 * A pod that is in the queue during the whole call is visited exactly once, in a place that it had
 * during the call. For the pods of one place look at pod->place. Visitors run without any lock.
 * @param visit is called for each
 * @retval SCHEDQ_OK       also when the visitor ended it
 * @retval SCHEDQ_NOMEM    no pod was visited
 * @retval SCHEDQ_INVALID  visit is NULL
 * @retval SCHEDQ_BUSY     no pod was visited
 *
 * Threads: [worker]  Progress: locks, for some pods at a time; O(n); allocates.
 */
SCHEDQ_API schedq_status_t schedq_snapshot(schedq_worker_t *worker, schedq_visit_fn visit,
                                           void *ctx);

/**
 * Visits the pods nominated to a node, in the order of their nominations.
 *
 * A scheduler that looks for a node for a pod counts those of at least its priority as if they ran
 * there (docs/PREEMPTION.md). Visitors run without any lock.
 * @param visit is called for each
 * @param node as in schedq_nominate; not 0
 * @retval SCHEDQ_OK       also when there are none, or the visitor ended the walk
 * @retval SCHEDQ_NOMEM    no pod was visited
 * @retval SCHEDQ_INVALID  node is 0, or visit is NULL
 * @retval SCHEDQ_BUSY     no pod was visited
 *
 * Threads: [worker]  Progress: locks; O(pods nominated there); allocates.
 */
SCHEDQ_API schedq_status_t schedq_nominated_pods(schedq_worker_t *worker, uint64_t node,
                                                 schedq_visit_fn visit, void *ctx);

/**
 * Writes "activeQ:%d; backoffQ:%d; unschedulablePods:%d"; with kube_minor 37 the last word is
 * unschedulableEntities.
 *
 * backoffQ counts error backoff too, the last number gated pods too. No number counts pods that are
 * held or in flight. If a call has declared a group, or a pod named one (stats.groups_known),
 * "; pendingPodGroupMemberPods:%d; incompletePodGroupPods:%d" follows. The first counts members
 * that are aside and whose group is in its cycle. The second counts those whose group is incomplete
 * or has no root. Other members aside count where their group's record is.
 * @param text receives it; NULL only if size is 0
 * @param size room in `text`, in bytes; what does not fit is cut off, and a NUL ends it
 * @retval length that it needs without the NUL, as snprintf
 * @retval 0      called from a callback, or text is NULL and size is not 0
 *
 * Threads: [queue]  Progress: locks.
 */
SCHEDQ_API size_t schedq_pending_text(schedq_t *queue, char *text, size_t size);

/**
 * Numbers that a caller reads without a call, by acquire loads. Valid until the queue is destroyed.
 * Only now_ns may be written.
 *
 * A place's count is raised before a pod becomes visible there, and lowered after one left. So a 0
 * that is read after schedq_event_stamp means that no pod has to be looked for there. Exact when
 * the queue is quiet. Active and in-flight pods are in schedq_stats.
 */
typedef struct schedq_words_t {
    uint64_t parked;           /**< pods there now; a group that waits there counts as one
                                    (schedq_stats_t counts its members) */
    uint64_t gated;            /**< the same */
    uint64_t backoff;          /**< the same */
    uint64_t error_backoff;    /**< the same */
    uint64_t nominations;      /**< pods that are nominated now */
    /** the newest sequence that an event drew, the first is 1; 0 = none yet */
    uint64_t event_sequence;
    int64_t  next_deadline_ns; /**< when to call schedq_tick, on the queue's clock;
                                    SCHEDQ_NO_DEADLINE: never. It may be too early (LOCKFREE:
                                    less than any time while a thread looks for the next one);
                                    schedq_tick sets it right */
    /** external_clock: the caller raises it by atomic max; it never goes back */
    int64_t  now_ns;
    uint32_t closed;           /**< 1 after schedq_close */
    uint32_t poppable;         /**< not exact: 1: a pod may be poppable */
    uint64_t held;             /**< pods there now */
    uint64_t aside;            /**< members of groups that are aside now, wherever their group's
                                    record is; in the counts above a record is one */
    uint64_t reserved[5]; /**< zero */
} schedq_words_t;

/**
 * Returns the queue's words. They are the queue's; all calls give the same ones.
 *
 * @retval NULL queue is NULL, or called from a callback
 *
 * Threads: [queue]  Progress: wait-free.
 */
SCHEDQ_API schedq_words_t *schedq_words(schedq_t *queue);

/** Counts and bytes. Begin with SCHEDQ_STATS_INIT. */
typedef struct schedq_stats_t {
    uint32_t struct_size; /**< set by SCHEDQ_STATS_INIT */
    uint32_t workers;     /**< registered ones, the timer thread's too */
    uint64_t active;      /**< pods there now; of a group that waits there each member (how many
                               groups: groups_at) */
    uint64_t backoff;     /**< the same: after a failure with a rejector */
    uint64_t error_backoff; /**< the same: after one without */
    uint64_t parked;      /**< the same */
    uint64_t gated;       /**< the same */
    uint64_t inflight;    /**< pods there now, members of groups among them */
    uint64_t nominated;   /**< pods that are nominated now */
    uint64_t adds;        /**< pods that add, add_many, update and readd made */
    uint64_t pops;        /**< pods that were taken */
    uint64_t dones;       /**< cycles that ended in done */
    uint64_t failures;    /**< cycles that ended in a failure */
    uint64_t deletes;     /**< pods that were deleted */
    uint64_t updates;     /**< updates that changed a pod */
    uint64_t moves;       /**< pods that events and time moved out of a waiting place */
    uint64_t events;      /**< notify and assigned_pod_* calls with an event that concerns any
                               plugin; event_begin calls */
    uint64_t hint_calls;  /**< hints that were asked */
    uint64_t pre_enqueue_calls; /**< the same of gates */
    uint64_t bytes_entries; /**< memory held for pods' records, used or not, as in all bytes_ */
    uint64_t bytes_names; /**< for their names */
    uint64_t bytes_index; /**< for finding a pod by its name */
    uint64_t bytes_queues; /**< for the places where pods wait */
    uint64_t bytes_other; /**< for everything else */
    uint64_t membarriers; /**< fences in all threads that the queue asked the kernel for */
    uint8_t  fences;      /**< those in use: SCHEDQ_FENCES_ASYMMETRIC or REAL (MUTEX: REAL) */
    uint8_t  groups_known; /**< 1: a call has declared a group, or a pod named one; even if the
                                call found no memory */
    uint8_t  reserved[6]; /**< zero */
    uint64_t held;        /**< pods there now */
    /** members that are aside, of groups that are incomplete, have no root, or are in their cycle.
        The other members that are aside count where their group's record is (active, backoff, ...),
        in the place of the record */
    uint64_t aside;
    uint64_t groups;      /**< groups that are declared, or in their cycle */
    uint64_t groups_at[10]; /**< [schedq_place_t]: records of roots there */
    uint64_t members_at[10]; /**< [schedq_place_t]: members that are aside, whose root's record is
                                  there */
    uint64_t class_hides; /**< how often a pod was kept back because of its class */
    uint64_t class_turns; /**< how often one of them was let go because the scout of its class left:
                               it is the next scout. (The others were let go by time, or changed) */
} schedq_stats_t;

/** To be filled. */
#define SCHEDQ_STATS_INIT                                                                     \
    {                                                                                         \
        sizeof(schedq_stats_t), 0,    /* workers */                                           \
            0, 0, 0, 0, 0, 0, 0,      /* active .. nominated */                               \
            0, 0, 0, 0, 0, 0, 0, 0,   /* adds .. events */                                    \
            0, 0, 0, 0, 0, 0, 0,      /* hint_calls .. bytes_other */                         \
            0, 0,                     /* membarriers, fences */                               \
            0, {0, 0, 0, 0, 0, 0}, 0, 0, 0, {0}, {0}, 0, 0 /* from groups_known on */          \
    }

/**
 * Reads counts and bytes: exact when the queue is quiet.
 *
 * @param stats begun with SCHEDQ_STATS_INIT; written with OK only
 * @retval SCHEDQ_OK       every field is set
 * @retval SCHEDQ_INVALID  struct_size; *stats is as it was
 * @retval SCHEDQ_BUSY     *stats is as it was
 *
 * Threads: [queue]  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_stats(schedq_t *queue, schedq_stats_t *stats);

/**
 * Writes the metrics in the Prometheus text format, under kube-scheduler's names where it has one.
 *
 * `write` runs without any lock. A byte of a name that is no UTF-8 is written as a backslash, an x
 * and two hexadecimal digits.
 * @param write gets pieces of text, without a NUL; returns 0 to stop
 * @retval SCHEDQ_OK       also when stopped
 * @retval SCHEDQ_NOMEM    nothing was written
 * @retval SCHEDQ_INVALID  write is NULL
 * @retval SCHEDQ_BUSY     nothing was written
 *
 * Threads: [queue]  Progress: locks; O(n); allocates (libc's malloc).
 */
SCHEDQ_API schedq_status_t schedq_metrics_write(
    schedq_t *queue, int (*write)(void *ctx, const char *text, size_t length), void *ctx);

/** A queue, and what its metrics are labelled with. */
typedef struct schedq_named_queue {
    schedq_t *queue;  /**< not NULL */
    const char *name; /**< 1 to 63 letters, digits and - _ . : / of ASCII, and a NUL; not
                           referenced after the call */
} schedq_named_queue_t;

/**
 * Writes the metrics of several queues as one text: each family once, each sample with the label
 * schedq="NAME" of its queue.
 *
 * The queues are looked at one after the other. `write` runs outside of their calls, and may call
 * them.
 * @param queues `count` of them, which are not destroyed meanwhile, with names that differ
 * @param count at least 1
 * @param write as schedq_metrics_write
 * @retval SCHEDQ_OK       also when stopped
 * @retval SCHEDQ_NOMEM    nothing was written
 * @retval SCHEDQ_INVALID  nothing was written
 * @retval SCHEDQ_BUSY     from a callback of one of the queues; nothing was written
 *
 * Threads: [queue], of each  Progress: as schedq_metrics_write for each; O(count^2); allocates.
 */
SCHEDQ_API schedq_status_t schedq_metrics_write_named(
    const schedq_named_queue_t *queues, size_t count,
    int (*write)(void *ctx, const char *text, size_t length), void *ctx, char *why,
    size_t why_size);

/* ---- the line -------------------------------------------------------------------------------- */

/**
 * Visits the pod that schedq_try_pop would take now, and takes nothing.
 *
 * Its guarantee is that of a pop: no pod that ranks before it was active during the whole call. If
 * nothing is active, that is a pod in backoff, where pops take those (config.pop_from_backoff). A
 * pod that a pop would keep back because of its class is visited all the same. The visitor runs
 * without any lock.
 * @param visit is called for the pod, once
 * @retval SCHEDQ_OK       it was visited
 * @retval SCHEDQ_EMPTY    nothing is poppable
 * @retval SCHEDQ_NOMEM    (never with MUTEX) nothing was visited
 * @retval SCHEDQ_INVALID  visit is NULL
 * @retval SCHEDQ_BUSY     nothing was visited
 *
 * Threads: [worker]  Progress: locks. LOCKFREE: O(priorities that have pods + workers).
 */
SCHEDQ_API schedq_status_t schedq_peek(schedq_worker_t *worker, schedq_visit_fn visit, void *ctx);

/**
 * Visits the pods that the next `count` pops would take, in that order, and takes none.
 *
 * Each was poppable during the call, and is visited once. If nothing else happens meanwhile these
 * are the next ones; else pods that were popped, updated, held or deleted before their visit may be
 * missing. Visitors run without any lock.
 * @param visit is called for each
 * @param count at least 1
 * @retval SCHEDQ_OK       at least one was visited; fewer than `count`: there were no more, or some
 *                         left meanwhile, or the visitor ended it
 * @retval SCHEDQ_EMPTY    nothing is poppable
 * @retval SCHEDQ_NOMEM    no pod was visited
 * @retval SCHEDQ_INVALID  visit is NULL, or count is 0
 * @retval SCHEDQ_BUSY     no pod was visited
 *
 * Threads: [worker]  Progress: locks, for O(count log count), then for some pods at a time;
 *          allocates. LOCKFREE: O(priorities that have pods + workers + count log count).
 */
SCHEDQ_API schedq_status_t schedq_peek_many(schedq_worker_t *worker, size_t count,
                                            schedq_visit_fn visit, void *ctx);

/**
 * Tells how many active pods rank before one, as two bounds.
 *
 * There is one moment during the call at which no fewer than *lower ranked before it, and no more
 * than *upper. The bounds are equal if no other call is at work meanwhile, with one exception: pods
 * whose order keys (or times) callers chose equal count in *upper only. With SCHEDQ_ORDER_RELAXED
 * so do all others of its priority. LOCKFREE: each call at work moves the bounds apart, by some
 * pods or by some times as many as it pops or changes meanwhile; once a thread has died inside a
 * call, *lower is 0 while others are at work.
 * @param lower receives the lower bound; 0: it may be next
 * @param upper receives the upper bound
 * @retval SCHEDQ_OK         both are set
 * @retval SCHEDQ_GONE       the pod exists, but is not active: it has no position; schedq_explain
 *                           says where it is. Nothing is set
 * @retval SCHEDQ_NOT_FOUND  it is in no place, or was deleted in flight; nothing is set
 * @retval SCHEDQ_INVALID    lower or upper is NULL
 * @retval SCHEDQ_BUSY       nothing is set
 *
 * Threads: [worker]  Progress: locks; O(pods before it). LOCKFREE: O(priorities + workers that put
 *          pods there + n / 512 + log n); O(n) if active pods were deleted, updated or held and
 *          pops have not come to where they were, while many pods are moved at once, or once a
 *          thread has died inside a call.
 */
SCHEDQ_API schedq_status_t schedq_position(schedq_worker_t *worker, schedq_pod_t pod,
                                           uint64_t *lower, uint64_t *upper);

/* ---- reasons --------------------------------------------------------------------------------- */

/**
 * Why a pod is where it is. Times are nanoseconds on the queue's clock. Begin with
 * SCHEDQ_EXPLANATION_INIT.
 */
typedef struct schedq_explanation {
    uint32_t struct_size;  /**< set by SCHEDQ_EXPLANATION_INIT */
    uint8_t  place;        /**< schedq_place_t */
    schedq_profile_t profile; /**< whose plugins judge it */
    uint8_t  gate;         /**< 1 + number of the plugin that gates it; 0 = none */
    uint8_t  kept_by_class; /**< as schedq_pod_info_t */
    schedq_pod_t pod;      /**< its handle */
    uint64_t unschedulable; /**< what rejected it, as bits (schedq_rejector_name); kept until its
                                 next pop */
    uint64_t pending;       /**< of what rejected it, those that only wait for something */
    schedq_history_t history; /**< since when (timestamp_ns), attempts, rejections, errors */
    int64_t  now_ns;       /**< when the call looked */
    int64_t  backoff_expiry_ns; /**< backoff places: as schedq_pod_info_t; else 0 */
    int64_t  wake_ns;      /**< when time alone brings it on: backoff places: the end of its
                                backoff; parked: when it has waited for too long (max_parked_ns;
                                with kube_minor the next flush that reaches it); held by a
                                time alone: not_before_ns; aside: the same of its root's record;
                                else, and with SCHEDQ_DECIDE_HOST if parked,
                                SCHEDQ_NO_DEADLINE. (With gates_see_wildcards a gated pod's gate
                                is asked again after max_parked_ns; from when that counts is not
                                told) */
    uint64_t nominated_node; /**< 0 = not nominated */
    uint64_t nomination;   /**< orders the pods nominated to one node; 0 = not nominated */
    const char *freed_by;  /**< what brought it out of PARKED or GATED last, as the metrics name it:
                                the label of an event ("NodeAdd"), of an update, an activation, or
                                the limit of waiting; NULL: nothing did since it was added. Valid
                                until destroy. LOCKFREE: of two at about the same time perhaps the
                                earlier one */
    uint64_t group;         /**< what it is tried together with (group.h); 0: it is tried by itself,
                                and the group_ members are 0 */
    uint64_t group_root;    /**< as schedq_group_info_t.root; 0: it has none, or is not declared */
    uint64_t group_waiting; /**< members that are aside, as schedq_group_info_t.waiting; 0: it is
                                not declared */
    uint32_t group_quorum;  /**< members that the group needs to be tried, as described; 0 means 1,
                                or that the group is not declared */
    uint8_t  group_place;   /**< schedq_place_t of its root's record; ASIDE: a quorum is missing;
                                NOWHERE: it has no root. schedq_group_get has what rejected it */
    uint8_t  group_declared; /**< 1: it is declared */
    uint8_t  reserved_too[2]; /**< zero */
    uint64_t class_id;     /**< as schedq_pod_info_t */
    schedq_pod_t scout;    /**< the same: the pod that it waits for if its class keeps it back */
} schedq_explanation_t;

/** To be filled. */
#define SCHEDQ_EXPLANATION_INIT                                                          \
    {                                                                                    \
        sizeof(schedq_explanation_t), SCHEDQ_NOWHERE, 0, 0, 0, {0}, 0, 0,                \
            {0, 0, 0, 0, 0, 0}, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 0, SCHEDQ_NOWHERE, 0,      \
            {0, 0}, 0, {0}                                                               \
    }

/**
 * Tells why a pod is where it is, in flight too.
 *
 * @param explanation begun with SCHEDQ_EXPLANATION_INIT; written with OK only
 * @retval SCHEDQ_OK         every field is set. What is said of a group may be of a later moment
 *                           than what is said of the pod
 * @retval SCHEDQ_NOT_FOUND  it is in no place, or was deleted in flight; *explanation is as it was
 * @retval SCHEDQ_INVALID    explanation is NULL, or its struct_size; *explanation is as it was
 * @retval SCHEDQ_BUSY       *explanation is as it was
 *
 * Threads: [worker]  Progress: locks; for a member O(groups and members below its group). LOCKFREE:
 *          what it finishes may allocate.
 */
SCHEDQ_API schedq_status_t schedq_explain(schedq_worker_t *worker, schedq_pod_t pod,
                                          schedq_explanation_t *explanation);

/**
 * Writes an explanation as one sentence for a person: "parked, rejected by Fit, Spread; came or
 * failed 12.300 s ago; time alone tries it again in 287.700 s; attempts 3, rejections 2, errors 0".
 * Of a member that is aside: "waits on group 7, which is incomplete: members 2, quorum 4; came".
 * "due for 2.000 s, until a thread serves time": its time is over, and no thread has called
 * schedq_tick, waited in a pop, or is the timer thread.
 *
 * @param explanation what schedq_explain filled, of a pod of this queue
 * @param text        room for `size` bytes; what does not fit is cut off, and a NUL ends it; NULL
 *                    only if size is 0
 * @param size        bytes that `text` has room for
 * @retval length that it needs without the NUL, as snprintf
 * @retval 0      called from a callback, or a NULL that is not allowed
 *
 * Threads: [queue]  Progress: lock-free.
 */
SCHEDQ_API size_t schedq_explanation_text(schedq_t *queue, const schedq_explanation_t *explanation,
                                          char *text, size_t size);

/**
 * Returns the name behind a bit of a rejector set; static until schedq_destroy.
 *
 * @param profile of the rejector set
 * @param bit one bit
 * @retval "others" for SCHEDQ_REJECTOR_OTHERS
 * @retval NULL     unknown profile, a bit that no rejector has, more or less than one bit, or
 *                  called from a callback
 *
 * Threads: [queue]  Progress: lock-free.
 */
SCHEDQ_API const char *schedq_rejector_name(schedq_t *queue, schedq_profile_t profile,
                                            uint64_t bit);

/** How many pods of a profile wait for what. Begin with SCHEDQ_REASONS_INIT. */
typedef struct schedq_reasons {
    uint32_t struct_size;   /**< set by SCHEDQ_REASONS_INIT */
    uint32_t reserved; /**< zero */
    uint64_t parked;        /**< pods of the profile; a group's record counts as one */
    uint64_t gated;         /**< the same */
    uint64_t backoff;       /**< pods of all profiles, after a failure with a rejector */
    uint64_t error_backoff; /**< the same, after one without */
    uint64_t parked_by[64]; /**< [n]: parked pods that the plugin whose bit is 1 << n rejected; a
                                 pod counts for each; 63: SCHEDQ_REJECTOR_OTHERS */
    uint64_t gated_by[64];  /**< [n]: gated pods that plugin n keeps out */
} schedq_reasons_t;

/** To be filled. */
#define SCHEDQ_REASONS_INIT                                  \
    {                                                        \
        sizeof(schedq_reasons_t), 0, 0, 0, 0, 0, {0}, {0}    \
    }

/**
 * Counts the parked and gated pods of a profile by the plugins that keep them there: exact when the
 * queue is quiet.
 *
 * @param profile a defined one
 * @param reasons begun with SCHEDQ_REASONS_INIT; written with OK only
 * @retval SCHEDQ_OK       every field is set
 * @retval SCHEDQ_INVALID  unknown profile; reasons is NULL, or its struct_size; *reasons is as it
 *                         was
 * @retval SCHEDQ_BUSY     *reasons is as it was
 *
 * Threads: [worker]  Progress: locks; O(distinct rejector sets). LOCKFREE: O(n).
 */
SCHEDQ_API schedq_status_t schedq_count_reasons(schedq_worker_t *worker, schedq_profile_t profile,
                                                schedq_reasons_t *reasons);

#ifdef __cplusplus
}
#endif

#endif
