/* The containers of C++ as contestants. */
#include "contestant.h"

#ifdef SCHEDQ_BENCH_RIVALS
#include "rival.h"

static void
rival_must(bool done, const char *call)
{
    if (__builtin_expect(!done, 0)) {
        bench_fail("%s failed", call);
    }
}

static void *
open_rival(rival_kind_t kind, bool named)
{
    rival_t *rival = rival_new(kind, named);

    rival_must(rival != NULL, "rival_new");
    return rival;
}

#define OPEN(name, kind, named)                                           \
    static void *name(const contestant_t *contestant, const room_t *room) \
    {                                                                     \
        (void)contestant;                                                 \
        (void)room;                                                       \
        return open_rival(kind, named);                                   \
    }

OPEN(open_tbb, RIVAL_TBB, true)
OPEN(open_tbb_unnamed, RIVAL_TBB, false)
OPEN(open_moodycamel, RIVAL_MOODYCAMEL, true)
OPEN(open_moodycamel_unnamed, RIVAL_MOODYCAMEL, false)

static void
close_rival(void *queue)
{
    rival_free(queue);
}

static void *
join(void *queue)
{
    rival_worker_t *worker = rival_join(queue);

    rival_must(worker != NULL, "rival_join");
    return worker;
}

static void
leave(void *worker)
{
    rival_leave(worker);
}

static void
add(void *worker, const pod_name_t *name, int32_t priority, uint64_t object)
{
    rival_must(rival_add(worker, name->text, name->length, priority, object), "rival_add");
}

static bool
try_pop(void *worker, taken_t *out)
{
    rival_popped_t popped;

    if (!rival_pop(worker, &popped)) {
        return false;
    }
    *out = (taken_t){(uint64_t)(uintptr_t)popped.pod, popped.object, popped.name};
    return true;
}

static void
done(void *worker, uint64_t token)
{
    rival_done(worker, (void *)(uintptr_t)token);
}

static uint64_t
find(void *worker, const pod_name_t *name)
{
    uint64_t object = 0;

    rival_must(rival_find(worker, name->text, name->length, &object), "rival_find");
    return object;
}

static void
delete_pod(void *worker, const pod_name_t *name)
{
    rival_must(rival_delete(worker, name->text, name->length), "rival_delete");
}

#define RIVAL_OPS(open_it, ...)                                                            \
    {                                                                                      \
        .open = (open_it), .close = close_rival, .join = join, .leave = leave, .add = add, \
        .try_pop = try_pop, .done = done, __VA_ARGS__                                      \
    }

const queue_ops_t tbb_ops = RIVAL_OPS(open_tbb, .find = find, .delete_pod = delete_pod);
const queue_ops_t tbb_unnamed_ops = RIVAL_OPS(open_tbb_unnamed, .find = NULL);
const queue_ops_t moodycamel_ops = RIVAL_OPS(open_moodycamel, .find = find);
const queue_ops_t moodycamel_unnamed_ops = RIVAL_OPS(open_moodycamel_unnamed, .find = NULL);
#endif
