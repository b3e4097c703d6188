/*
 * schedq_add_many as a whole: names that are there twice, caps in the middle, the order of what was
 * added.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "seed.h"
#include "squad.h"

/* Specs for names of four bytes: "ns/a ns/b ...". */
static void
letters(schedq_add_item_t *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        items[i] = fx_item(5 * i, 4, 0);
        items[i].spec.object = 100 + i;
    }
}

static void
expect_statuses(const uint8_t *got, const schedq_status_t *expected, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (got[i] != (uint8_t)expected[i])
            print_error("element %zu\n", i);
        assert_status((schedq_status_t)got[i], expected[i]);
    }
}

static void
of_equal_names_in_a_batch_the_first_gets_in(void **state)
{
    fixture_t *fixture = *state;
    schedq_add_item_t items[6];
    schedq_pod_t pods[6];
    uint8_t statuses[6];
    schedq_result_t result;
    letters(items, 6);
    items[4].spec.priority = 99;
    memset(pods, 0xff, sizeof pods);
    assert_status(schedq_add_many(fx_worker(fixture), "ns/a ns/b ns/a ns/c ns/a ns/b", 29, items, 6,
                                  pods, statuses, &result),
                  SCHEDQ_EXISTS);
    static const schedq_status_t expected[] = {SCHEDQ_OK, SCHEDQ_OK,     SCHEDQ_EXISTS,
                                               SCHEDQ_OK, SCHEDQ_EXISTS, SCHEDQ_EXISTS};
    expect_statuses(statuses, expected, 6);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(pods[i].bits != 0, expected[i] == SCHEDQ_OK);
    assert_int_equal(result.to_active, 3);
    assert_int_equal(fx_find(fixture, "ns/a").object, 100);
    assert_true(fx_find(fixture, "ns/a").pod.bits == pods[0].bits);
    assert_int_equal(fx_stats(fixture).adds, 3);
    fx_pop(fixture, "ns/a");
    fx_pop(fixture, "ns/b");
    fx_pop(fixture, "ns/c");
    fx_pop_nothing(fixture);
}

/* Also of priorities that had pods, until so many pops found none that they look no more. */
static void
pods_of_several_priorities_are_all_popped(void **state)
{
    fixture_t *fixture = *state;
    schedq_add_item_t items[4];
    letters(items, 4);
    for (unsigned i = 0; i < 4; i++)
        items[i].spec.priority = i % 2 == 0 ? 2 : 1;
    for (unsigned round = 0; round < 3; round++) {
        static const char *const order[] = {"ns/a", "ns/c", "ns/b", "ns/d"};
        assert_ok(schedq_add_many(fx_worker(fixture), "ns/a ns/b ns/c ns/d", 19, items, 4, NULL,
                                  NULL, NULL));
        for (unsigned i = 0; i < 4; i++) {
            schedq_popped_t popped = fx_pop(fixture, order[i]);
            fx_done(fixture, &popped);
        }
        for (unsigned i = 0; i < 100; i++) {
            (void)fx_add(fixture, "ns/low", 0);
            schedq_popped_t popped = fx_pop(fixture, "ns/low");
            fx_done(fixture, &popped);
        }
    }
}

static void
a_name_that_is_there_stops_all_its_elements(void **state)
{
    fixture_t *fixture = *state;
    schedq_add_item_t items[3];
    uint8_t statuses[3];
    schedq_pod_t there = fx_add(fixture, "ns/a", 0);
    letters(items, 3);
    assert_status(
        schedq_add_many(fx_worker(fixture), "ns/a ns/b ns/a", 14, items, 3, NULL, statuses, NULL),
        SCHEDQ_EXISTS);
    static const schedq_status_t expected[] = {SCHEDQ_EXISTS, SCHEDQ_OK, SCHEDQ_EXISTS};
    expect_statuses(statuses, expected, 3);
    assert_true(fx_find(fixture, "ns/a").pod.bits == there.bits);
    fx_assert_counts(fixture, 2, 0, 0, 0, 0, 0);
}

