/*
 * One evaluation: what schedq_preempt has drawn together from snapshot, configuration and
 * preemptor, and the workspace that it fills. Its steps are files of their own: question,
 * eligibility, dry_run (scan, victims, fits, violations), extenders, choose, actions. place asks
 * the same question of nodes that no pod leaves.
 *
 * While the dry run is on, everything in here is read only, but for the lanes: each task of an
 * executor has one. Bits and verdicts of a node are written by the lane that visits it, and no two
 * lanes share a word of bits.
 */
#ifndef SCHEDQ_PREEMPTION_EVALUATION_H
#define SCHEDQ_PREEMPTION_EVALUATION_H

#include "preemption/cluster.h"

#define TASKS_MAX 64

/**
 * A resource that the preemptor asks for. The first three are its pod slot, cpu and memory, asked
 * for or not.
 */
struct need {
    uint32_t resource;
    int64_t amount;        /* 0: not asked for, whatever is free is enough */
    int64_t least;         /* the room that a node has to have: amount, or nothing */
    const int64_t *column; /* of the table that scan looks at */
};

enum { NEED_PODS, NEED_CPU, NEED_MEMORY, NEED_EXTENDED };

/** The room of what is not asked for: more than any sum of requests. */
#define ROOM_ENOUGH (INT64_MAX / 2)

/** Memory for lists of victims. Blocks do not move, so that lists can be pointed to. */
struct block {
    schedq_running_t *items;
    uint32_t capacity, used;
};

struct candidates {
    schedq_candidate_node_t *items;
    uint32_t count, capacity;
};

/** What one thread needs to evaluate node after node. */
struct lane {
    struct memory *memory;
    struct block *blocks;
    uint32_t block_count, block_capacity, block; /* block: the one that is being filled */
    struct candidates found;                     /* of a window, with an executor */

    /* Of the node at hand. Lists of positions of slots. */
    uint32_t *potential, *peaceful, *violating; /* one allocation, which begins at `potential` */
    schedq_running_t *away;                     /* for the filter: pods that are not there */
    uint32_t list_capacity;
    int64_t *room; /* per need: what is left beside the preemptor */
    uint32_t room_capacity;
    uint64_t *nominated; /* objects */
    uint32_t nominated_capacity;
    int32_t *left; /* per budget, if its stamp is this visit's */
    uint64_t *stamps;
    uint64_t visit;
    uint32_t budget_capacity, stamp_capacity;
    bool no_memory;
};

struct schedq_preemption {
    struct memory memory;
    char words[400];

    const schedq_cluster_t *cluster; /* NULL: nothing was evaluated yet */
    schedq_preemption_config_t config;
    schedq_preemptor_t preemptor;
    struct need *needs;
    uint32_t need_count, need_capacity;
    struct room below;            /* the level under the preemptor */
    const struct nomination *own; /* the preemptor's nomination, or NULL */
    bool prunes;                  /* columns may reject nodes */
    bool spares;                  /* some pods are no victims because of time */
    bool only_room;               /* columns, priorities and importance decide, and nothing else */

    uint32_t potential, offset, wanted, rejected, errors;
    uint64_t *potentials, *evaluated, *pruned; /* a bit for each node */
    uint32_t potential_capacity, evaluated_capacity, pruned_capacity;
    schedq_verdict_t *verdicts; /* of nodes that were evaluated and not pruned */
    uint32_t verdict_capacity;

    struct lane lanes[TASKS_MAX];
    /* peaceful: in the end all, those without violations first */
    struct candidates peaceful, violating;
    struct candidates left;  /* after the extenders */
    struct candidates trial; /* what an extender gets */
    schedq_running_t *deletes;
    uint32_t delete_capacity;
    schedq_lower_nomination_t *clears;
    uint32_t clear_capacity;
};

/** Ones in a word; without the instruction the compiler's is a call. */
static inline uint32_t
count_ones(uint64_t word)
{
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(word * UINT64_C(0x0101010101010101) >> 56);
}

/* ---- checks (config.c) ----------------------------------------------------------------------- */

bool check_config(const struct words *words, const schedq_preemption_config_t *config);
/** What schedq_cluster_fits reads of it. */
bool check_pod(const struct words *words, const schedq_cluster_t *cluster,
               const schedq_preemptor_t *preemptor);
bool check_nominated_node(const struct words *words, const schedq_cluster_t *cluster,
                          const schedq_preemptor_t *preemptor);
/** All of it. */
bool check_preemptor(const struct words *words, const schedq_cluster_t *cluster,
                     const schedq_preemptor_t *preemptor);
bool check_decision(const struct words *words, const schedq_preemption_decision_t *decision);

/* ---- memory (workspace.c) -------------------------------------------------------------------- */

/** Makes room for `count` more victims in a row; NULL: no memory. */
schedq_running_t *lane_reserve_slowly(struct lane *lane, uint32_t count);
/**
 * Room for `count` more victims in a row, or NULL: no memory. lane_keep says how many it became.
 */
