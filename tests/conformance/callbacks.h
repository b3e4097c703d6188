/* The objects that the queue holds 64 bits of, and the callbacks that look into them. */
#ifndef CONFORM_CALLBACKS_H
#define CONFORM_CALLBACKS_H

#include <schedq/schedq.h>

#include <stdint.h>

/**
 * A pod at one version, or an object of an event. It outlives the queue: events are replayed late.
 */
struct object {
    const char *uid; /* NULL: not a pod of the script */
    const char *ns;
    const char *affinity; /* app label that a required term asks for; NULL: no term */
    const char *app;      /* app label of an assigned pod */
    int64_t number;       /* a pod's is its need */
    int64_t name_number;  /* the K of pK */
    int64_t gate;         /* 0: none */
    const char *group;    /* of a pod: what it names; of an event: the group that it is */
    int64_t min;          /* of a group */
};

static inline uint64_t
object_bits(const struct object *object)
{
    return (uint64_t)(uintptr_t)object;
}

static inline const struct object *
object_at(uint64_t bits)
{
    return (const struct object *)(uintptr_t)bits;
}

/** The hint that a plugin line names; NULL if there is none of that name. */
schedq_hint_fn hint_named(const char *name);

/** PreEnqueue of a plugin: `ctx` is the gate (int64_t) whose pods it refuses. */
int pass_gate(void *ctx, uint64_t pod);
/** precheck=even */
int has_even_name(void *ctx, uint64_t pod);
/** config.affinity_matches */
int affinity_matches(void *ctx, uint64_t pod, uint64_t assigned);

#endif
