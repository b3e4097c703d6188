/*
 * lockfree/refs/bin.h: what is published is found, the least key first, in lanes, in runs and after
 * merging; and what others do in the middle of a merge.
 */
#include "bin_world.h"

static struct {
    void (*others)(world_t *world); /* once */
    world_t *world;
    unsigned steps_before;
} interleave;

static void
let_others(void)
{
    void (*others)(world_t *) = interleave.others;
    if (others != NULL && interleave.steps_before-- == 0) {
        interleave.others = NULL;
        others(interleave.world);
    }
}

static uint64_t
load_after_others(const atomic_u64 *word)
{
    let_others();
    return u64_load_acquire(word);
}

static bool
cas_after_others(atomic_u64 *word, uint64_t expected, uint64_t desired)
{
    let_others();
    return u64_cas(word, expected, desired);
}

/* Once, between a scan's load of a slot and its look whether the run there lies behind. */
static void (*before_a_pass)(world_t *world);

static bool
lies_behind_after_others(const struct run_pool *pool, const atomic_u64 *slot, uint64_t word,
                         int64_t key)
{
    void (*others)(world_t *) = before_a_pass;
    if (others != NULL) {
        before_a_pass = NULL;
        others(interleave.world);
    }
    return run_lies_behind(pool, slot, word, key);
}

/*
 * bin.c is compiled into this test, and lets others go first: what they do comes between the steps
 * of scans and merges.
 */
#define u64_load_acquire load_after_others
#define u64_cas cas_after_others
#define run_lies_behind lies_behind_after_others
#include "lockfree/refs/bin.c"
#undef u64_load_acquire
#undef u64_cas
#undef run_lies_behind

/* ---- lanes and runs -------------------------------------------------------------------------- */

static void
prepared_room_is_enough_for_every_count(void **state)
{
    world_t *world = *state;
    for (uint32_t count = 1; count <= 70; count++) {
        struct bin *bin = make_bin(world, 0);
        assert_true(bin_prepare(bin, &world->caller, count));
        for (uint32_t i = 0; i < count; i++) {
            (void)move(world, i, BAND, PLACE_ACTIVE);
            lane_put(bin_lane(bin, 0), ref_of(world, i), (int64_t)i);
        }
        lane_publish(bin_lane(bin, 0));
        for (uint32_t i = 0; i < count; i++)
            assert_claims(world, bin, i);
        assert_claims(world, bin, PODS);
        free_bin(world, bin);
    }
}

static void
what_was_put_is_not_found_before_it_is_published(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    (void)move(world, 0, BAND, PLACE_ACTIVE);
    assert_true(bin_prepare(bin, &world->caller, 1));
    lane_put(bin_lane(bin, 0), ref_of(world, 0), 5);
    assert_claims(world, bin, PODS);
    lane_publish(bin_lane(bin, 0));
    assert_claims(world, bin, 0);
}

static void
a_merge_keeps_every_pod_in_its_order(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < 200; i++)
        make_active(world, world->bins[0], i, (int64_t)(i * 37 % 200));
    assert_true(runs_of(world->bins[0]) <= BIN_RUNS);
    for (unsigned i = 0; i < 200; i++) {
        int64_t key = -1;
        assert_true(claim(world, world->bins[0], &key) < PODS);
        assert_ns_equal(key, (int64_t)i);
    }
    assert_claims(world, world->bins[0], PODS);
    assert_int_equal(runs_of(world->bins[0]), 0);
}

/* Refs in runs that stand where another run, or none, stood before. */
static uint32_t
refs_in_new_runs(world_t *world, uint64_t words[BIN_RUNS])
{
    uint32_t refs = 0;
    for (unsigned i = 0; i < BIN_RUNS; i++) {
        uint64_t word = u64_load(&world->bins[0]->runs[i]);
        if (word != 0 && word != words[i])
            refs += u32_load(&run_at(&world->pool, word)->count);
        words[i] = word;
    }
    return refs;
}

static void
pods_that_come_one_by_one_are_copied_about_log2_of_their_number_times(void **state)
{
    world_t *world = *state;
    uint64_t words[BIN_RUNS] = {0};
    uint32_t copies = 0;
    for (unsigned i = 0; i < PODS; i++) {
        make_active(world, world->bins[0], i, (int64_t)(i * 2017 % PODS));
        copies += refs_in_new_runs(world, words) - 1;
    }
    assert_true(copies <= PODS * 12);
    for (unsigned i = 0; i < PODS; i++) {
        int64_t key = -1;
        (void)claim(world, world->bins[0], &key);
        assert_ns_equal(key, (int64_t)i);
    }
}

/* A run of two pods, the second of which leaves. */
static void
put_one_of_two(world_t *world, unsigned pod)
{
    struct run *run = run_take(&world->pool, 2);
    assert_non_null(run);
    for (unsigned i = 0; i < 2; i++) {
        (void)move(world, pod + i, BAND, PLACE_ACTIVE);
        run_put(run, ref_of(world, pod + i), (int64_t)(pod + i));
    }
    assert_true(bin_publish_run(world->bins[0], &world->caller, run));
    (void)move(world, pod + 1, BAND, PLACE_INFLIGHT);
}

