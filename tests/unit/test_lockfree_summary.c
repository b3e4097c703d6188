/*
 * lockfree/refs/summary.h: a bit goes only when nothing is there, and threads that rely on it find
 * every pod; and what bins do to be marked (bin_mark).
 */
#include <pthread.h>
#include <sched.h>

#include "bin_world.h"
#include "mailbox.h"

#include "lockfree/refs/summary.h"

/* ---- bits ------------------------------------------------------------------------------------ */

static void
assert_summary(const struct summary *summary, uint64_t bits, uint64_t version, uint64_t doubted)
{
    struct pair seen = summary_see(summary);
    assert_true(seen.low == bits);
    assert_true(seen.high == version * SUMMARY_VERSION + doubted);
}

static void
a_bit_is_set_once_and_raises_no_version(void **state)
{
    struct summary summary;
    (void)state;
    for (uint32_t count = 1; count <= SUMMARY_ROWS; count++) {
        summary_open(&summary, count);
        assert_summary(&summary, UINT64_MAX >> (SUMMARY_ROWS - count), 0, 0);
        assert_true(summary_shows(&summary, count - 1));
        assert_true(count == SUMMARY_ROWS || !summary_shows(&summary, count));
    }
    summary_open(&summary, 2);
    assert_true(summary_set(&summary, summary_see(&summary), 63));
    assert_summary(&summary, UINT64_C(1) << 63 | 3, 0, 0);
    assert_false(summary_set(&summary, (struct pair){.low = 3}, 4)); /* it is another by now */
    assert_true(summary_bits(&summary) == (UINT64_C(1) << 63 | 3));
}

static void
what_is_doubted_is_not_shown_and_goes_if_it_is_empty(void **state)
{
    struct summary summary;
    uint64_t doubt;
    (void)state;
    summary_open(&summary, 4);
    assert_true(summary_doubt(&summary, summary_see(&summary), 3, &doubt));
    assert_summary(&summary, 15, 1, 3);
    assert_false(summary_shows(&summary, 0));
    assert_false(summary_shows(&summary, 2));
    assert_true(summary_shows(&summary, 3));
    summary_clear(&summary, doubt, 5);
    assert_summary(&summary, 10, 1, 0);
    summary_clear(&summary, doubt, 10); /* the doubt is over */
    assert_summary(&summary, 10, 1, 0);
}

static void
a_producer_of_a_doubted_row_ends_the_doubt_one_of_another_does_not(void **state)
{
    struct summary summary;
    uint64_t doubt;
    (void)state;
    summary_open(&summary, 4);
    assert_true(summary_doubt(&summary, summary_see(&summary), 2, &doubt));
    assert_true(summary_set(&summary, summary_see(&summary), 9));
    assert_summary(&summary, 15 | 1 << 9, 1, 2);
    summary_clear(&summary, doubt, 1);
    assert_summary(&summary, 14 | 1 << 9, 1, 0);
    assert_true(summary_doubt(&summary, summary_see(&summary), 64, &doubt));
    assert_summary(&summary, 14 | 1 << 9, 2, 64);
    assert_true(summary_set(&summary, summary_see(&summary), 1));
    assert_summary(&summary, 14 | 1 << 9, 3, 0);
    summary_clear(&summary, doubt, 2);
    assert_summary(&summary, 14 | 1 << 9, 3, 0);
}

/* Another consumer's scan is not this one's: a producer may have come in between. */
static void
a_doubt_is_ended_by_a_later_one(void **state)
{
    struct summary summary;
    uint64_t first, second;
    (void)state;
    summary_open(&summary, 4);
    assert_true(summary_doubt(&summary, summary_see(&summary), 2, &first));
    assert_true(summary_doubt(&summary, summary_see(&summary), 2, &second));
    summary_clear(&summary, first, 3);
    assert_summary(&summary, 15, 2, 2);
    summary_clear(&summary, second, 3);
    assert_summary(&summary, 12, 2, 0);
}

