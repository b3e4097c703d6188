/*
 * Groups: their blocks, finding them, and whether one is complete.
 *
 * A group's record is an entry whose flags have DESCRIBED_GROUP. Its name in the index is a NUL and
 * its number. Its description has what else changes with one exchange: the priority, the order key,
 * the Timestamp (as `not_before`), the group above (as `group`). Beside it is a block, whose
 * address the record has; it goes a grace period behind the record.
 *
 * STATES: docs/DESIGN.md, Groups. IDLE leaves by a completer, READY and what waits by a pop, a
 * mover, or whoever finds too few members; CYCLE by its holder. Each by the CAS of the record's
 * words.
 *
 * THE BLOCK. `waiting` is not less than the members that are ASIDE, but for a joiner that has not
 * come to its end: what it adds, `changes` follows. Who leaves was counted if `counted` was set
 * before: else it takes nothing off. `changes` rises behind what may complete the group. `refuted`
 * is what `changes` was before a reading that found too few.
 *
 * ORDERING
 *   commit of a member, `waiting`, `changes` | switch of the record to IDLE, looks at `changes`
 *       the joiner sees the record IDLE, or who brought it there sees the join
 *   load of `changes`, reading of the hints
 *       what the reading missed raised `changes` later: `refuted` does not cover it
 *   sum of the members at the declaration, `counted` -> a leaver's look, its switch
 *       what it takes off, the sum has
 *   commit of a member ; chain of groups | commit of a declaration ; hints of its number
 *   joining, commit -> a tick's look
 *       who stopped in between: the tick reads the members, and completes
 *
 * PROGRESS. Lock-free: each further round is another's change of the record, or an event of a gate
 * that refuses. A thread that stops is named by `joining` until it has looked again.
 *
 * EVIDENCE. tests/model: group; tests/unit/test_group.c.
 */
#ifndef SCHEDQ_LOCKFREE_GATHER_H
#define SCHEDQ_LOCKFREE_GATHER_H

#include "lockfree/moves/describe.h"
#include "lockfree/moves/route.h"
#include "lockfree/moves/transfer.h"
#include "policy/group.h"

#define GROUP_NAME_BYTES 9

struct group_block {
    struct epoch_block block;
    uint64_t number, parent; /* constant */
    atomic_u64 object;
    atomic_u64 waiting, changes, refuted;
    atomic_u64 since;        /* when it became READY last */
    atomic_u64 seen;         /* of its last pop; the holder's */
    atomic_u64 cycle;        /* the token of its last pop; the same */
    atomic_u32 quorum, size; /* size: members when it began to back off */
    atomic_u32 placed;       /* a cycle of it ended in PLACED; its root's holder stores it */
    atomic_u32 tried;        /* members of it are in its root's cycle; the same */
    atomic_u32 activated;    /* its cycle was, and the holder took the mark off; the holder's */
    atomic_u32 counted;      /* `waiting` has the members that came before the declaration */
};

struct group_found {
    uint32_t record;
    struct group_block *block;
    struct view view;
};

/** A member that waits. */
struct gathered_pod {
    struct view view;
    uint32_t record, node;
    uint64_t token;                 /* of its flight, once it is taken */
    struct description description; /* as it was taken */
    struct gating gating;
    uint64_t desc;
};

