/*
 * Which groups there are, which is below which, and which members wait on them.
 *
 * A group has a slot while it is declared or in its cycle, and while members or declared groups
 * name it. The links of members, and of records to their slots, lie in an array by record number.
 * It is made when the first group is named: most queues need none.
 *
 * A member that waits is in the list of its group. The list is in the order in which members came.
 * The first `joined` of them count: all, if the group has a root, else none. It is another number
 * only during the call that gives the group its root: that call lets them join one by one.
 */
#ifndef SCHEDQ_MUTEX_GROUPS_H
#define SCHEDQ_MUTEX_GROUPS_H

#include "mutex/heap.h"

#define NO_GROUP UINT32_MAX

struct group {
    uint64_t number, parent; /* parent: as declared; 0: none */
    uint64_t object;
    uint64_t cycle;  /* of the record's last pop; 0: none */
    uint32_t record; /* NO_ENTRY: it has none */
    uint32_t quorum;
    uint32_t backoff_size; /* members at the end of its last cycle: how long it may back off */
    uint32_t pods;         /* members in any place */
    uint32_t first, last;  /* members that wait */
    uint32_t waiting, joined;
    uint32_t joining;    /* while its members join: the next one, or the first; NO_ENTRY: none */
    uint32_t above;      /* of a declared group: its parent's slot; NO_GROUP: it has no parent */
    uint32_t below;      /* the first of the declared groups that name it as parent */
    uint32_t next, prev; /* in that list of its parent */
    uint32_t chain;      /* the next slot of its hash bucket, or of the free slots */
    bool declared;
    bool placed; /* a cycle of it ended in PLACED */
    bool tried;  /* members of it are in the cycle of its root */
};

struct group_link {
    uint64_t cycle; /* of a member: its last one */
    uint32_t group; /* slot; NO_GROUP: it has none */
    uint32_t next, prev;
};

struct groups {
    struct memory *memory;
    const struct entries *entries;
    struct heap active;       /* records */
    struct group_link *links; /* by record number */
    uint32_t numbers;         /* a power of two, or 0 */
    struct group *slots;
    uint32_t *buckets;       /* as many as capacity */
    uint32_t made, capacity; /* a power of two, or 0 */
    uint32_t free_head, used;
    uint32_t records;  /* groups that have one */
    uint64_t inflight; /* records */
};

void mutex_groups_open(struct groups *groups, struct memory *memory, const struct entries *entries);
void mutex_groups_shut(struct groups *groups);

/** Room for links of all records, and for two more slots. False: no memory, nothing changed. */
bool mutex_groups_reserve(struct groups *groups);

static inline struct group *
group_at(const struct groups *groups, uint32_t slot)
{
    return &groups->slots[slot];
}

/** The slot of a member, or of a record. */
static inline uint32_t
group_of(const struct groups *groups, uint32_t index)
{
    return groups->links[index].group;
}

/** The slot of a group; NO_GROUP: nothing names it. */
uint32_t mutex_groups_find(const struct groups *groups, uint64_t number);

/** The slot of a group, made if there is none: there is room. */
uint32_t mutex_groups_make(struct groups *groups, uint64_t number);

/** Gives the slot back if it has no record, and nothing names it. */
void mutex_groups_drop(struct groups *groups, uint32_t slot);

/** A pod names the group from its admission to its end. */
void mutex_groups_name(struct groups *groups, uint32_t index, uint64_t number);
void mutex_groups_forget(struct groups *groups, uint32_t index);

/** A member begins, or ends, to wait. */
void mutex_groups_enter(struct groups *groups, uint32_t index);
void mutex_groups_leave(struct groups *groups, uint32_t index);

/** Sorts the members that wait: the one that has waited for longest becomes the first. */
void mutex_groups_sort(struct groups *groups, uint32_t slot);

/** Has member `a` waited for longer than `b`? */
bool mutex_groups_is_older(const struct groups *groups, uint32_t a, uint32_t b);

/** Hangs a group below its parent, and takes it off. */
void mutex_groups_hang(struct groups *groups, uint32_t slot);
void mutex_groups_unhang(struct groups *groups, uint32_t slot);

/** The topmost group above, or itself; NO_GROUP: not all of them are declared. */
uint32_t mutex_groups_root(const struct groups *groups, uint32_t slot);

/**
 * All groups below one, itself first, one after the other; NO_GROUP ends it. What is below a group
 * that is not declared is not reached, nor what is too deep to have a root.
 */
uint32_t mutex_groups_next(const struct groups *groups, uint32_t top, uint32_t slot);

/** Members that wait and count, of a group and all below. */
uint64_t mutex_groups_size(const struct groups *groups, uint32_t top);

/** Have enough of its members joined, or enough of the groups below? */
bool mutex_groups_is_complete(const struct groups *groups, uint32_t slot);

#endif
