/* Labels: calls on all pods that share one. */
#include <schedq/label.h>

#include <stdio.h>
#include <string.h>

#include "fixture.h"

enum { JOB = 77, OTHER = 78 };

static schedq_pod_t
add(fixture_t *fixture, const char *name, uint64_t label)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.label = label;
    return fx_add_spec(fixture, name, &spec).pod;
}

/* NAME0, NAME1 and so on */
static void
add_some(fixture_t *fixture, const char *name, unsigned count, uint64_t label)
{
    for (unsigned i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof text, "ns/%s%u", name, i);
        (void)add(fixture, text, label);
    }
}

static size_t
cancel(fixture_t *fixture, uint64_t label)
{
    size_t count = 99;
    assert_ok(schedq_label_cancel(fx_worker(fixture), label, NULL, 0, &count));
    return count;
}

/* schedq_label_hold, release or count: how many it tells. */
static size_t
count_by(fixture_t *fixture, schedq_status_t (*call)(schedq_worker_t *, uint64_t, size_t *),
         uint64_t label)
{
    size_t count = 99;
    assert_ok(call(fx_worker(fixture), label, &count));
    return count;
}

static size_t
members(fixture_t *fixture, uint64_t label)
{
    return count_by(fixture, schedq_label_count, label);
}

static void
a_call_reaches_all_pods_of_its_label_and_no_others(void **state)
{
    fixture_t *fixture = *state;
    assert_int_equal(members(fixture, JOB), 0);
    add_some(fixture, "job", 40, JOB);
    add_some(fixture, "other", 3, OTHER);
    fx_add(fixture, "ns/plain", 0);
    assert_int_equal(members(fixture, JOB), 40);
    assert_int_equal(members(fixture, OTHER), 3);
    assert_int_equal(members(fixture, OTHER + 1), 0);
    assert_int_equal(count_by(fixture, schedq_label_hold, JOB), 40);
    assert_int_equal(fx_stats(fixture).held, 40);
    assert_int_equal(fx_stats(fixture).active, 4);
    assert_int_equal(count_by(fixture, schedq_label_hold, JOB), 40);
    assert_int_equal(count_by(fixture, schedq_label_release, JOB), 40);
    assert_int_equal(fx_stats(fixture).active, 44);
    assert_int_equal(cancel(fixture, JOB), 40);
    assert_int_equal(fx_stats(fixture).active, 4);
    assert_int_equal(members(fixture, JOB), 0);
    assert_int_equal(cancel(fixture, JOB), 0);
    assert_int_equal(members(fixture, OTHER), 3);
}

static void
pods_are_reached_wherever_they_are(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    schedq_pod_t parked = add(fixture, "ns/parked", JOB);
    schedq_popped_t popped = fx_pop(fixture, "ns/parked");
    fx_fail(fixture, &popped, fit->bit, 0);
    add(fixture, "ns/error", JOB);
    popped = fx_pop(fixture, "ns/error");
    fx_fail(fixture, &popped, 0, 0);
    gate->refuses = true;
    schedq_pod_t gated = add(fixture, "ns/gated", JOB);
    gate->refuses = false;
    add(fixture, "ns/flies", JOB);
    schedq_popped_t flying = fx_pop(fixture, "ns/flies");
    assert_place(fx_info(fixture, parked).place, SCHEDQ_PARKED);
    assert_place(fx_info(fixture, gated).place, SCHEDQ_GATED);
    assert_true(fx_info(fixture, gated).label == JOB);
    assert_int_equal(members(fixture, JOB), 4);
    assert_int_equal(count_by(fixture, schedq_label_hold, JOB), 4);
    assert_int_equal(fx_stats(fixture).held, 3);
    fx_fail(fixture, &flying, fit->bit, 0);
    assert_int_equal(fx_stats(fixture).held, 4);
    assert_int_equal(count_by(fixture, schedq_label_release, JOB), 4);
    assert_int_equal(fx_stats(fixture).held, 0);
    assert_int_equal(cancel(fixture, JOB), 4);
}

static void
one_that_was_cancelled_in_flight_has_the_label_no_more(void **state)
{
    fixture_t *fixture = *state;
    add(fixture, "ns/a", JOB);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(cancel(fixture, JOB), 1);
    assert_int_equal(members(fixture, JOB), 0);
    assert_int_equal(cancel(fixture, JOB), 0);
    add(fixture, "ns/a", JOB);
    assert_int_equal(members(fixture, JOB), 1);
    assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_GONE);
    assert_int_equal(members(fixture, JOB), 1);
}