static void
a_merge_drops_stale_refs(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < BIN_RUNS; i++)
        put_one_of_two(world, 2 * i);
    make_active(world, world->bins[0], 100, 3);
    uint32_t refs = 0;
    for (unsigned i = 0; i < BIN_RUNS; i++) {
        const struct run *run = run_at(&world->pool, u64_load(&world->bins[0]->runs[i]));
        refs += run != NULL ? u32_load(&run->count) : 0;
    }
    assert_int_equal(refs, BIN_RUNS + 1);
    assert_claims(world, world->bins[0], 0);
    assert_claims(world, world->bins[0], 2);
    assert_claims(world, world->bins[0], 100);
    assert_claims(world, world->bins[0], 4);
}

static void
a_merge_switches_the_pods_of_early_refs(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < BIN_RUNS; i++) {
        (void)move(world, i, OTHER_BAND, PLACE_ACTIVE);
        assert_true(publish_one(world, world->bins[0], next_ref_of(world, i), (int64_t)i));
    }
    uint64_t version = state_version(word_of(world, 0));
    assert_int_equal(u64_load(&world->reorder), 0);
    make_active(world, world->bins[0], 100, 50);
    assert_int_equal(u64_load(&world->reorder), BIN_RUNS);
    for (unsigned i = 0; i < BIN_RUNS; i++) {
        assert_int_equal(state_band(word_of(world, i)), BAND);
        assert_int_equal(state_version(word_of(world, i)), version + 1);
        assert_claims(world, world->bins[0], i);
    }
    assert_claims(world, world->bins[0], 100);
}

static void
without_memory_to_merge_a_run_stays_its_makers_and_nothing_is_lost(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < BIN_RUNS; i++)
        make_active(world, world->bins[0], i, (int64_t)i);
    (void)move(world, 100, BAND, PLACE_ACTIVE);
    struct run *run = run_take(&world->pool, 1);
    assert_non_null(run);
    run_put(run, ref_of(world, 100), 4);
    atomic_store(&world->ground.account.fail_all, true);
    assert_false(bin_publish_run(world->bins[0], &world->caller, run));
    (void)account_heal(&world->ground.account);
    run_give(&world->pool, run);
    for (unsigned i = 0; i < BIN_RUNS; i++)
        assert_claims(world, world->bins[0], i);
    assert_claims(world, world->bins[0], PODS);
}

static void
without_memory_no_lane_is_prepared(void **state)
{
    world_t *world = *state;
    for (int64_t successes = 0; successes < 2; successes++) {
        account_fail_after(&world->ground.account, successes);
        assert_false(bin_prepare(world->bins[0], &world->caller, 1));
        assert_true(account_heal(&world->ground.account));
        assert_null(bin_lane(world->bins[0], 0));
    }
    assert_true(bin_prepare(world->bins[0], &world->caller, 1));
}

/* ---- work of others in the middle of a merge ------------------------------------------------- */

/*
 * All pods of the bin are popped, its runs go back, and an update fills one of them for another
 * bin.
 */
static void
reuse_the_runs(world_t *world)
{
    struct bin_head head = {0};
    for (unsigned i = 0; i < BIN_RUNS; i++)
        (void)move(world, i, BAND, PLACE_INFLIGHT);
    while (bin_first(world->bins[0], &world->pool, &head))
        bin_advance(&head);
    assert_true(publish_one(world, world->bins[1], next_ref_of(world, 200), 7));
}

static void
reuse_a_run_and_do_not_publish_it(world_t *world)
{
    struct bin_head head = {0};
    for (unsigned i = 0; i < BIN_RUNS; i++)
        (void)move(world, i, BAND, PLACE_INFLIGHT);
    while (bin_first(world->bins[0], &world->pool, &head))
        bin_advance(&head);
    struct run *run = run_take(&world->pool, 1);
    assert_non_null(run);
    run_put(run, next_ref_of(world, 200), 7);
}

/*
 * A run of one pod; `others` work when the merge that it needs has looked at the runs, and copies
 * none yet.
 */
static void
publish_and_let_others(world_t *world, unsigned pod, int64_t key, void (*others)(world_t *))
{
    struct run *run = run_take(&world->pool, 1);
    assert_non_null(run);
    (void)move(world, pod, BAND, PLACE_ACTIVE);
    run_put(run, ref_of(world, pod), key);
    run_pool_trim(&world->pool, world->caller.epoch); /* so that the merge allocates */
    world->ground.hook = others;
    assert_true(bin_publish_run(world->bins[0], &world->caller, run));
    assert_null(world->ground.hook);
}

static void
check_reused(world_t *world, void (*others)(world_t *))
{
    for (unsigned i = 0; i < BIN_RUNS; i++)
        make_active(world, world->bins[0], i, (int64_t)i);
    (void)move(world, 200, FAR_BAND, PLACE_ACTIVE);
    uint64_t before = word_of(world, 200);
    publish_and_let_others(world, 100, 99, others);
    assert_true(word_of(world, 200) == before);
    assert_claims(world, world->bins[0], 100);
}

