/*
 * New pods: the steps that add, add_many and update of an unknown name have in common. The essay is
 * at the head of add.c.
 */
#ifndef SCHEDQ_LOCKFREE_ADD_H
#define SCHEDQ_LOCKFREE_ADD_H

#include "lockfree/moves/report.h"
#include "lockfree/moves/transfer.h"

/** A pod on its way into the queue. */
struct arrival {
    size_t element; /* of the caller's array */
    uint32_t record;
    uint32_t hash;
    uint64_t ref;  /* its first; the version is its life */
    uint64_t desc; /* its first */
    int64_t key;
    int32_t rank; /* what orders it: the priority, or 0 with config.fifo */
    uint8_t profile;
    bool backing_off;      /* whether it backed off when it came, if it does not become active */
    struct destination to; /* of an active pod: place, gate and band only */
    uint64_t group;        /* ASIDE: whose member it is */
    uint32_t cause;        /* why it comes in */
    uint64_t judged_up_to; /* gated: its gate saw the events up to this one */
};

/** How a pod comes: new, or once more after its done. */
struct incoming_pod {
    const schedq_pod_spec_t *spec;
    const schedq_history_t *history; /* NULL: new */
    const schedq_failure_t *failure; /* with a history: why it comes back */
    uint32_t label;
};

/** Adds one pod, inside a section. As schedq_add; *present with SCHEDQ_EXISTS. */
schedq_status_t add_one(struct worker *worker, const struct hashed_name *name,
                        const struct incoming_pod *pod, schedq_result_t *result,
                        struct index_found *present);

/**
 * The same for a pod that comes back; with SCHEDQ_EXISTS *result tells of the pod that has the
 * name.
 */
schedq_status_t add_again(struct worker *worker, const struct hashed_name *name,
                          const struct incoming_pod *pod, schedq_result_t *result);

/* ---- the steps; see add.c -------------------------------------------------------------------- */

/** Is there a pod of this name? Then *present is it, and pops look where it is. */
bool add_is_present(struct worker *worker, const struct hashed_name *name,
                    struct index_found *present);

/** Settles the pod, before the caller says EXISTS. False: the pod has ended by now. */
bool add_tell_present(struct worker *worker, const struct index_found *present, struct view *view);

/**
 * Caps, gates, record, name, key.
 *
 * SCHEDQ_OK; SCHEDQ_EXISTS with *present; SCHEDQ_FULL with words; SCHEDQ_NOMEM; [host] SCHEDQ_RETRY
 * with result->sequence.
 */
schedq_status_t add_admit(struct worker *worker, const struct hashed_name *name,
                          const struct incoming_pod *pod, int64_t now, struct arrival *arrival,
                          struct index_found *present, schedq_result_t *result);

/** The same for a new pod. */
schedq_status_t add_admit_new(struct worker *worker, const struct hashed_name *name,
                              const schedq_pod_spec_t *spec, int64_t now, struct arrival *arrival,
                              struct index_found *present, schedq_result_t *result);

/** Can a spec be plain? Neither gate nor node. */
static inline bool
add_is_plain(const schedq_pod_spec_t *spec)
{
    return spec->gate == 0 && (spec->nominated_node | (uint64_t)spec->not_before_ns | spec->label |
                               spec->group | spec->class_id) == 0;
}

/** May so many plain pods be let in by add_next? */
bool add_takes_plain(const struct queue *queue, size_t count);

/**
 * Lets in one plain pod of several, the best first. *unmarked is the band of those before it that
 * are not marked so far; NULL: all are. Behind the last one the caller calls add_mark, then
 * publish_wake, in the same section.
 *
 * SCHEDQ_OK with *pod; SCHEDQ_CLOSED; SCHEDQ_EXISTS; SCHEDQ_FULL with words; SCHEDQ_NOMEM.
 */
schedq_status_t add_next(struct worker *worker, const struct hashed_name *name,
                         const schedq_pod_spec_t *spec, int64_t now, int64_t key,
                         struct band **unmarked, schedq_pod_t *pod);

/** Marks *unmarked, which then is NULL. */
void add_mark(struct worker *worker, struct band **unmarked);

/** How many pods may be there at once. */
uint32_t add_pods_max(const struct queue *queue);

/** Is there room for one more pod (max_pods)? SCHEDQ_OK; SCHEDQ_FULL with words. */
schedq_status_t add_check_pods(struct worker *worker);

/** The order key of a pod that enters now. */
int64_t add_draw_key(struct worker *worker, int64_t now);

/**
 * Takes an admitted pod back: it never existed. `ref` is its first ref, `place` where it was to go.
 */
void add_give_up(struct worker *worker, uint64_t ref, enum place place);

/**
 * Makes the pod exist, publishes it, finishes. *result is written from the arguments, because the
 * pod may be gone by then. For an active pod the caller has two steps left: publish_mark, in the
 * same section, before a pod that ranks behind it enters and before publish_wake; and *result,
 * which is written here for other pods only.
 *
 * SCHEDQ_OK; SCHEDQ_EXISTS with *present, SCHEDQ_NOMEM: given up; [host] SCHEDQ_RETRY: the gate
 * heard of an event meanwhile, and the pod was taken back.
 */
schedq_status_t add_enter(struct worker *worker, const struct arrival *arrival,
                          const struct hashed_name *name, schedq_result_t *result,
                          struct index_found *present);

#endif
