/* The bare queue as a contestant. Its workers are the queue itself. */
#include "contestant.h"

#include "bare.h"

static void
bare_must(bare_status_t status, const char *call)
{
    if (__builtin_expect(status != BARE_OK, 0)) {
        bench_fail("%s returned %d", call, (int)status);
    }
}

static void *
open_bare(const contestant_t *contestant, const room_t *room)
{
    (void)contestant;
    bare_t *queue = bare_new(room->pods);
    if (queue == NULL) {
        bench_fail("no memory for a bare queue of %u pods", room->pods);
    }
    return queue;
}

static void
close_bare(void *queue)
{
    bare_free(queue);
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
add(void *worker, const pod_name_t *name, int32_t priority, uint64_t object)
{
    bare_must(bare_add(worker, name->text, name->length, priority, object), "bare_add");
}

static void
take(taken_t *out, const bare_popped_t *popped)
{
    out->token = popped->pod;
    out->object = popped->object;
    out->name = popped->name;
}

static bool
try_pop(void *worker, taken_t *out)
{
    bare_popped_t popped;
    if (bare_try_pop(worker, &popped) != BARE_OK) {
        return false;
    }
    take(out, &popped);
    return true;
}

static void
pop(void *worker, taken_t *out)
{
    bare_popped_t popped;
    bare_pop(worker, &popped);
    take(out, &popped);
}

static void
done(void *worker, uint64_t token)
{
    bare_done(worker, (bare_pod_t)token);
}

static void
update(void *worker, const pod_name_t *name, int32_t priority, uint64_t object)
{
    bare_must(bare_update(worker, name->text, name->length, priority, object), "bare_update");
}

static void
delete_pod(void *worker, const pod_name_t *name)
{
    bare_must(bare_delete(worker, name->text, name->length), "bare_delete");
}

static uint64_t
find(void *worker, const pod_name_t *name)
{
    uint64_t object = 0;

    bare_must(bare_find(worker, name->text, name->length, &object), "bare_find");
    return object;
}

static void
add_many(void *worker, const fresh_t *pods, unsigned count)
{
    bare_new_t fresh[BATCH];

    for (unsigned i = 0; i < count; i++) {
        fresh[i] =
            (bare_new_t){pods[i].name.text, pods[i].name.length, pods[i].priority, pods[i].object};
    }
    bare_must(bare_add_many(worker, fresh, count), "bare_add_many");
}

static unsigned
pop_many(void *worker, taken_t *out, unsigned capacity)
{
    bare_popped_t popped[BATCH];
    uint32_t count = bare_pop_many(worker, popped, capacity);

    for (uint32_t i = 0; i < count; i++) {
        take(&out[i], &popped[i]);
    }
    return count;
}

static void
done_many(void *worker, const taken_t *pods, unsigned count)
{
    bare_pod_t numbers[BATCH];

    for (unsigned i = 0; i < count; i++) {
        numbers[i] = (bare_pod_t)pods[i].token;
    }
    bare_done_many(worker, numbers, count);
}

const queue_ops_t bare_ops = {
    .open = open_bare,
    .close = close_bare,
    .join = join,
    .leave = leave,
    .add = add,
    .try_pop = try_pop,
    .pop = pop,
    .done = done,
    .update = update,
    .delete_pod = delete_pod,
    .find = find,
    .add_many = add_many,
    .pop_many = pop_many,
    .done_many = done_many,
};
