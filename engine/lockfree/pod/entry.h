/*
 * A pod's record, and its description.
 *
 * Two cache lines: the state word and what pop reads; what a pod goes through, and what never
 * changes in a life. They are an aligned pair, which many processors fetch together. The words for
 * a name lie apart, behind all records of the page (entry_own_words): a failure, a tick, an event
 * do not read them. A record is named by a number (slab.h) and used again at once. A handle is
 * {life, record}, where life is the version at which the record left FREE: no two lives have the
 * same, and a ref with a smaller version is of an older life.
 *
 * WRITERS
 *   life, name, hash, profile        the owner, before the pod exists
 *   timestamp, counters, sets, key   the owner, before the pod exists; the holder, in flight
 *   flight                           the same; it is a stay word while the pod waits or is active
 *   freed                            the thread that switched it out of PARKED or GATED, afterwards
 *   state                            state.h
 *   state and desc together          update, nominate, movers (entry_describe)
 * A mover owns nothing. What it says of a pod (a gate, the bits of gates, the initial attempt) goes
 * with the description that its CAS installs, so a mover that loses leaves nothing. Every field is
 * atomic, because find, get, snapshot and helpers read it without owning the record. They read it
 * between two loads of the state word (report_record), and drop what they read if the word changed.
 *
 * THE DESCRIPTION {object, order key, priority, flags, described node, nomination, held, not
 * before} is what update and hold replace. It is written into the record before the pod exists and
 * never changes there, but for the order key that queues draw: that is the record's, and
 * descriptions without an own key inherit it. An update puts a new description into a record of its
 * own and makes the word `desc`, beside the state word, name it. That is one 16-byte CAS on both
 * words: the description reaches exactly the life that it was meant for, and the CAS fails if the
 * pod left its place. `desc` is {tag:36, record:28}, 0 for the description in the pod's record; the
 * tag makes each value unique. Few descriptions have more than object, key, priority and flags:
 * marks beside the flags say which of the other words are good, so most records are one line to
 * write and to read.
 *
 * A STAY lasts from the switch or the add that brought the pod to where it waits until its next
 * pop. The record names it in its stay word, by the version at which it began, with the gate that
 * the pod had then. GATING, what movers said of the pod, is in the description, with the stay that
 * it is about, and counts in that stay only: no later flight, and no later pod of the record, sees
 * it. A gating that says no more than the stay word is not stored (gating_says).
 *
 * LINEARIZATION. An update, a nomination, a gate: entry_describe:A. Reading a description:
 * entry_description:B, if the caller then finds the state word's version unchanged.
 *
 * ORDERING
 *   fill:A (add.c), every CAS of the state word -> entry_state
 *       the record's fields, the stay word among them
 *   description_make, entry_describe:A -> entry_description:A
 *       the description's fields
 *   the CAS that took a pod or a description out ; the stores of the memory's next user
 *       -> acquire loads of fields, then of the word
 *       a reader that met the next user's fields finds the word changed
 *
 * PROGRESS. Wait-free but for entry_description and slab_take, which are lock-free. A thread that
 * stops behind entry_describe:A keeps the old description's record and its reference to the object;
 * if the pod has to move, the next thread that meets it finishes that (transfer_follow).
 *
 * ABA, WRAPAROUND. A desc word comes back after 2^36 takes of one description record: 1.9 hours at
 * 10 million a second, and a thread must sleep exactly so long.
 *
 * EVIDENCE. tests/model: description; stress/explore: update_two, update_twice, nominate_update,
 * event_gate*; tests/unit/test_lockfree_entry.c.
 */
#ifndef SCHEDQ_LOCKFREE_ENTRY_H
#define SCHEDQ_LOCKFREE_ENTRY_H

#include "engine.h"
#include "lockfree/memory/names.h"
#include "lockfree/pod/state.h"

#include <stddef.h>

struct entry {
    _Alignas(CACHE_LINE) atomic_pair word; /* low: state; high: desc */
    atomic_u64 object;
    atomic_u64 order_key;
    atomic_u64 attributes; /* priority:32 | name length:16 | profile:8 | flags:8 */
    atomic_u64 name;       /* hash:32 | where the text is:32, a cell or the record (names.h) */
    atomic_u64 unschedulable, pending;

