/*
 * Grace periods: when may memory be given back that other threads may still read?
 *
 * For segments of lanes, tables, arrays of hints, pages that trim gives back. Records, names and
 * runs, which are recycled at operation rate, are protected by versions and never wait here. Each
 * public call is one section, or several with the host's code between them (lockfree/queue.h).
 *
 * CONTRACT. What is retired was unlinked before, so that no section that begins later finds it. It
 * is freed after the sections that were open then, by a poll for the record that it was retired
 * with. Sections do not nest. A poll waits for no thread; inside of a section it frees nothing that
 * was retired in it.
 *
 * BOOKMARKS. A section may leave a pointer behind for a later section of the same record, where its
 * reading goes on. It counts as one more word that points to the block: the thread that unlinked
 * the block takes its bookmarks away (epoch_unmark) before it retires the block. A reader that
 * leaves a bookmark looks afterwards whether the block is deleted already; then it takes the
 * bookmark away itself. So what a section finds there is not retired yet, or was retired after the
 * section had begun. Blocks that end with what they belong to need no epoch_unmark, if readers
 * first make sure that this is still there.
 *
 * PICTURE
 *   epoch    now      the number of the epoch, from 1; each batch that is closed raises it
 *            asked    for batches closed up to here the heavy barrier is over
 *            asker    the record whose owner asks for one; NULL: none does
 *            records  all of them, the newest first; they stay
 *            guests   sections without a record that are open, and what `now` was when the first of
 *                     them began
 *            passed   all sections that began in an epoch before this number are over, and the
 *                     barrier was
 *   record   inside   OUTSIDE, or what `now` was when its section began
 *            fresh    what was retired since a batch was closed last
 *            waiting  the last batch, until it is freed; `closed`: the number that closing it
 *                     gave, 0: none waits. A batch may have no blocks
 *            bytes    of both
 *            bookmarks  where the owner's readings go on; not on the line that each section writes
 * `now`, and which fences are used, share a line that is written once for each batch. A record is
 * written by its owner, but for bookmarks, which others take away. Batches, `closed` and `pressure`
 * are plain.
 *
 * A BATCH is what was fresh. Closing it raises `now`; then comes the heavy barrier; then a look at
 * all records: the batch is freed if each is outside, or in a section that began in the epoch that
 * closing began, or later. If one is not, the next poll looks again, without a barrier.
 *
 * FENCES. Between the store that says "inside" and the first look of a section there has to be a
 * full fence. Without it a poll that looks for sections could miss one that has read a pointer.
 *   real         epoch_enter:B is an exchange, the fence. The heavy barrier is nothing: closing a
 *                batch is a full fence, and comes before the look at the records.
 *   asymmetric   epoch_enter:B is a store, and only the compiler is kept from moving it. The heavy
 *                barrier makes each thread pass a full fence (membarrier.h).
 * Which it is, is decided when the epoch is opened.
 *
 * MARKS. What has to wait, but is no worker's to give back, has a number instead of a place in a
 * list. epoch_mark raises `now` as closing does, and the wait is over when `passed` has come there.
 * Any thread may find that, so the wait ends whatever becomes of the thread that began it. A thread
 * that would like it to end presses (epoch_press), and so comes to close a batch.
 *
 * ASKING. One thread asks at a time; the others' batches wait for their next poll, and one barrier
 * is good for all that were closed before it began. epoch_poll asks at once. epoch_poll_seldom does
 * something only when the pressure is high. Half of that pressure is 1,024 retired blocks, or 32
 * KiB of them, or 16,384 calls to it while something waits, or 1,024 calls to epoch_press. They add
 * up. At the full pressure it closes a batch, which keeps half of the pressure up. At the next full
 * pressure it frees that batch, and asks for the barrier if no other thread did meanwhile.
 * epoch_poll_often is for a thread that polls regularly, as the timer thread does. It acts at half
 * of the pressure, and asks for the barrier also for other threads' closed batches.
 *
 * WHY IT IS RIGHT. Take a section that has read a pointer to a block of a batch, of number N.
 *   It began in an epoch before N. Closing (close_batch:A) comes after the block was unlinked, and
 *   `now` is read before pointers are (epoch_enter:A, an acquire): a section that reads N, or a
 *   later number, finds no such pointer.
 *   It is seen. The fence that the barrier made its thread pass came after it had read the pointer,
 *   else it would not have found it. So the store epoch_enter:B came before that fence, and
 *   is_over:B reads it, or what the thread stored there later.
 *   If is_over:B reads a later value, the section is over, and what it read was read before:
 *   epoch_leave:A and epoch_enter:B are releases.
 * GUESTS are threads that have no record: a call that ends cycles without a worker. All share one
 * word, an exchange at each end of a section, so it is a real fence on every machine. One that
 * comes while others are there takes on their number, which is earlier: that holds memory back
 * longer, as long as guests overlap.
 *
 * A record that is_over does not find in the list has joined (epoch_record_join:A, a full fence)
 * after the look at the list, so its sections begin after the block was unlinked.
 *
 * ORDERING
 *   close_batch:A -> epoch_enter:A
 *       what was unlinked before the batch was closed
 *   close_batch:A -> ask:B; ask:D -> barrier_is_over:A
 *       the barrier began after the batch was closed; what it ordered is over
 *   epoch_enter:B ; the looks of the section | the unlinking ; is_over:B
 *       the section finds nothing, or is waited for. Asymmetric: the left fence is ask:C's
 *   epoch_guest_enter:A ; the looks of the section | the unlinking ; is_over:A
 *       the same of a guest
 *   epoch_bookmark:A ; the look for a deletion | the deletion, the unlinking ; epoch_unmark
 *       the reader finds it deleted, or its bookmark is taken away
 *   epoch_leave:A, epoch_enter:B -> is_over:B; epoch_guest_leave:A -> is_over:A
 *       what sections did before the memory is freed. So a grace period also orders: what calls
 *       published that had found something before it was marked is there afterwards
 *
 * PROGRESS. All of it is wait-free, but for epoch_record_join, which is lock-free, the allocator,
 * the blocks that a poll frees, and the kernel's part of the barrier. A thread that stops inside a
 * section holds back what is retired afterwards, and one that stops in a barrier what is closed
 * afterwards. Of structures that are replaced by ones twice as large, or by trim, that is at most
 * as much as the live ones are large. Two things are also retired as operations go on: two hints
 * with each nomination (nominator.h), and the segments of a lane that pods went through (lane.h),
 * 16 bytes a ref. Where no thread stops, a record holds back some 100 KiB at most.
 *
 * A DEATH INSIDE A CALL loses at most the block in hand. Lists are changed by one store each, in
 * program order; a batch that was being closed is in both (mend).
 *
 * IF THE KERNEL REFUSES a barrier later, nothing is freed until it grants one.
 *
 * WRAPAROUND. 64 bits, one a batch.
 *
 * EVIDENCE. tests/model: epoch, bookmark; stress/explore: epoch_retire, lane_growth, index_growth,
 * trim, upkeep_*; tests/unit/test_lockfree_epoch.c, test_fences.c.
 */