static void
a_merge_helps_no_ref_of_a_run_that_left_its_slot(void **state)
{
    world_t *world = *state;
    check_reused(world, reuse_the_runs);
    assert_claims(world, world->bins[1], 200);
}

static void
a_merge_helps_no_ref_of_a_run_that_is_not_published(void **state)
{
    check_reused(*state, reuse_a_run_and_do_not_publish_it);
}

static void
claim_three(world_t *world)
{
    for (unsigned i = 0; i < 3; i++)
        assert_claims(world, world->bins[0], i);
}

static void
publish_more(world_t *world)
{
    for (unsigned i = 300; i < 360; i++)
        make_active(world, world->bins[0], i, (int64_t)i);
}

static void
pods_that_are_claimed_during_a_merge_do_not_come_back(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < BIN_RUNS; i++)
        make_active(world, world->bins[0], i, (int64_t)i);
    publish_and_let_others(world, 100, 99, claim_three);
    for (unsigned i = 3; i < BIN_RUNS; i++)
        assert_claims(world, world->bins[0], i);
    assert_claims(world, world->bins[0], 100);
    assert_claims(world, world->bins[0], PODS);
}

/* Wherever the first one is when the other comes. */
static void
check_overtaken(world_t *world, unsigned steps)
{
    for (unsigned i = 0; i < BIN_RUNS; i++)
        make_active(world, world->bins[0], i, (int64_t)i);
    interleave.world = world;
    interleave.steps_before = steps;
    interleave.others = publish_more;
    make_active(world, world->bins[0], 100, 99);
    if (interleave.others != NULL)
        publish_more(world);
    interleave.others = NULL;
    for (unsigned i = 0; i < BIN_RUNS; i++)
        assert_claims(world, world->bins[0], i);
    assert_claims(world, world->bins[0], 100);
    for (unsigned i = 300; i < 360; i++)
        assert_claims(world, world->bins[0], i);
    assert_claims(world, world->bins[0], PODS);
}

static void
take_all(world_t *world)
{
    for (unsigned i = 0; i < BIN_RUNS; i++)
        (void)move(world, i, BAND, PLACE_INFLIGHT);
}

static void
a_merge_of_refs_that_all_became_stale_leaves_nothing(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < BIN_RUNS; i++)
        make_active(world, world->bins[0], i, (int64_t)i);
    publish_and_let_others(world, 100, 3, take_all);
    assert_int_equal(runs_of(world->bins[0]), 1);
    assert_claims(world, world->bins[0], 100);
}

static void
a_merge_that_another_merge_overtook_loses_nothing(void **state)
{
    world_t *world = *state;
    for (unsigned steps = 0; steps < 8 * BIN_RUNS; steps++) {
        check_overtaken(world, steps);
        uint32_t numbers = u32_load(&world->pool.numbers);
        check_overtaken(world, steps);
        assert_int_equal(u32_load(&world->pool.numbers), numbers); /* nor a run */
    }
}

/* ---- one ref more ---------------------------------------------------------------------------- */

static struct run *own_run;

static void
put_one(world_t *world, unsigned pod, int64_t key, uint32_t cause)
{
    if (own_run == NULL)
        own_run = run_take(&world->pool, RUN_FEW);
    assert_non_null(own_run);
    assert_int_equal(u32_load(&own_run->count), 0);
    (void)move(world, pod, BAND, PLACE_ACTIVE);
    const struct bin_ref ref = {.ref = ref_of(world, pod), .key = key, .cause = cause};
    struct run *instead =
        bin_put_beside(world->bins[0], &world->pool, own_run, ref.ref, ref.key, ref.cause);
    if (instead == NULL)
        assert_true(bin_publish_ref(world->bins[0], &world->caller, own_run, &ref));
    own_run = instead;
}

static void
give_own_run(world_t *world)
{
    if (own_run != NULL)
        run_give(&world->pool, own_run);
    own_run = NULL;
}

static void
refs_that_come_one_by_one_in_no_order_share_runs(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < 2 * RUN_FEW; i++)
        put_one(world, i, i % 2 == 0 ? 100 + (int64_t)i : 100 - (int64_t)i, 0);
    assert_int_equal(runs_of(world->bins[0]), 2);
    for (int64_t key = 100 - 2 * RUN_FEW; key <= 100 + 2 * RUN_FEW; key++) {
        int64_t found;
        bool put =
            key < 100 ? (100 - key) % 2 == 1 : (key - 100) % 2 == 0 && key < 100 + 2 * RUN_FEW;
        if (!put)
            continue;
        assert_int_not_equal(claim(world, world->bins[0], &found), PODS);
        assert_ns_equal(found, key);
    }
    assert_claims(world, world->bins[0], PODS);
    give_own_run(world);
}

