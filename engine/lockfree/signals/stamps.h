/*
 * Events by number: the sequence that they are drawn from, and what each of them reached.
 *
 * An event draws a sequence. A stamp per profile and rejector holds the newest event that reached
 * it, so that a pod that failed learns in as many loads as it has rejectors whether anything
 * happened that concerns it. `moved` is the stamp of the rules without hints: the newest event that
 * moved pods at all. Where hints decide, each event reaches SCHEDQ_REJECTOR_OTHERS: the sequence
 * itself is the stamp of that rejector, and no event has to raise it.
 *
 * Stamps are raised after the sequence is drawn, and not in its order: a stamp below s may still be
 * raised to s, and one above s may hide s. stamps.c says what the holder of a failing pod may
 * conclude.
 */
#ifndef SCHEDQ_LOCKFREE_STAMPS_H
#define SCHEDQ_LOCKFREE_STAMPS_H

#include "platform/atomic.h"
#include "platform/memory.h"
#include "plugins/registry.h"

#define STAMPS 64

/** The stamps of one profile, by rejector. */
struct stamp_row {
    _Alignas(CACHE_LINE) atomic_u64 stamp[STAMPS];
    atomic_u64 late; /* late names that have their first stamp */
};

struct stamps {
    struct memory *memory;
    /* the newest that was drawn; hosts read it (schedq_words_t) */
    atomic_u64 *sequence;
    /* rejectors that each event reaches when it is drawn: the sequence is their stamp */
    uint64_t of_all;
    struct stamp_row *rows[REGISTRY_PROFILES_MAX]; /* fixed after setup */
    _Alignas(CACHE_LINE) atomic_u64 moved;
};

/** With the row of profile 0. False: no memory, and nothing is left. */
bool stamps_open(struct stamps *stamps, struct memory *memory, atomic_u64 *sequence);

/** When no other thread uses it. */
void stamps_close(struct stamps *stamps);

/**
 * Setup, by one thread: rows for the profiles below `profile_count`. False: no memory; the rows
 * that exist stay.
 */
bool stamps_add_profile(struct stamps *stamps, uint32_t profile_count);

/** The sequence of an event that begins; the first is 1. A full fence. */
uint64_t stamps_draw(struct stamps *stamps);

/** The newest sequence that was drawn; 0: none. */
static inline uint64_t
stamps_drawn(const struct stamps *stamps)
{
    return u64_load_acquire(stamps->sequence); /* stamps_drawn:A */
}

/** Raises the stamps of these rejectors, never lowers one. The caller's full fence follows. */
void stamps_raise(struct stamps *stamps, schedq_profile_t profile, uint64_t rejectors,
                  uint64_t sequence);

/**
 * For each caller that gets the bit of a late name: every earlier event reached that name as well,
 * so the name begins with the newest event's stamp. The call that made the bit may have stopped
 * before.
 */
void stamps_begin_late(struct stamps *stamps, schedq_profile_t profile, uint64_t bit);
void stamps_raise_moved(struct stamps *stamps, uint64_t sequence);

/** The largest stamp among these rejectors. */
uint64_t stamps_newest(const struct stamps *stamps, schedq_profile_t profile, uint64_t rejectors);
uint64_t stamps_moved(const struct stamps *stamps);

#endif