static void
a_bad_element_does_not_take_its_name(void **state)
{
    fixture_t *fixture = *state;
    schedq_add_item_t items[3];
    uint8_t statuses[3];
    letters(items, 3);
    items[0].spec.flags = 0x80;
    assert_status(
        schedq_add_many(fx_worker(fixture), "ns/a ns/a ns/a", 14, items, 3, NULL, statuses, NULL),
        SCHEDQ_INVALID);
    static const schedq_status_t expected[] = {SCHEDQ_INVALID, SCHEDQ_OK, SCHEDQ_EXISTS};
    expect_statuses(statuses, expected, 3);
    assert_int_equal(fx_find(fixture, "ns/a").object, 101);
}

static void
max_pods_in_the_middle_of_a_batch(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_pods = 4;
    schedq_add_item_t items[8];
    uint8_t statuses[8];
    schedq_pod_t pods[8];
    schedq_result_t result;
    fx_add(fixture, "ns/x", 0);
    letters(items, 8);
    items[7].spec.priority = INT32_MAX;
    assert_status(schedq_add_many(fx_worker(fixture), "ns/a ns/x ns/b ns/a ns/c ns/d ns/x ns/d", 39,
                                  items, 8, pods, statuses, &result),
                  SCHEDQ_EXISTS);
    static const schedq_status_t expected[] = {SCHEDQ_OK,     SCHEDQ_EXISTS, SCHEDQ_OK,
                                               SCHEDQ_EXISTS, SCHEDQ_OK,     SCHEDQ_FULL,
                                               SCHEDQ_EXISTS, SCHEDQ_FULL};
    expect_statuses(statuses, expected, 8);
    assert_int_equal(pods[5].bits, 0);
    assert_int_equal(result.to_active, 3);
    fx_assert_counts(fixture, 4, 0, 0, 0, 0, 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/x");
    fx_done(fixture, &popped);
    fx_add(fixture, "ns/d", 0);
}

static void
max_bands_in_the_middle_of_a_batch_stops_new_priorities_only(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_bands = 2;
    schedq_add_item_t items[6];
    uint8_t statuses[6];
    letters(items, 6);
    static const int32_t priorities[] = {1, 2, 3, 2, 4, 1};
    for (unsigned i = 0; i < 6; i++)
        items[i].spec.priority = priorities[i];
    assert_status(schedq_add_many(fx_worker(fixture), "ns/a ns/b ns/c ns/d ns/e ns/f", 29, items, 6,
                                  NULL, statuses, NULL),
                  SCHEDQ_FULL);
    static const schedq_status_t expected[] = {SCHEDQ_OK, SCHEDQ_OK,   SCHEDQ_FULL,
                                               SCHEDQ_OK, SCHEDQ_FULL, SCHEDQ_OK};
    expect_statuses(statuses, expected, 6);
    fx_pop(fixture, "ns/b");
    fx_pop(fixture, "ns/d");
    fx_pop(fixture, "ns/a");
    fx_pop(fixture, "ns/f");
    fx_pop_nothing(fixture);
}

static void
without_statuses_the_rest_of_a_batch_is_added_all_the_same(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_pods = 2;
    schedq_add_item_t items[4];
    schedq_pod_t pods[4];
    schedq_result_t result;
    letters(items, 4);
    assert_status(schedq_add_many(fx_worker(fixture), "ns/a ns/a ns/b ns/c", 19, items, 4, pods,
                                  NULL, &result),
                  SCHEDQ_EXISTS);
    assert_true(pods[0].bits != 0 && pods[1].bits == 0 && pods[2].bits != 0 && pods[3].bits == 0);
    assert_int_equal(result.to_active, 2);
    fx_assert_counts(fixture, 2, 0, 0, 0, 0, 0);
}

static void
a_closed_queue_takes_no_element(void **state)
{
    fixture_t *fixture = *state;
    schedq_add_item_t items[3];
    uint8_t statuses[3];
    fx_add(fixture, "ns/a", 0);
    letters(items, 3);
    items[1].spec.flags = 0x80;
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_status(
        schedq_add_many(fx_worker(fixture), "ns/a ns/b ns/c", 14, items, 3, NULL, statuses, NULL),
        SCHEDQ_CLOSED);
    static const schedq_status_t expected[] = {SCHEDQ_CLOSED, SCHEDQ_INVALID, SCHEDQ_CLOSED};
    expect_statuses(statuses, expected, 3);
    fx_assert_counts(fixture, 1, 0, 0, 0, 0, 0);
}

static void
elements_without_a_key_keep_the_order_of_the_batch(void **state)
{
    fixture_t *fixture = *state;
    schedq_add_item_t items[4];
    letters(items, 4);
    fx_add(fixture, "ns/x", 0);
    assert_ok(
        schedq_add_many(fx_worker(fixture), "ns/d ns/b ns/c ns/a", 19, items, 4, NULL, NULL, NULL));
    fx_add(fixture, "ns/y", 0);
    static const char *const order[] = {"ns/x", "ns/d", "ns/b", "ns/c", "ns/a", "ns/y"};
    for (unsigned i = 0; i < 6; i++)
        fx_pop(fixture, order[i]);
}

/* ---- many ---- */

enum { MANY = 4000, BATCHES = 5 };

typedef struct rank {
    int32_t priority;
    int64_t key;
} rank_t;

static int
compare_ranks(const void *a, const void *b)
{
    const rank_t *x = a, *y = b;
    if (x->priority != y->priority)
        return x->priority > y->priority ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

/*
 * Priorities, order keys and explicit Timestamps at random, in several batches of which each goes
 * among the others.
 */
static void
batches_of_many_priorities_and_keys_are_popped_in_order(void **state)
{
    fixture_t *fixture = *state;
    uint64_t seed = seed_of("test_batch");
    static char names[MANY * 8 + 1];
    static schedq_add_item_t items[MANY];
    static rank_t ranks[MANY], sorted[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(names + 8 * i, 9, "ns/%05u", i);
        items[i] = fx_item(8 * i, 8, (int32_t)(seed_next(&seed) % 11) - 5);
        items[i].spec.object = i;
        if (seed_next(&seed) % 2 == 0) {
            items[i].spec.flags = SCHEDQ_POD_ORDER_KEY;
            items[i].spec.order_key = (int64_t)(seed_next(&seed) % 5000);
            ranks[i].key = items[i].spec.order_key;
        } else {
            items[i].spec.timestamp_ns = 1 + (int64_t)(seed_next(&seed) % 5000);
            ranks[i].key = items[i].spec.timestamp_ns;
        }
        ranks[i].priority = items[i].spec.priority;
    }
    memcpy(sorted, ranks, sizeof ranks);
    qsort(sorted, MANY, sizeof *sorted, compare_ranks);
    for (unsigned i = 0; i < BATCHES; i++)
        assert_ok(schedq_add_many(fx_worker(fixture), names, sizeof names,
                                  items + i * (MANY / BATCHES), MANY / BATCHES, NULL, NULL, NULL));
    for (unsigned i = 0; i < MANY; i++) {
        schedq_popped_t popped;
        assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
        assert_int_equal(popped.priority, sorted[i].priority);
        assert_ns_equal(ranks[popped.object].key, sorted[i].key);
    }
    fx_pop_nothing(fixture);
}

/* ---- against a list ---- */

enum { NAMES = 120, ELEMENTS = 70, TURNS = 400 };

/* A pod that should be there: the smaller number came first. */
typedef struct listed {
    bool there;
    int32_t priority;
    uint64_t number;
} listed_t;

static listed_t *
best_of(listed_t *pods)
{
    listed_t *best = NULL;
    for (unsigned i = 0; i < NAMES; i++) {
        listed_t *pod = &pods[i];
        if (pod->there && (best == NULL || pod->priority > best->priority ||
                           (pod->priority == best->priority && pod->number < best->number)))
            best = pod;
    }
    return best;
}

/* Names are there twice, in the batch or in the queue; priorities rise, fall, or do neither. */
static void
add_listed(fixture_t *fixture, listed_t *pods, uint64_t *seed, uint64_t *number)
{
    static char names[ELEMENTS * 8 + 1];
    schedq_add_item_t items[ELEMENTS];
    schedq_status_t expected[ELEMENTS], first = SCHEDQ_OK;
    uint8_t statuses[ELEMENTS];
    schedq_pod_t handles[ELEMENTS];
    schedq_result_t result;
    unsigned count = 1 + (unsigned)(seed_next(seed) % ELEMENTS),
             kind = (unsigned)(seed_next(seed) % 3);
    uint32_t active = 0;
    for (unsigned i = 0; i < count; i++) {
        unsigned name = (unsigned)(seed_next(seed) % NAMES);
        int32_t priority = kind == 0   ? 3
                           : kind == 1 ? (int32_t)(seed_next(seed) % 9) - 4
                                       : 4 - (int32_t)(i * 8 / count);
        snprintf(names + 8 * i, 9, "ns/%05u", name);
        items[i] = fx_item(8 * i, 8, priority);
        items[i].spec.object = name + 1;
        expected[i] = pods[name].there ? SCHEDQ_EXISTS : SCHEDQ_OK;
        if (expected[i] == SCHEDQ_OK) {
            pods[name] = (listed_t){.there = true, .priority = priority, .number = (*number)++};
            active++;
        } else if (first == SCHEDQ_OK) {
            first = expected[i];
        }
    }
    assert_status(schedq_add_many(fx_worker(fixture), names, 8 * count, items, count, handles,
                                  statuses, &result),
                  first);
    expect_statuses(statuses, expected, count);
    assert_int_equal(result.to_active, active);
    assert_int_equal(result.poppable, active != 0);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(handles[i].bits != 0, expected[i] == SCHEDQ_OK);
}

static void
pop_listed(fixture_t *fixture, listed_t *pods, unsigned count)
{
    listed_t *best;
    for (unsigned i = 0; i < count && (best = best_of(pods)) != NULL; i++) {
        schedq_popped_t popped;
        assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
        assert_int_equal(popped.object, best - pods + 1);
        best->there = false;
        fx_done(fixture, &popped);
    }
}

static void
add_and_pop_listed(fixture_t *fixture)
{
    uint64_t seed = seed_of("test_batch"), number = 0;
    listed_t pods[NAMES] = {{0}};
    for (unsigned i = 0; i < TURNS; i++) {
        add_listed(fixture, pods, &seed, &number);
        pop_listed(fixture, pods, (unsigned)(seed_next(&seed) % 60));
    }
    pop_listed(fixture, pods, NAMES);
    fx_pop_nothing(fixture);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

static void
batches_do_as_single_adds_in_their_order_do(void **state)
{
    add_and_pop_listed(*state);
}

static void
batches_do_so_at_the_real_clock(void **state)
{
    fx_use_real_clock(*state);
    add_and_pop_listed(*state);
}

/* Also across priorities: updates that make them equal show it. */
static void
elements_keep_the_order_of_the_batch_across_priorities(void **state)
{
    fixture_t *fixture = *state;
    static const char *const order[] = {"ns/d", "ns/b", "ns/c", "ns/a"};
    schedq_add_item_t items[4];
    fx_use_real_clock(fixture);
    letters(items, 4);
    for (unsigned i = 0; i < 4; i++)
        items[i].spec.priority = (int32_t)i;
    assert_ok(
        schedq_add_many(fx_worker(fixture), "ns/d ns/b ns/c ns/a", 19, items, 4, NULL, NULL, NULL));
    for (unsigned i = 4; i-- > 0;) {
        items[i].spec.priority = 9;
        assert_ok(schedq_update(fx_worker(fixture), order[i], 4, &items[i].spec, 0, NULL, 0, NULL));
    }
    for (unsigned i = 0; i < 4; i++)
        fx_pop(fixture, order[i]);
}

/* ---- beside a pop ---- */

enum { ROUNDS = 300, WIDTH = 24 };

/* Element i of a round; it ranks before all with a smaller i / 2. */
static uint32_t
name_of(char name[16], unsigned round, unsigned i)
{
    return (uint32_t)snprintf(name, 16, "ns/%04u-%04u", round, i);
}

static void
add_batches(soldier_t *soldier)
{
    static char names[12 * WIDTH + 4];
    for (unsigned round = 0; round < ROUNDS; round++) {
        schedq_add_item_t items[WIDTH];
        for (unsigned i = 0; i < WIDTH; i++) {
            char name[16];
            (void)name_of(name, round, i);
            items[i] = fx_item(12 * i, (uint32_t)strlen(name), (int32_t)(i / 2));
            items[i].spec.object = round * WIDTH + i;
            memcpy(names + items[i].name_offset, name, 12);
        }
        mailbox_check(soldier->mailbox, schedq_add_many(soldier->worker, names, sizeof names, items,
                                                        WIDTH, NULL, NULL, NULL) == SCHEDQ_OK);
    }
}

/*
 * The only one who pops: what ranks before a popped pod of the same batch, and was not popped, must
 * have come.
 */
static void
pop_batches(soldier_t *soldier)
{
    static bool popped[ROUNDS * WIDTH];
    memset(popped, 0, sizeof popped);
    for (unsigned count = 0; count < ROUNDS * WIDTH;) {
        schedq_popped_t out;
        if (schedq_try_pop(soldier->worker, &out) != SCHEDQ_OK) {
            sched_yield();
            continue;
        }
        unsigned round = (unsigned)out.object / WIDTH, taken = (unsigned)out.object % WIDTH;
        for (unsigned i = (taken / 2 + 1) * 2; i < WIDTH; i++) {
            char name[16];
            uint32_t length = name_of(name, round, i);
            mailbox_check(soldier->mailbox,
                          popped[round * WIDTH + i] ||
                              schedq_find(soldier->worker, name, length, NULL) == SCHEDQ_OK);
        }
        popped[out.object] = true;
        count++;
        mailbox_check(soldier->mailbox, schedq_done(soldier->worker, out.token) == SCHEDQ_OK);
    }
}

static void
add_or_pop(soldier_t *soldier)
{
    if (soldier->number == 0)
        add_batches(soldier);
    else
        pop_batches(soldier);
}

static void
a_pop_beside_a_batch_takes_no_pod_while_a_better_one_is_to_come(void **state)
{
    fixture_t *fixture = *state;
    squad_run(fixture, 2, 0, add_or_pop, NULL);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(of_equal_names_in_a_batch_the_first_gets_in),
        fx_test(pods_of_several_priorities_are_all_popped),
        fx_test(a_name_that_is_there_stops_all_its_elements),
        fx_test(a_bad_element_does_not_take_its_name),
        fx_test(max_pods_in_the_middle_of_a_batch),
        fx_test(max_bands_in_the_middle_of_a_batch_stops_new_priorities_only),
        fx_test(without_statuses_the_rest_of_a_batch_is_added_all_the_same),
        fx_test(a_closed_queue_takes_no_element),
        fx_test(elements_without_a_key_keep_the_order_of_the_batch),
        fx_test(batches_of_many_priorities_and_keys_are_popped_in_order),
        fx_test(batches_do_as_single_adds_in_their_order_do),
        fx_test(batches_do_so_at_the_real_clock),
        fx_test(elements_keep_the_order_of_the_batch_across_priorities),
        fx_test(a_pop_beside_a_batch_takes_no_pod_while_a_better_one_is_to_come),
    };
    return fx_run_tests(argc, argv, tests);
}
