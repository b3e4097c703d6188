/*
 * The bare queue of bench/common. A yardstick that loses pods or mixes up their order measures
 * nothing.
 *
 * test_bench_bare SEED repeats the random test with that seed.
 */
#include "bare.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static uint64_t seed;

static int64_t
clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Pods of one clock reading have no order between them: each add gets a reading of its own. */
static bare_status_t
add(bare_t *queue, const char *name, int32_t priority, uint64_t object)
{
    int64_t before = clock_ns();
    while (clock_ns() == before) {
    }
    return bare_add(queue, name, (uint32_t)strlen(name), priority, object);
}

static bare_status_t
update(bare_t *queue, const char *name, int32_t priority, uint64_t object)
{
    return bare_update(queue, name, (uint32_t)strlen(name), priority, object);
}

static bare_status_t
delete_pod(bare_t *queue, const char *name)
{
    return bare_delete(queue, name, (uint32_t)strlen(name));
}

/* Pops a pod and ends it. */
static void
expect_pop(bare_t *queue, const char *name, int32_t priority, uint64_t object)
{
    bare_popped_t popped;
    assert_int_equal(bare_try_pop(queue, &popped), BARE_OK);
    assert_string_equal(popped.name, name);
    assert_int_equal(popped.name_length, strlen(name));
    assert_int_equal(popped.priority, priority);
    assert_int_equal(popped.object, object);
    bare_done(queue, popped.pod);
}

static void
expect_empty(bare_t *queue)
{
    bare_popped_t popped;
    assert_int_equal(bare_try_pop(queue, &popped), BARE_EMPTY);
}

static int
make(void **state)
{
    *state = bare_new(8);
    return *state == NULL;
}

static int
unmake(void **state)
{
    bare_free(*state);
    return 0;
}

static void
an_empty_queue_pops_nothing(void **state)
{
    expect_empty(*state);
}

static void
higher_priorities_leave_first_over_the_whole_range(void **state)
{
    assert_int_equal(add(*state, "n/zero", 0, 1), BARE_OK);
    assert_int_equal(add(*state, "n/lowest", INT32_MIN, 2), BARE_OK);
    assert_int_equal(add(*state, "n/highest", INT32_MAX, 3), BARE_OK);
    assert_int_equal(add(*state, "n/minus", -1, 4), BARE_OK);
    assert_int_equal(add(*state, "n/one", 1, 5), BARE_OK);
    expect_pop(*state, "n/highest", INT32_MAX, 3);
    expect_pop(*state, "n/one", 1, 5);
    expect_pop(*state, "n/zero", 0, 1);
    expect_pop(*state, "n/minus", -1, 4);
    expect_pop(*state, "n/lowest", INT32_MIN, 2);
    expect_empty(*state);
}

static void
equal_priorities_leave_in_the_order_of_arrival(void **state)
{
    assert_int_equal(add(*state, "n/c", 7, 1), BARE_OK);
    assert_int_equal(add(*state, "n/a", 7, 2), BARE_OK);
    assert_int_equal(add(*state, "n/b", 7, 3), BARE_OK);
    expect_pop(*state, "n/c", 7, 1);
    expect_pop(*state, "n/a", 7, 2);
    expect_pop(*state, "n/b", 7, 3);
}

static void
a_name_is_copied(void **state)
{
    char name[] = "n/original";
    assert_int_equal(add(*state, name, 0, 1), BARE_OK);
    memset(name, 'x', strlen(name));
    expect_pop(*state, "n/original", 0, 1);
}

static void
a_name_is_taken_until_done(void **state)
{
    bare_popped_t popped;

    assert_int_equal(add(*state, "n/pod", 0, 1), BARE_OK);
    assert_int_equal(add(*state, "n/pod", 0, 2), BARE_EXISTS);
    assert_int_equal(bare_try_pop(*state, &popped), BARE_OK);
    assert_int_equal(add(*state, "n/pod", 0, 2), BARE_EXISTS);
    bare_done(*state, popped.pod);
    assert_int_equal(add(*state, "n/pod", 0, 2), BARE_OK);
    expect_pop(*state, "n/pod", 0, 2);
}

