/*
 * Groups: their records and blocks, finding them, and how they begin and end.
 *
 * A group's record is an entry whose flags have DESCRIBED_GROUP. Its name in the index is a NUL and
 * its number. Its description has what else changes with one exchange: what a caller declares
 * (priority; quorum, as `label`; object, as `nomination`), the order key, the Timestamp (as
 * `not_before`), the group above (as `group`). So a declaration, or an update, is one exchange, and
 * no thread reads the quorum of one and the object of another. Only pods' objects are counted: so a
 * group's is not in `object`. The record has the address of a block, which is freed a grace period
 * after the record's end.
 *
 * THE FILES. gather_find.h: which groups there are. gather.h: what is read of their members.
 * gather_gate.h: what gates say of these. gather_record.h: where a record goes. gather_join.h: what
 * members that come and go do to it. Each knows those before it.
 *
 * STATES: docs/DESIGN.md, Groups. A completer takes a record out of IDLE, a pop out of READY; a
 * mover, an activation or a join takes it out of the places where it waits. A thread that finds too
 * few members takes it out of READY and of these places; a thread that finds a member which a gate
 * refuses takes it out of READY. Its holder takes it out of CYCLE. The end of the declaration takes
 * it out of every other state. Each does it by a CAS of the record's words.
 *
 * THE BLOCK. `waiting` is not less than the number of members that are ASIDE, with two exceptions.
 * Until `counted` is set it may lack the members that came before the declaration. A joiner that
 * looked for the group before it was declared raises `waiting` after it is ASIDE, and then
 * `changes`. A leaver lowers `waiting` only if it read `counted` as set before its switch: only
 * then was it surely counted. `changes`, of a root, rises after each step that may complete the
 * group. `refuted` is the value of `changes` before the last reading that found too few.
 *
 * KNOWN GROUPS. A worker keeps {number, record, life} of groups that it found in the index, also
 * from call to call, and asks the index only about another group, or one that is over. What it
 * keeps names the right group: a record has one name for a whole life, no two lives of a record are
 * the same, and the index had this one under this number. So as long as the record's word is a
 * pod's and its life is that one, the index has no other record of that name: an insertion that met
 * it would answer EXISTS. Once the word is DEAD (the declaration ended, or the cycle of an
 * undeclared group), the index is asked, which finds the next declaration or none. A number is
 * kept, and no address: the block and the entry are looked up in the section that uses them, behind
 * the look at the life. Numbers are not renamed: another declaration of a number is another life.
 *
 * ORDERING
 *   fill_group's stores -> block_of:A, life, address, block_of:B
 *       a declaration's own block, or that it is over
 *   fill_group's stores, commit of the declaration -> gather_find, gather_view
 *       the block and the record of one declaration
 *   make_groups:A -> queue_groups
 *       the bin of READY records, and the counters
 *
 * PROGRESS. Lock-free: a look that begins again means that a record ended.
 *
 * EVIDENCE. tests/model: group; tests/unit/test_group.c.
 */
#ifndef SCHEDQ_LOCKFREE_GATHER_FIND_H
#define SCHEDQ_LOCKFREE_GATHER_FIND_H

#include "lockfree/moves/report.h"
#include "policy/group.h"

#define GROUP_NAME_BYTES 9

struct group_block {
    struct epoch_block block;
    uint64_t number, parent; /* constant, as is the record, in this life of it */
    atomic_u64 waiting, changes, refuted;
    atomic_u64 since;     /* when it became READY last */
    atomic_u64 seen;      /* event sequence at its last pop; the holder's */
    atomic_u64 cycle;     /* the token of its last pop; the same */
    atomic_u32 size;      /* members at the end of its last cycle */
    atomic_u32 placed;    /* a cycle of it ended in PLACED; its root's holder stores it */
    atomic_u32 tried;     /* members of it are in its root's cycle; the same */
    atomic_u32 activated; /* activated in its cycle; the holder took that off its description */
    atomic_u32 counted;   /* `waiting` has the members that came before the declaration */
    uint32_t record;
    uint64_t life;
};

struct group_found {
    uint32_t record;
    struct group_block *block;
    struct view view;
};

static inline bool
group_is_declared(const struct group_found *found)
{
    return (found->view.description.flags & DESCRIBED_ENDED) == 0;
}

/** What a description of a group's record says that its caller declared. */
static inline uint64_t
group_object(const struct description *description)
{
    return description->nomination;
}

static inline uint32_t
group_quorum(const struct description *description)
{
    return (uint32_t)description->label;
}

static inline void
group_declare(struct description *description, const schedq_group_spec_t *spec)
{
    description->priority = spec->priority;
    description->nomination = spec->object;
    description->label = spec->quorum;
    description->marks |= MARK_LABEL;
}

/** The quorum at this moment, of a block of this section. False: the group is over. */
bool gather_quorum(struct worker *worker, const struct group_block *block, uint32_t *quorum);

/** A group's name in the index; `text` is its bytes. */
struct hashed_name gather_name(const struct queue *queue, uint64_t number,
                               char text[GROUP_NAME_BYTES]);

/** Finds a group that is declared, or in its cycle. Inside a section. False: it is neither. */
bool gather_find(struct worker *worker, uint64_t number, struct group_found *found);

/** What a call needs to change a group's counts; its record's description is not read. */
struct group_look {
    struct group_block *block; /* of this section */
    const struct entry *entry;
    uint64_t named; /* as gather_named */
};

/** The same, but for a look without the description. */
bool gather_look(struct worker *worker, uint64_t number, struct group_look *look);

/** Goes from a group to the topmost one above, or itself. False: one of those above is missing. */
bool gather_look_up(struct worker *worker, struct group_look *look);

/** The topmost group above, or itself. False: not all of them are declared. */
bool gather_root(struct worker *worker, uint64_t number, struct group_found *root);

/** Its block; NULL: the record that `view` shows is over. */
struct group_block *gather_block_of(const struct view *view);

/** The group whose record this is, in this life. False: that life is over. */
bool gather_view(struct worker *worker, uint32_t record, uint64_t life, struct group_found *found);

/** The same of a hint, which comes before its record is committed. False also if undeclared. */
bool gather_view_declared(struct worker *worker, uint32_t record, uint64_t life,
                          struct group_found *found);

/** Tells where the root's record is; nothing if there is no root. */
void gather_report(struct worker *worker, uint64_t number, schedq_result_t *result);

/** Names one declaration of the group: its record and that record's life. */
static inline uint64_t
gather_named(const struct group_found *found)
{
    return ref_make(found->view.life, found->record);
}

/** Has the backoff of the record that `view` shows not ended? */
bool gather_is_backing_off(struct worker *worker, const struct view *view, int64_t now);

/** Rules of backoff of a record. Inside a section. */
struct backoff_rules gather_backoff_rules(struct worker *worker, const struct view *view);

/** Ends a record that the caller switched to DEAD; or to FREE, because it never began. */
void gather_end(struct worker *worker, uint32_t record, struct entry *entry,
                struct group_block *block);

/** Called before a queue's first declaration, by any number of threads. False: no memory. */
bool gather_open(struct queue *queue);
/** When no other thread uses it. */
void gather_close(struct queue *queue);

#endif
