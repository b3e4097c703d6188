/*
 * A summary: 64 bits that say which rows may have something, so that a walk can leave out the
 * others.
 *
 * PICTURE
 *   low    a bit for each row
 *   high   version:57 | doubted:7     the rows with smaller numbers are doubted; ASLEEP: all of
 *                                     them, and no bit is set
 *
 * CONTRACT. A producer that has published in a row and passed a full fence is done when it has seen
 * the row's bit set and not doubted, or has set it. A consumer that looks afterwards finds the bit,
 * until a consumer, having doubted it since, has found the row empty. Nothing here looks into rows.
 *
 * HOW A BIT GOES. A consumer doubts some rows (summary_doubt), looks into them, and takes the bits
 * of those that are empty (summary_clear), unless the version is another by then. A producer that
 * finds its row doubted ends the doubt for all of them, which raises the version. So either the
 * consumer sees what a producer published before it looked at the doubt, or the producer sees the
 * doubt. Bits of other rows may be set meanwhile; they change no version.
 *
 * SLEEP. Once a summary is ASLEEP, the summary above it may say that nothing is there (band.h). A
 * thread that puts it to sleep raises the version, also if it sleeps already. So a producer that
 * wakes it finds out if another thread put it to sleep since.
 *
 * LINEARIZATION. A bit: summary_set:A, summary_clear:A.
 *
 * ORDERING
 *   the row's contents ; summary_shows:A | summary_doubt:A, the look into the row
 *       the consumer finds them, or the producer the doubt
 *   summary_clear:A -> summary_shows:A, summary_shows:B
 *       the producer that finds the doubt over finds the bits as they are then
 *
 * PROGRESS. Each function makes one exchange, or repeats it because another thread set or took a
 * bit. A consumer that stops in a doubt costs a producer of these rows an exchange; another
 * consumer begins a doubt of its own.
 *
 * WRAPAROUND. 2^57 versions: a thousand years at four million a second.
 *
 * EVIDENCE. tests/model: bands; tests/unit/test_lockfree_summary.c; stress/explore: band_*.
 */
#ifndef SCHEDQ_LOCKFREE_SUMMARY_H
#define SCHEDQ_LOCKFREE_SUMMARY_H

#include "platform/atomic.h"

#define SUMMARY_ROWS 64
#define SUMMARY_ASLEEP UINT64_C(127)
#define SUMMARY_VERSION (SUMMARY_ASLEEP + 1)

struct summary {
    atomic_pair word;
};

/** Before another thread uses it: `count` rows, at most all, all set. */
static inline void
summary_open(struct summary *summary, uint32_t count)
{
    u64_store(&summary->word.low, count == 0 ? 0 : UINT64_MAX >> (SUMMARY_ROWS - count));
    u64_store(&summary->word.high, 0);
}

static inline uint64_t
summary_bits(const struct summary *summary)
{
    return u64_load_acquire(&summary->word.low); /* reads from summary_set:A */
}

/** Is the row's bit set, and not doubted? Behind a full fence. */
STRAIGHT bool
summary_shows(const struct summary *summary, uint32_t row)
{
    uint64_t high = u64_load_acquire(&summary->word.high); /* summary_shows:A, before B */

    return (high & SUMMARY_ASLEEP) <= row &&
           (u64_load_acquire(&summary->word.low) >> row & 1) != 0; /* summary_shows:B */
}

/** What an exchange is to expect. The halves may be of two moments: then the exchange fails. */
static inline struct pair
summary_see(const struct summary *summary)
{
    struct pair seen;

    seen.high = u64_load_acquire(&summary->word.high); /* before the bits, as summary_shows:A */
    seen.low = u64_load_acquire(&summary->word.low);
    return seen;
}

static inline bool
summary_sleeps(struct pair seen)
{
    return (seen.high & SUMMARY_ASLEEP) == SUMMARY_ASLEEP;
}

/**
 * Sets the bit of a row. A summary that sleeps wakes: so the caller has noted it above (band.h).
 * False: the word is another by now.
 */
static inline bool
summary_set(struct summary *summary, struct pair seen, uint32_t row)
{
    bool doubted = (seen.high & SUMMARY_ASLEEP) > row;
    uint64_t settled = (seen.high | SUMMARY_ASLEEP) + 1; /* the next version, nothing doubted */

    return pair_cas(
        &summary->word, seen, /* summary_set:A */
        (struct pair){.low = seen.low | UINT64_C(1) << row, .high = doubted ? settled : seen.high});
}

/** Sets the bit of a row and raises the version, also if it is set. Ends: see PROGRESS. */
static inline void
summary_note(struct summary *summary, uint32_t row)
{
    struct pair seen;

    do {
        seen = summary_see(summary);
    } while (!pair_cas(
        &summary->word, seen, /* summary_note:A */
        (struct pair){.low = seen.low | UINT64_C(1) << row, .high = seen.high + SUMMARY_VERSION}));
}

/**
 * Doubts the rows below number `below`; `seen` has bits among them. False: the word is another by
 * now.
 *
 * @param doubt the version to be cleared with
 */
static inline bool
summary_doubt(struct summary *summary, struct pair seen, uint32_t below, uint64_t *doubt)
{
    *doubt = (seen.high | SUMMARY_ASLEEP) + 1 + below;
    return pair_cas(&summary->word, seen, /* summary_doubt:A */
                    (struct pair){.low = seen.low, .high = *doubt});
}

/**
 * Takes bits of rows that were doubted, and found empty since. Ends: each failed exchange is
 * another thread's, which set a bit, or ended the doubt.
 */
static inline void
summary_clear(struct summary *summary, uint64_t doubt, uint64_t empty)
{
    struct pair seen = summary_see(summary);

    while (seen.high == doubt &&
           !pair_cas(&summary->word, seen, /* summary_clear:A */
                     (struct pair){.low = seen.low & ~empty, .high = doubt & ~SUMMARY_ASLEEP})) {
        seen = summary_see(summary);
    }
}

/** Puts a summary without bits to sleep, also if it sleeps already. False: a bit is set. */
static inline bool
summary_sleep(struct summary *summary)
{
    struct pair seen = summary_see(summary);

    return seen.low == 0 &&
           pair_cas(&summary->word, seen, /* summary_sleep:A */
                    (struct pair){.high = (seen.high | SUMMARY_ASLEEP) + SUMMARY_VERSION});
}

/** Takes bits if nothing was noted since `seen`. */
static inline void
summary_take(struct summary *summary, struct pair seen, uint64_t bits)
{
    /* summary_take:A */
    (void)pair_cas(&summary->word, seen, (struct pair){.low = seen.low & ~bits, .high = seen.high});
}

#endif
