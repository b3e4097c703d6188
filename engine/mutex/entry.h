/*
 * A pod's record, and the pages that records live in.
 *
 * Records are numbered; a page of them is never moved, so a pointer to a record stays good while
 * the queue lives (until trim gives an unused page back). A handle is {number, life}: life changes
 * when the record gets its next pod, so an old handle never names a new pod. A token or ref is
 * {number, version}: version changes whenever the pod changes its place, or is updated while it
 * waits, so an old token never ends a newer cycle and an old ref never moves an updated pod. Both
 * widths are 36 bits: at 10 million changes a second of one and the same record, a version repeats
 * after 1.9 hours, and then only a token that was kept for exactly that many changes is mistaken.
 *
 * What the sifting of a heap needs (the key, and the record's place in the heap) is not here but in
 * the heap's own arrays: a sift must not touch a cache line of every record on its way.
 */
#ifndef SCHEDQ_MUTEX_ENTRY_H
#define SCHEDQ_MUTEX_ENTRY_H

#include "engine.h"

#include <stddef.h>
#include <string.h>

#define NO_ENTRY UINT32_MAX
#define PAGE_ENTRIES 128
#define ENTRY_WIDTH_MASK ((UINT64_C(1) << 36) - 1)

#define ENTRY_FREED_SHIFT 36

enum entry_mark {
    MARK_DELETED = 1,   /* in flight, deleted meanwhile: its holder gets GONE */
    MARK_ACTIVATED = 2, /* in flight, activated meanwhile: it is retried when it fails */
    MARK_HELD = 4,      /* kept back by a call; in flight: it is held when it fails */
    MARK_TIMED = 8,     /* keeps.h has a time for it */
    MARK_LABELLED = 16, /* labels.h has a label for it */
    MARK_FLUSHED = 32,  /* waiting or active: as popped.flushed */
    MARK_MEMBER = 64,   /* groups.h has its group: it waits there, and nowhere else */
    MARK_GROUP = 128,   /* no pod, but the record of a group */
    MARKS_KEPT = MARK_HELD | MARK_TIMED,
    /* of the description, not in the record */
    MARKS_ASIDE = MARK_TIMED | MARK_LABELLED | MARK_MEMBER | MARK_GROUP
};

struct entry {
    /* First line: what pop, done and a move look at. */
    uint64_t object;
    uint64_t unschedulable, pending;
    int64_t order_key;
    const char *name;
    uint32_t hash;
    int32_t priority;
    uint64_t version;
    uint16_t name_length;
    uint8_t place; /* schedq_place_t; SCHEDQ_NOWHERE: free */
    uint8_t gate;  /* 1 + plugin number; 0 = none */
    uint8_t flags; /* SCHEDQ_POD_, ENTRY_ (classes.h) */
    uint8_t marks; /* enum entry_mark; asked together with the flags */
    uint8_t profile;
    uint8_t nominated;

    /* Second line: what a pod went through. */
    uint64_t life;
    int64_t timestamp, initial_attempt;
    int64_t expiry; /* as compared; BACKOFF_NONE. Good while it waits in a backoff place */
    uint32_t attempts, rejections, errors;
    uint32_t lot_next, lot_prev; /* in its lot; free records are chained by lot_next */
    uint32_t age_next, age_prev; /* among the parked, or the gated, pods of the queue */
    uint32_t lot;

    /* Third line: what depends on the place, and nominations. */
    union {
        struct {
            uint64_t sequence; /* grows with every insertion into a lot */
            int64_t since;     /* parked, gated: from when the leftover limit counts */
            /* not held: when the limit tried it last, since its last failure; 0: not */
            int64_t flushed;
        } parking;
        struct {
            uint64_t popped_object;
            uint64_t seen; /* event sequence at its pop */
            uint64_t pop_order;
        } flight;
    };
    /*
     * version when its life began, 36 bits: an older ref named the record's last pod; above it 1 +
     * label of what brought it out of PARKED or GATED last
     */
    uint64_t born_freed;
    uint64_t nominated_node; /* where the nominator has it; valid if `nominated` */
    uint64_t described_node; /* what its description says (status.nominatedNodeName) */
    uint64_t nomination;     /* orders the pods of one node */
    uint32_t nominated_next, nominated_prev;
};

_Static_assert(sizeof(struct entry) == 192, "three cache lines");

struct entries {
    struct memory *memory;
    struct entry **pages;
    uint32_t page_count, page_capacity;
    uint32_t pages_made; /* of page_count; trim gives pages back and leaves holes */
    uint32_t free_head;  /* LIFO: the record that was used last is the warmest */
    uint32_t free_count;
    /* lives of records in new pages start above: trimmed pages had lower ones */
    uint64_t life_floor;
};

/** Lives and versions of records start above `first`. */
void entries_open(struct entries *entries, struct memory *memory, uint64_t first);
void entries_shut(struct entries *entries);

/** Makes `count` records that are free, or in use, exist. False: no memory; what was made stays. */
bool entries_reserve(struct entries *entries, uint32_t count);

