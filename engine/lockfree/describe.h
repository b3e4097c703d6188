/*
 * Replacing the description of a pod: what update, nominate, and a failure that brings a newer object have in common.
 */
#ifndef SCHEDQ_LOCKFREE_DESCRIBE_H
#define SCHEDQ_LOCKFREE_DESCRIBE_H

#include "lockfree/report.h"

/** What is to be installed on the pod that `before` shows. */
struct redescription {
    struct description description; /* begins as a copy of the old one */
    uint64_t word;    /* the state word that goes with it: the old one, or one with a raised lag or a flag */
    bool same_object; /* the reference stays; else the caller retained the new object, and loses that with OK */
    bool renominates; /* to description.nominated_node, under a number of its own */
};

/** Begins with a description that differs in nothing. */
struct redescription describe_begin(const struct view *before);

/**
 * Puts in what a spec says; `band` is the one that the pod counts to from then on.
 *
 * A pod that loses its order key is ordered by its Timestamp.
 */
void describe_by_spec(struct redescription *change, const struct view *before, const schedq_pod_spec_t *spec,
                      uint32_t band);

/** Nominates to the node that the description has, as admission does; a nomination of another origin is only renewed. */
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

/** For a pod that does not exist yet: draws and inserts the nomination that its description has. False: no memory. */
bool describe_first_nomination(struct worker *worker, uint32_t record, uint64_t life, struct description *description);

/** Nominates the pod that `view` shows to a node, 0: ends its nomination. As describe_install. */
schedq_status_t describe_nomination(struct worker *worker, uint32_t record, const struct view *view, uint64_t node);

/** The pod is over, or deleted: its nomination is. */
void describe_end(struct worker *worker, const struct description *description);

#endif
