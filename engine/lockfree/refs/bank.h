/*
 * Banks: the lanes of all workers in one container, a bin (bin.h) or a lot (lots.h).
 *
 * PICTURE. A bank has the lanes of BANK_LANES workers, a pointer for each, set once, and a bit in
 * `used` for each that is set. The first bank is part of the container, and has the workers with
 * `used` for each that is set. The first bank is part of the container, and has the workers with
 * the smallest numbers. Each further BANK_LANES workers have a bank of their own. It is made when
 * one of them comes to this container for the first time, linked behind the last by `more`, and
 * stays as long as the container. So banks are in no order, but for the first. In a bin each lies
 * in a bin of its own.
 *
 * CONTRACT. A reading (bank_read_lane) meets each lane that was there when it began, and each bank
 * with a lane, unless it is told to stay in the first.
 *
 * ORDERING
 *   bank_find:A, bank_prepare:A, B -> bank_next:A, bank_read_begin:A, bank_read_lane:A
 *       a bank, the bit of a worker, its lane, before the lane's first ref
 * The bit comes before the lane: a worker that takes over a slot, and finds the lane, sets no bit.
 *
 * PROGRESS. Lock-free; bank_prepare allocates. A thread that stops in it leaves a bank without
 * lanes, which the next of its workers finds, or a bit without a lane.
 *
 * EVIDENCE. tests/model: bin; stress/explore: banks_*; tests/unit/test_lockfree_bin.c,
 * test_lockfree_lots.c, test_many_workers.c.
 */
#ifndef SCHEDQ_LOCKFREE_BANK_H
#define SCHEDQ_LOCKFREE_BANK_H

#include "lockfree/refs/lane.h"

/** Lanes of workers from number * BANK_LANES on. */
struct bank {
    atomic_u64 used; /* workers that have a lane here, as bits */
    atomic_ptr more; /* the next bank */
    atomic_ptr lanes[BANK_LANES];
    uint32_t number;
};

/** What a container's further banks lie in. */
struct bank_kind {
    size_t bytes, offset; /* of that object; of the bank in it */
    void (*begin)(struct bank *made, const struct bank *first); /* fills in the rest */
    void (*announce)(struct bank *first); /* before each lane outside of the first bank */
};

/** The bank behind another; NULL: there is none. */
static inline struct bank *
bank_next(const struct bank *bank)
{
    return ptr_load_acquire(&bank->more); /* bank_next:A reads from bank_find:A */
}

/** The bank with the lane of a worker; NULL: it is not there. */
const struct bank *bank_of(const struct bank *first, uint64_t worker);

/** As bank_lane, of a worker from BANK_LANES on: its lane is in a further bank. */
struct lane *bank_lane_behind(const struct bank *first, uint32_t worker);

/** The worker's lane; NULL: it has none here. Only for the lane's owner. */
static inline struct lane *
bank_lane(const struct bank *first, uint32_t worker)
{
    return worker < BANK_LANES ? ptr_load(&first->lanes[worker]) : bank_lane_behind(first, worker);
}

/** The same, if the lane is in the first bank; NULL also if it is in another. */
static inline struct lane *
bank_first_lane(const struct bank *first, uint32_t worker)
{
    return worker < BANK_LANES ? ptr_load(&first->lanes[worker]) : NULL;
}

/**
 * Has the worker's lane room for `count` refs, and is in the first bank? Then bank_prepare need not
 * be called.
 */
static inline bool
bank_has_room(const struct bank *first, uint32_t worker, uint32_t count)
{
    const struct lane *lane = bank_first_lane(first, worker);

    return lane != NULL && lane_has_room(lane, count);
}

/** Makes sure that `count` refs can be put into the worker's lane. False: no memory. */
bool bank_prepare(struct bank *first, const struct bank_kind *kind, const struct lane_care *care,
                  uint32_t worker, uint32_t count);

/**
 * Tends the lane of a worker's slot, in a section. With an epoch's record the lane becomes as small
 * as it can be: the caller gives the slot back. Without one the lane goes on behind the last ref
 * that was published: the caller takes the slot over from a worker that died. For EVERY_WORKER,
 * which needs an epoch's record, the stale refs at the front of all lanes go, whoever owns them.
 */
#define EVERY_WORKER UINT32_MAX

void bank_tend(struct bank *first, const struct lane_care *care, uint32_t worker);

/** When no other thread uses it: frees all lanes, and the further banks. */
void bank_close(struct bank *first, const struct bank_kind *kind, struct memory *memory);

/** Where a reading of lanes is; good until the reader's section ends. */
struct bank_reader {
    const struct bank *bank;
    uint64_t left; /* lanes of it that are still to be read, as bits */
    bool more;     /* there may be more banks */
};

static inline void
bank_read_begin(struct bank_reader *reader, const struct bank *first, bool more)
{
    reader->bank = first;
    reader->left = u64_load_acquire(&first->used); /* bank_read_begin:A, of bank_prepare:A */
    reader->more = more;
}

/** Goes on to a bank with lanes that come later. False: there is none. */
bool bank_read_on(struct bank_reader *reader);

/** The next lane, and its worker; NULL: there are no more. */
static inline struct lane *
bank_read_lane(struct bank_reader *reader, uint32_t *worker)
{
    struct lane *lane = NULL;

    while (lane == NULL && (reader->left != 0 || bank_read_on(reader))) {
        uint32_t at = (uint32_t)__builtin_ctzll(reader->left);

        reader->left &= reader->left - 1;
        *worker = reader->bank->number * BANK_LANES + at;
        lane = ptr_load_acquire(&reader->bank->lanes[at]); /* bank_read_lane:A, of bank_prepare:B */
    }
    return lane;
}

#endif