    atomic_u64 life; /* second line */
    /* of a group's record: its initial attempt, 0 until it was popped; and 0 */
    atomic_u64 timestamp, initial_attempt;
    atomic_u64 attempts_rejections; /* 32 bits each */
    atomic_u32 errors;
    atomic_u32 freed; /* what freed it last (FREED_LABEL_BITS) */
    /*
     * in flight: event sequence at its pop; a member's: its group's cycle; a group's record: the
     * group
     */
    atomic_u64 seen;
    atomic_u64 flight; /* in flight: orders pods by their pops, once it is set; else a stay word */
    /*
     * in flight, counted objects: the holder's reference; of a group's record: its block's address
     */
    atomic_u64 popped;
};

/* A stay word: 1:1 | 0 | version at which the stay began:36 | 0 | gate that the pod had then:8. */
#define STAY_MARK (UINT64_C(1) << 63)
/* in a gating: `first` counts also while the pod is not active: it was active before it was held */
#define STAY_ATTEMPTED (UINT64_C(1) << 8)
/* in a gating: the gate that the record has for this stay is forgotten */
#define STAY_UNGATED (UINT64_C(1) << 9)
/* in a gating: as popped.flushed */
#define STAY_FLUSHED (UINT64_C(1) << 10)
#define STAY_VERSION_SHIFT 16

/*
 * The version behind the switch that freed the pod: 20 | 1 + label of why: 12. The store comes
 * behind the switch, so it may be late. If the record has another pod by then, the version shows
 * that (entry_freed) until that pod has gone through 2^20 versions: so an add stores 0. If the pod
 * was switched again, the note of the earlier switch may stay.
 */
#define FREED_LABEL_BITS 12
#define FREED_LABEL_MAX ((UINT32_C(1) << FREED_LABEL_BITS) - 1)

_Static_assert(sizeof(struct entry) == LINE_PAIR, "a load may bring both");

/** A description that an update brought. */
struct description_record {
    atomic_u64 tag; /* low 36 bits: of the word that names it, or of the next one that will */
    atomic_u64 object;
    atomic_u64 order_key;
    atomic_u64 attributes; /* priority:32 | 0:16 | marks:8 | flags:8 */
    /* each good if its mark is set, else not touched: most descriptions have none of them */
    atomic_u64 described_node;
    atomic_u64 nominated_node;       /* 0: none */
    atomic_u64 nomination;           /* orders the pods of one node */
    atomic_u64 refused, stay, first; /* struct gating */
    atomic_u64 not_before;
    atomic_u64 label;
    atomic_u64 tried; /* of the gating */
    atomic_u64 group;
    atomic_u64 class_id;
    atomic_u64 unused;
};

_Static_assert(sizeof(struct description_record) % 32 == 0, "the first four words in one line");

/** What movers said of a pod in one stay. */
struct gating {
    uint64_t refused; /* bits of the gates that the pod was put behind */
    uint64_t stay;    /* the stay word, with the newest gate; 0: nothing was said */
    /* the initial attempt of a pod that had none; 0: none. Counts where the pod is active */
    int64_t first;
    int64_t tried; /* when the leftover limit tried it last, where that matters; 0: not */
};

/** A description, copied out. */
struct description {
    uint64_t object;
    int64_t order_key; /* what orders the pod, its own or inherited */
    int32_t priority;
    uint8_t flags; /* SCHEDQ_POD_ */
    uint8_t marks; /* MARK_ */
    uint64_t described_node;
    uint64_t nominated_node; /* 0: none */
    uint64_t nomination;
    int64_t not_before; /* good if its mark is set */
    uint64_t label;     /* the same */
    uint64_t class_id;  /* good if its flag is set */
    uint64_t group;     /* the same */
};

/* In a description record's attributes, where a pod's record has the profile. */
#define MARK_OWN_KEY 1 /* order_key is this description's, not the record's */
#define MARK_HELD 2
#define MARK_NOT_BEFORE 4
#define MARK_LABEL 8
#define MARK_MEMBER 128 /* a member of a group; or a group's record whose `group` is the parent */
/* marks that struct description has; its record has the others too */
#define MARKS_KEEP (MARK_HELD | MARK_NOT_BEFORE) /* the pod may be kept back */
#define MARKS (MARK_OWN_KEY | MARK_HELD | MARK_NOT_BEFORE | MARK_LABEL | MARK_MEMBER)
/*
 * In the flags of a pod: it has a class, and MARK_LABEL, whether or not it has a label; its class
 * kept it back since it was added, or failed; not_before is the time that its class gave it.
 */
