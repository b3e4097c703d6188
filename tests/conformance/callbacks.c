/* Hints, PreEnqueue, preCheck and affinity, as the vectors define them. */
#include "callbacks.h"

#include "groups.h"

#include <stddef.h>
#include <string.h>

static int64_t
number_of(uint64_t object)
{
    return object == 0 ? 0 : object_at(object)->number;
}

static schedq_hint_t
queue_if(int condition)
{
    return condition ? SCHEDQ_HINT_QUEUE : SCHEDQ_HINT_SKIP;
}

static schedq_hint_t
hint_always(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx, (void)pod, (void)old_object, (void)new_object;
    return SCHEDQ_HINT_QUEUE;
}

static schedq_hint_t
hint_never(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx, (void)pod, (void)old_object, (void)new_object;
    return SCHEDQ_HINT_SKIP;
}

static schedq_hint_t
hint_error(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx, (void)pod, (void)old_object, (void)new_object;
    return SCHEDQ_HINT_ERROR;
}

static schedq_hint_t
hint_parity(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx;
    return queue_if(
        (object_at(pod)->name_number + number_of(old_object) + number_of(new_object)) % 2 == 0);
}

static schedq_hint_t
hint_fits(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx, (void)old_object;
    return queue_if(new_object != 0 && number_of(new_object) >= number_of(pod));
}

static schedq_hint_t
hint_grew(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx, (void)pod;
    return queue_if(new_object != 0 &&
                    (old_object == 0 || number_of(new_object) > number_of(old_object)));
}

static schedq_hint_t
hint_mine(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    const struct object *object = object_at(new_object);

    (void)ctx, (void)old_object;
    return queue_if(object != NULL && object->uid != NULL &&
                    strcmp(object->uid, object_at(pod)->uid) == 0);
}

schedq_hint_fn
hint_named(const char *name)
{
    static const struct {
        const char *name;
        schedq_hint_fn hint;
    } hints[] = {
        {"always", hint_always}, {"never", hint_never},         {"error", hint_error},
        {"parity", hint_parity}, {"fits", hint_fits},           {"grew", hint_grew},
        {"mine", hint_mine},     {"mygroup", groups_hint_mine}, {"mindown", groups_hint_min},
    };

    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
        if (strcmp(hints[i].name, name) == 0) {
            return hints[i].hint;
        }
    }
    return NULL;
}

int
pass_gate(void *ctx, uint64_t pod)
{
    const int64_t *gate = ctx;

    return object_at(pod)->gate != *gate;
}

int
has_even_name(void *ctx, uint64_t pod)
{
    (void)ctx;
    return object_at(pod)->name_number % 2 == 0;
}

int
affinity_matches(void *ctx, uint64_t pod, uint64_t assigned)
{
    const struct object *waiting = object_at(pod);
    const struct object *placed = object_at(assigned);

    (void)ctx;
    return waiting->affinity != NULL && placed->app != NULL &&
           strcmp(waiting->affinity, placed->app) == 0 && strcmp(waiting->ns, placed->ns) == 0;
}
