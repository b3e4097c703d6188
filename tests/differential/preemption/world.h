/*
 * The same cluster twice: as a snapshot of the library, and as the reference's arrays. Every change
 * is made to both.
 */
#ifndef DIFFERENTIAL_PREEMPTION_WORLD_H
#define DIFFERENTIAL_PREEMPTION_WORLD_H

#include "../chance.h"
#include "reference.h"

struct world {
    schedq_cluster_t *cluster;
    schedq_preemption_t *preemption;
    struct ref_cluster ref;
    uint32_t extended[2]; /* numbers of the extended resources */
    uint64_t sequence;
    uint64_t order; /* of nominations */
    /* How this cluster is drawn. */
    int nodes_max, pods_max;
    int priorities; /* different ones */
    bool extremes;  /* priorities at the ends of int32 */
};

void world_make(struct world *world);
void world_free(struct world *world);

/** Empties both sides and draws a cluster of a random kind. */
void world_draw(struct world *world, chance_t *chance);

/** A few random changes. */
void world_change(struct world *world, chance_t *chance);

int32_t world_priority(const struct world *world, chance_t *chance);
void world_amounts(chance_t *chance, int64_t *amounts, bool node);
/** Amounts as the public header wants them; `extended` has room for two. */
schedq_amounts_t world_public_amounts(const struct world *world, const int64_t *amounts,
                                      schedq_amount_t *extended);

/** Ends the program: the library refused a call that is legal. */
_Noreturn void world_refused(const struct world *world, const char *call, schedq_status_t status);

#endif