#define DESCRIBED_CLASS 8
#define DESCRIBED_WAITED 32
#define DESCRIBED_BY_CLASS 64
/*
 * In the flags of a group's record (group.h): it is a group's; the group was undeclared in its
 * cycle; the group was activated in its cycle.
 */
#define DESCRIBED_GROUP 128
#define DESCRIBED_ENDED 64
#define DESCRIBED_ACTIVATED 32
#define DESCRIBED_FORGOTTEN 16 /* its history counts no more, until its next cycle */
#define MARK_NODES 16          /* described_node, nominated_node and nomination are good */
#define MARK_GATING 32
#define MARK_TRIED 64

_Static_assert((MARKS & (MARK_NODES | MARK_GATING | MARK_TRIED)) == 0, "each bit marks one thing");

/** A free record's link lies in its order key, a description record's too. */
#define RECORD_LAYOUT                                    \
    ((struct slab_layout){.page_bits = RECORD_PAGE_BITS, \
                          .bytes = sizeof(struct entry), \
                          .apart = NAMES_OWN,            \
                          .link = offsetof(struct entry, order_key)})
#define DESCRIPTION_LAYOUT                                                        \
    ((struct slab_layout){.page_bits = DESCRIPTION_PAGE_BITS,                     \
                          .bytes = sizeof(struct description_record),             \
                          .link = offsetof(struct description_record, order_key), \
                          .brief = true})

struct entries {
    struct slab records;
    struct slab descriptions;
};

/** Versions of records start above `first`. */
void records_open(struct entries *entries, struct memory *memory, uint64_t first);
void records_close(struct entries *entries);

/** NULL if the record's page was trimmed: then no ref to it is good. */
STRAIGHT struct entry *
entry_at(const struct entries *entries, uint32_t record)
{
    return slab_at_known(&entries->records, RECORD_LAYOUT, record);
}

/** The record's own words for a name. */
STRAIGHT atomic_u64 *
entry_own_words(const struct entry *entry, uint32_t record)
{
    return slab_apart(RECORD_LAYOUT, record, entry);
}

/**
 * The words of a name of this length, which the record says to be at `place`. NULL: no such name is
 * there; place and length may be of two pods.
 */
STRAIGHT const atomic_u64 *
entry_words(const struct names *names, const struct entry *entry, uint32_t record, uint32_t place,
            uint32_t length)
{
    if (names_is_cell(place)) {
        return names_cell(names, place, length);
    }
    return length < NAMES_OWN ? entry_own_words(entry, record) : NULL;
}

/** The name, ending in NUL; for the thread that owns the record, or holds its pod. */
STRAIGHT const char *
entry_name(const struct names *names, const struct entry *entry, uint32_t place)
{
    /* of its owner's record, `place` is the record unless it is a cell */
    return (const char *)entry_words(names, entry, place, place, 0);
}

/** Keeps a copy of the name, and says at which place. 0: no memory. */
STRAIGHT uint32_t
entry_keep_name(struct names *names, struct names_cache *cache, const struct entry *entry,
                uint32_t record, const char *text, uint32_t length)
{
    if (length < NAMES_OWN) {
        names_write(entry_own_words(entry, record), text, length);
        return record;
    }
    return names_take(names, cache, text, length);
}

/** Prefetches the lines of a record whose number was given out once; its page may be gone. */
static inline void
entry_prefetch(const struct entries *entries, uint32_t record)
{
    const char *entry = slab_unchecked(&entries->records, RECORD_LAYOUT, record);

    __builtin_prefetch(entry, 1);
    __builtin_prefetch(entry + CACHE_LINE, 1);
}

/** The record behind a desc word; NULL: `desc` is 0, or its page was trimmed. */
STRAIGHT struct description_record *
description_at(const struct entries *entries, uint64_t desc)
{
    return desc != 0 ? slab_at_known(&entries->descriptions, DESCRIPTION_LAYOUT, ref_record(desc))
                     : NULL;
}

static inline uint64_t
entry_state(const struct entry *entry)
{
    return u64_load_acquire(&entry->word.low); /* reads from fill:A and every CAS of the word */
}

static inline schedq_pod_t
entry_handle(uint32_t record, uint64_t life)
{
    return (schedq_pod_t){ref_make(life, record)};
}

/* ---- attributes and counters, packed --------------------------------------------------------- */

static inline uint64_t
attributes_pack(int32_t priority, uint32_t name_length, uint8_t profile, uint8_t flags)
{
    return (uint64_t)(uint32_t)priority << 32 | (uint64_t)name_length << 16 |
           (uint64_t)profile << 8 | flags;
}

