/* Publishing of publish.h, which has the essay: linearization, ordering, progress. */
#include "lockfree/moves/publish.h"

#include "lockfree/moves/stray.h"
#include "lockfree/moves/switch.h"

/* Room in the lane, and what a run of one needs. */
bool
publish_make_room(struct worker *worker, struct bin *bin)
{
    const struct bin_caller caller = bin_caller(worker);

    if (worker->spare_run == NULL) {
        worker->spare_run = run_take(caller.pool, RUN_FEW);
    }
    bool room = worker->base.number == HOUSEKEEPER || bin_prepare(bin, &caller, PUBLISH_ROOM);

    return room && worker->spare_run != NULL && bin_prepare_run(bin, &caller);
}

static bool
make_lane_room(struct worker *worker, struct bin *bin)
{
    const struct bin_caller caller = bin_caller(worker);

    return bin_prepare(bin, &caller, 1);
}

struct lane *
publish_prepare_other(struct worker *worker, struct band *band, int64_t key)
{
    struct bin *bin = &band->bin;

    if (!make_lane_room(worker, bin)) {
        return NULL;
    }
    struct lane *lane = bin_lane(bin, worker->base.number);

    return publish_fits(worker, lane, key) || publish_prepare(worker, bin) ? lane : NULL;
}

void
publish_in_band_other(struct worker *worker, struct band *band, uint64_t ref, int64_t key)
{
    (void)publish_ref(worker, &band->bin, &(struct placing){.ref = ref, .key = key});
}

/* `run`: an empty one of the caller's; NULL: none. False: no memory, nothing changed. */
__attribute__((noinline)) static bool
publish_in_slot(struct worker *worker, struct bin *bin, struct run *run, const struct bin_ref *ref)
{
    const struct bin_caller caller = bin_caller(worker);

    if (run == NULL) {
        run = run_take(caller.pool, RUN_FEW);
    }
    bool published = run != NULL && bin_publish_ref(bin, &caller, run, ref);

    worker->spare_run = published ? NULL : run;
    return published;
}

/* The spare run is taken from the worker first: this thread may stop in here. */
bool
publish_in_run(struct worker *worker, struct bin *bin, uint64_t ref, int64_t key, uint32_t cause)
{
    struct run *spare = worker->spare_run;

    worker->spare_run = NULL;
    struct run *instead =
        spare != NULL ? bin_put_beside(bin, &queue_of(worker)->runs, spare, ref, key, cause) : NULL;

    if (instead == NULL) {
        return publish_in_slot(worker, bin, spare,
                               &(struct bin_ref){.ref = ref, .key = key, .cause = cause});
    }
    worker->spare_run = instead;
    return true;
}

/*
 * A run was prepared. It fails only if others filled the bin's slots meanwhile and there is no
 * memory to merge them. Then the ref goes into the lane: out of its order, but not lost.
 */
void
publish_in_disorder(struct worker *worker, struct bin *bin, struct placing placing)
{
    if (worker->base.number == HOUSEKEEPER) {
        stray_leave(queue_of(worker), STRAY_UNPUBLISHED);
    } else {
        publish_in_lane(bin_lane(bin, worker->base.number), &placing);
    }
}

void
publish_wake_sleeper(struct worker *worker)
{
    struct queue *queue = queue_of(worker);

    atomic_u32 *poppable = u32_of(&queue->base.words.poppable);

    /* A 1 that is stored late is allowed: the pop that it causes finds nothing. */
    if (u32_load(poppable) == 0) {
        u32_store(poppable, 1);
    }
    if (waiters_are_there(&queue->sleepers)) {
        waiters_wake(&queue->sleepers, &queue->base.notifier);
    }
}