static void
a_label_lasts_as_long_as_the_pod(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(5);
    schedq_pod_t pod = add(fixture, "ns/a", JOB);
    spec.label = OTHER;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL));
    assert_int_equal(fx_info(fixture, pod).label, JOB);
    spec.label = 0;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL));
    assert_int_equal(fx_info(fixture, pod).label, JOB);
    assert_int_equal(members(fixture, OTHER), 0);
    assert_int_equal(members(fixture, JOB), 1);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_done(fixture, &popped);
    assert_int_equal(members(fixture, JOB), 0);
    fx_add(fixture, "ns/a", 0);
    assert_int_equal(members(fixture, JOB), 0);
}

/* The record of a pod whose add failed is the next one's. */
static void
an_add_that_fails_labels_nobody(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    fx_add(fixture, "ns/a", 0);
    spec.label = JOB;
    assert_status(schedq_add(fx_worker(fixture), "ns/a", 4, &spec, NULL), SCHEDQ_EXISTS);
    assert_int_equal(members(fixture, JOB), 0);
    for (unsigned i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "ns/b%u", i);
        fx_add(fixture, name, 0);
    }
    assert_int_equal(members(fixture, JOB), 0);
}

static void
pods_are_told_so_many_at_a_time(void **state)
{
    fixture_t *fixture = *state;
    schedq_result_t results[4];
    uint64_t sum = 0;
    size_t count = 4, calls = 0;
    for (uint64_t i = 1; i <= 10; i++) {
        char name[16];
        schedq_pod_spec_t spec = fx_spec(0);
        snprintf(name, sizeof name, "ns/b%u", (unsigned)i);
        spec.object = i;
        spec.label = JOB;
        assert_ok(schedq_add(fx_worker(fixture), name, strlen(name), &spec, NULL));
    }
    for (; count == 4; calls++) {
        assert_ok(schedq_label_cancel(fx_worker(fixture), JOB, results, 4, &count));
        for (size_t i = 0; i < count; i++)
            sum += results[i].object;
    }
    assert_int_equal(calls, 3);
    assert_int_equal(sum, 55);
}

static void
wrong_arguments_are_refused(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    size_t count = 9;
    schedq_result_t result;
    assert_status(schedq_label_cancel(worker, 0, NULL, 0, &count), SCHEDQ_INVALID);
    assert_int_equal(count, 0);
    assert_contains(schedq_worker_error(worker), "label");
    assert_status(schedq_label_cancel(worker, JOB, &result, 0, NULL), SCHEDQ_INVALID);
    assert_contains(schedq_worker_error(worker), "room");
    assert_status(schedq_label_cancel(worker, JOB, NULL, 1, NULL), SCHEDQ_INVALID);
    assert_status(schedq_label_hold(worker, 0, NULL), SCHEDQ_INVALID);
    assert_status(schedq_label_release(worker, 0, NULL), SCHEDQ_INVALID);
    assert_status(schedq_label_count(worker, JOB, NULL), SCHEDQ_INVALID);
    assert_status(schedq_label_count(NULL, JOB, &count), SCHEDQ_INVALID);
}

/* Labels that come and go leave nothing behind. */
static void
what_is_known_of_a_label_goes_with_its_pods(void **state)
{
    fixture_t *fixture = *state;
    uint64_t few = 0;
    for (uint64_t round = 0; round < 200; round++) {
        add_some(fixture, "job", 50, 1000 + round % 7);
        assert_int_equal(members(fixture, 1000 + round % 7), 50);
        assert_int_equal(cancel(fixture, 1000 + round % 7), 50);
        schedq_trim(fx_queue(fixture));
        schedq_stats_t stats = fx_stats(fixture);
        uint64_t bytes = stats.bytes_other + stats.bytes_queues;
        if (round > 10 && round <= 20 && bytes > few)
            few = bytes; /* what was taken off waits, now more, now less */
        if (round > 20)
            assert_true(bytes <= few + 4096);
    }
}

/*
 * Jobs that come one behind the other: the pods of each end before the next comes. Each pod is
 * there when somebody adds it again.
 */
static void
assert_jobs_leave_little(fixture_t *fixture, bool labelled)
{
    enum { JOBS = 400, FEW_JOBS = 100, PODS = 100, AGAIN = 3, BYTES = 80, LEFT = 8 };
    char names[PODS][16];
    schedq_pod_t pods[PODS];
    uint64_t few = 0;
    fx_use_real_clock(fixture); /* else an add looks for its name first */
    for (uint64_t job = 1; job <= JOBS; job++) {
        schedq_pod_spec_t spec = fx_spec(0);
        *(labelled ? &spec.label : &spec.group) = job;
        for (unsigned i = 0; i < PODS; i++) {
            int length = snprintf(names[i], sizeof names[i], "ns/job%u", i);
            pods[i] = fx_add_spec(fixture, names[i], &spec).pod;
            for (unsigned again = 0; again < AGAIN; again++)
                assert_status(schedq_add(fx_worker(fixture), names[i], (size_t)length, &spec, NULL),
                              SCHEDQ_EXISTS);
        }
        for (unsigned i = 0; i < PODS; i++)
            assert_ok(schedq_delete(fx_worker(fixture), pods[i], NULL));
        if (job == FEW_JOBS)
            few = fx_stats(fixture).bytes_other;
    }
    assert_true(fx_stats(fixture).bytes_other <= few + (JOBS - FEW_JOBS) * LEFT * BYTES);
}

