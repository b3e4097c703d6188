/*
 * Grace periods, on ck_epoch: when may memory be given back that other threads may still read?
 *
 * For segments of lanes, tables, arrays of hints, pages that trim gives back. Records, names and
 * runs, which are recycled at operation rate, are protected by versions and never wait here. Each
 * public call is one section, or several with the host's code between them (lockfree/queue.h).
 *
 * RULES OF ck_epoch 0.7.1 (later versions relax some): what is retired was unlinked by a
 * read-modify-write; it is retired inside the section that unlinked it; records are never
 * unregistered. epoch_poll never waits.
 *
 * ORDERING. Entering a section is a full fence: a reader in it either finds a pointer unlinked, or
 * is waited for. Leaving is a release: what the section read was read before the memory is freed.
 *
 * PROGRESS. All of it is wait-free, but for epoch_record_join, which is lock-free, the allocator,
 * and the blocks that a poll frees. A thread that stops inside a section holds back what is retired
 * afterwards. Of what is replaced by something twice its size, or by trim, that is at most as much
 * as the live structures are large. Two things are also retired as operations go on: two hints with
 * each nomination (nominator.h), and the segments of a lane that pods went through (lane.h), 16
 * bytes a ref.
 *
 * EVIDENCE. stress/explore: lane_growth, index_growth, trim, upkeep_*;
 * tests/unit/test_lockfree_epoch.c.
 */
#ifndef SCHEDQ_PLATFORM_EPOCH_H
#define SCHEDQ_PLATFORM_EPOCH_H

#include "platform/memory.h"

#include <stdbool.h>

struct epoch;
struct epoch_record;

/** What a block that may be retired begins with. */
struct epoch_block {
    void *link[2]; /* ck_epoch's */
    struct memory *memory;
    size_t bytes;
    enum memory_kind kind;
    /* NULL, or called before it is freed; true: it is not */
    bool (*ends)(struct epoch_block *block);
};

/** NULL: no memory. */
struct epoch *epoch_open(struct memory *memory);

/** Alone: frees what still waits, then the records. */
void epoch_close(struct epoch *epoch);

/** A worker's part; lives until epoch_close. NULL: no memory. */
struct epoch_record *epoch_record_make(struct epoch *epoch);

/** The same in two steps: memory, which may still be dropped, and no failure afterwards. */
struct epoch_record *epoch_record_prepare(struct epoch *epoch);
void epoch_record_drop(struct epoch_record *record);
void epoch_record_join(struct epoch_record *record);

/** Sections do not nest. */
void epoch_enter(struct epoch_record *record);
void epoch_leave(struct epoch_record *record);

/**
 * Goes on with the section of a thread that will never come back, or begins one: epoch_abandon ends
 * it.
 */
void epoch_hold(struct epoch_record *record);

/** Ends the section of a thread that will never come back, if it was in one. */
void epoch_abandon(struct epoch_record *record);

/**
 * Frees `block` (from `memory`, with `bytes` and `kind`) when no thread can read it. Inside a
 * section, after the unlinking.
 */
void epoch_retire(struct epoch_record *record, struct epoch_block *block, struct memory *memory,
                  enum memory_kind kind, size_t bytes);

/** The same; `ends` is called then, by the thread that polls, and may keep it. */
void epoch_retire_with(struct epoch_record *record, struct epoch_block *block,
                       struct memory *memory, enum memory_kind kind, size_t bytes,
                       bool (*ends)(struct epoch_block *block));

/** Does something of this record wait? The record's owner. */
bool epoch_waits(const struct epoch_record *record);

/** Frees what may be freed. Cheap if nothing waits. Outside a section. */
void epoch_poll(struct epoch_record *record);

#endif