static void
refs_of_other_causes_do_not_share_a_run(void **state)
{
    world_t *world = *state;
    put_one(world, 0, 5, 1);
    put_one(world, 1, 4, 2);
    put_one(world, 2, 3, 2);
    assert_int_equal(runs_of(world->bins[0]), 2);
    struct bin_head head = {0};
    assert_true(bin_first(world->bins[0], &world->pool, &head));
    assert_int_equal(bin_head_cause(&head), 2);
    assert_claims(world, world->bins[0], 2);
    assert_claims(world, world->bins[0], 1);
    assert_true(bin_first(world->bins[0], &world->pool, &head));
    assert_int_equal(bin_head_cause(&head), 1);
    assert_claims(world, world->bins[0], 0);
    give_own_run(world);
}

static void
a_lane_says_the_cause_of_what_was_published_last(void **state)
{
    world_t *world = *state;
    struct bin_head head = {0};
    for (unsigned i = 0; i < 2; i++) {
        assert_true(bin_prepare(world->bins[0], &world->caller, 1));
        struct lane *lane = bin_lane(world->bins[0], world->caller.worker);
        (void)move(world, i, BAND, PLACE_ACTIVE);
        lane_put(lane, ref_of(world, i), (int64_t)i);
        lane_set_cause(lane, 3 - i);
        lane_publish(lane);
        assert_true(bin_first(world->bins[0], &world->pool, &head));
        assert_int_equal(bin_head_cause(&head), 3 - i);
        assert_claims(world, world->bins[0], i);
    }
}

/* The run that is copied is over, and another bin has it. */
static void
use_the_newest_run_again(world_t *world)
{
    for (unsigned i = 0; i < 3; i++)
        assert_claims(world, world->bins[0], i);
    assert_claims(world, world->bins[0], PODS);
    (void)move(world, 200, OTHER_BAND, PLACE_ACTIVE);
    struct run *run = run_take(&world->pool, RUN_FEW);
    run_put(run, ref_of(world, 200), 7);
    assert_true(bin_publish_run(world->bins[1], &world->caller, run));
}

static void
a_reading_goes_on_in_what_took_the_place_of_its_run(void **state)
{
    world_t *world = *state;
    struct bin_reader reader;
    struct bin_ref refs[4];
    size_t count, met = 0;
    put_one(world, 0, 10, 0);
    put_one(world, 1, 20, 0);
    bin_read_begin(&reader, world->bins[0], &world->pool, INT64_MAX);
    assert_int_equal(bin_read(&reader, refs, 1), 1);
    assert_int_equal(refs[0].ref, ref_of(world, 0));
    put_one(world, 2, 30, 0); /* a copy takes the run's slot; the run is used again elsewhere */
    assert_non_null(own_run);
    for (unsigned pod = 3; pod < 5; pod++)
        run_put(own_run, ref_of(world, pod), 40);
    assert_true(bin_publish_run(world->bins[1], &world->caller, own_run));
    own_run = NULL;
    while ((count = bin_read(&reader, refs, 4)) > 0) {
        for (size_t i = 0; i < count; i++) {
            met += refs[i].ref == ref_of(world, 1);
            assert_int_not_equal(refs[i].ref, ref_of(world, 4));
        }
    }
    assert_int_equal(met, 1);
}

static void
a_ref_is_not_lost_though_the_run_beside_it_is_used_again(void **state)
{
    world_t *world = *state;
    for (unsigned steps = 0; steps < 2; steps++) { /* the look at the slot, its exchange */
        for (unsigned i = 0; i < 3; i++)
            put_one(world, i, (int64_t)i, 0);
        interleave.world = world;
        interleave.steps_before = steps;
        interleave.others = use_the_newest_run_again;
        put_one(world, 3, 1, 0);
        assert_null(interleave.others);
        assert_claims(world, world->bins[0], 3);
        assert_claims(world, world->bins[0], PODS);
        assert_claims(world, world->bins[1], 200);
        give_own_run(world);
    }
}

static void
merge_in_between(world_t *world)
{
    make_active(world, world->bins[0], 100, 99);
}

/* The scan goes from the highest slot down, and copies move down only. */
static void
a_scan_meets_every_pod_though_a_merge_comes_in_between(void **state)
{
    world_t *world = *state;
    for (unsigned least = 0; least < BIN_RUNS; least++) {
        for (unsigned steps = 0; steps < 2 * BIN_RUNS; steps++) {
            struct bin_head head = {0};
            for (unsigned i = 0; i < BIN_RUNS; i++)
                make_active(world, world->bins[0], i, i == least ? 0 : 50);
            interleave.world = world;
            interleave.steps_before = steps;
            interleave.others = merge_in_between;
            assert_true(bin_first(world->bins[0], &world->pool, &head));
            interleave.others = NULL;
            assert_true(bin_head_ref(&head) == ref_of(world, least));
            int64_t key;
            while (claim(world, world->bins[0], &key) != PODS) {
            }
        }
    }
}

/* The run that the scan was about to pass is over, and has a greater key in its next use. */
static void
use_the_run_again_for_a_greater_key(world_t *world)
{
    put_one(world, 3, 4, 1); /* a copy takes the run's slot */
    assert_non_null(own_run);
    (void)move(world, 200, OTHER_BAND, PLACE_ACTIVE);
    run_put(own_run, ref_of(world, 200), 99);
}