static void
names_of_1_to_63_bytes_are_accepted(void **state)
{
    char name[65];
    memset(name, 'a', sizeof name);

    assert_int_equal(bare_add(*state, name, 0, 0, 1), BARE_BAD_NAME);
    assert_int_equal(bare_add(*state, name, 64, 0, 1), BARE_BAD_NAME);
    assert_int_equal(bare_update(*state, name, 64, 0, 1), BARE_BAD_NAME);
    assert_int_equal(bare_delete(*state, name, 0), BARE_BAD_NAME);
    expect_empty(*state);
    for (uint32_t length = 1; length <= 63; length++) {
        assert_int_equal(bare_add(*state, name, length, 0, length), BARE_OK);
        bare_popped_t popped;
        assert_int_equal(bare_try_pop(*state, &popped), BARE_OK);
        assert_int_equal(strlen(popped.name), length);
        bare_done(*state, popped.pod);
    }
}

static void
names_that_differ_in_any_byte_are_different(void **state)
{
    char name[24];
    (void)state;
    bare_t *queue = bare_new(100);
    assert_non_null(queue);

    for (unsigned i = 0; i < 23; i++) {
        memset(name, 'a', sizeof name);
        name[i] = 'b';
        assert_int_equal(bare_add(queue, name, 23, 0, i), BARE_OK);
    }
    bare_free(queue);
}

/* Among 400,000 names some two dozen pairs have the same 32-bit hash. */
static void
names_of_equal_hash_are_different(void **state)
{
    enum { NAMES = 400000 };
    char name[32];
    (void)state;
    bare_t *queue = bare_new(NAMES);
    assert_non_null(queue);

    for (unsigned i = 0; i < NAMES; i++) {
        int length = snprintf(name, sizeof name, "n/%06u", i);
        assert_int_equal(bare_add(queue, name, (uint32_t)length, 0, i), BARE_OK);
    }
    for (unsigned i = 0; i < NAMES; i++) {
        int length = snprintf(name, sizeof name, "n/%06u", i);
        assert_int_equal(bare_delete(queue, name, (uint32_t)length), BARE_OK);
    }
    expect_empty(queue);
    bare_free(queue);
}

static void
a_full_queue_refuses_and_counts_pods_in_flight(void **state)
{
    char name[16];
    bare_popped_t popped;

    for (unsigned i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "n/%u", i);
        assert_int_equal(add(*state, name, 0, i), BARE_OK);
    }
    assert_int_equal(add(*state, "n/more", 0, 9), BARE_FULL);
    assert_int_equal(bare_try_pop(*state, &popped), BARE_OK);
    assert_int_equal(add(*state, "n/more", 0, 9), BARE_FULL);
    bare_done(*state, popped.pod);
    assert_int_equal(add(*state, "n/more", 0, 9), BARE_OK);
}

static void
an_update_changes_priority_and_object_and_keeps_the_arrival(void **state)
{
    assert_int_equal(add(*state, "n/a", 5, 1), BARE_OK);
    assert_int_equal(add(*state, "n/b", 5, 2), BARE_OK);
    assert_int_equal(add(*state, "n/c", 9, 3), BARE_OK);
    assert_int_equal(update(*state, "n/c", 5, 30), BARE_OK);
    assert_int_equal(update(*state, "n/b", 6, 20), BARE_OK);
    assert_int_equal(update(*state, "n/b", 5, 21), BARE_OK);
    expect_pop(*state, "n/a", 5, 1);
    expect_pop(*state, "n/b", 5, 21);
    expect_pop(*state, "n/c", 5, 30);
}

static void
a_deleted_pod_is_gone_and_its_name_free(void **state)
{
    assert_int_equal(add(*state, "n/a", 1, 1), BARE_OK);
    assert_int_equal(add(*state, "n/b", 2, 2), BARE_OK);
    assert_int_equal(delete_pod(*state, "n/b"), BARE_OK);
    assert_int_equal(delete_pod(*state, "n/b"), BARE_NOT_FOUND);
    assert_int_equal(add(*state, "n/b", 0, 3), BARE_OK);
    expect_pop(*state, "n/a", 1, 1);
    expect_pop(*state, "n/b", 0, 3);
}

static void
update_and_delete_find_only_pending_pods(void **state)
{
    bare_popped_t popped;

    assert_int_equal(update(*state, "n/a", 1, 1), BARE_NOT_FOUND);
    assert_int_equal(add(*state, "n/a", 1, 1), BARE_OK);
    assert_int_equal(bare_try_pop(*state, &popped), BARE_OK);
    assert_int_equal(update(*state, "n/a", 1, 1), BARE_NOT_FOUND);
    assert_int_equal(delete_pod(*state, "n/a"), BARE_NOT_FOUND);
    bare_done(*state, popped.pod);
    expect_empty(*state);
}

