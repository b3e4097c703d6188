/*
 * Members and the record of their root: what the coming and going of the ones does to the other.
 *
 * A record is aside while its group is not complete. Who completes it routes it like a pod that
 * comes in; who takes away too much puts it aside. A record that is held, or in its cycle, stays
 * where it is: its release, or the cycle's end, looks again.
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

/** A record that is aside, and complete or not, goes where it belongs. */
void mutex_gather_complete(const struct route *route, uint32_t root);

/** Where a record is put whose group is not complete any more. */
void mutex_gather_put_aside(const struct route *route, uint32_t root);

/** The gate that keeps a record out; 0: none. Members take what their own said. */
uint8_t mutex_gather_ask(struct mutex_queue *queue, uint32_t record);

/** The record becomes active: so members begin to be tried that never were. */
void mutex_gather_begin_attempts(struct mutex_queue *queue, uint32_t record, int64_t now);

/** Does any member pass? */
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