static void
labels_that_are_used_once_leave_little_without_a_trim(void **state)
{
    assert_jobs_leave_little(*state, true);
}

static void
groups_that_are_used_once_leave_little_without_a_trim(void **state)
{
    assert_jobs_leave_little(*state, false);
}

/* One worker adds the pods, and another, which adds none, ends them. */
static void
assert_ends_keep_nothing(fixture_t *fixture, bool labelled, bool popped)
{
    enum { JOBS = 600, FEW_JOBS = 200, PODS = 100, LABELS = 16, MOST = 500000 };
    char why[128];
    schedq_pod_t pods[PODS];
    schedq_worker_t *ender;
    uint64_t few = 0;
    assert_ok(schedq_worker_register(fx_queue(fixture), &ender, why, sizeof why));
    for (uint64_t job = 0; job < JOBS; job++) {
        schedq_pod_spec_t spec = fx_spec(0);
        *(labelled ? &spec.label : &spec.group) = job % LABELS + 1;
        for (unsigned i = 0; i < PODS; i++) {
            char name[16];
            snprintf(name, sizeof name, "ns/job%u", i);
            pods[i] = fx_add_spec(fixture, name, &spec).pod;
        }
        for (unsigned i = 0; i < PODS; i++) {
            schedq_popped_t pod;
            if (popped) {
                assert_ok(schedq_try_pop(ender, &pod));
                assert_ok(schedq_done(ender, pod.token));
            } else {
                assert_ok(schedq_delete(ender, pods[i], NULL));
            }
        }
        if (job == FEW_JOBS)
            few = fx_stats(fixture).bytes_other;
    }
    assert_true(fx_stats(fixture).bytes_other <= few + MOST);
    assert_ok(schedq_worker_unregister(ender));
}

static void
a_worker_that_ends_the_labelled_pods_of_others_keeps_nothing_of_them(void **state)
{
    assert_ends_keep_nothing(*state, true, true);
}

static void
one_that_deletes_them_keeps_nothing_either(void **state)
{
    assert_ends_keep_nothing(*state, true, false);
}

static void
nor_one_that_deletes_members_of_groups(void **state)
{
    assert_ends_keep_nothing(*state, false, false);
}

static void
nor_one_that_pops_them_while_others_end_the_cycles(void **state)
{
    fixture_t *fixture = *state;
    enum { PODS = 60000, FEW_PODS = 20000, QUEUED = 100, LABEL_PODS = 100, MOST = 500000 };
    schedq_worker_t *popper, *gone;
    uint64_t few = 0;
    fx_count_objects(fixture);
    fx_worker(fixture);
    assert_ok(schedq_worker_register(fx_queue(fixture), &popper, NULL, 0));
    assert_ok(schedq_worker_register(fx_queue(fixture), &gone, NULL, 0));
    assert_ok(schedq_worker_unregister(gone));
    for (unsigned i = 0; i < PODS; i++) {
        schedq_pod_spec_t spec = fx_spec(0);
        schedq_popped_t popped;
        char name[16];
        spec.label = i / LABEL_PODS + 1;
        snprintf(name, sizeof name, "ns/pod%u", i);
        fx_add_spec(fixture, name, &spec);
        if (i >= QUEUED) {
            assert_ok(schedq_try_pop(popper, &popped));
            assert_ok(schedq_done(gone, popped.token));
        }
        if (i == FEW_PODS)
            few = fx_stats(fixture).bytes_other;
    }
    assert_true(fx_stats(fixture).bytes_other <= few + MOST);
    assert_ok(schedq_worker_unregister(popper));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(a_call_reaches_all_pods_of_its_label_and_no_others),
        fx_test(pods_are_reached_wherever_they_are),
        fx_test(one_that_was_cancelled_in_flight_has_the_label_no_more),
        fx_test(a_label_lasts_as_long_as_the_pod),
        fx_test(an_add_that_fails_labels_nobody),
        fx_test(pods_are_told_so_many_at_a_time),
        fx_test(wrong_arguments_are_refused),
        fx_test(what_is_known_of_a_label_goes_with_its_pods),
        fx_test(labels_that_are_used_once_leave_little_without_a_trim),
        fx_test(groups_that_are_used_once_leave_little_without_a_trim),
        fx_test(a_worker_that_ends_the_labelled_pods_of_others_keeps_nothing_of_them),
        fx_test(one_that_deletes_them_keeps_nothing_either),
        fx_test(nor_one_that_deletes_members_of_groups),
        fx_test(nor_one_that_pops_them_while_others_end_the_cycles),
    };
    return fx_run_tests(argc, argv, tests);
}
