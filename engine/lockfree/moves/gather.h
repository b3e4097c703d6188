/*
 * What is read of a group's members: all of them, how many there are, and whether they are enough.
 *
 * Members, and the groups below, are hints in a nominator under the group's number. A reading
 * judges each hint against its pod's word and copies the pod: what it has is of no one moment. It
 * is good for numbers and copies; behind a callback everything is looked up again.
 *
 * ENOUGH. `waiting` may be too high, so gather_is_complete may say yes wrongly. It is too low only
 * while a joiner or a declaration has not come to its end (gather_find.h), and that one looks
 * again. A reading (gather_judge_groups) is right for the members that joined before it began.
 *
 * ORDERING
 *   load of `changes`, reading of the hints
 *       what the reading missed raised `changes` later: `refuted` does not cover it
 *   commit of a member ; chain of groups | commit of a declaration ; hints of its number
 *       the member finds the group, or the declaration reads the member
 *
 * PROGRESS. Lock-free, as nominator_read.
 *
 * EVIDENCE. tests/model: group; tests/unit/test_group.c, test_group_no_memory.c.
 */
#ifndef SCHEDQ_LOCKFREE_GATHER_H
#define SCHEDQ_LOCKFREE_GATHER_H

#include "lockfree/moves/gather_find.h"

/**
 * A member that waits, or that a pop took: then description, gating and desc are those at its
 * taking.
 */
struct gathered_pod {
    struct view view;
    uint32_t record, node;
    /* a pop: of its flight, 0 while it is not taken; a cycle's end: the last event judged */
    uint64_t token;
};

/** A group; those above it come before it. The block is of the section in which it was read. */
struct gathered_group {
    struct group_block *block;
    uint64_t number;
    uint32_t above, depth, needs, here, complete_below;
    bool complete, joins;          /* its members join one by one (worker.joins_up_to) */
    bool counted;                  /* `counted` of its block, before its members were read */
    bool was_tried, became_placed; /* what the holder changed, until its cycle is over */
};

/** All members that wait below a root, as read one after the other. */
struct gathered {
    struct worker *worker;
    struct gathered_pod *pods;
    struct gathered_group *groups;
    uint32_t count, capacity, group_count, group_capacity;
    bool no_memory;
};

/**
 * Calls is_enough once for each hint of a member of a group and of those below, in no order, until
 * it returns true. The hint's pod may be elsewhere by now, or not exist yet (report_exists).
 * Members that join later (gather_joins_later) are left out. Inside of a section, which is_enough
 * must not leave. Returns whether it was enough.
 */
bool gather_any(struct worker *worker, uint64_t number, nominated_fn *is_enough, void *ctx);

/** In a group whose members join one by one (worker.joins_up_to): does this one join later? */
static inline bool
gather_joins_later(const struct worker *worker, const struct view *view)
{
    int64_t time = view->history.timestamp_ns;

    return time != worker->joins_up_to.time ? time > worker->joins_up_to.time
                                            : view->description.order_key > worker->joins_up_to.key;
}

/** Is the pod of a hint a member that waits aside, and that has joined? *view is the pod. */
static inline bool
gather_is_here(struct worker *worker, uint32_t record, uint64_t life, bool joins, struct view *view)
{
    return report_view(queue_of(worker), record, life, view) &&
           state_place(view->state) == PLACE_ASIDE && report_exists(worker, record, view) &&
           !(joins && gather_joins_later(worker, view));
}

/** The numbers of all roots, in memory of `bytes` that the caller frees; NULL: no memory. */
size_t gather_roots(struct worker *worker, uint64_t **numbers, size_t *bytes);

/** Has a group enough, by what is counted? Its block is of this section. */
bool gather_is_complete(struct worker *worker, const struct group_block *block);

/** Reads the members of a group and of all below. False: no memory. */
bool gather_read(struct worker *worker, struct group_block *top, struct gathered *gathered);
/** The same, of the group alone. */
bool gather_read_own(struct worker *worker, struct group_block *block, struct gathered *gathered);
void gather_free(struct gathered *gathered);

/**
 * Marks each group that was read as complete or not, by its members in *gathered and the groups
 * below it. Returns whether the top is complete. `placed`: judge as after a cycle that ended in
 * PLACED, for the groups that were tried.
 */
bool gather_judge_groups(struct gathered *gathered, bool placed);

/** Were members of it in its root's cycle? The top counts as tried. Only the holder may ask. */
static inline bool
gather_was_tried(const struct gathered *gathered, uint32_t group)
{
    return group == 0 || u32_load(&gathered->groups[group].block->tried) != 0;
}

/**
 * How many members wait, of a group and of those below: the sum of `waiting`. In a group whose
 * members join one by one (worker.joins_up_to) only those count that have joined.
 */
uint64_t gather_size(struct worker *worker, const struct group_block *block);

/** Called for a member. False: no more of them are wanted. */
typedef bool gather_each_fn(void *ctx, const struct view *member);

/**
 * Calls `each` for the members that wait, and keeps each one's object alive meanwhile. Outside of a
 * section if the caller is. False: no memory.
 */
bool gather_each(struct worker *worker, uint64_t number, gather_each_fn *each, void *ctx);

#endif