#ifndef SCHEDQ_PLATFORM_EPOCH_H
#define SCHEDQ_PLATFORM_EPOCH_H

#include "platform/atomic.h"
#include "platform/memory.h"

#include <stdbool.h>

/* Pressure of a block (of a call: 1), and that at which epoch_poll_seldom does something. */
#if defined(SCHEDQ_ATOMICS_CONTROLLED)
#define EPOCH_BLOCK 1
#define EPOCH_DUE 2
#else
#define EPOCH_BLOCK 16
#define EPOCH_DUE (2048 * EPOCH_BLOCK)
#endif
#define EPOCH_BLOCK_BYTES 32 /* so many bytes of a large block count as a block */
#define EPOCH_OUTSIDE 0
#define EPOCH_BOOKMARKS 2 /* so many readings of a record may be interrupted at a time */

/** What a block that may be retired begins with. */
struct epoch_block {
    struct epoch_block *next;
    struct memory *memory;
    size_t bytes;
    enum memory_kind kind;
    /* NULL, or called before the block is freed; true: it is not freed */
    bool (*ends)(struct epoch_block *block);
};

struct epoch {
    _Alignas(CACHE_LINE) atomic_u64 now;
    struct memory *memory;
    bool asymmetric;
    atomic_u64 bookmarks; /* 0: no thread has left any yet */
    _Alignas(CACHE_LINE) atomic_u64 asked;
    atomic_ptr asker, records;
    atomic_u64 guests; /* number:44 | count:20 */
    atomic_u64 asks;   /* barriers so far */
    atomic_u64 passed; /* perhaps lower than it was */
};

