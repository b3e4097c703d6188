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
open_bare(const contestant_t *contestant, uint32_t pods, unsigned workers)
{
    (void)contestant;
    (void)workers;
    bare_t *queue = bare_new(pods);
    if (queue == NULL) {
        bench_fail("no memory for a bare queue of %u pods", pods);
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
};