static void
what_has_no_bits_sleeps_until_one_is_set(void **state)
{
    struct summary summary;
    uint64_t doubt;
    (void)state;
    summary_open(&summary, 1);
    assert_false(summary_sleep(&summary));
    assert_true(summary_doubt(&summary, summary_see(&summary), 1, &doubt));
    summary_clear(&summary, doubt, 1);
    assert_false(summary_sleeps(summary_see(&summary)));
    assert_true(summary_sleep(&summary));
    assert_summary(&summary, 0, 2, SUMMARY_ASLEEP);
    struct pair asleep = summary_see(&summary);
    assert_true(summary_sleeps(asleep));
    assert_true(summary_sleep(&summary)); /* again: who wakes it learns of it */
    assert_summary(&summary, 0, 3, SUMMARY_ASLEEP);
    assert_false(summary_set(&summary, asleep, 0));
    assert_false(summary_shows(&summary, 0));
    assert_true(summary_set(&summary, summary_see(&summary), 0));
    assert_summary(&summary, 1, 4, 0);
    assert_true(summary_shows(&summary, 0));
}

static void
bits_of_what_was_noted_since_are_not_taken(void **state)
{
    struct summary summary;
    (void)state;
    summary_open(&summary, 3);
    struct pair seen = summary_see(&summary);
    summary_note(&summary, 1); /* set already */
    summary_take(&summary, seen, 2);
    assert_summary(&summary, 7, 1, 0);
    summary_take(&summary, summary_see(&summary), 2);
    assert_summary(&summary, 5, 1, 0);
    summary_note(&summary, 1);
    assert_summary(&summary, 7, 2, 0);
}

/* ---- marks ----------------------------------------------------------------------------------- */

static void
a_bin_that_is_always_looked_at_has_nothing_to_mark(void **state)
{
    world_t *world = *state;
    assert_true(bin_mark(world->bins[0]));
}

static unsigned marks;
static bool is_there;

static bool
mark(struct bin *bin)
{
    (void)bin;
    marks++;
    return is_there;
}

static void
ask_elsewhere(struct bin *bin, bool there)
{
    bin->mark = mark;
    marks = 0;
    is_there = there;
}

/*
 * Who published an early ref, and stops before he marks the bin, must not take the pod out of
 * sight.
 */
static void
a_pod_that_a_helper_switched_is_in_a_bin_that_is_marked(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    struct bin_head head = {0};
    uint64_t word;
    ask_elsewhere(bin, true);
    (void)move(world, 0, OTHER_BAND, PLACE_ACTIVE);
    assert_true(publish_one(world, bin, next_ref_of(world, 0), 1));
    assert_true(bin_first(bin, &world->pool, &head));
    assert_true(bin_judge(bin, &world->caller, bin_head_ref(&head), bin_head_cause(&head), &word));
    assert_int_equal(state_band(word), BAND);
    assert_int_equal(marks, 1);
    assert_int_equal(u64_load(&world->reorder), 1);
}

static void
pods_that_a_merge_switched_are_in_a_bin_that_is_marked(void **state)
{
    world_t *world = *state;
    ask_elsewhere(world->bins[0], true);
    for (unsigned i = 0; i < BIN_RUNS; i++) {
        (void)move(world, i, OTHER_BAND, PLACE_ACTIVE);
        assert_true(publish_one(world, world->bins[0], next_ref_of(world, i), (int64_t)i));
    }
    make_active(world, world->bins[0], 100, 50);
    assert_int_equal(marks, BIN_RUNS);
}

