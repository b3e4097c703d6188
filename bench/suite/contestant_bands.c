/* The queue of bands as a contestant, with a mutex and with a spinning lock. */
#include "contestant.h"

#include "bands.h"

static void
bands_must(bare_status_t status, const char *call)
{
    if (__builtin_expect(status != BARE_OK, 0)) {
        bench_fail("%s returned %d", call, (int)status);
    }
}

static void *
open_bands(const room_t *room, bool spins)
{
    bands_t *queue = bands_new(room->pods, spins);

    if (queue == NULL) {
        bench_fail("no memory for a queue of bands of %u pods", room->pods);
    }
    return queue;
}

static void *
open_mutex(const contestant_t *contestant, const room_t *room)
{
    (void)contestant;
    return open_bands(room, false);
}

static void *
open_spin(const contestant_t *contestant, const room_t *room)
{
    (void)contestant;
    return open_bands(room, true);
}

static void
close_bands(void *queue)
{
    bands_free(queue);
}

static void *
join(void *queue)
{
    return queue;
}

static void
leave(void *worker)
{
    (void)worker;
}

static void
add_many(void *worker, const fresh_t *pods, unsigned count)
{
    bare_new_t fresh[BATCH];

    for (unsigned i = 0; i < count; i++) {
        fresh[i] =
            (bare_new_t){pods[i].name.text, pods[i].name.length, pods[i].priority, pods[i].object};
    }
    bands_must(bands_add(worker, fresh, count), "bands_add");
}

static void
add(void *worker, const pod_name_t *name, int32_t priority, uint64_t object)
{
    const bare_new_t fresh = {name->text, name->length, priority, object};

    bands_must(bands_add(worker, &fresh, 1), "bands_add");
}

static unsigned
pop_many(void *worker, taken_t *out, unsigned capacity)
{
    bare_popped_t popped[BATCH];
    uint32_t count = bands_pop(worker, popped, capacity);

    for (uint32_t i = 0; i < count; i++) {
        out[i] = (taken_t){popped[i].pod, popped[i].object, popped[i].name};
    }
    return count;
}

static bool
try_pop(void *worker, taken_t *out)
{
    bare_popped_t popped;

    if (bands_pop(worker, &popped, 1) == 0) {
        return false;
    }
    *out = (taken_t){popped.pod, popped.object, popped.name};
    return true;
}

static void
done_many(void *worker, const taken_t *pods, unsigned count)
{
    bare_pod_t numbers[BATCH];

    for (unsigned i = 0; i < count; i++) {
        numbers[i] = (bare_pod_t)pods[i].token;
    }
    bands_done(worker, numbers, count);
}

static void
done(void *worker, uint64_t token)
{
    const bare_pod_t pod = (bare_pod_t)token;

    bands_done(worker, &pod, 1);
}

static void
delete_pod(void *worker, const pod_name_t *name)
{
    bands_must(bands_delete(worker, name->text, name->length), "bands_delete");
}

static uint64_t
find(void *worker, const pod_name_t *name)
{
    uint64_t object = 0;

    bands_must(bands_find(worker, name->text, name->length, &object), "bands_find");
    return object;
}

#define BANDS_OPS(open_it)                                                                 \
    {                                                                                      \
        .open = (open_it), .close = close_bands, .join = join, .leave = leave, .add = add, \
        .try_pop = try_pop, .done = done, .delete_pod = delete_pod, .find = find,          \
        .add_many = add_many, .pop_many = pop_many, .done_many = done_many,                \
    }

const queue_ops_t bands_ops = BANDS_OPS(open_mutex);
const queue_ops_t bands_spin_ops = BANDS_OPS(open_spin);
