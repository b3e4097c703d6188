/*
 * Replacing the description of a pod: what update, nominate, and a failure that brings a newer
 * object have in common.
 *
 * LINEARIZATION. Of what is installed: entry_describe:A (entry.c).
 *
 * ORDERING
 *   exchange_lists:A, its count, description_make, entry_describe:A -> entry_description:A
 *       a reader of the description finds the hint (nominator.h), and a count that is not 0
 * The old record and the old object's reference are given back behind the CAS.
 *
 * PROGRESS. Lock-free, like nominator_insert; one attempt each. A thread that stops before
 * entry_describe:A leaves a hint that is no nomination, and a count that is one too high. One that
 * stops behind it has not given back the old description's record and reference.
 *
 * EVIDENCE. tests/model: description, nominator; stress/explore: update_two, nominate_update;
 * tests/unit/test_nominate.c, test_update.c, test_no_memory.c.
 */
#ifndef SCHEDQ_LOCKFREE_DESCRIBE_H
#define SCHEDQ_LOCKFREE_DESCRIBE_H

#include "lockfree/moves/report.h"

/** What is to be installed on the pod that `before` shows. */
struct redescription {
    struct description description; /* begins as a copy of the old one */
    struct gating gating;           /* the same */
    /*
     * the state word that is installed with it: the old one, one with a raised lag or a flag, or a
     * switch
     */
    uint64_t word;
    uint64_t desc; /* set by describe_install: the word of the description */
    /* the reference stays; else the caller retained the new object, and OK takes that reference */
    bool same_object;
    bool renominates; /* to description.nominated_node, under a number of its own */
};

/** Memory for one description. False: there is none. */
static inline bool
describe_prepare(struct worker *worker)
{
    return worker->descriptions.count > 0 ||
           slab_refill(&queue_of(worker)->entries.descriptions, &worker->descriptions);
}

/**
 * One attempt to install. *desc: the word to compare with; with OK, the new one.
 *
 * @retval SCHEDQ_OK     installed; the old record went back
 * @retval SCHEDQ_RETRY  the words changed
 * @retval SCHEDQ_NOMEM  nothing changed
 */
STRAIGHT schedq_status_t
describe_swap(struct worker *worker, struct entry *entry, uint64_t state, uint64_t word,
              const struct description *description, const struct gating *gating, uint64_t *desc)
{
    struct entries *entries = &queue_of(worker)->entries;
    uint64_t replacement = description_make(entries, &worker->descriptions, description, gating);

    if (replacement == 0) {
        return SCHEDQ_NOMEM;
    }
    bool installed = entry_describe(entry, state, *desc, word, replacement);

    description_give(entries, &worker->descriptions, installed ? *desc : replacement);
    *desc = replacement;
    return installed ? SCHEDQ_OK : SCHEDQ_RETRY;
}

/** Begins with a description that differs in nothing. */
struct redescription describe_begin(const struct view *before);

/**
 * Describes as a spec says, but for the class. A pod that loses its order key is ordered by its
 * Timestamp.
 */
static inline void
describe_as(struct description *description, const schedq_pod_spec_t *spec, int64_t timestamp)
{
    bool had_key = (description->flags & SCHEDQ_POD_ORDER_KEY) != 0;

    description->object = spec->object;
    description->priority = spec->priority;
    description->flags = spec->flags & POD_FLAGS;
    description->described_node = spec->nominated_node;
    description_set_time(description, spec->not_before_ns);
    if ((spec->flags & SCHEDQ_POD_ORDER_KEY) != 0 || had_key) {
        description->marks |= MARK_OWN_KEY;
        description->order_key =
            (spec->flags & SCHEDQ_POD_ORDER_KEY) != 0 ? spec->order_key : timestamp;
    }
}

/**
 * After describe_as: sets the class. A pod that its class kept back once is tried before it is kept
 * back again.
 */
static inline void
describe_class(struct description *description, const struct description *before, uint64_t class_id)
{
    description_set_class(description, class_id);
    description->flags |= class_id != 0 ? before->flags & DESCRIBED_WAITED : 0;
}

/** Both, of what is to be installed. */
void describe_by_spec(struct redescription *change, const struct view *before,
                      const schedq_pod_spec_t *spec);

/** Does either name a node, or is nominated to one? Then the pod is nominated anew. */
static inline bool
describe_names_node(const struct description *before, const struct description *description)
{
    return (before->described_node | before->nominated_node | description->described_node) != 0;
}

/**
 * Draws, inserts and counts the nomination of a description that is to replace `before`. The node
 * is the one that the pod names, as at admission; a nomination of another origin is only renewed.
 * For a pod's first description both are the same. False: no memory.
 */
bool describe_nominate(struct worker *worker, uint32_t record, uint64_t life,
                       const struct description *before, struct description *description);

/** The same node, but describe_install draws, inserts and counts. */
void describe_renominate(struct redescription *change, const struct view *before);

/**
 * Installs it.
 *
 * @retval SCHEDQ_OK     installed; the old object's reference was released, unless it is the same
 * @retval SCHEDQ_RETRY  the pod changed: look again
 * @retval SCHEDQ_NOMEM  nothing changed
 */
schedq_status_t describe_install(struct worker *worker, uint32_t record, const struct view *before,
                                 struct redescription *change);

/** Nominates the pod that `view` shows to a node, 0: ends its nomination. As describe_install. */
schedq_status_t describe_nomination(struct worker *worker, uint32_t record, const struct view *view,
                                    uint64_t node);

/** A life begins that has hints under its label and its group; 0: none. */
void describe_life(struct queue *queue, uint64_t ref, uint64_t label, uint64_t group);

/** The life is over. `epoch`: of the section; NULL: a guest's. */
void describe_life_end(struct queue *queue, struct epoch_record *epoch, uint64_t ref,
                       uint64_t label, uint64_t group);

/** The pod is over, or deleted, or has another description: ends this description's nomination. */
static inline void
describe_end_in(struct queue *queue, const struct description *description)
{
    if (description->nominated_node != 0) {
        (void)u64_add(u64_of(&queue->base.words.nominations), UINT64_MAX);
    }
}

static inline void
describe_end(struct worker *worker, const struct description *description)
{
    describe_end_in(queue_of(worker), description);
}

#endif
