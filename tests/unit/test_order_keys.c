/*
 * Order keys that come in any order, and updates that move pods to and fro: pops follow the newest
 * description.
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "seed.h"

static schedq_pod_spec_t
keyed(int32_t priority, int64_t key)
{
    schedq_pod_spec_t spec = fx_spec(priority);
    spec.flags = SCHEDQ_POD_ORDER_KEY;
    spec.order_key = key;
    return spec;
}

static void
add(fixture_t *fixture, const char *name, int32_t priority, int64_t key)
{
    schedq_pod_spec_t spec = keyed(priority, key);
    fx_add_spec(fixture, name, &spec);
}

static schedq_result_t
move(fixture_t *fixture, const char *name, int32_t priority, int64_t key)
{
    schedq_pod_spec_t spec = keyed(priority, key);
    schedq_result_t result;
    spec.flags |= SCHEDQ_POD_ADD;
    assert_ok(schedq_update(fx_worker(fixture), name, strlen(name), &spec, 0, NULL, 0, &result));
    return result;
}

/* ---- several at once ---- */

/* What no lane takes lies elsewhere, and comes in its turn. */
static void
a_call_for_many_pops_keyed_pods_among_the_others(void **state)
{
    fixture_t *fixture = *state;
    static const char *const order[] = {"ns/a", "ns/b", "ns/c", "ns/d", "ns/e"};
    schedq_popped_t popped[5];
    size_t count;
    fx_add(fixture, "ns/a", 0);
    int64_t key = fx_now(fixture);
    for (unsigned i = 2; i < 5; i += 2) {
        fx_advance(fixture, 10);
        fx_add(fixture, order[i], 0);
    }
    add(fixture, "ns/b", 0, key + 5);
    add(fixture, "ns/d", 0, key + 15);
    assert_ok(schedq_try_pop_many(fx_worker(fixture), popped, 5, &count));
    assert_int_equal(count, 5);
    for (unsigned i = 0; i < 5; i++)
        assert_string_equal(popped[i].name, order[i]);
}

/* ---- thousands ---- */

typedef int64_t (*key_fn)(unsigned i, uint64_t *seed);

static int64_t
falling(unsigned i, uint64_t *seed)
{
    (void)seed;
    return -(int64_t)i;
}

static int64_t
zigzag(unsigned i, uint64_t *seed)
{
    (void)seed;
    return i % 2 == 0 ? (int64_t)i : -(int64_t)i;
}

static int64_t
at_random(unsigned i, uint64_t *seed)
{
    (void)i;
    return (int64_t)(seed_next(seed) % 1000) - 500;
}

enum { MANY = 5000 };

static void
expect_sorted_pops(fixture_t *fixture, const int64_t *keys, unsigned count)
{
    int64_t last = INT64_MIN;
    for (unsigned i = 0; i < count; i++) {
        schedq_popped_t popped;
        assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
        assert_true(keys[popped.object] >= last);
        last = keys[popped.object];
        fx_done(fixture, &popped);
    }
}

/* Twice: the second time over what the first left behind. */
static void
check_keys(fixture_t *fixture, key_fn key)
{
    static int64_t keys[MANY];
    uint64_t seed = seed_of("test_order_keys");
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i < MANY; i++) {
            char name[16];
            snprintf(name, sizeof name, "ns/%u", i);
            schedq_pod_spec_t spec = keyed(0, keys[i] = key(i, &seed));
            spec.object = i;
            fx_add_spec(fixture, name, &spec);
        }
        expect_sorted_pops(fixture, keys, MANY);
        fx_pop_nothing(fixture);
    }
}

static void
thousands_of_falling_keys_are_popped_in_order(void **state)
{
    check_keys(*state, falling);
}

static void
thousands_of_keys_to_both_ends_are_popped_in_order(void **state)
{
    check_keys(*state, zigzag);
}

static void
thousands_of_random_keys_are_popped_in_order(void **state)
{
    check_keys(*state, at_random);
}

static void
thousands_of_pods_are_turned_round_by_updates(void **state)
{
    fixture_t *fixture = *state;
    static int64_t keys[MANY];
    char name[16];
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        add(fixture, name, 0, i);
    }
    for (int round = 0; round < 3; round++) {
        for (unsigned i = 0; i < MANY; i++) {
            snprintf(name, sizeof name, "ns/%u", i);
            keys[i] = round % 2 == 0 ? -(int64_t)i : (int64_t)((i * 7919) % MANY);
            schedq_pod_spec_t spec = keyed(0, keys[i]);
            spec.object = i;
            assert_ok(
                schedq_update(fx_worker(fixture), name, strlen(name), &spec, 0, NULL, 0, NULL));
        }
    }
    expect_sorted_pops(fixture, keys, MANY);
    fx_pop_nothing(fixture);
}