static inline schedq_running_t *
lane_reserve(struct lane *lane, uint32_t count)
{
    if (lane->block < lane->block_count) {
        const struct block *block = &lane->blocks[lane->block];

        if (block->capacity - block->used >= count) {
            return block->items + block->used;
        }
    }
    return lane_reserve_slowly(lane, count);
}
static inline void
lane_keep(struct lane *lane, uint32_t count)
{
    lane->blocks[lane->block].used += count;
}
/** Room for that many needs; false: no memory. */
bool lane_room(struct lane *lane, uint32_t needs);
/** Lists for a node with that many pods; false: no memory. */
bool lane_lists(struct lane *lane, uint32_t pods);
/** The lists of victims of earlier evaluations are forgotten. */
void lane_reset(struct lane *lane);
/** False: no memory. */
bool candidates_grow(struct candidates *candidates, struct memory *memory);
static inline bool
candidates_push(struct candidates *candidates, struct memory *memory,
                const schedq_candidate_node_t *candidate)
{
    if (candidates->count == candidates->capacity && !candidates_grow(candidates, memory)) {
        return false;
    }
    candidates->items[candidates->count++] = *candidate;
    return true;
}

/* ---- the question (question.c) --------------------------------------------------------------- */

/**
 * Sets what evaluations read: these, the needs, and the pod's own nomination. `below`: the room
 * that nodes have, as columns. False: no memory.
 */
bool question_set(schedq_preemption_t *of, const schedq_cluster_t *cluster,
                  const schedq_preemption_config_t *config, const schedq_preemptor_t *preemptor,
                  struct room below);

/* ---- steps ----------------------------------------------------------------------------------- */

/** Do the rules that depend on time let this pod alone? */
bool is_spared(const schedq_preemption_t *of, const struct slot *slot);

/** The position of the first pod of a node with a lower priority than the preemptor. */
uint32_t first_below(const schedq_preemption_t *of, const struct node *node);

schedq_eligibility_t eligibility(const schedq_preemption_t *of);

/** Does a nomination count as a pod that runs there? */
bool nomination_counts(const schedq_preemption_t *of, const struct nomination *nomination);

/**
 * Sets lane->room to what is left beside the preemptor when the `count` pods of lane->potential are
 * away.
 */
void room_without(const schedq_preemption_t *of, struct lane *lane, uint32_t node, uint32_t count);
/**
 * Would the preemptor fit, resources and filter, with `away_count` pods in lane->away not there?
 * CANDIDATE: yes.
 */
schedq_verdict_t fits(const schedq_preemption_t *of, struct lane *lane, uint32_t node,
                      uint32_t away_count);

/**
 * Splits the `count` pods of lane->potential into lane->violating and lane->peaceful; returns how
 * many violate.
 */
uint32_t split_by_budgets(const schedq_preemption_t *of, struct lane *lane, const struct node *node,
                          uint32_t count);

/** The victims that a node would lose. CANDIDATE: *candidate is set. */
schedq_verdict_t victims_on(const schedq_preemption_t *of, struct lane *lane, uint32_t node,
                            schedq_candidate_node_t *candidate);

/** Nodes from..to - 1 that are potential and not pruned, one after the other. */
struct scan {
    uint32_t word, end;   /* of bits; `end`: behind the last one */
    uint64_t first, last; /* which bits of the first and the last word belong to it */
    uint64_t open;        /* bits of `word` still to be visited */
    bool is_open;         /* `open` is set */
};

/** Finds the potential nodes and counts them; false: no memory. */
bool scan_prepare(schedq_preemption_t *of);
/** The node that has this number among the potential ones. */
uint32_t scan_find(const schedq_preemption_t *of, uint32_t number);
void scan_open(struct scan *scan, uint32_t from, uint32_t to);
/**
 * The next node, or SCHEDQ_NO_NODE. Marks the nodes of every word that it begins as evaluated, or
 * pruned.
 */
uint32_t scan_next(struct scan *scan, schedq_preemption_t *of);
/** Nodes from..to - 1 were not evaluated after all. */
void scan_forget(schedq_preemption_t *of, uint32_t from, uint32_t to);

/** False: no memory. */
bool dry_run(schedq_preemption_t *of);

/** Sets first, highest, sum and start of the candidate from its victims. */
void score(const schedq_cluster_t *cluster, schedq_candidate_node_t *candidate);
/**
 * Reads of->peaceful, fills of->left. OK, NOMEM, or INVALID: *failed is the extender that failed.
 */
schedq_status_t ask_extenders(schedq_preemption_t *of, uint32_t *failed);

/** What its victims cost; 0 without costs. */
uint64_t cost_of(const schedq_preemption_t *of, const schedq_candidate_node_t *candidate);
/** The best of them, or NULL. */
const schedq_candidate_node_t *choose(const schedq_preemption_t *of, const struct candidates *from);

/** Fills deletes and clears; false: no memory. */
bool plan_actions(schedq_preemption_t *of, const schedq_candidate_node_t *chosen,
                  schedq_preemption_decision_t *decision);

#endif