static void
a_run_that_left_its_slot_is_not_passed_for_its_next_key(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    struct bin_head head = {0};
    make_active(world, bin, 0, 1);
    make_active(world, bin, 2, 10);
    assert_claims(world, bin, 0);
    assert_true(bin_first(bin, &world->pool, &head)); /* the slot below that of pod 2 is free */
    put_one(world, 1, 5, 1);
    assert_true(u64_load(&bin->runs[0]) != 0 && u64_load(&bin->runs[1]) != 0);
    interleave.world = world;
    before_a_pass = use_the_run_again_for_a_greater_key;
    assert_true(bin_first(bin, &world->pool, &head));
    assert_null(before_a_pass);
    assert_true(bin_head_ref(&head) == ref_of(world, 3));
    give_own_run(world);
    assert_claims(world, bin, 3);
    assert_claims(world, bin, 1);
    assert_claims(world, bin, 2);
    assert_claims(world, bin, PODS);
}

static void
among_equal_keys_the_runs_are_compared_where_ties_are_ordered(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    bin->residence.ties = TIES_BY_KEY;
    for (unsigned pod = 1; pod <= 3; pod++) {
        make_active(world, bin, pod, 20);
        u64_store(&entry_of(world, pod)->order_key, pod);
    }
    for (unsigned pod = 1; pod <= 3; pod++)
        assert_claims(world, bin, pod);
    assert_claims(world, bin, PODS);
}

static void
a_scan_goes_past_stale_refs_of_runs(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    struct bin_head head = {0};
    for (unsigned i = 0; i < 8; i++)
        make_active(world, bin, i, (int64_t)i);
    for (unsigned i = 0; i < 8; i++) {
        if (i != 5)
            (void)move(world, i, BAND, PLACE_INFLIGHT);
    }
    assert_true(bin_first(bin, &world->pool, &head));
    assert_true(bin_head_ref(&head) == ref_of(world, 5));
    assert_claims(world, bin, 5);
    assert_false(bin_first(bin, &world->pool, &head));
    assert_int_equal(runs_of(bin), 0);
}

/* ---- fronts of lanes ------------------------------------------------------------------------- */

static void
put_in_lane(world_t *world, uint32_t worker, unsigned pod, int64_t key)
{
    struct bin_caller caller = world->caller;
    caller.worker = worker;
    assert_true(bin_prepare(world->bins[0], &caller, 1));
    (void)move(world, pod, BAND, PLACE_ACTIVE);
    lane_put(bin_lane(world->bins[0], worker), ref_of(world, pod), key);
    lane_publish(bin_lane(world->bins[0], worker));
}

/* A front that is not true shows that nobody looked. */
static void
a_scan_looks_only_where_something_may_rank_before(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    put_in_lane(world, 1, 1, 10);
    put_in_lane(world, 1, 3, 20);
    put_in_lane(world, 2, 2, 4);
    u64_store(&bin->fronts[2], front_of(12));
    assert_claims(world, bin, 1);
    u64_store(&bin->fronts[2], 0);
    assert_claims(world, bin, 2);
    assert_claims(world, bin, 3);
    assert_claims(world, bin, PODS);
}

static void
one_pass_goes_behind_all_stale_refs_at_the_head_of_a_lane(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    for (unsigned lanes = 1; lanes <= 2; lanes++) {
        struct bin_head head = {0};
        for (unsigned i = 0; i < 8; i++)
            put_in_lane(world, 1, i, (int64_t)(8 * lanes + i));
        put_in_lane(world, lanes, 8, (int64_t)(8 * lanes + 8));
        for (unsigned i = 0; i < 8; i++) {
            if (i != 5)
                (void)move(world, i, BAND, PLACE_INFLIGHT);
        }
        assert_true(bin_first(bin, &world->pool, &head));
        bin_pass_stale(bin, &head);
        assert_true(bin_first(bin, &world->pool, &head));
        assert_true(bin_head_ref(&head) == ref_of(world, 5));
        assert_claims(world, bin, 5);
        assert_claims(world, bin, 8);
        assert_claims(world, bin, PODS);
    }
}

static void
among_equal_keys_the_lanes_are_compared_where_ties_are_ordered(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    put_in_lane(world, 1, 1, 20);
    put_in_lane(world, 2, 2, 20);
    put_in_lane(world, 3, 3, 20);
    for (unsigned pod = 1; pod <= 3; pod++)
        u64_store(&entry_of(world, pod)->order_key, 10 - pod);
    for (uint32_t i = 1; i <= 3; i++)
        u64_store(&bin->fronts[i], front_of(20));
    bin->residence.ties = TIES_BY_KEY;
    for (unsigned pod = 3; pod >= 1; pod--)
        assert_claims(world, bin, pod);
    assert_claims(world, bin, PODS);
}

static void
a_front_that_is_too_low_changes_no_order(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    for (unsigned i = 0; i < 60; i++)
        put_in_lane(world, i * 7 % 5, i, (int64_t)i);
    for (unsigned i = 0; i < 60; i++) {
        if (i % 3 == 0)
            u64_store(&bin->fronts[i % 5], 0);
        assert_claims(world, bin, i);
    }
    assert_claims(world, bin, PODS);
}

