/*
 * Random descriptions of pods, such that the header leaves no order free.
 *
 * The header says nothing of the order of equal chosen Timestamps, of equal order keys, and of a
 * chosen Timestamp that is equal to the clock's reading. So the low CLOCK_BITS bits of a time tell
 * apart: the clock shows multiples of 1 << CLOCK_BITS, or up to CLOCK_READINGS more (pods that take
 * their Timestamp from it come just behind), chosen Timestamps and order keys have the number of
 * the pod there. Equal order keys are used where each pod has its own priority, and is in no group:
 * the key of a member orders its group's record, whose priority is another. A pod that took its
 * Timestamp from the clock keeps an order key once it has one: without it, pods of one reading
 * would be equal.
 *
 * Where times are near the ends of what an int64_t holds, each pod has its own priority, and any
 * time.
 *
 * A call for a label comes to its pods in no order. That of a group's members decides whose gates
 * are asked, so a label has one of them at most.
 */
#ifndef DIFFERENTIAL_SPEC_H
#define DIFFERENTIAL_SPEC_H

#include "world.h"

/** Pods have one of so many labels, or none. */
#define LABELS 64

/** What pods of a round may have as a class: 1 and on. */
#define CLASSES 3

/** So many groups, and no others, may have one root. */
#define GROUPS_AT_ONCE 8

/** Some pods are in no group, whatever is drawn. */
static inline bool
may_be_member(uint32_t name)
{
    return name % 16 < 14;
}

/** The group that a pod of that name may be in; seven names of one profile share it. */
static inline uint32_t
group_of(uint32_t name)
{
    return 1 + 2 * (name / 16) + (name & 1);
}

/** No two members below one root have one label. */
static inline uint64_t
label_of_member(uint32_t name)
{
    return 1 + name % LABELS;
}

#define GROUPS_MAX (NAMES_MAX / 8 + 2)

#define CLOCK_BITS 20
#define CLOCK_READINGS (INT64_C(1) << (CLOCK_BITS - 2))

/** The names that stand beside specs. */
typedef struct name_text {
    char text[BATCH_MAX * NAME_ROOM];
    uint32_t used;
} name_text_t;

/** A legal description of pod `name`, whose name is appended to `names`. */
void spec_draw(const world_t *world, chance_t *chance, uint32_t name, name_text_t *names,
               schedq_add_item_t *item);

/** Makes a legal item illegal. */
void spec_spoil(const world_t *world, chance_t *chance, uint32_t name, name_text_t *names,
                schedq_add_item_t *item);

/** The last rule above, for a spec that describes `life` anew (NULL: it describes a new pod). */
void spec_for_life(const world_t *world, chance_t *chance, const life_t *life, uint32_t name,
                   schedq_pod_spec_t *spec);

/** [FEATURE_ENDS] Any time at all; at least 0. */
int64_t spec_any_time(const world_t *world, chance_t *chance);

/** A time to hold a pod until: near the clock, or far away. */
int64_t spec_not_before(const world_t *world, chance_t *chance);

/** Shows a spec in one line. */
void spec_show(const world_t *world, size_t name_length, const schedq_pod_spec_t *spec);

#endif