static inline int32_t
attributes_priority(uint64_t attributes)
{
    return (int32_t)(uint32_t)(attributes >> 32);
}

static inline uint32_t
attributes_name_length(uint64_t attributes)
{
    return (uint32_t)(attributes >> 16 & 0xffff);
}

static inline uint8_t
attributes_profile(uint64_t attributes)
{
    return (uint8_t)(attributes >> 8);
}

static inline uint8_t
attributes_flags(uint64_t attributes)
{
    return (uint8_t)attributes;
}

/* ---- what the place gives a meaning ---------------------------------------------------------- */

/**
 * In flight: what orders it among the pops; 0: its holder has not stored that yet. Reads from
 * begin_flight:A (pop.c).
 */
static inline uint64_t
entry_pop_order(const struct entry *entry)
{
    uint64_t flight = u64_load_acquire(&entry->flight);

    return (flight & STAY_MARK) == 0 ? flight : 0;
}

static inline uint64_t
stay_word(uint64_t version, uint8_t gate)
{
    return STAY_MARK | version << STAY_VERSION_SHIFT | gate;
}

static inline uint8_t
stay_gate(uint64_t word)
{
    return (uint8_t)word;
}

/**
 * Takes out of a gating what does not count in the stay of `word`, the stay word that came with
 * `state`.
 */
static inline void
gating_judge(struct gating *gating, uint64_t word, uint64_t state)
{
    enum place place = state_place(state);
    bool stays = (word & STAY_MARK) != 0 && place_has_stay(place);

    if (!stays || (gating->stay ^ word) >> STAY_VERSION_SHIFT != 0) {
        *gating = (struct gating){.stay = stays ? word : 0};
    }
    if (place != PLACE_ACTIVE && (gating->stay & STAY_ATTEMPTED) == 0) {
        gating->first = 0;
    }
}

/** Does it say anything that gating_judge would not find in the record? */
static inline bool
gating_says(const struct gating *gating)
{
    return (gating->refused | (uint64_t)gating->first | (uint64_t)gating->tried |
            (gating->stay & (STAY_ATTEMPTED | STAY_UNGATED | STAY_FLUSHED))) != 0;
}

/**
 * The gate of a pod whose word is `state`: 1 + number of the plugin. 0: none keeps it out, or the
 * thread that asked its gates last had no memory to note their answer.
 *
 * `keeps`: the rules let a pod keep its gate while it backs off.
 */
static inline uint8_t
gating_gate(const struct gating *gating, uint64_t state, bool keeps)
{
    enum place place = state_place(state);
    bool noted = place == PLACE_ASIDE && (state & FLAG_UNNOTED) == 0;
    bool has = place == PLACE_GATED || noted || (keeps && place_backs_off(place));

    return has ? stay_gate(gating->stay) : 0;
}

/** The time before which a pod that is described so is not popped; 0: none. */
static inline int64_t
description_time(const struct description *description)
{
    return (description->marks & MARK_NOT_BEFORE) != 0 ? description->not_before : 0;
}

/** Sets that time; 0: none. */
static inline void
description_set_time(struct description *description, int64_t time)
{
    description->marks &= (uint8_t)~MARK_NOT_BEFORE;
    description->marks |= time != 0 ? MARK_NOT_BEFORE : 0;
    description->flags &= (uint8_t)~DESCRIBED_BY_CLASS;
    description->not_before = time;
}

/** Sets the time that its class gives the pod. */
static inline void
description_set_time_by_class(struct description *description, int64_t time)
{
    description_set_time(description, time);
    description->flags |= DESCRIBED_WAITED | DESCRIBED_BY_CLASS;
}

/** The label; 0: none. */
static inline uint64_t
description_label(const struct description *description)
{
    return (description->marks & MARK_LABEL) != 0 ? description->label : 0;
}

/** The class; 0: none. */
static inline uint64_t
description_class(const struct description *description)
{
    return (description->flags & DESCRIBED_CLASS) != 0 ? description->class_id : 0;
}

/** Sets the class; 0: none. */
static inline void
description_set_class(struct description *description, uint64_t class_id)
{
    description->label = description_label(description);
    description->class_id = class_id;
    description->marks &= (uint8_t)~MARK_LABEL;
    description->marks |= (description->label | class_id) != 0 ? MARK_LABEL : 0;
    description->flags &= (uint8_t)~DESCRIBED_CLASS;
    description->flags |= class_id != 0 ? DESCRIBED_CLASS : 0;
}