/* In each line of fronts another lane comes next, and one line has lanes that come late. */
static void
of_many_lanes_the_leasts_of_lines_are_compared(void **state)
{
    enum { LANES = 3 * FRONTS_LINE + 2, EACH = 40 };
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    unsigned raised = 0;
    for (unsigned i = 0; i < LANES * EACH; i++)
        put_in_lane(world, i * 7 % LANES, i, 2 * (int64_t)i);
    for (unsigned i = 0; i < LANES * (EACH - 2); i++)
        assert_claims(world, bin, i);
    for (unsigned i = 0; i < 3; i++)
        raised += u64_load(&bin->leasts[i]) != 0 ? 1 : 0;
    assert_true(raised >= 2);
    assert_true(u64_load(&bin->leasts[3]) == 0); /* its other lanes are not there yet */
    put_in_lane(world, LANES, LANES * EACH, 1);
    put_in_lane(world, LANES + 1, LANES * EACH + 1, 3);
    assert_claims(world, bin, LANES * EACH);
    assert_claims(world, bin, LANES * EACH + 1);
    for (unsigned i = LANES * (EACH - 2); i < LANES * EACH; i++)
        assert_claims(world, bin, i);
    assert_claims(world, bin, PODS);
}

static void
a_lane_that_was_found_empty_is_looked_into_again(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    put_in_lane(world, 1, 1, 1);
    put_in_lane(world, 2, 2, 2);
    put_in_lane(world, 2, 3, 9);
    assert_claims(world, bin, 1);
    assert_claims(world, bin, 2);
    assert_true((u64_load(&bin->fronts[1]) & FRONT_EMPTY) != 0);
    put_in_lane(world, 1, 4, 8);
    assert_claims(world, bin, 4);
    assert_claims(world, bin, 3);
    assert_claims(world, bin, PODS);
    assert_claims(world, bin, PODS);
    put_in_lane(world, 1, 5, 10);
    assert_claims(world, bin, 5);
}

/* ---- banks ----------------------------------------------------------------------------------- */

/* Workers of four banks, in no order, and two of the bin's own lanes. */
static const uint32_t apart[] = {WORKERS_MAX - 1,    3,  BANK_LANES,    3 * BANK_LANES + 5,
                                 2 * BANK_LANES - 1, 60, 7 * BANK_LANES};
enum { APART = sizeof apart / sizeof *apart };

static void
a_bin_has_no_bank_until_a_worker_of_one_comes(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    for (uint32_t i = 0; i < BANK_LANES; i++)
        put_in_lane(world, i, i, (int64_t)i);
    assert_null(ptr_load(&bin->bank.more));
    assert_int_equal(u32_load(&bin->slots), 0);
    assert_null(bin_lane(bin, BANK_LANES));
    put_in_lane(world, 2 * BANK_LANES, BANK_LANES, BANK_LANES);
    assert_non_null(ptr_load(&bin->bank.more));
    assert_null(bin_lane(bin, BANK_LANES));
    assert_non_null(bin_lane(bin, 2 * BANK_LANES));
    for (uint32_t i = 0; i <= BANK_LANES; i++)
        assert_claims(world, bin, i);
    assert_claims(world, bin, PODS);
}

static void
lanes_of_banks_are_compared_with_those_of_the_bin(void **state)
{
    enum { EACH = 60 };
    world_t *world = *state;
    for (unsigned i = 0; i < APART * EACH; i++)
        put_in_lane(world, apart[i * 3 % APART], i, 2 * (int64_t)i);
    for (unsigned i = 0; i < APART * EACH / 2; i++)
        assert_claims(world, world->bins[0], i);
    make_active(world, world->bins[0], PODS - 1, 3); /* a run */
    put_in_lane(world, 4 * BANK_LANES + 1, PODS - 2, 5);
    assert_claims(world, world->bins[0], PODS - 1);
    assert_claims(world, world->bins[0], PODS - 2);
    for (unsigned i = APART * EACH / 2; i < APART * EACH; i++)
        assert_claims(world, world->bins[0], i);
    assert_claims(world, world->bins[0], PODS);
}

static void
among_equal_keys_banks_are_compared_where_ties_are_ordered(void **state)
{
    world_t *world = *state;
    world->bins[0]->residence.ties = TIES_BY_KEY;
    for (unsigned pod = 0; pod < APART; pod++)
        put_in_lane(world, apart[pod], pod, 20);
    for (unsigned pod = 0; pod < APART; pod++)
        u64_store(&entry_of(world, pod)->order_key, 100 - pod);
    for (unsigned pod = APART; pod-- > 0;)
        assert_claims(world, world->bins[0], pod);
    assert_claims(world, world->bins[0], PODS);
}

