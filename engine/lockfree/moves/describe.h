/*
 * Replacing the description of a pod: what update, nominate, and a failure that brings a newer
 * object have in common.
 *
 * LINEARIZATION. Of what is installed: entry_describe:A (entry.c).
 *
 * ORDERING
 *   nominator_insert:A, its count, description_fill, entry_describe:A -> entry_description:A
 *       a reader of the description finds the hint (nominator.h), and a count that is not 0
 * The old record and the old object's reference are given back behind the CAS.
 *
 * PROGRESS. Lock-free, like nominator_insert; one attempt each. A thread that stops before
 * entry_describe:A leaves a hint that is no nomination, and a count that is one too high; behind
 * it, the old description's record and reference as it was.
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
     * the state word that goes with it: the old one, one with a raised lag or a flag, or a switch
     */
    uint64_t word;
    uint64_t desc; /* set by describe_install: the word of the description */
    /* the reference stays; else the caller retained the new object, and loses that with OK */
    bool same_object;
    bool renominates; /* to description.nominated_node, under a number of its own */
};

/** Begins with a description that differs in nothing. */
struct redescription describe_begin(const struct view *before);

/**
 * Puts in what a spec says; `band` is the one that the pod counts to from then on.
 *
 * A pod that loses its order key is ordered by its Timestamp.
 */
void describe_by_spec(struct redescription *change, const struct view *before,
                      const schedq_pod_spec_t *spec);

/**
 * Nominates to the node that the description has, as admission does; a nomination of another origin
 * is only renewed.
 */
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

/**
 * For a pod that does not exist yet: draws and inserts the nomination that its description has.
 * False: no memory.
 */
bool describe_first_nomination(struct worker *worker, uint32_t record, uint64_t life,
                               struct description *description);

/** Nominates the pod that `view` shows to a node, 0: ends its nomination. As describe_install. */
schedq_status_t describe_nomination(struct worker *worker, uint32_t record, const struct view *view,
                                    uint64_t node);

/** The pod is over, or deleted: its nomination is. */
void describe_end(struct worker *worker, const struct description *description);

#endif