static void
capacities_out_of_range_give_no_queue(void **state)
{
    (void)state;
    assert_null(bare_new(0));
    assert_null(bare_new((UINT32_C(1) << 30) + 1));
    bare_free(NULL);
}

/* ---- against a model ------------------------------------------------------------------------- */

enum {
    PODS = 300, /* names; more than the capacity */
    CAPACITY = 200,
    STEPS = 200000,
};

typedef enum place { AWAY, PENDING, FLYING } place_t;

typedef struct model_pod {
    place_t place;
    int32_t priority;
    uint64_t object;
    uint64_t arrival;
    bare_pod_t pod; /* in flight */
} model_pod_t;

typedef struct model {
    model_pod_t pods[PODS];
    unsigned count; /* pending and in flight */
    uint64_t arrivals;
    uint64_t random;
} model_t;

static uint64_t
random_next(uint64_t *state)
{
    uint64_t value = *state += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

static void
name_of(unsigned number, char *name, size_t size)
{
    /* Lengths differ, so that names lie on both sides of the hash function's short case. */
    snprintf(name, size, number % 2 ? "n/%u" : "a-long-namespace/pod-%u", number);
}

static void
model_add(model_t *model, bare_t *queue, unsigned number)
{
    model_pod_t *pod = &model->pods[number];
    int32_t priority = (int32_t)(random_next(&model->random) % 7) - 3;
    char name[64];
    name_of(number, name, sizeof name);

    bare_status_t status = add(queue, name, priority, model->arrivals);
    if (pod->place != AWAY) {
        assert_int_equal(status, BARE_EXISTS);
    } else if (model->count == CAPACITY) {
        assert_int_equal(status, BARE_FULL);
    } else {
        assert_int_equal(status, BARE_OK);
        *pod = (model_pod_t){PENDING, priority, model->arrivals, model->arrivals, 0};
        model->arrivals++;
        model->count++;
    }
}

static model_pod_t *
model_best(model_t *model)
{
    model_pod_t *best = NULL;

    for (unsigned i = 0; i < PODS; i++) {
        model_pod_t *pod = &model->pods[i];
        if (pod->place != PENDING) {
            continue;
        }
        if (best == NULL || pod->priority > best->priority ||
            (pod->priority == best->priority && pod->arrival < best->arrival)) {
            best = pod;
        }
    }
    return best;
}

static void
model_pop(model_t *model, bare_t *queue)
{
    bare_popped_t popped;
    char name[64];
    model_pod_t *best = model_best(model);

    bare_status_t status = bare_try_pop(queue, &popped);
    if (best == NULL) {
        assert_int_equal(status, BARE_EMPTY);
        return;
    }
    assert_int_equal(status, BARE_OK);
    name_of((unsigned)(best - model->pods), name, sizeof name);
    assert_string_equal(popped.name, name);
    assert_int_equal(popped.priority, best->priority);
    assert_int_equal(popped.object, best->object);
    best->place = FLYING;
    best->pod = popped.pod;
}

static void
model_change(model_t *model, bare_t *queue, unsigned number, bool update_it)
{
    model_pod_t *pod = &model->pods[number];
    bare_status_t expected = pod->place == PENDING ? BARE_OK : BARE_NOT_FOUND;
    int32_t priority = (int32_t)(random_next(&model->random) % 7) - 3;
    char name[64];
    name_of(number, name, sizeof name);

    if (update_it) {
        assert_int_equal(update(queue, name, priority, 1000000 + number), expected);
        if (expected == BARE_OK) {
            pod->priority = priority;
            pod->object = 1000000 + number;
        }
    } else {
        assert_int_equal(delete_pod(queue, name), expected);
        if (expected == BARE_OK) {
            pod->place = AWAY;
            model->count--;
        }
    }
}

static void
model_done(model_t *model, bare_t *queue, unsigned number)
{
    model_pod_t *pod = &model->pods[number];

    if (pod->place == FLYING) {
        bare_done(queue, pod->pod);
        pod->place = AWAY;
        model->count--;
    }
}

static void
random_operations_agree_with_a_model(void **state)
{
    static model_t model;
    (void)state;
    bare_t *queue = bare_new(CAPACITY);
    assert_non_null(queue);

    print_message("seed %llu; repeat with: test_bench_bare %llu\n", (unsigned long long)seed,
                  (unsigned long long)seed);
    memset(&model, 0, sizeof model);
    model.random = seed;
    for (unsigned i = 0; i < STEPS; i++) {
        uint64_t draw = random_next(&model.random);
        unsigned number = (unsigned)(draw >> 8) % PODS;
        /* Adds prevail for a while, then removals do: the queue runs full and empty in turns. */
        unsigned adds = i / 5000 % 2 == 0 ? 140 : 60;
        if (draw % 256 < adds) {
            model_add(&model, queue, number);
        } else if (draw % 256 < 190) {
            model_pop(&model, queue);
        } else if (draw % 256 < 210) {
            model_change(&model, queue, number, true);
        } else if (draw % 256 < 225) {
            model_change(&model, queue, number, false);
        }
        model_done(&model, queue, (unsigned)(draw >> 40) % PODS);
        model_done(&model, queue, (unsigned)(draw >> 24) % PODS);
    }
    bare_free(queue);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum {
    PRODUCERS = 2,
    CONSUMERS = 2,
    PODS_EACH = 20000,
};

typedef struct party {
    bare_t *queue;
    unsigned number;
    uint64_t objects; /* sum of what it added or popped */
    bool failed;
} party_t;

static void *
produce(void *ctx)
{
    party_t *party = ctx;
    char name[32];

    for (unsigned i = 0; i < PODS_EACH; i++) {
        uint64_t object = (uint64_t)party->number * PODS_EACH + i;
        int length = snprintf(name, sizeof name, "n/%llu", (unsigned long long)object);
        /* The queue is smaller than what is added: FULL is waited out. */
        bare_status_t status;
        while ((status = bare_add(party->queue, name, (uint32_t)length, 0, object)) == BARE_FULL) {
        }
        party->failed |= status != BARE_OK;
        party->objects += object;
    }
    return NULL;
}

static void *
consume(void *ctx)
{
    party_t *party = ctx;
    char name[32];

    for (unsigned i = 0; i < PRODUCERS * PODS_EACH / CONSUMERS; i++) {
        bare_popped_t popped;
        bare_pop(party->queue, &popped);
        snprintf(name, sizeof name, "n/%llu", (unsigned long long)popped.object);
        party->failed |= strcmp(name, popped.name) != 0;
        party->objects += popped.object;
        bare_done(party->queue, popped.pod);
    }
    return NULL;
}

static void
every_pod_that_threads_add_is_popped_once_by_threads_that_wait(void **state)
{
    pthread_t threads[PRODUCERS + CONSUMERS];
    party_t parties[PRODUCERS + CONSUMERS] = {0};
    uint64_t added = 0;
    uint64_t popped = 0;
    (void)state;
    bare_t *queue = bare_new(64);
    assert_non_null(queue);

    for (unsigned i = 0; i < PRODUCERS + CONSUMERS; i++) {
        parties[i] = (party_t){.queue = queue, .number = i};
        assert_int_equal(
            pthread_create(&threads[i], NULL, i < PRODUCERS ? produce : consume, &parties[i]), 0);
    }
    for (unsigned i = 0; i < PRODUCERS + CONSUMERS; i++) {
        pthread_join(threads[i], NULL);
        assert_false(parties[i].failed);
        *(i < PRODUCERS ? &added : &popped) += parties[i].objects;
    }
    assert_true(added == popped);
    expect_empty(queue);
    bare_free(queue);
}

#define bare_test(function) cmocka_unit_test_setup_teardown(function, make, unmake)

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        bare_test(an_empty_queue_pops_nothing),
        bare_test(higher_priorities_leave_first_over_the_whole_range),
        bare_test(equal_priorities_leave_in_the_order_of_arrival),
        bare_test(a_name_is_copied),
        bare_test(a_name_is_taken_until_done),
        bare_test(names_of_1_to_63_bytes_are_accepted),
        cmocka_unit_test(names_that_differ_in_any_byte_are_different),
        cmocka_unit_test(names_of_equal_hash_are_different),
        bare_test(a_full_queue_refuses_and_counts_pods_in_flight),
        bare_test(an_update_changes_priority_and_object_and_keeps_the_arrival),
        bare_test(a_deleted_pod_is_gone_and_its_name_free),
        bare_test(update_and_delete_find_only_pending_pods),
        cmocka_unit_test(capacities_out_of_range_give_no_queue),
        cmocka_unit_test(random_operations_agree_with_a_model),
        cmocka_unit_test(every_pod_that_threads_add_is_popped_once_by_threads_that_wait),
    };

    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (uint64_t)clock_ns();
    return cmocka_run_group_tests_name("bare", tests, NULL, NULL);
}