/* What is in a bank may come before what is in the one lane. */
static void
no_bound_is_known_where_there_are_banks(void **state)
{
    world_t *world = *state;
    assert_true(bin_bound(world->bins[0]) == INT64_MAX);
    put_in_lane(world, 1, 1, 10);
    assert_true(bin_bound(world->bins[0]) == 10);
    put_in_lane(world, BANK_LANES, 2, 4);
    assert_true(bin_bound(world->bins[0]) == INT64_MIN);
    assert_claims(world, world->bins[0], 2);
    assert_claims(world, world->bins[0], 1);
}

static void
banks_are_read_and_counted(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    struct ref_counts counts = {0};
    struct bin_reader reader;
    struct bin_ref refs[3];
    bool met[2 * APART] = {false};
    size_t count;
    for (unsigned i = 0; i < 2 * APART; i++)
        put_in_lane(world, apart[i % APART], i, (int64_t)i);
    bin_count(bin, &world->pool, APART, &counts);
    assert_int_equal(counts.all, 2 * APART);
    assert_int_equal(counts.before, APART);
    assert_int_equal(counts.upto, APART + 1);
    bin_read_begin(&reader, bin, &world->pool, 2 * APART - 2);
    while ((count = bin_read(&reader, refs, 3)) > 0) {
        for (size_t i = 0; i < count; i++) {
            assert_false(met[refs[i].key]);
            met[refs[i].key] = true;
        }
    }
    for (unsigned i = 0; i < 2 * APART; i++)
        assert_int_equal(met[i], i < 2 * APART - 1);
}

static void
without_memory_no_scan_is_told_of_a_bank(void **state)
{
    const int64_t successes[] = {0, 1, 0, 1}; /* the bank fails; the lane, twice; its segment */
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    world->caller.worker = BANK_LANES;
    for (unsigned i = 0; i < 4; i++) {
        account_fail_after(&world->ground.account, successes[i]);
        assert_false(bin_prepare(bin, &world->caller, 1));
        assert_true(account_heal(&world->ground.account));
        assert_null(bin_lane(bin, BANK_LANES));
        assert_int_equal(ptr_load(&bin->bank.more) != NULL, i > 0);
        assert_int_equal(u32_load(&bin->slots), 0);
    }
    assert_true(bin_prepare(bin, &world->caller, 1));
    assert_non_null(bin_lane(bin, BANK_LANES));
}

/* ---- against a list -------------------------------------------------------------------------- */

enum { MODEL_PODS = 600, MODEL_STEPS = 30000, MODEL_WORKERS = 4, BATCH = 12 };

typedef struct model {
    world_t *world;
    uint64_t seed;
    bool inside[MODEL_PODS];
    int64_t keys[MODEL_PODS];
    int64_t clock;
    unsigned merges;
} model_t;

static uint32_t
draw(model_t *model, uint32_t below)
{
    model->seed = model->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(model->seed >> 33) % below;
}

/* PODS: none was found by chance. */
static unsigned
draw_pod(model_t *model, bool inside)
{
    for (unsigned i = 0; i < 20; i++) {
        unsigned pod = draw(model, MODEL_PODS);
        if (model->inside[pod] == inside)
            return pod;
    }
    return PODS;
}

static void
model_lane(model_t *model)
{
    struct bin_caller caller = model->world->caller;
    unsigned pod = draw_pod(model, false);
    caller.worker = draw(model, MODEL_WORKERS) * 21; /* 0 to 63 */
    if (pod == PODS || !bin_prepare(model->world->bins[0], &caller, 1))
        return;
    model->clock += draw(model, 3);
    model->inside[pod] = true;
    model->keys[pod] = model->clock;
    (void)move(model->world, pod, BAND, PLACE_ACTIVE);
    lane_put(bin_lane(model->world->bins[0], caller.worker), ref_of(model->world, pod),
             model->clock);
    lane_publish(bin_lane(model->world->bins[0], caller.worker));
}

/*
 * Pods from nowhere, pods that stand in another band and are not switched yet, and refs that were
 * stale before.
 */
static void
model_run(model_t *model)
{
    world_t *world = model->world;
    uint32_t count = 1 + draw(model, BATCH);
    struct run *run = run_take(&world->pool, count);
    int64_t key = model->clock - (int64_t)draw(model, 200);
    unsigned before = runs_of(world->bins[0]);
    for (uint32_t i = 0; i < count; i++) {
        unsigned pod = draw_pod(model, false), kind = draw(model, 10);
        if (pod == PODS)
            continue;
        key += draw(model, 4);
        if (kind < 3) {
            run_put(run, ref_of(world, pod), key); /* in flight, or dead */
            continue;
        }
        model->inside[pod] = true;
        model->keys[pod] = key;
        (void)move(world, pod, kind < 7 ? BAND : OTHER_BAND, PLACE_ACTIVE);
        run_put(run, kind < 7 ? ref_of(world, pod) : next_ref_of(world, pod), key);
        if (kind == 3)
            assert_true(publish_one(world, world->bins[0], ref_of(world, pod), key)); /* twice */
    }
    assert_true(bin_publish_run(world->bins[0], &world->caller, run));
    model->merges += runs_of(world->bins[0]) <= before ? 1 : 0;
}