static void
a_bin_that_has_left_helps_no_early_ref(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    struct bin_head head = {0};
    uint64_t word;
    ask_elsewhere(bin, false);
    (void)move(world, 0, OTHER_BAND, PLACE_ACTIVE);
    uint64_t before = word_of(world, 0);
    assert_true(publish_one(world, bin, next_ref_of(world, 0), 1));
    assert_true(bin_first(bin, &world->pool, &head));
    assert_false(bin_judge(bin, &world->caller, bin_head_ref(&head), bin_head_cause(&head), &word));
    assert_true(word_of(world, 0) == before);
    assert_int_equal(marks, 1);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { PRODUCERS = 3, CONSUMERS = 2, EACH = PODS / PRODUCERS, LAPS = 40 };

typedef struct team {
    world_t *world;
    mailbox_t mailbox;
    atomic_u32 producing, claimed;
    atomic_u32 times[PODS]; /* how often it was claimed in this lap */
} team_t;

typedef struct member {
    pthread_t thread;
    team_t *team;
    struct bin_caller caller;
    unsigned first;
    uint64_t seed;
} member_t;

/* Of both bins, whose rows are their numbers. */
static struct summary shown;

static uint32_t
row_of(const struct bin *bin)
{
    return bin->residence.band - BAND;
}

static bool
mark_shown(struct bin *bin)
{
    while (!summary_shows(&shown, row_of(bin)) &&
           !summary_set(&shown, summary_see(&shown), row_of(bin)))
        ;
    return true;
}

static uint32_t
member_draw(member_t *member, uint32_t below)
{
    member->seed = member->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(member->seed >> 33) % below;
}

static bool
member_publish(member_t *member, struct bin *bin, uint64_t ref, int64_t key)
{
    struct run *run = run_take(member->caller.pool, 1);
    if (run == NULL)
        return false;
    run_put(run, ref, key);
    return bin_publish_run(bin, &member->caller, run);
}

static void
arrive(member_t *member, unsigned pod)
{
    world_t *world = member->team->world;
    struct bin *bin = world->bins[member_draw(member, 2)];
    (void)move(world, pod, bin->residence.band, PLACE_ACTIVE);
    if (member_draw(member, 2) == 0) {
        mailbox_check(&member->team->mailbox, bin_prepare(bin, &member->caller, 1));
        lane_put(bin_lane(bin, member->caller.worker), ref_of(world, pod), (int64_t)pod);
        lane_publish(bin_lane(bin, member->caller.worker));
    } else {
        mailbox_check(&member->team->mailbox,
                      member_publish(member, bin, ref_of(world, pod), (int64_t)pod));
    }
    atomic_fence();
    mailbox_check(&member->team->mailbox, bin_mark(bin));
}

/* To the other bin, unless it is claimed by then. */
static void
update(member_t *member, unsigned pod)
{
    world_t *world = member->team->world;
    uint64_t state = word_of(world, pod);
    struct bin *to = world->bins[state_band(state) == BAND ? 1 : 0];
    uint32_t band = to->residence.band;
    while (state_place(state) == PLACE_ACTIVE && state_band(state) != band) {
        uint64_t next = state_switched(state, band, PLACE_ACTIVE);
        uint64_t ref = ref_make(state_version(next), world->records[pod]);
        mailbox_check(&member->team->mailbox, member_publish(member, to, ref, (int64_t)pod));
        atomic_fence();
        mailbox_check(&member->team->mailbox, bin_mark(to));
        (void)u64_add(&world->reorder, 1);
        (void)u64_cas(&entry_of(world, pod)->word.low, state, next);
        state = word_of(world, pod);
    }
}

static void *
producer_main(void *argument)
{
    member_t *member = argument;
    for (unsigned i = 0; i < EACH; i++) {
        epoch_enter(member->caller.epoch);
        arrive(member, member->first + i);
        if (i > 0 && member_draw(member, 3) == 0)
            update(member, member->first + member_draw(member, i));
        if (member_draw(member, 2000) == 0)
            run_pool_trim(member->caller.pool, member->caller.epoch);
        epoch_leave(member->caller.epoch);
        epoch_poll(member->caller.epoch);
    }
    (void)u32_add(&member->team->producing, UINT32_MAX);
    return NULL;
}

static bool
take_from(member_t *member, struct bin *bin)
{
    world_t *world = member->team->world;
    struct bin_head head = {0};
    uint64_t state;
    while (bin_first(bin, member->caller.pool, &head)) {
        uint64_t ref = bin_head_ref(&head);
        struct entry *entry = entry_at(&world->ground.entries, ref_record(ref));
        if (!bin_judge(bin, &member->caller, ref, bin_head_cause(&head), &state)) {
            bin_advance(&head);
        } else if (u64_cas(&entry->word.low, state, state_switched(state, 0, PLACE_INFLIGHT))) {
            bin_advance(&head);
            (void)u32_add(&member->team->times[u64_load(&entry->object)], 1);
            (void)u32_add(&member->team->claimed, 1);
            return true;
        }
    }
    return false;
}

/* Or doubts what it finds empty, and takes its bit. */
static void
take_one(member_t *member, struct bin *bin)
{
    uint64_t bit = UINT64_C(1) << row_of(bin), doubt;
    if ((summary_bits(&shown) & bit) != 0 && !take_from(member, bin)) {
        struct pair seen = summary_see(&shown);
        if ((seen.low & bit) != 0 && summary_doubt(&shown, seen, row_of(bin) + 1, &doubt))
            summary_clear(&shown, doubt, bin_is_empty(bin, member->caller.pool) ? bit : 0);
    }
}

static bool
is_over(const team_t *team)
{
    return u32_load(&team->producing) == 0 && summary_bits(&shown) == 0;
}

static void *
consumer_main(void *argument)
{
    member_t *member = argument;
    while (!is_over(member->team)) {
        epoch_enter(member->caller.epoch);
        for (unsigned i = 0; i < 20; i++)
            take_one(member, member->team->world->bins[i % 2]);
        epoch_leave(member->caller.epoch);
        if (member_draw(member, 4) == 0)
            (void)sched_yield();
    }
    return NULL;
}

static void
run_lap(team_t *team, member_t *members)
{
    (void)u32_exchange(&team->producing, PRODUCERS);
    (void)u32_exchange(&team->claimed, 0);
    for (unsigned i = 0; i < PODS; i++)
        (void)u32_exchange(&team->times[i], 0);
    for (unsigned i = 0; i < PRODUCERS + CONSUMERS; i++)
        assert_int_equal(pthread_create(&members[i].thread, NULL,
                                        i < PRODUCERS ? producer_main : consumer_main, &members[i]),
                         0);
    for (unsigned i = 0; i < PRODUCERS + CONSUMERS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    mailbox_assert_empty(&team->mailbox);
    for (unsigned i = 0; i < EACH * PRODUCERS; i++) {
        if (u32_load(&team->times[i]) != 1)
            fail_msg("pod %u was claimed %u times", i, u32_load(&team->times[i]));
    }
    assert_int_equal(u32_load(&team->claimed), EACH * PRODUCERS);
}

static void
threads_that_publish_move_and_claim_claim_every_pod_once(void **state)
{
    world_t *world = *state;
    static team_t team;
    static member_t members[PRODUCERS + CONSUMERS];
    memset((void *)&team, 0, sizeof team);
    team.world = world;
    mailbox_init(&team.mailbox);
    for (unsigned i = 0; i < PRODUCERS + CONSUMERS; i++) {
        members[i] =
            (member_t){.team = &team, .caller = world->caller, .first = i * EACH, .seed = i};
        members[i].caller.worker = i;
        members[i].caller.epoch = epoch_record_make(world->ground.epoch);
    }
    for (unsigned i = 0; i < PODS; i++)
        (void)u64_exchange(&entry_of(world, i)->object, i);
    for (unsigned lap = 0; lap < LAPS; lap++) {
        /* Keys begin anew, and lanes must not fall. */
        for (unsigned i = 0; i < 2; i++) {
            free_bin(world, world->bins[i]);
            world->bins[i] = make_bin(world, i);
            world->bins[i]->mark = mark_shown;
        }
        summary_open(&shown, 2);
        run_lap(&team, members);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(a_bit_is_set_once_and_raises_no_version),
        TEST(what_is_doubted_is_not_shown_and_goes_if_it_is_empty),
        TEST(a_producer_of_a_doubted_row_ends_the_doubt_one_of_another_does_not),
        TEST(a_doubt_is_ended_by_a_later_one),
        TEST(what_has_no_bits_sleeps_until_one_is_set),
        TEST(bits_of_what_was_noted_since_are_not_taken),
        TEST(a_bin_that_is_always_looked_at_has_nothing_to_mark),
        TEST(a_pod_that_a_helper_switched_is_in_a_bin_that_is_marked),
        TEST(pods_that_a_merge_switched_are_in_a_bin_that_is_marked),
        TEST(a_bin_that_has_left_helps_no_early_ref),
        TEST(threads_that_publish_move_and_claim_claim_every_pod_once),
#undef TEST
    };
    return cmocka_run_group_tests_name("lockfree_summary", tests, NULL, NULL);
}