/* ---- to and fro ---- */

static void
a_pod_goes_to_another_key_and_back(void **state)
{
    fixture_t *fixture = *state;
    add(fixture, "ns/two", 0, 2);
    add(fixture, "ns/four", 0, 4);
    add(fixture, "ns/a", 0, 3);
    schedq_pod_t pod = fx_find(fixture, "ns/a").pod;
    static const int64_t keys[] = {1, 5, 3, 5, 1, INT64_MAX, INT64_MIN, 5, 3};
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_true(move(fixture, "ns/a", 0, keys[i]).pod.bits == pod.bits);
    fx_pop(fixture, "ns/two");
    fx_pop(fixture, "ns/a");
    fx_pop(fixture, "ns/four");
    fx_pop_nothing(fixture);
}

static void
a_pod_goes_to_another_priority_and_back(void **state)
{
    fixture_t *fixture = *state;
    add(fixture, "ns/low", 1, 0);
    add(fixture, "ns/high", 9, 0);
    add(fixture, "ns/a", 5, 0);
    static const int32_t priorities[] = {0, 10, 5, 10, 0, INT32_MAX, INT32_MIN, 5};
    for (unsigned i = 0; i < sizeof priorities / sizeof *priorities; i++)
        move(fixture, "ns/a", priorities[i], 0);
    fx_pop(fixture, "ns/high");
    fx_pop(fixture, "ns/a");
    fx_pop(fixture, "ns/low");
    fx_pop_nothing(fixture);
}

/* More often than any counter of moves in a narrow field can count. */
static void
a_pod_that_moves_a_thousand_times_is_popped_once(void **state)
{
    fixture_t *fixture = *state;
    add(fixture, "ns/b", 3, 500);
    add(fixture, "ns/a", 3, 0);
    for (int i = 0; i < 1000; i++) {
        move(fixture, "ns/a", i % 7, 1000 - i);
        if (i % 100 == 99) {
            const char *best = i % 7 > 3 || (i % 7 == 3 && 1000 - i < 500) ? "ns/a" : "ns/b";
            schedq_popped_t popped = fx_pop(fixture, best);
            fx_done(fixture, &popped);
            add(fixture, best, 3, 500);
        }
    }
    move(fixture, "ns/a", 4, 0);
    fx_pop(fixture, "ns/a");
    fx_pop(fixture, "ns/b");
    fx_pop_nothing(fixture);
}

static void
without_its_key_a_pod_is_ordered_by_its_timestamp_again(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/first", 0);
    fx_advance(fixture, 1);
    add(fixture, "ns/a", 0, 0);
    fx_advance(fixture, 1);
    fx_add(fixture, "ns/third", 0);
    schedq_pod_spec_t plain = fx_spec(0);
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &plain, 0, NULL, 0, NULL));
    assert_int_equal(fx_info(fixture, fx_find(fixture, "ns/a").pod).flags, 0);
    fx_pop(fixture, "ns/first");
    fx_pop(fixture, "ns/a");
    fx_pop(fixture, "ns/third");
}

static void
a_pod_that_gets_a_key_leaves_the_order_of_timestamps(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 0);
    fx_advance(fixture, 1);
    fx_add(fixture, "ns/b", 0);
    move(fixture, "ns/a", 0, INT64_MAX);
    fx_pop(fixture, "ns/b");
    fx_pop(fixture, "ns/a");
}

/* ---- updates of what is no longer active ---- */

/* In whatever call a spec is given. */
static void
a_key_without_its_flag_is_not_read(void **state)
{
    fixture_t *fixture = *state;
    const int64_t keys[] = {INT64_MAX, 0, INT64_MIN};
    const char *const names[] = {"ns/a", "ns/b", "ns/c"};
    for (size_t i = 0; i < 3; i++) {
        schedq_pod_spec_t spec = fx_spec(0);
        spec.order_key = keys[i];
        fx_add_spec(fixture, names[i], &spec);
        fx_advance(fixture, 1);
    }
    for (size_t i = 0; i < 3; i++) {
        schedq_pod_spec_t spec = fx_spec(0);
        spec.order_key = keys[2 - i];
        assert_ok(schedq_update(fx_worker(fixture), names[i], 4, &spec, 0, NULL, 0, NULL));
    }
    for (size_t i = 0; i < 3; i++) {
        schedq_popped_t popped = fx_pop(fixture, names[i]);
        fx_done(fixture, &popped);
    }
}

static void
a_move_in_flight_does_not_make_the_pod_poppable(void **state)
{
    fixture_t *fixture = *state;
    add(fixture, "ns/a", 0, 1);
    add(fixture, "ns/b", 0, 2);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    for (int32_t i = 0; i < 300; i++)
        assert_place(move(fixture, "ns/a", i, -i).place, SCHEDQ_INFLIGHT);
    assert_ok(schedq_token_alive(fx_worker(fixture), popped.token));
    fx_pop(fixture, "ns/b");
    fx_pop_nothing(fixture);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 2);
    fx_done(fixture, &popped);
    fx_pop_nothing(fixture);
}