/** A group, below those before it. The block is of the section in which it was read. */
struct gathered_group {
    struct group_block *block;
    uint64_t number;
    uint32_t above, needs, here, complete_below;
    bool complete, joins;          /* its members join one by one (worker.joins_up_to) */
    bool counted;                  /* before its members were read */
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

enum gather_step { GATHER_DONE, GATHER_AGAIN, GATHER_NOMEM };

static inline bool
view_is_group(const struct view *view)
{
    return (view->description.flags & DESCRIBED_GROUP) != 0;
}

static inline bool
group_is_declared(const struct group_found *found)
{
    return (found->view.description.flags & DESCRIBED_ENDED) == 0;
}

/** A group's name in the index; `text` is its bytes. */
struct hashed_name gather_name(const struct queue *queue, uint64_t number,
                               char text[GROUP_NAME_BYTES]);

/** Declared, or in its cycle. Inside a section. False: neither. */
bool gather_find(struct worker *worker, uint64_t number, struct group_found *found);

/** The topmost group above, or itself. False: not all of them are declared. */
bool gather_root(struct worker *worker, uint64_t number, struct group_found *root);

/** The numbers of all roots, in memory of `bytes` that the caller frees; NULL: none. */
size_t gather_roots(struct worker *worker, uint64_t **numbers, size_t *bytes);

/** By what is counted, has a group enough? Its block is of this section. */
bool gather_is_complete(struct worker *worker, const struct group_block *block);

/** Reads the members of a group and of all below. False: no memory. */
bool gather_read(struct worker *worker, struct group_block *top, struct gathered *gathered);
/** The same, of the group alone. */
bool gather_read_own(struct worker *worker, struct group_block *block, struct gathered *gathered);
void gather_free(struct gathered *gathered);

/**
 * Says of each group whether it has enough, by what was read and is left; of the top it is told.
 * `placed`: at the end of a cycle in which members were; else `false`.
 */
bool gather_judge_groups(struct gathered *gathered, bool placed);

/** Is its root's cycle the one after which it needs no quorum? The holder's. */
static inline bool
gather_was_tried(const struct gathered *gathered, uint32_t group)
{
    return group == 0 || u32_load(&gathered->groups[group].block->tried) != 0;
}

/**
 * The gate that keeps a group out; 0: none. Leaves the section while gates are asked. False: no
 * memory, and nobody was asked.
 */
bool gather_ask(struct worker *worker, uint64_t number, uint8_t *gate);

/** May a pop of its group take a member, as it was read? */
static inline bool
gather_passed(const struct queue *queue, uint64_t state)
{
    return !queue->base.registry.has_gates || (state & FLAG_PASSED) != 0;
}

/**
 * A READY record has a member that nobody asked about, or that a gate refused: all are asked.
 * NOMEM, or AGAIN: look for the record again. Leaves the section.
 */
enum gather_step gather_ask_newcomers(struct worker *worker, const struct group_found *root);

/** READY, or behind a gate; backoff if that is to be asked and lasts. May leave the section. */
struct way gather_way(struct worker *worker, const struct view *view, bool after_backoff);

/**
 * Does its gate refuse the record again, and nothing is to be noted? A leftover that counts from
 * its last refusal begins anew.
 */
static inline bool
gather_stays_gated(const struct queue *queue, const struct view *view, const struct way *way)
{
    return way->place == PLACE_GATED && state_place(view->state) == PLACE_GATED &&
           way->gate == view->gate && !queue->base.rules.gates_see_leftover;
}

/** False: it wants no more of them. */
typedef bool gather_each_fn(void *ctx, const struct view *member);

/**
 * Calls it for the members that wait, whose objects are alive meanwhile; outside of a section if
 * the caller is. False: no memory.
 */
bool gather_each(struct worker *worker, uint64_t number, gather_each_fn *each, void *ctx);

/** Has the backoff of the record that `view` shows not ended? */
bool gather_is_backing_off(struct worker *worker, const struct view *view, int64_t now);

/** Rules of backoff of a record. Inside a section. */
struct backoff_rules gather_backoff_rules(struct worker *worker, const struct view *view);

/**
 * Other descriptions of a record raise its version, so what was published for an older one gets
 * stale; refs and a token stay good.
 */
static inline void
gather_describe(struct redescription *change, const struct view *view)
{
    bool at_end = state_lag_is_at_end(view->state);

    change->word = !at_end ? state_described(view->state)
                   : state_place(view->state) == PLACE_IDLE
                       ? state_switched(view->state, 0, PLACE_IDLE)
                       : view->state;
}

/**
 * Brings the record that `view` shows where `way` says, described as `change` says: publish, look
 * at the gate's stamp, install. AGAIN: it changed, or its gate heard of an event since `asked`.
 */
enum gather_step gather_bring(struct worker *worker, uint32_t record, const struct view *view,
                              const struct way *way, struct redescription *change, uint64_t asked,
                              uint32_t cause, schedq_result_t *result);

/**
 * Counts a record that came in, with its members, for a cause (switch.h). How many they are is what
 * `waiting` says: exact while nobody joins or leaves.
 */
void gather_count(struct worker *worker, uint64_t number, enum place place, uint32_t cause);

/** The record becomes READY: so members begin to be tried that never were. */
void gather_begin_attempts(struct worker *worker, uint64_t number, int64_t now);

/** One declaration of a group: records have lives of their own. */
static inline uint64_t
gather_named(const struct group_found *found)
{
    return ref_make(found->view.life, found->record);
}

/** Before a member is ASIDE. Returns what gather_joined, or gather_withdraw, needs. */
uint64_t gather_announce(struct worker *worker, uint64_t number);
void gather_withdraw(struct worker *worker, uint64_t number, uint64_t counted);

/** Behind that: what its coming makes of the group. `newcomer` 0: nobody is to be asked alone. */
void gather_joined(struct worker *worker, uint64_t number, uint64_t counted, schedq_pod_t newcomer,
                   schedq_result_t *result);

/** What rejected a member that joined, as it is by now: its group asked about it. */
void gather_tell_joined(struct worker *worker, schedq_pod_t member, schedq_result_t *result);

/** Before a member leaves ASIDE. Returns what gather_left needs. */
uint64_t gather_leaves(struct worker *worker, uint64_t number);

/** A member is ASIDE no more; `gate`: the one that refused it, or 0. */
void gather_left(struct worker *worker, uint64_t number, uint64_t counted, uint8_t gate,
                 schedq_result_t *result);

/**
 * For whoever asked a group and brought its record to GATED, or left it there: is the member that
 * was refused still with it? May leave the section.
 */
void gather_look_at_gate(struct worker *worker, uint64_t number, schedq_result_t *result);

/**
 * Something else may have made the root complete, or incomplete. `label`: what a gated record that
 * comes in by it counts as.
 */
void gather_changed(struct worker *worker, uint64_t number, uint32_t label,
                    schedq_result_t *result);

/** A record that is IDLE, and complete, goes where it belongs. */
void gather_complete(struct worker *worker, uint64_t number, schedq_result_t *result);

/** A READY or waiting record, at the words that `view` shows, becomes IDLE; then is completed. */
bool gather_put_aside(struct worker *worker, const struct group_found *root,
                      schedq_result_t *result);

/** A root's record, if it waits: where an activation puts it; in its cycle it is noted. */
void gather_activate(struct worker *worker, uint64_t number, schedq_result_t *result);

/** A tick: a worker named the group, and may have stopped. */
void gather_look_after(struct worker *worker, uint64_t number);

/** A record became READY: all that wait for one are told. */
void gather_wake(struct worker *worker);

/** The record is over, by the caller's switch to DEAD. */
void gather_end(struct worker *worker, uint32_t record, struct entry *entry,
                struct group_block *block);

/** Before a queue's first declaration, by any number of threads. False: no memory. */
bool gather_open(struct queue *queue);
/** Alone. */
void gather_close(struct queue *queue);

#endif
