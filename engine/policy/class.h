/*
 * Classes: which pods fail alike, as both engines judge it.
 *
 * A class is a number that the host gives, within a profile and a priority: a pod of a higher
 * priority may preempt, so what failed below it says nothing about it. The pod that was rejected
 * for reasons which its class shares is the class's scout. While there is one, the class is shut: a
 * pop that meets another pod of it keeps that pod back.
 */
#ifndef SCHEDQ_POLICY_CLASS_H
#define SCHEDQ_POLICY_CLASS_H

#include "platform/clock.h"
#include "platform/hash.h"
#include "policy/rules.h"

/** So many classes may be shut at a time; of two that share a slot the second one stays open. */
#define CLASS_SLOTS 1024

struct class_key {
    uint64_t number; /* 0: none */
    int32_t priority;
    uint8_t profile;
};

static inline bool
class_key_equal(const struct class_key *a, const struct class_key *b)
{
    return a->number == b->number && a->priority == b->priority && a->profile == b->profile;
}

static inline uint32_t
class_slot_of(const struct class_key *key)
{
    uint64_t rest = (uint64_t)(uint32_t)key->priority << 8 | key->profile;

    return (uint32_t)(hash_mix(key->number ^ UINT64_C(0x9e3779b97f4a7c15),
                               rest ^ UINT64_C(0xe7037ed1a0b428db)) %
                      CLASS_SLOTS);
}

/** The number that counts; 0: none. A member is tried with its group, whatever its class. */
static inline uint64_t
class_that_counts(const struct rules *rules, uint64_t number, bool member)
{
    return rules->class_patience_ns != 0 && !member ? number : 0;
}

/** Is a pod of the class as good as rejected by this? An error says nothing. */
static inline bool
class_shares(const schedq_failure_t *failure)
{
    return (failure->unschedulable | failure->pending) != 0 && failure->own_reasons == 0;
}

/** When a pod that is kept back now is tried itself. */
static inline int64_t
class_until(const struct rules *rules, int64_t now)
{
    return time_add(now, rules->class_patience_ns);
}

#endif