/** Gives pages without a pod back. */
void entries_trim(struct entries *entries);

/** Records that exist, used and free. */
static inline uint32_t
entries_made(const struct entries *entries)
{
    return entries->pages_made * PAGE_ENTRIES;
}

/** One past the highest number that was ever given. */
static inline uint32_t
entries_end(const struct entries *entries)
{
    return entries->page_count * PAGE_ENTRIES;
}

/**
 * A free record with its next life begun, everything else zero but life and version; NO_ENTRY if
 * none is free.
 */
uint32_t entries_take(struct entries *entries);
void entries_give(struct entries *entries, uint32_t index);

static inline struct entry *
entry_at(const struct entries *entries, uint32_t index)
{
    return &entries->pages[index / PAGE_ENTRIES][index % PAGE_ENTRIES];
}

static inline void
entry_prefetch(const struct entry *entry)
{
    for (size_t offset = 0; offset < sizeof *entry; offset += CACHE_LINE) {
        __builtin_prefetch((const char *)entry + offset, 1);
    }
}

static inline uint64_t
entry_bits(uint32_t index, uint64_t life_or_version)
{
    return (life_or_version << POD_INDEX_BITS) | index;
}

static inline schedq_pod_t
entry_handle(const struct entry *entry, uint32_t index)
{
    return (schedq_pod_t){entry_bits(index, entry->life)};
}

static inline uint64_t
entry_born(const struct entry *entry)
{
    return entry->born_freed & ENTRY_WIDTH_MASK;
}

/** 1 + label of what brought the pod out of PARKED or GATED last; 0: nothing. */
static inline uint32_t
entry_freed(const struct entry *entry)
{
    return (uint32_t)(entry->born_freed >> ENTRY_FREED_SHIFT);
}

static inline void
entry_set_freed(struct entry *entry, uint32_t label)
{
    entry->born_freed = entry_born(entry) | (uint64_t)label << ENTRY_FREED_SHIFT;
}

static inline uint64_t
entry_ref(const struct entry *entry, uint32_t index)
{
    return entry_bits(index, entry->version);
}

/** The pod that a handle names: waiting, or in flight and not deleted. NULL if none. */
struct entry *entry_of_handle(const struct entries *entries, schedq_pod_t pod, uint32_t *index);

/** Every change of place, and every update of a waiting pod, ends what refs and tokens said. */
static inline void
entry_changed(struct entry *entry)
{
    entry->version = (entry->version + 1) & ENTRY_WIDTH_MASK;
    if (entry->version == 0) {
        entry->version = 1;
    }
}

static inline bool
entry_is_waiting(const struct entry *entry)
{
    return entry->place != SCHEDQ_NOWHERE && entry->place != SCHEDQ_INFLIGHT;
}

static inline bool
entry_is_member(const struct entry *entry)
{
    return __builtin_expect((entry->marks & MARK_MEMBER) != 0, 0);
}

/** Has the record one of these flags, or one of these marks? One look at both. */
static inline bool
entry_has(const struct entry *entry, uint8_t flags, uint8_t marks)
{
    const uint8_t asked[2] = {flags, marks};
    uint16_t has, wanted;

    _Static_assert(offsetof(struct entry, marks) == offsetof(struct entry, flags) + 1, "adjacent");
    memcpy(&has, &entry->flags, sizeof has);
    memcpy(&wanted, asked, sizeof wanted);
    return (has & wanted) != 0;
}

/** Is it the record of a group? No call for pods may find that. */
static inline bool
entry_is_group(const struct entry *entry)
{
    return __builtin_expect((entry->marks & MARK_GROUP) != 0, 0);
}

/** Does it wait for an event or for its backoff? Then it is in a lot. */
static inline bool
entry_is_candidate(const struct entry *entry)
{
    return entry->place >= SCHEDQ_BACKOFF && entry->place <= SCHEDQ_GATED;
}

/** Is there a record of this number? A trim may have given its page back. */
static inline bool
entries_have(const struct entries *entries, uint32_t index)
{
    return index < entries_end(entries) && entries->pages[index / PAGE_ENTRIES] != NULL;
}

/** The record behind 64 bits from a caller, NULL if that number does not exist; *index is set. */
static inline struct entry *
entry_of_bits(const struct entries *entries, uint64_t bits, uint32_t *index)
{
    *index = (uint32_t)(bits & PODS_MAX);
    return entries_have(entries, *index) ? entry_at(entries, *index) : NULL;
}

/** The pod that this token's holder has in flight (deleted ones too). NULL: the token was used. */
STRAIGHT struct entry *
entry_of_token(const struct entries *entries, schedq_token_t token, uint32_t *index)
{
    struct entry *entry = entry_of_bits(entries, token.bits, index);

    if (entry == NULL || entry->place != SCHEDQ_INFLIGHT ||
        entry_ref(entry, *index) != token.bits) {
        return NULL;
    }
    return entry;
}

#endif
