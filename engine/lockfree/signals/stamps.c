/*
 * The stamps of stamps.h.
 *
 * 1 CONTRACT. An event and a pod that is being parked find each other: the event finds the pod in
 *   its lot, or the holder finds the event's stamp. Not: which sequences a stamp has seen; it knows
 *   the largest.
 *
 * 2 MEMORY. The sequence is the public word, on the host's cache line, written by every event. A
 *   row is eight lines of one profile, written by its events, read by its holders. Rows are fixed
 *   after setup. `moved` has a line.
 *
 * 3 ORDERING. Both fences are the caller's.
 *     stamps_draw:A, the log's record, stamps_raise:A, stamps_raise_moved:A ; look at the lots
 *         | stamps_drawn:A, judge, ref in the lot ; stamps_moved:A, stamps_newest:A
 *   Either the event finds the holder's ref, or the holder finds the stamp at the event's sequence
 *   or above. The fence is behind raising because raising may be a load only: a stamp that is as
 *   large already is left alone. The log's record is written before stamps_raise:A: stamps_moved:A,
 *   stamps_newest:A, an acquire, that finds the event's own sequence finds the record as well,
 *   unless the ring has lost it.
 *
 * 4 WHAT A HOLDER MAY CONCLUDE. Let s0 be what it read at stamps_drawn:A, and `seen` the event up
 *   to which its pod was judged before: at first the newest one at its pop. An event that drew
 *   s <= s0 may be anywhere between stamps_draw:A and stamps_raise:A. So:
 *     stamps <= seen    nothing reached the pod that the stamps know of. It is judged up to `seen`,
 *                       not up to s0: an event below s0 may raise a stamp only afterwards,
 *                       and must be found by the look after publishing.
 *     a stamp > seen    the log is read from seen + 1 to s0, every sequence. What is not recorded
 *                       by then counts as an event that helps. The pod is judged up to s0.
 *   After publishing and the fence, a stamp above what the pod is judged up to means: judge again.
 *   The largest stamp alone, compared with the largest from before, would not do: s may hide below
 *   a newer one.
 *   For a rejector of `of_all` the stamp may name an event that is not recorded yet. That counts as
 *   an event that helps, as each event does for such a rejector.
 *
 * 5 LINEARIZATION. Of an event's number: stamps_draw:A. Of what it reached: each stamps_raise:A by
 *   itself.
 *
 * 6 PROGRESS. Lock-free: an exchange fails only if the stamp was raised. A thread that stops after
 *   stamps_draw:A leaves a sequence without an event: it has not happened, and a reader of the log
 *   takes the gap for an event that helps.
 *
 * 7 WRAPAROUND. 63 bits (event_log.c keeps one): 10 million events a second for 29,000 years.
 *
 * 8 NOT CHOSEN. One word per profile: every event would send every holder to the log.
 *
 * 9 EVIDENCE. tests/model: park, gate; stress/explore: event_park*, event_gate*;
 *   tests/unit/test_lockfree_stamps.c.
 */
#include "lockfree/signals/stamps.h"

#include <string.h>

bool
stamps_open(struct stamps *stamps, struct memory *memory, atomic_u64 *sequence)
{
    memset(stamps, 0, sizeof *stamps);
    stamps->memory = memory;
    stamps->sequence = sequence;
    return stamps_add_profile(stamps, 1);
}

void
stamps_close(struct stamps *stamps)
{
    for (uint32_t i = 0; i < REGISTRY_PROFILES_MAX; i++) {
        memory_free(stamps->memory, MEMORY_OTHER, stamps->rows[i], sizeof *stamps->rows[i]);
    }
}

bool
stamps_add_profile(struct stamps *stamps, uint32_t profile_count)
{
    for (uint32_t i = 0; i < profile_count && i < REGISTRY_PROFILES_MAX; i++) {
        if (stamps->rows[i] == NULL) {
            stamps->rows[i] =
                memory_alloc(stamps->memory, MEMORY_OTHER, sizeof *stamps->rows[i], CACHE_LINE);
        }
        if (stamps->rows[i] == NULL) {
            return false;
        }
    }
    return true;
}

uint64_t
stamps_draw(struct stamps *stamps)
{
    return u64_add(stamps->sequence, 1) + 1; /* stamps_draw:A */
}

void
stamps_raise(struct stamps *stamps, schedq_profile_t profile, uint64_t rejectors, uint64_t sequence)
{
    atomic_u64 *row = stamps->rows[profile]->stamp;

    for (rejectors &= ~stamps->of_all; rejectors != 0; rejectors &= rejectors - 1) {
        (void)u64_max(&row[__builtin_ctzll(rejectors)], sequence); /* stamps_raise:A */
    }
}

void
stamps_begin_late(struct stamps *stamps, schedq_profile_t profile, uint64_t bit)
{
    struct stamp_row *row = stamps->rows[profile];

    /* of stamps_begin_late:A, which comes after the raise */
    if ((u64_load_acquire(&row->late) & bit) == 0) {
        stamps_raise(stamps, profile, bit, stamps_drawn(stamps));
        u64_or(&row->late, bit); /* stamps_begin_late:A */
    }
}

void
stamps_raise_moved(struct stamps *stamps, uint64_t sequence)
{
    (void)u64_max(&stamps->moved, sequence); /* stamps_raise_moved:A */
}

uint64_t
stamps_newest(const struct stamps *stamps, schedq_profile_t profile, uint64_t rejectors)
{
    const atomic_u64 *row = stamps->rows[profile]->stamp;
    uint64_t newest = 0;

    if ((rejectors & stamps->of_all) != 0) {
        return stamps_drawn(stamps); /* no stamp is newer */
    }
    for (; rejectors != 0; rejectors &= rejectors - 1) {
        uint64_t stamp = u64_load_acquire(&row[__builtin_ctzll(rejectors)]); /* stamps_newest:A */

        newest = stamp > newest ? stamp : newest;
    }
    return newest;
}

uint64_t
stamps_moved(const struct stamps *stamps)
{
    return u64_load_acquire(&stamps->moved); /* stamps_moved:A, of the rules without hints */
}