/** A worker's part. */
struct epoch_record {
    _Alignas(CACHE_LINE) atomic_u64 inside;
    struct epoch *epoch;
    struct epoch_block *fresh, *waiting;
    uint64_t closed;
    bool pressed;      /* since a batch was closed last */
    uint32_t pressure; /* 0: nothing waits */
    uint64_t bytes;    /* of fresh and waiting; a word that others read (words.h) */
    _Alignas(CACHE_LINE) struct epoch_record *older;
    atomic_ptr bookmarks[EPOCH_BOOKMARKS];
};

/** NULL: no memory. `asymmetric`: if there is such a thing here. */
struct epoch *epoch_open(struct memory *memory, bool asymmetric);

/** When no other thread uses it: frees what still waits, then the records. */
void epoch_close(struct epoch *epoch);

/** How many barriers the kernel was asked for. */
uint64_t epoch_asks(const struct epoch *epoch);

/** Bytes that were retired and are not freed yet: a sum while others retire and free. */
uint64_t epoch_waiting_bytes(const struct epoch *epoch);

/** Sections that began in an earlier epoch than this one, and are not over. */
uint64_t epoch_standing(const struct epoch *epoch);

/** Lives until epoch_close. NULL: no memory. */
struct epoch_record *epoch_record_make(struct epoch *epoch);

/**
 * The same in two steps: memory, which may still be dropped, and no failure afterwards. A drop
 * leaves alone what has joined.
 */
struct epoch_record *epoch_record_prepare(struct epoch *epoch);
void epoch_record_drop(struct epoch_record *record);
void epoch_record_join(struct epoch_record *record);

/** Begins a section. */
static inline void
epoch_enter(struct epoch_record *record)
{
    struct epoch *epoch = record->epoch;
    /* epoch_enter:A, before all that the section reads */
    uint64_t now = u64_load_acquire(&epoch->now);

    if (epoch->asymmetric) {
        u64_store_release(&record->inside, now); /* epoch_enter:B */
        atomic_light_fence();                    /* what makes it a full one: of ask:C */
    } else {
        (void)u64_exchange(&record->inside, now);
    }
}

static inline void
epoch_leave(struct epoch_record *record)
{
    u64_store_release(&record->inside, EPOCH_OUTSIDE); /* epoch_leave:A */
}

#define EPOCH_GUESTS ((UINT64_C(1) << 20) - 1)

/** A section of a thread that has no record; it retires nothing. Lock-free. */
static inline void
epoch_guest_enter(struct epoch *epoch)
{
    uint64_t guests = u64_load(&epoch->guests);
    uint64_t number = u64_load_acquire(&epoch->now); /* as epoch_enter:A */
    uint64_t next;

    /* Ends: each failed exchange is another guest's. */
    do {
        next = (guests & EPOCH_GUESTS) == 0 ? number * (EPOCH_GUESTS + 1) + 1 : guests + 1;
        /* epoch_guest_enter:A */
    } while (!u64_swing(&epoch->guests, &guests, next));
}

static inline void
epoch_guest_leave(struct epoch *epoch)
{
    (void)u64_add(&epoch->guests, UINT64_MAX); /* epoch_guest_leave:A */
}

