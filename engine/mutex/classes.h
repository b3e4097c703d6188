/*
 * Which pods have a class, and of the classes that are shut the scout and the pods behind it.
 *
 * Few queues know classes, so the record has a flag of them only (ENTRY_CLASSED): the numbers lie
 * in an array by its number, made when the first pod has one. Slots are made when the first class
 * is shut. The pods that wait are a ring of refs, in the order in which they came: a ref of a pod
 * that left, or was changed, is stale, and is passed.
 */
#ifndef SCHEDQ_MUTEX_CLASSES_H
#define SCHEDQ_MUTEX_CLASSES_H

#include "mutex/entry.h"
#include "policy/class.h"

/*
 * In a record's flags, beside SCHEDQ_POD_: classes.h has its number; its class kept it back since
 * it was added, or failed; its time is the one that its class gave it.
 */
#define ENTRY_CLASSED 128
#define ENTRY_WAITED 64
#define ENTRY_BY_CLASS 32
#define ENTRY_CLASS_FLAGS (ENTRY_CLASSED | ENTRY_WAITED | ENTRY_BY_CLASS)

/** What a class makes of a failure. */
enum class_turn {
    CLASS_NOBODY, /* no class was asked: the pod has none, before the failure and behind it */
    CLASS_NOTHING,
    CLASS_SCOUTS, /* the pod is its class's scout */
    CLASS_HIDES   /* it is kept back */
};

struct class_slot {
    struct class_key key;
    uint64_t life;                   /* of the scout */
    uint32_t scout;                  /* NO_ENTRY: the class is open */
    uint32_t first, count, capacity; /* of the ring: a power of two, or 0 */
    uint64_t *refs;
};

struct classes {
    struct memory *memory;
    const struct entries *entries;
    uint64_t *numbers;          /* by record number */
    uint32_t known;             /* so many; a power of two, or 0 */
    struct class_slot *slots;   /* CLASS_SLOTS, or NULL */
    bool doubted;               /* a scout may be one no more: a tick looks */
    enum class_turn turn;       /* of the pod that a call is about; else CLASS_NOBODY */
    struct class_slot *scouted; /* of which the call's pod was the scout, before it; or NULL */
    uint64_t hides, turns;      /* pods that were kept back so far, and that were let go */
};

void mutex_classes_open(struct classes *classes, struct memory *memory,
                        const struct entries *entries);
void mutex_classes_shut(struct classes *classes);

/** Room for the numbers of all records. False: no memory, nothing changed. */
bool mutex_classes_reserve(struct classes *classes);

/** Gives a pod a number, 0: none. There is room. */
void mutex_classes_set(struct classes *classes, uint32_t index, uint64_t number);

static inline bool
entry_has_class(const struct entry *entry)
{
    return __builtin_expect((entry->flags & ENTRY_CLASSED) != 0, 0);
}

/** The number of the pod's class; 0: none. */
static inline uint64_t
mutex_classes_of(const struct classes *classes, uint32_t index)
{
    return entry_has_class(entry_at(classes->entries, index)) ? classes->numbers[index] : 0;
}

/** The slot of a class; NULL: none was made. */
struct class_slot *mutex_classes_slot(const struct classes *classes, const struct class_key *key);

/** Makes slots. False: no memory. */
bool mutex_classes_make(struct classes *classes);

/** Room for one more ref. False: no memory. */
bool mutex_classes_make_room(struct classes *classes, struct class_slot *slot);

/** Puts a ref behind the others; there is room. */
void mutex_classes_put(struct class_slot *slot, uint64_t ref);

/** Takes the pod that waits longest; NO_ENTRY: none waits. */
uint32_t mutex_classes_take(const struct classes *classes, struct class_slot *slot);

/** Gives everything back: no pod has a class. */
void mutex_classes_trim(struct classes *classes);

#endif
