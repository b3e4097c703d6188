/*
 * What the tests of bins start from: two bins of two bands, and pods.
 *
 * The ground's hook is another thread's work exactly where merging allocates: between the look at
 * the runs and their copying.
 */
#ifndef SCHEDQ_TESTS_UNIT_BIN_WORLD_H
#define SCHEDQ_TESTS_UNIT_BIN_WORLD_H

#include "ground.h"
#include "help.h"
#include "lockfree/refs/bin.h"

enum { BAND = 1, OTHER_BAND = 2, FAR_BAND = 3, PODS = 4096 };

struct world {
    struct ground ground;
    struct slab_cache cache;
    struct run_pool pool;
    atomic_u64 reorder;
    struct bin *bins[2]; /* of BAND and OTHER_BAND */
    struct bin_caller caller;
    uint32_t records[PODS];
};

static inline struct bin *
make_bin(world_t *world, unsigned i)
{
    struct bin *bin = memory_alloc(&world->ground.memory, MEMORY_QUEUES, sizeof *bin, CACHE_LINE);
    const struct residence residence = {
        .entries = &world->ground.entries, .place = PLACE_ACTIVE, .band = BAND + i};
    assert_non_null(bin);
    bin_open(bin, &residence);
    return bin;
}

static inline void
free_bin(world_t *world, struct bin *bin)
{
    bin_close(bin, &world->ground.memory);
    memory_free(&world->ground.memory, MEMORY_QUEUES, bin, sizeof *bin);
}

static inline int
setup(void **state)
{
    world_t *world = ground_make(sizeof *world);
    run_pool_open(&world->pool, &world->ground.memory);
    world->caller = (struct bin_caller){.memory = &world->ground.memory,
                                        .epoch = world->ground.record,
                                        .pool = &world->pool,
                                        .help = help_bin,
                                        .ctx = &world->reorder};
    epoch_enter(world->caller.epoch);
    for (unsigned i = 0; i < 2; i++)
        world->bins[i] = make_bin(world, i);
    for (unsigned i = 0; i < PODS; i++)
        world->records[i] = slab_take(&world->ground.entries.records, &world->cache);
    *state = world;
    return 0;
}

static inline int
teardown(void **state)
{
    world_t *world = *state;
    epoch_leave(world->caller.epoch);
    free_bin(world, world->bins[0]);
    free_bin(world, world->bins[1]);
    run_pool_close(&world->pool);
    ground_free(world);
    return 0;
}

/* ---- pods ------------------------------------------------------------------------------------ */

static inline struct entry *
entry_of(world_t *world, unsigned pod)
{
    return entry_at(&world->ground.entries, world->records[pod]);
}

static inline uint64_t
word_of(world_t *world, unsigned pod)
{
    return entry_state(entry_of(world, pod));
}

/* Another version, wherever; returns it. */
static inline uint64_t
move(world_t *world, unsigned pod, uint32_t band, enum place place)
{
    uint64_t next = state_switched(word_of(world, pod), band, place);
    (void)u64_exchange(&entry_of(world, pod)->word.low, next);
    return state_version(next);
}

static inline uint64_t
ref_of(world_t *world, unsigned pod)
{
    return ref_make(state_version(word_of(world, pod)), world->records[pod]);
}

static inline uint64_t
next_ref_of(world_t *world, unsigned pod)
{
    return ref_make(version_next(state_version(word_of(world, pod))), world->records[pod]);
}

static inline bool
publish_one(world_t *world, struct bin *bin, uint64_t ref, int64_t key)
{
    struct run *run = run_take(&world->pool, 1);
    assert_non_null(run);
    run_put(run, ref, key);
    bool done = bin_publish_run(bin, &world->caller, run);
    if (!done)
        run_give(&world->pool, run);
    return done;
}

static inline void
make_active(world_t *world, struct bin *bin, unsigned pod, int64_t key)
{
    (void)move(world, pod, BAND, PLACE_ACTIVE);
    assert_true(publish_one(world, bin, ref_of(world, pod), key));
}

static inline unsigned
pod_of(const world_t *world, uint32_t record)
{
    for (unsigned i = 0; i < PODS; i++) {
        if (world->records[i] == record)
            return i;
    }
    fail_msg("no pod has record %u", record);
    return 0;
}

/* Claims the first; PODS: there is none. */
static inline unsigned
claim(world_t *world, struct bin *bin, int64_t *key)
{
    struct bin_head head = {0};
    while (bin_first(bin, &world->pool, &head)) {
        uint64_t state;
        if (bin_judge(bin, &world->caller, bin_head_ref(&head), bin_head_cause(&head), &state)) {
            unsigned pod = pod_of(world, ref_record(bin_head_ref(&head)));
            *key = head.is_run ? head.run.key : head.lane.key;
            (void)move(world, pod, BAND, PLACE_INFLIGHT);
            bin_advance(&head);
            return pod;
        }
        bin_advance(&head);
    }
    return PODS;
}

static inline void
assert_claims(world_t *world, struct bin *bin, unsigned pod)
{
    int64_t key;
    assert_int_equal(claim(world, bin, &key), pod);
}

static inline unsigned
runs_of(const struct bin *bin)
{
    unsigned runs = 0;
    for (unsigned i = 0; i < BIN_RUNS; i++)
        runs += u64_load(&bin->runs[i]) != 0 ? 1 : 0;
    return runs;
}

#endif