/**
 * The pod was tried: its class may keep it back again, and the time that its class gave is past.
 */
static inline void
description_note_try(struct description *description)
{
    if ((description->flags & DESCRIBED_BY_CLASS) != 0) {
        description_set_time(description, 0);
    }
    description->flags &= (uint8_t)~DESCRIBED_WAITED;
}

/** The group; 0: the pod is tried by itself. */
static inline uint64_t
description_group(const struct description *description)
{
    return (description->marks & MARK_MEMBER) != 0 ? description->group : 0;
}

static inline bool
description_is_held(const struct description *description)
{
    return (description->marks & MARK_HELD) != 0;
}

/** Is a pod that is described so kept back at this time? */
static inline bool
description_keeps(const struct description *description, int64_t now)
{
    return (description->marks & MARKS_KEEP) != 0 &&
           (description_is_held(description) || description->not_before > now);
}

/** Notes why a pod was freed by the switch to `next`. `label`: 1 + its number. */
static inline void
entry_note_freed(struct entry *entry, uint64_t next, uint32_t label)
{
    u32_store(&entry->freed,
              ((uint32_t)(next >> (STATE_VERSION_SHIFT - FREED_LABEL_BITS)) & ~FREED_LABEL_MAX) |
                  label);
}

/** 1 + label of what freed the pod last; it began at `life` and has come to `state`. 0: nothing. */
static inline uint32_t
entry_freed(const struct entry *entry, uint64_t life, uint64_t state)
{
    uint32_t freed = u32_load(&entry->freed); /* relaxed: a note */
    uint32_t since = (freed >> FREED_LABEL_BITS) - (uint32_t)life;
    uint64_t lived = (state_version(state) - life) & STATE_VERSION_MASK;

    return (since & (UINT32_MAX >> FREED_LABEL_BITS)) <= lived ? freed & FREED_LABEL_MAX : 0;
}

/* ---- descriptions ---------------------------------------------------------------------------- */

/**
 * Copies the newest description out; returns the word `desc` that it belongs to.
 *
 * A caller that is neither holder nor owner must find the state word's version unchanged
 * afterwards, or drop the copy.
 */
uint64_t entry_description(const struct entries *entries, const struct entry *entry,
                           struct description *out);

/**
 * Copies what `desc` named: the caller loaded it from the entry's word, and drops the copy if the
 * word has another by then.
 *
 * Acquire loads: they come before the caller's second look. They read what fill (add.c),
 * description_make or a holder stored. If one reads what the memory's next user stored, that look
 * finds the word changed: a full fence lies between the change and those stores.
 */
STRAIGHT void
entry_copy(const struct entries *entries, const struct entry *entry, uint64_t desc,
           struct description *out, struct gating *gating)
{
    const struct description_record *record = description_at(entries, desc);

    if (record == NULL) {
        uint64_t attributes = u64_load_acquire(&entry->attributes);

        *out = (struct description){.object = u64_load_acquire(&entry->object),
                                    .order_key = (int64_t)u64_load_acquire(&entry->order_key),
                                    .priority = attributes_priority(attributes),
                                    .flags = attributes_flags(attributes)};
        *gating = (struct gating){.stay = 0};
        return;
    }
    uint64_t attributes = u64_load_acquire(&record->attributes);
    uint8_t marks = attributes_profile(attributes);
    bool own_key = (marks & MARK_OWN_KEY) != 0;

    *out = (struct description){
        .object = u64_load_acquire(&record->object),
        .order_key = (int64_t)u64_load_acquire(own_key ? &record->order_key : &entry->order_key),
        .priority = attributes_priority(attributes),
        .flags = attributes_flags(attributes),
        .marks = marks & MARKS};
    *gating = (struct gating){.stay = 0};
    if ((marks & (MARK_NODES | MARK_GATING | MARK_NOT_BEFORE | MARK_LABEL | MARK_MEMBER)) == 0) {
        return;
    }
    if ((marks & MARK_NODES) != 0) {
        out->described_node = u64_load_acquire(&record->described_node);
        out->nominated_node = u64_load_acquire(&record->nominated_node);
        out->nomination = u64_load_acquire(&record->nomination);
    }
    if ((marks & MARK_NOT_BEFORE) != 0) {
        out->not_before = (int64_t)u64_load_acquire(&record->not_before);
    }
    if ((marks & MARK_LABEL) != 0) {
        out->label = u64_load_acquire(&record->label);
        if ((out->flags & DESCRIBED_CLASS) != 0) {
            out->class_id = u64_load_acquire(&record->class_id);
        }
    }
    if ((marks & MARK_MEMBER) != 0) {
        out->group = u64_load_acquire(&record->group);
    }
    if ((marks & MARK_GATING) != 0) {
        *gating = (struct gating){.refused = u64_load_acquire(&record->refused),
                                  .stay = u64_load_acquire(&record->stay),
                                  .first = (int64_t)u64_load_acquire(&record->first)};
    }
    if ((marks & MARK_TRIED) != 0) {
        gating->tried = (int64_t)u64_load_acquire(&record->tried);
    }
}

