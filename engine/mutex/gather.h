/*
 * Members and the record of their root: what a member that comes or leaves does to the record.
 *
 * A record is aside while its group is not complete. The call that completes the group routes the
 * record like a pod that comes in. The call that leaves too few members puts it aside. A record in
 * its cycle stays where it is: the cycle's end looks again.
 */
#ifndef SCHEDQ_MUTEX_GATHER_H
#define SCHEDQ_MUTEX_GATHER_H

#include "mutex/moves.h"
#include "mutex/route.h"

/** The record of a group's root; NO_ENTRY: it has no root. */
uint32_t mutex_gather_record(const struct mutex_queue *queue, uint32_t slot);

/** A member of the group has left where it waited, or ended; `gate`: what refused it, or 0. */
void mutex_gather_left(const struct route *route, uint32_t slot, uint8_t gate);

/** Something but a member's coming may have made the root complete, or incomplete. */
void mutex_gather_changed(const struct route *route, uint32_t root);

/** The members that wait for the group, and those below it, to have a root: they have one now. */
void mutex_gather_join_all(const struct route *route, uint32_t root);

/** The record, which is aside, is routed if its group is complete; else it stays aside. */
void mutex_gather_complete(const struct route *route, uint32_t root);

/** Puts the record aside: its group is not complete. */
void mutex_gather_make_idle(const struct route *route, uint32_t root);

/** Asks the gates about all members, and notes in each what refused it. What keeps the record out;
    0: nothing. */
uint8_t mutex_gather_ask(struct mutex_queue *queue, uint32_t record);

/** The record becomes active: begins the first attempt of its members that had none. */
void mutex_gather_begin_attempts(struct mutex_queue *queue, uint32_t record, int64_t now);

/** Does this member pass? mutex_gather_any: does any? */
typedef bool mutex_gather_test(const void *ctx, const struct entry *member);
bool mutex_gather_any(const struct mutex_queue *queue, uint32_t record, mutex_gather_test *test,
                      const void *ctx);

/** The strongest answer of its members. */
enum strategy mutex_gather_judge(struct mutex_queue *queue, uint32_t record,
                                 const struct cluster_event *event);

/** Members that count. */
static inline uint64_t
mutex_gather_size(const struct mutex_queue *queue, uint32_t record)
{
    return mutex_groups_size(&queue->groups, group_of(&queue->groups, record));
}

#endif