static void
a_new_pod_of_a_moved_name_stands_where_it_was_added(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped;
    for (int round = 0; round < 50; round++) {
        add(fixture, "ns/a", 0, 1);
        move(fixture, "ns/a", 9, 1);
        if (round % 3 == 0) {
            assert_ok(schedq_delete_name(fx_worker(fixture), "ns/a", 4, NULL));
        } else {
            popped = fx_pop(fixture, "ns/a");
            assert_int_equal(popped.priority, 9);
            move(fixture, "ns/a", 10, 0);
            fx_done(fixture, &popped);
        }
        add(fixture, "ns/b", 5, 0);
        add(fixture, "ns/a", 0, 2);
        popped = fx_pop(fixture, "ns/b");
        fx_done(fixture, &popped);
        popped = fx_pop(fixture, "ns/a");
        assert_int_equal(popped.priority, 0);
        fx_done(fixture, &popped);
        fx_pop_nothing(fixture);
    }
}

static void
an_update_of_a_deleted_pod_adds_another(void **state)
{
    fixture_t *fixture = *state;
    add(fixture, "ns/a", 0, 1);
    schedq_pod_t first = fx_find(fixture, "ns/a").pod;
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ok(schedq_delete(fx_worker(fixture), first, NULL));
    schedq_result_t result = move(fixture, "ns/a", 4, 7);
    assert_int_equal(result.added, 1);
    assert_true(result.pod.bits != first.bits);
    assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_GONE);
    assert_ok(schedq_delete(fx_worker(fixture), result.pod, NULL));
    assert_int_equal(move(fixture, "ns/a", 5, 7).added, 1);
    assert_int_equal(fx_pop(fixture, "ns/a").priority, 5);
    fx_pop_nothing(fixture);
}

/* ---- without memory ---- */

/* An update that says OK is in its place, whatever allocation failed on the way. */
static void
a_move_that_lacks_memory_is_refused_or_done_whole(void **state)
{
    (void)state;
    bool happened = true;
    for (int64_t site = 0; happened; site++) {
        fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
        add(fixture, "ns/one", 0, 1);
        add(fixture, "ns/three", 0, 3);
        add(fixture, "ns/a", 0, 5);
        account_fail_after(&fixture->memory, site);
        schedq_pod_spec_t spec = keyed(0, 2);
        schedq_status_t status =
            schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL);
        happened = account_heal(&fixture->memory);
        assert_true(status == SCHEDQ_OK || (happened && status == SCHEDQ_NOMEM));
        fx_pop(fixture, "ns/one");
        if (status == SCHEDQ_OK)
            fx_pop(fixture, "ns/a");
        fx_pop(fixture, "ns/three");
        if (status != SCHEDQ_OK)
            fx_pop(fixture, "ns/a");
        fx_pop_nothing(fixture);
        fx_free(fixture);
    }
}

static void
an_add_that_lacks_memory_is_refused_or_stands_in_its_place(void **state)
{
    (void)state;
    bool happened = true;
    for (int64_t site = 0; happened; site++) {
        fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
        add(fixture, "ns/one", 0, 1);
        add(fixture, "ns/three", 0, 3);
        account_fail_after(&fixture->memory, site);
        schedq_pod_spec_t spec = keyed(0, 2);
        schedq_status_t status = schedq_add(fx_worker(fixture), "ns/a", 4, &spec, NULL);
        happened = account_heal(&fixture->memory);
        assert_true(status == SCHEDQ_OK || (happened && status == SCHEDQ_NOMEM));
        fx_pop(fixture, "ns/one");
        if (status == SCHEDQ_OK)
            fx_pop(fixture, "ns/a");
        fx_pop(fixture, "ns/three");
        fx_pop_nothing(fixture);
        fx_free(fixture);
    }
}

/* ---- against a model ---- */

#define MODEL_PODS 300

typedef struct model_pod {
    int32_t priority;
    int64_t key;
    schedq_place_t place;
    bool deleted; /* in flight: another pod may have its name */
    schedq_token_t token;
} model_pod_t;

/* No active pod ranks before this one. */
static void
expect_best(const model_pod_t *pods, uint64_t popped)
{
    const model_pod_t *best = &pods[popped];
    assert_place(best->place, SCHEDQ_ACTIVE);
    for (int i = 0; i < MODEL_PODS; i++) {
        if (pods[i].place == SCHEDQ_ACTIVE) {
            assert_false(pods[i].priority > best->priority);
            assert_false(pods[i].priority == best->priority && pods[i].key < best->key);
        }
    }
}