static void
model_one(model_t *model)
{
    unsigned pod = draw_pod(model, false);
    if (pod == PODS)
        return;
    model->inside[pod] = true;
    model->keys[pod] = model->clock - (int64_t)draw(model, 200);
    put_one(model->world, pod, model->keys[pod], draw(model, 20) == 0 ? 1 : 0);
}

static void
model_take(model_t *model)
{
    int64_t least = INT64_MAX, key = INT64_MAX;
    for (unsigned i = 0; i < MODEL_PODS; i++) {
        if (model->inside[i] && model->keys[i] < least)
            least = model->keys[i];
    }
    unsigned pod = claim(model->world, model->world->bins[0], &key);
    assert_ns_equal(key, least);
    if (pod == PODS)
        return;
    assert_true(model->inside[pod]);
    assert_ns_equal(model->keys[pod], key);
    model->inside[pod] = false;
}

static void
model_leave(model_t *model)
{
    unsigned pod = draw_pod(model, true);
    if (pod == PODS)
        return;
    (void)move(model->world, pod, FAR_BAND, PLACE_INFLIGHT);
    /* an early ref in the bin must not be the next version */
    (void)move(model->world, pod, FAR_BAND, PLACE_DEAD);
    model->inside[pod] = false;
}

static void
a_bin_is_a_sorted_list_of_the_pods_in_it(void **state)
{
    const char *wanted = getenv("SCHEDQ_TEST_SEED");
    model_t model = {.world = *state, .clock = 1000};
    model.seed =
        wanted != NULL ? strtoull(wanted, NULL, 0) : (uint64_t)(uintptr_t)*state * 2654435761u;
    print_message("repeat with SCHEDQ_TEST_SEED=%llu\n", (unsigned long long)model.seed);
    for (unsigned step = 0; step < MODEL_STEPS; step++) {
        bool grows = step / 1000 % 2 == 0;
        unsigned what = draw(&model, 100);
        if (what < (grows ? 15 : 3))
            model_run(&model);
        else if (what < (grows ? 30 : 5))
            model_one(&model);
        else if (what < (grows ? 55 : 15))
            model_lane(&model);
        else if (what < 60)
            model_leave(&model);
        else
            model_take(&model);
    }
    for (unsigned i = 0; i <= MODEL_PODS; i++)
        model_take(&model);
    assert_true(model.merges > 0);
    assert_int_equal(runs_of(model.world->bins[0]), 0);
    give_own_run(model.world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(prepared_room_is_enough_for_every_count),
        TEST(what_was_put_is_not_found_before_it_is_published),
        TEST(a_merge_keeps_every_pod_in_its_order),
        TEST(pods_that_come_one_by_one_are_copied_about_log2_of_their_number_times),
        TEST(a_merge_drops_stale_refs),
        TEST(a_merge_switches_the_pods_of_early_refs),
        TEST(without_memory_to_merge_a_run_stays_its_makers_and_nothing_is_lost),
        TEST(without_memory_no_lane_is_prepared),
        TEST(a_merge_helps_no_ref_of_a_run_that_left_its_slot),
        TEST(a_merge_helps_no_ref_of_a_run_that_is_not_published),
        TEST(pods_that_are_claimed_during_a_merge_do_not_come_back),
        TEST(a_merge_of_refs_that_all_became_stale_leaves_nothing),
        TEST(a_merge_that_another_merge_overtook_loses_nothing),
        TEST(refs_that_come_one_by_one_in_no_order_share_runs),
        TEST(refs_of_other_causes_do_not_share_a_run),
        TEST(a_lane_says_the_cause_of_what_was_published_last),
        TEST(a_reading_goes_on_in_what_took_the_place_of_its_run),
        TEST(a_ref_is_not_lost_though_the_run_beside_it_is_used_again),
        TEST(a_scan_meets_every_pod_though_a_merge_comes_in_between),
        TEST(a_run_that_left_its_slot_is_not_passed_for_its_next_key),
        TEST(among_equal_keys_the_runs_are_compared_where_ties_are_ordered),
        TEST(a_scan_goes_past_stale_refs_of_runs),
        TEST(one_pass_goes_behind_all_stale_refs_at_the_head_of_a_lane),
        TEST(a_scan_looks_only_where_something_may_rank_before),
        TEST(among_equal_keys_the_lanes_are_compared_where_ties_are_ordered),
        TEST(a_front_that_is_too_low_changes_no_order),
        TEST(of_many_lanes_the_leasts_of_lines_are_compared),
        TEST(a_lane_that_was_found_empty_is_looked_into_again),
        TEST(a_bin_has_no_bank_until_a_worker_of_one_comes),
        TEST(lanes_of_banks_are_compared_with_those_of_the_bin),
        TEST(among_equal_keys_banks_are_compared_where_ties_are_ordered),
        TEST(no_bound_is_known_where_there_are_banks),
        TEST(banks_are_read_and_counted),
        TEST(without_memory_no_scan_is_told_of_a_bank),
        TEST(a_bin_is_a_sorted_list_of_the_pods_in_it),
#undef TEST
    };
    return cmocka_run_group_tests_name("lockfree_bin", tests, NULL, NULL);
}