/**
 * The gating in the description that `desc` names, unjudged: gating_judge follows. False: `desc` is
 * not the pod's any more.
 */
bool entry_gating(const struct entries *entries, const struct entry *entry, uint64_t desc,
                  struct gating *out);

/**
 * Replaces the description of a pod whose state word still is `state` and whose desc word still is
 * `desc`.
 *
 * The word becomes `described`: `state`, state_described(state), or a switch from it. `replacement`
 * is from description_make; on success it belongs to the record, and `desc` to the caller.
 */
static inline bool
entry_describe(struct entry *entry, uint64_t state, uint64_t desc, uint64_t described,
               uint64_t replacement)
{
    return pair_cas(&entry->word, (struct pair){state, desc},
                    (struct pair){described, replacement}); /* entry_describe:A */
}

/**
 * Switches a pod whose state word still is `state`, and whose description still is the one that
 * `desc` names; or sets a flag in flight.
 *
 * So a description that the caller has read is the pod's at the moment of the switch.
 */
static inline bool
entry_switch(struct entry *entry, uint64_t state, uint64_t desc, uint64_t next)
{
    /* entry_switch:A */
    return pair_cas(&entry->word, (struct pair){state, desc}, (struct pair){next, desc});
}

/**
 * A description record, filled, as a desc word; 0: no memory. The caller's until entry_describe.
 * `gating` NULL: nothing was said.
 *
 * Relaxed: entry_describe:A publishes what is stored.
 */
STRAIGHT uint64_t
description_make(struct entries *entries, struct slab_cache *cache,
                 const struct description *description, const struct gating *gating)
{
    void *memory;
    uint32_t number = slab_take_known(&entries->descriptions, cache, DESCRIPTION_LAYOUT, &memory);

    if (number == 0) {
        return 0;
    }
    struct description_record *record = memory;
    uint64_t tag = version_next(u64_load(&record->tag));
    uint8_t marks = description->marks;

    /* the nomination of a pod that ended its last one says which came first (nominator.h) */
    if ((description->described_node | description->nominated_node | description->nomination) !=
        0) {
        marks |= MARK_NODES;
        u64_store(&record->described_node, description->described_node);
        u64_store(&record->nominated_node, description->nominated_node);
        u64_store(&record->nomination, description->nomination);
    }
    if (gating != NULL && gating_says(gating)) {
        marks |= MARK_GATING;
        u64_store(&record->refused, gating->refused);
        u64_store(&record->stay, gating->stay);
        time_store(&record->first, gating->first);
        if (gating->tried != 0) {
            marks |= MARK_TRIED;
            time_store(&record->tried, gating->tried);
        }
    }
    if ((marks & MARK_NOT_BEFORE) != 0) {
        time_store(&record->not_before, description->not_before);
    }
    if ((marks & MARK_LABEL) != 0) {
        u64_store(&record->label, description->label);
        if ((description->flags & DESCRIBED_CLASS) != 0) {
            u64_store(&record->class_id, description->class_id);
        }
    }
    if ((marks & MARK_MEMBER) != 0) {
        u64_store(&record->group, description->group);
    }
    u64_store(&record->tag, tag);
    u64_store(&record->object, description->object);
    time_store(&record->order_key, description->order_key);
    u64_store(&record->attributes,
              attributes_pack(description->priority, 0, marks, description->flags));
    return ref_make(tag, number);
}

/** Gives the record behind a desc word back; 0 is allowed. */
static inline void
description_give(struct entries *entries, struct slab_cache *cache, uint64_t desc)
{
    if (desc != 0) {
        slab_give_known(
            &entries->descriptions, cache, DESCRIPTION_LAYOUT, ref_record(desc),
            slab_unchecked(&entries->descriptions, DESCRIPTION_LAYOUT, ref_record(desc)));
    }
}

#endif