static void
pop_in_model(fixture_t *fixture, model_pod_t *pods)
{
    schedq_popped_t popped;
    if (schedq_try_pop(fx_worker(fixture), &popped) != SCHEDQ_OK) {
        for (int i = 0; i < MODEL_PODS; i++)
            assert_true(pods[i].place != SCHEDQ_ACTIVE);
        return;
    }
    expect_best(pods, popped.object);
    pods[popped.object].place = SCHEDQ_INFLIGHT;
    pods[popped.object].token = popped.token;
    pods[popped.object].deleted = false;
}

static void
end_in_model(fixture_t *fixture, model_pod_t *pod)
{
    if (pod->place != SCHEDQ_INFLIGHT)
        return;
    assert_status(schedq_done(fx_worker(fixture), pod->token),
                  pod->deleted ? SCHEDQ_GONE : SCHEDQ_OK);
    assert_status(schedq_done(fx_worker(fixture), pod->token), SCHEDQ_STALE);
    pod->place = SCHEDQ_NOWHERE;
}

static void
describe_in_model(fixture_t *fixture, model_pod_t *pod, const schedq_pod_spec_t *spec,
                  const char *name)
{
    schedq_result_t result;
    schedq_pod_spec_t adding = *spec;
    adding.flags |= SCHEDQ_POD_ADD;
    if (pod->place == SCHEDQ_INFLIGHT && pod->deleted)
        return;
    assert_ok(schedq_update(fx_worker(fixture), name, strlen(name), &adding, 0, NULL, 0, &result));
    assert_int_equal(result.added, pod->place == SCHEDQ_NOWHERE);
    if (pod->place == SCHEDQ_NOWHERE)
        pod->place = SCHEDQ_ACTIVE;
    assert_place(result.place, pod->place);
    pod->priority = spec->priority;
    pod->key = spec->order_key;
}

static void
delete_in_model(fixture_t *fixture, model_pod_t *pod, const char *name)
{
    bool there = pod->place == SCHEDQ_ACTIVE || (pod->place == SCHEDQ_INFLIGHT && !pod->deleted);
    assert_status(schedq_delete_name(fx_worker(fixture), name, strlen(name), NULL),
                  there ? SCHEDQ_OK : SCHEDQ_NOT_FOUND);
    if (pod->place == SCHEDQ_ACTIVE)
        pod->place = SCHEDQ_NOWHERE;
    else
        pod->deleted = true;
}

static void
random_moves_pop_what_a_plain_model_pops(void **state)
{
    fixture_t *fixture = *state;
    uint64_t seed = seed_of("test_order_keys");
    static model_pod_t pods[MODEL_PODS];
    memset(pods, 0, sizeof pods);
    for (int step = 0; step < 30000; step++) {
        unsigned i = (unsigned)(seed_next(&seed) % MODEL_PODS);
        char name[16];
        snprintf(name, sizeof name, "ns/%u", i);
        schedq_pod_spec_t spec =
            keyed((int32_t)(seed_next(&seed) % 5) - 2, (int64_t)(seed_next(&seed) % 200) - 100);
        spec.object = i;
        switch (seed_next(&seed) % 8) {
        case 0:
            delete_in_model(fixture, &pods[i], name);
            break;
        case 1:
        case 2:
            pop_in_model(fixture, pods);
            break;
        case 3:
            end_in_model(fixture, &pods[i]);
            break;
        default:
            describe_in_model(fixture, &pods[i], &spec, name);
        }
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(a_call_for_many_pops_keyed_pods_among_the_others),
        fx_test(thousands_of_falling_keys_are_popped_in_order),
        fx_test(thousands_of_keys_to_both_ends_are_popped_in_order),
        fx_test(thousands_of_random_keys_are_popped_in_order),
        fx_test(thousands_of_pods_are_turned_round_by_updates),
        fx_test(a_pod_goes_to_another_key_and_back),
        fx_test(a_pod_goes_to_another_priority_and_back),
        fx_test(a_pod_that_moves_a_thousand_times_is_popped_once),
        fx_test(without_its_key_a_pod_is_ordered_by_its_timestamp_again),
        fx_test(a_pod_that_gets_a_key_leaves_the_order_of_timestamps),
        fx_test(a_key_without_its_flag_is_not_read),
        fx_test(a_move_in_flight_does_not_make_the_pod_poppable),
        fx_test(a_new_pod_of_a_moved_name_stands_where_it_was_added),
        fx_test(an_update_of_a_deleted_pod_adds_another),
        cmocka_unit_test(a_move_that_lacks_memory_is_refused_or_done_whole),
        cmocka_unit_test(an_add_that_lacks_memory_is_refused_or_stands_in_its_place),
        fx_test(random_moves_pop_what_a_plain_model_pops),
    };
    return fx_run_tests(argc, argv, tests);
}
