/*
 * What the tests of bins start from: two bins of two bands, pods, and an allocator that counts.
 *
 * The allocator runs a hook, so that another thread's work comes exactly where merging allocates: between the look at the
 * runs and their copying.
 */
#ifndef SCHEDQ_TESTS_UNIT_BIN_WORLD_H
#define SCHEDQ_TESTS_UNIT_BIN_WORLD_H

#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "expect.h"
#include "lockfree/bin.h"

enum { BAND = 1, OTHER_BAND = 2, FAR_BAND = 3, PODS = 4096 };

typedef struct world {
    account_t account;
    schedq_allocator_t plain;
    void (*hook)(struct world *world); /* runs once, inside the next allocation */
    struct memory memory;
    struct epoch *epoch;
    struct entries entries;
    struct slab_cache cache;
    struct run_pool pool;
    atomic_u64 reorder;
    atomic_u64 words[2];
    struct bin *bins[2]; /* of BAND and OTHER_BAND */
    struct bin_caller caller;
    uint32_t records[PODS];
} world_t;

static inline void *
hooked_alloc(void *ctx, size_t bytes, size_t align)
{
    world_t *world = ctx;
    void (*hook)(world_t *) = world->hook;
    if (hook != NULL) {
        world->hook = NULL;
        hook(world);
    }
    return world->plain.alloc(world->plain.ctx, bytes, align);
}

static inline void
hooked_free(void *ctx, void *memory, size_t bytes)
{
    world_t *world = ctx;
    world->plain.free(world->plain.ctx, memory, bytes);
}

static inline struct bin *
make_bin(world_t *world, unsigned i)
{
    struct bin *bin = memory_alloc(&world->memory, MEMORY_QUEUES, sizeof *bin, CACHE_LINE);
    const struct residence residence = {
        .entries = &world->entries, .place = PLACE_ACTIVE, .band = BAND + i, .reorder = &world->reorder};
    assert_non_null(bin);
    (void)u64_exchange(&world->words[i], 0);
    bin_open(bin, &world->words[i], &residence);
    return bin;
}

static inline void
free_bin(world_t *world, struct bin *bin)
{
    bin_close(bin, &world->memory);
    memory_free(&world->memory, MEMORY_QUEUES, bin, sizeof *bin);
}

static inline int
setup(void **state)
{
    world_t *world = NULL;
    if (posix_memalign((void **)&world, CACHE_LINE, sizeof *world) != 0)
        return -1;
    memset((void *)world, 0, sizeof *world);
    account_init(&world->account);
    world->plain = account_allocator(&world->account);
    const schedq_allocator_t allocator = {.alloc = hooked_alloc, .free = hooked_free, .ctx = world};
    assert_true(memory_open(&world->memory, &allocator));
    world->epoch = epoch_open(&world->memory);
    records_open(&world->entries, &world->memory);
    run_pool_open(&world->pool, &world->memory);
    world->caller =
        (struct bin_caller){.memory = &world->memory, .epoch = epoch_record_make(world->epoch), .pool = &world->pool};
    epoch_enter(world->caller.epoch);
    for (unsigned i = 0; i < 2; i++)
        world->bins[i] = make_bin(world, i);
    for (unsigned i = 0; i < PODS; i++)
        world->records[i] = slab_take(&world->entries.records, &world->cache);
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
    records_close(&world->entries);
    epoch_close(world->epoch);
    for (unsigned i = 0; i < MEMORY_KINDS; i++)
        assert_int_equal(memory_bytes(&world->memory, i), 0);
    assert_int_equal(atomic_load(&world->account.blocks), 0);
    assert_int_equal(atomic_load(&world->account.faults), 0);
    memory_close(&world->memory);
    free(world);
    return 0;
}

/* ---- pods -------------------------------------------------------------------------------------------------------- */

static inline struct entry *
entry_of(world_t *world, unsigned pod)
{
    return entry_at(&world->entries, world->records[pod]);
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
