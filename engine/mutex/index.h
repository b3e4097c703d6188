/*
 * From "namespace/name" to the record: open addressing, linear probing, removal by shifting back.
 *
 * A slot is {hash, record}, so a probe that meets another name mostly ends without touching its
 * record. At most half of the slots are used. Operations that come with a handle or a token find
 * their slot by the record's number and compare no name at all.
 */
#ifndef SCHEDQ_MUTEX_INDEX_H
#define SCHEDQ_MUTEX_INDEX_H

#include "mutex/entry.h"

struct index_slot {
    uint32_t hash;
    uint32_t entry; /* NO_ENTRY: empty */
};

struct index {
    struct memory *memory;
    const struct entries *entries;
    struct index_slot *slots;
    uint32_t mask; /* capacity - 1 */
    uint32_t count;
};

bool mutex_index_open(struct index *index, struct memory *memory, const struct entries *entries);
void mutex_index_shut(struct index *index);

/** Makes room for `count` names. False: no memory, nothing changed. */
bool mutex_index_reserve(struct index *index, uint32_t count);

/** Shrinks to room for `count` names; leaves it as it is if there is no memory. */
void mutex_index_trim(struct index *index, uint32_t count);

/** The record that has this name, or NO_ENTRY. */
uint32_t mutex_index_find(const struct index *index, const struct hashed_name *name);

/** Room was reserved, and the name is not there. */
void mutex_index_insert(struct index *index, uint32_t entry, uint32_t hash);

/** The record is there. */
void mutex_index_remove(struct index *index, uint32_t entry, uint32_t hash);

static inline void
index_prefetch(const struct index *index, uint32_t hash)
{
    __builtin_prefetch(&index->slots[hash & index->mask]);
}

#endif