/**
 * Goes on with the section of a thread that will never come back, or begins one: epoch_abandon ends
 * it.
 */
void epoch_hold(struct epoch_record *record);

/** Ends what a thread that will never come back was doing: its section, a barrier, a poll. */
void epoch_abandon(struct epoch_record *record);

/**
 * Frees `block` (from `memory`, with `bytes` and `kind`) when no thread can read it. Called after
 * it was unlinked.
 */
void epoch_retire(struct epoch_record *record, struct epoch_block *block, struct memory *memory,
                  enum memory_kind kind, size_t bytes);

/** The same; `ends` is called then, by the thread that polls, and may keep the block. */
void epoch_retire_with(struct epoch_record *record, struct epoch_block *block,
                       struct memory *memory, enum memory_kind kind, size_t bytes,
                       bool (*ends)(struct epoch_block *block));

/**
 * Leaves a bookmark, or takes it away (NULL). Inside a section that found the block; afterwards the
 * caller looks whether it is deleted.
 */
static inline void
epoch_bookmark(struct epoch_record *record, uint32_t which, void *block)
{
    atomic_u64 *bookmarks = &record->epoch->bookmarks;

    if (u64_load(bookmarks) == 0) {
        u64_store(bookmarks, 1);
    }
    (void)ptr_exchange(&record->bookmarks[which], block); /* epoch_bookmark:A, a full fence */
}

/** In a section: NULL, or a block that this section may read. */
static inline void *
epoch_bookmarked(const struct epoch_record *record, uint32_t which)
{
    return ptr_load_acquire(&record->bookmarks[which]); /* of epoch_unmark_all:A */
}

/** epoch_unmark, when there are bookmarks. O(records). */
void epoch_unmark_all(struct epoch *epoch, void *block);

/** Takes away the bookmarks of a block, behind the exchange that unlinked it. */
static inline void
epoch_unmark(struct epoch *epoch, void *block)
{
    if (u64_load(&epoch->bookmarks) != 0) {
        epoch_unmark_all(epoch, block);
    }
}

/**
 * A number: sections that read it at their beginning, or a later one, find what the caller stored
 * before.
 */
uint64_t epoch_mark(struct epoch *epoch);

/** Are all sections over that began before epoch_mark gave this number? What they did is seen. */
static inline bool
epoch_passed(const struct epoch *epoch, uint64_t number)
{
    return number <= u64_load_acquire(&epoch->passed); /* of free_waiting:A */
}

/** Does something of this record wait? The record's owner. */
bool epoch_waits(const struct epoch_record *record);

/** Frees what may be freed, now. Cheap if nothing waits, or if it waits for a section. */
void epoch_poll(struct epoch_record *record);

/**
 * The caller waits for a number to pass: that raises the pressure as a retired block of `bytes`
 * does. 0: it waited before, and looking again cost some work.
 */
static inline void
epoch_press(struct epoch_record *record, size_t bytes)
{
    size_t pressure = record->pressure + EPOCH_BLOCK * (1 + bytes / EPOCH_BLOCK_BYTES);

    record->pressed = true;
    record->pressure = pressure < EPOCH_DUE ? (uint32_t)pressure : EPOCH_DUE;
}

/** The rest of epoch_poll_seldom, when it is due. */
void epoch_poll_due(struct epoch_record *record);

/** epoch_poll once in a while, for the end of a call. */
static inline void
epoch_poll_seldom(struct epoch_record *record)
{
    if (record->pressure != 0 && ++record->pressure >= EPOCH_DUE) {
        epoch_poll_due(record);
    }
}

/** epoch_poll_seldom for calls that seldom retire: the call itself is no pressure. */
static inline void
epoch_poll_if_due(struct epoch_record *record)
{
    if (record->pressure >= EPOCH_DUE) {
        epoch_poll_due(record);
    }
}

/**
 * epoch_poll_seldom at half of the pressure, for the end of a tick: asks also for the barrier that
 * others' batches wait for, so that their owners need not.
 */
void epoch_poll_often(struct epoch_record *record);

#endif
