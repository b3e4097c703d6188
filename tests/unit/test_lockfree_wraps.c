/*
 * Numbers that go round: pods whose versions came far, and refs of before. A life is made long by
 * setting it back.
 */
#include <string.h>

#include "host.h"
#include "lockfree/queue.h"

/* Half of a version's range, and more than that. */
#define HALF (UINT64_C(1) << 35)

static struct entry *
entry_of(fixture_t *fixture, schedq_pod_t pod)
{
    struct queue *queue = queue_of_base(fx_queue(fixture));
    return entry_at(&queue->entries, ref_record(pod.bits));
}

/*
 * The pod is as if it had changed so often before; low bits stay, which the index knows. Returns
 * its handle.
 */
static schedq_pod_t
age(fixture_t *fixture, schedq_pod_t pod, uint64_t changes)
{
    struct entry *entry = entry_of(fixture, pod);
    uint64_t life = (u64_load(&entry->life) - changes) & STATE_VERSION_MASK;
    u64_store(&entry->life, life);
    return entry_handle(ref_record(pod.bits), life);
}

static const uint64_t ages[] = {HALF - (1 << 28), HALF, HALF + (UINT64_C(1) << 34)};
#define AGES (sizeof ages / sizeof *ages)

/* By a fixture of its own for each age. */
static void
for_each_age(void (*check)(fixture_t *fixture, schedq_pod_t pod))
{
    for (size_t i = 0; i < AGES; i++) {
        void *state = NULL;
        fx_setup_lockfree(&state);
        fixture_t *fixture = state;
        check(fixture, age(fixture, fx_add(fixture, "ns/old", 0), ages[i]));
        fx_free(fixture);
    }
}

static void
check_find(fixture_t *fixture, schedq_pod_t pod)
{
    schedq_result_t result;
    assert_ok(schedq_find(fx_worker(fixture), "ns/old", 6, &result));
    assert_true(result.pod.bits == pod.bits);
}

static void
check_add(fixture_t *fixture, schedq_pod_t pod)
{
    schedq_result_t result;
    schedq_pod_spec_t spec = fx_spec(0);
    assert_status(schedq_add(fx_worker(fixture), "ns/old", 6, &spec, &result), SCHEDQ_EXISTS);
    assert_true(result.pod.bits == pod.bits);
}

static void
check_update(fixture_t *fixture, schedq_pod_t pod)
{
    schedq_result_t result;
    schedq_pod_spec_t spec = fx_spec(3);
    assert_ok(schedq_update(fx_worker(fixture), "ns/old", 6, &spec, 0, NULL, 0, &result));
    assert_true(result.pod.bits == pod.bits);
}

static void
check_delete(fixture_t *fixture, schedq_pod_t pod)
{
    schedq_result_t result;
    assert_ok(schedq_delete_name(fx_worker(fixture), "ns/old", 6, &result));
    assert_true(result.pod.bits == pod.bits);
    assert_status(schedq_find(fx_worker(fixture), "ns/old", 6, &result), SCHEDQ_NOT_FOUND);
}

static void
an_old_pod_is_found_by_its_name(void **state)
{
    (void)state;
    for_each_age(check_find);
}

static void
an_old_pod_exists(void **state)
{
    (void)state;
    for_each_age(check_add);
}

static void
an_old_pod_is_updated_by_its_name(void **state)
{
    (void)state;
    for_each_age(check_update);
}

static void
an_old_pod_is_deleted_by_its_name(void **state)
{
    (void)state;
    for_each_age(check_delete);
}

/* What a host judged is of this life, however long ago it began. */
static void
a_decision_on_an_old_pod_that_changed_meanwhile_says_so(void **state)
{
    (void)state;
    for (size_t i = 0; i < AGES; i++) {
        void *made = NULL;
        fx_setup_lockfree(&made);
        fixture_t *fixture = made;
        fixture->config.decide = SCHEDQ_DECIDE_HOST;
        fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
        schedq_pod_t pod = age(fixture, hx_park(fixture, "ns/old", 5, fit->bit), ages[i]);
        schedq_candidate_t seen[4];
        schedq_result_t result;
        assert_int_equal(hx_collect(fixture, hx_query(fit->bit, 0), seen, 4, 2), 1);
        assert_true(seen[0].pod.bits == pod.bits);
        schedq_pod_spec_t spec = fx_spec(1);
        assert_ok(schedq_update(fx_worker(fixture), "ns/old", 6, &spec, 0, NULL, 0, &result));
        assert_status(hx_apply(fixture, seen[0].ref, SCHEDQ_ACTIVE, 0, 0, &result), SCHEDQ_CHANGED);
        assert_ok(hx_apply(fixture, result.ref, SCHEDQ_ACTIVE, 0, 0, &result));
        fx_free(fixture);
    }
}

static void
an_old_pod_in_backoff_is_a_candidate(void **state)
{
    (void)state;
    for (size_t i = 0; i < AGES; i++) {
        void *made = NULL;
        fx_setup_lockfree(&made);
        fixture_t *fixture = made;
        fixture->config.decide = SCHEDQ_DECIDE_HOST;
        fixture->config.pop_from_backoff = 0;
        fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
        hx_back_off(fixture, "ns/old", 0, fit->bit);
        (void)age(fixture, fx_find(fixture, "ns/old").pod, ages[i]);
        schedq_query_t query = hx_query(0, 0);
        schedq_candidate_t seen[4];
        query.backoff = 1;
        assert_int_equal(hx_collect(fixture, query, seen, 4, 2), 1);
        fx_free(fixture);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_old_pod_is_found_by_its_name),
        cmocka_unit_test(an_old_pod_exists),
        cmocka_unit_test(an_old_pod_is_updated_by_its_name),
        cmocka_unit_test(an_old_pod_is_deleted_by_its_name),
        cmocka_unit_test(a_decision_on_an_old_pod_that_changed_meanwhile_says_so),
        cmocka_unit_test(an_old_pod_in_backoff_is_a_candidate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
