/*
 * Groups: the allocator fails at every site in turn. NOMEM changes nothing, a token stays good, and
 * the call may be made again.
 */
#include <stdio.h>

#include "gang.h"

enum { MEMBERS = 20 }; /* more than are read without memory of its own */

typedef struct trial {
    fixture_t *fixture;
    fx_plugin_t *fit, *gate;
    schedq_pod_t pods[MEMBERS];
} trial_t;

/* What a failed call must leave as it was. */
typedef struct digest {
    schedq_stats_t stats;
    schedq_group_info_t group;
    uint64_t place, flights;
} digest_t;

static digest_t
digest_of(const trial_t *trial)
{
    digest_t digest;
    memset(&digest, 0, sizeof digest);
    digest.stats = fx_stats(trial->fixture);
    digest.stats.bytes_entries = digest.stats.bytes_names = digest.stats.bytes_index = 0;
    digest.stats.bytes_queues = digest.stats.bytes_other = digest.stats.membarriers = 0;
    digest.stats.groups_known = 0; /* a call that failed may have made room for groups */
    /* may run for a decision that is discarded */
    digest.stats.hint_calls = digest.stats.pre_enqueue_calls = 0;
    digest.group.struct_size = sizeof digest.group;
    digest.place = schedq_group_get(fx_worker(trial->fixture), GANG, &digest.group);
    for (size_t i = 0; i < MEMBERS; i++)
        if (trial->pods[i].bits != 0)
            digest.flights += fx_info(trial->fixture, trial->pods[i]).place * (i + 1);
    return digest;
}

typedef void (*prepare_fn)(trial_t *trial);
typedef schedq_status_t (*operation_fn)(trial_t *trial);

static void
fail_each_site(const char *name, prepare_fn prepare, operation_fn operation)
{
    unsigned sites = 0;
    for (int64_t site = 0;; site++) {
        trial_t trial = {.fixture = fx_new(SCHEDQ_PRESET_DEFAULT)};
        fixture_t *fixture = trial.fixture;
        trial.fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
        trial.gate = fx_gate(fixture, "Gate", NULL, 0);
        fx_worker(fixture);
        prepare(&trial);
        const digest_t before = digest_of(&trial);
        account_fail_after(&fixture->memory, site);
        schedq_status_t status = operation(&trial);
        bool happened = account_heal(&fixture->memory);
        if (status != SCHEDQ_OK) {
            assert_true(happened);
            assert_status(status, SCHEDQ_NOMEM);
            const digest_t after = digest_of(&trial);
            assert_memory_equal(&before.stats, &after.stats, sizeof before.stats);
            assert_memory_equal(&before.group, &after.group, sizeof before.group);
            assert_true(before.place == after.place && before.flights == after.flights);
            assert_ok(operation(&trial));
            sites++;
        }
        fx_free(fixture);
        if (!happened)
            break;
    }
    print_message("%s: %u sites\n", name, sites);
}

/* ---- what there is before -------------------------------------------------------------------- */

static void
nothing(trial_t *trial)
{
    (void)trial;
}

static void
members_without_a_group(trial_t *trial)
{
    char name[] = "ns/a";
    for (size_t i = 0; i < MEMBERS; i++, name[3]++)
        trial->pods[i] = join(trial->fixture, name, GANG).pod;
}

static void
a_group(trial_t *trial)
{
    declare(trial->fixture, GANG, 0, 1, 0);
}

static void
a_group_with_members(trial_t *trial)
{
    a_group(trial);
    members_without_a_group(trial);
}

static void
a_gated_group(trial_t *trial)
{
    trial->gate->refuses = true;
    a_group_with_members(trial);
    trial->gate->refuses = false;
}

static void
a_cycle(trial_t *trial)
{
    a_group_with_members(trial);
    assert_ok(try_pop(trial->fixture));
    assert_int_equal(taken_count, MEMBERS);
}

static void
a_cycle_whose_members_failed(trial_t *trial)
{
    a_cycle(trial);
    fail_all(trial->fixture, trial->fit->bit);
}

static void
a_cycle_that_failed_and_an_event(trial_t *trial)
{
    a_cycle_whose_members_failed(trial);
    fx_move(trial->fixture, SCHEDQ_EVENT_NODE_ADD);
}

static void
a_cycle_behind_whose_pop_the_gates_closed(trial_t *trial)
{
    a_cycle_whose_members_failed(trial);
    trial->gate->refuses = true;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static schedq_status_t
do_declare(trial_t *trial)
{
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    spec.quorum = 1;
    return schedq_group_add(fx_worker(trial->fixture), GANG, &spec, NULL);
}

static schedq_status_t
do_update(trial_t *trial)
{
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    spec.quorum = 1;
    spec.priority = 9;
    spec.object = GANG * 100;
    return schedq_group_update(fx_worker(trial->fixture), GANG, &spec, NULL);
}

/* OK says that it was done. */
static schedq_status_t
expect_active(trial_t *trial, schedq_status_t status)
{
    if (status == SCHEDQ_OK)
        assert_place(look(trial->fixture, GANG).place, SCHEDQ_ACTIVE);
    return status;
}

static schedq_status_t
do_activate(trial_t *trial)
{
    return expect_active(trial, schedq_group_activate(fx_worker(trial->fixture), GANG, NULL));
}

static schedq_status_t
do_activate_member(trial_t *trial)
{
    return expect_active(trial,
                         schedq_activate(fx_worker(trial->fixture), &trial->pods[3], 1, NULL));
}

static schedq_status_t
do_join(trial_t *trial)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.group = GANG;
    return schedq_add(fx_worker(trial->fixture), "ns/new", 6, &spec, NULL);
}

static schedq_status_t
do_pop(trial_t *trial)
{
    return try_pop(trial->fixture);
}

static schedq_status_t
do_fail(trial_t *trial)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.unschedulable = trial->fit->bit;
    return schedq_fail(fx_worker(trial->fixture), &taken[0].token, &failure, NULL);
}

static schedq_status_t
end_by(trial_t *trial, schedq_group_outcome_t outcome)
{
    schedq_group_end_t how = SCHEDQ_GROUP_END_INIT;
    how.outcome = (uint8_t)outcome;
    schedq_status_t status = schedq_group_done(fx_worker(trial->fixture), &group.token, &how, NULL);
    if (status == SCHEDQ_OK) {
        schedq_token_t used = group.token;
        assert_status(schedq_group_done(fx_worker(trial->fixture), &used, &how, NULL),
                      SCHEDQ_STALE);
    }
    return status;
}

static schedq_status_t
do_place(trial_t *trial)
{
    return end_by(trial, SCHEDQ_GROUP_PLACED);
}

static schedq_status_t
do_reject(trial_t *trial)
{
    return end_by(trial, SCHEDQ_GROUP_REJECTED);
}

static schedq_status_t
do_break(trial_t *trial)
{
    return end_by(trial, SCHEDQ_GROUP_ERROR);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void
a_call_that_finds_no_memory_changes_nothing(void **unused)
{
    (void)unused;
    fail_each_site("group_add", nothing, do_declare);
    fail_each_site("group_add, members wait", members_without_a_group, do_declare);
    fail_each_site("group_update", a_group_with_members, do_update);
    fail_each_site("group_activate, gated", a_gated_group, do_activate);
    fail_each_site("activate, of a member", a_gated_group, do_activate_member);
    fail_each_site("add, of a member", a_group, do_join);
    fail_each_site("add, of another", a_group_with_members, do_join);
    fail_each_site("add, to a gated group", a_gated_group, do_join);
    fail_each_site("fail, of a member", a_cycle, do_fail);
    fail_each_site("try_pop_group", a_group_with_members, do_pop);
}

static void
a_cycle_whose_end_finds_no_memory_goes_on(void **unused)
{
    (void)unused;
    fail_each_site("group_done, placed", a_cycle_whose_members_failed, do_place);
    fail_each_site("group_done, rejected", a_cycle_whose_members_failed, do_reject);
    fail_each_site("group_done, error", a_cycle_whose_members_failed, do_break);
    fail_each_site("group_done, no members", a_cycle, do_place);
    fail_each_site("group_done, an event", a_cycle_that_failed_and_an_event, do_reject);
    fail_each_site("group_done, gated", a_cycle_behind_whose_pop_the_gates_closed, do_place);
}

/* All of the call's allocations fail: what it could not do is done by the next tick. */
static void
a_record_whose_refused_member_leaves_without_memory_is_let_in_by_a_tick(void **unused)
{
    (void)unused;
    for (unsigned holds = 0; holds < 2; holds++) {
        trial_t trial = {.fixture = fx_new(SCHEDQ_PRESET_DEFAULT)};
        fixture_t *fixture = trial.fixture;
        trial.gate = fx_gate(fixture, "Gate", NULL, 0);
        a_group(&trial);
        trial.gate->refuses = true;
        schedq_pod_t refused = join(fixture, "ns/a", GANG).pod;
        trial.gate->refuses = false;
        join(fixture, "ns/b", GANG);
        assert_place(look(fixture, GANG).place, SCHEDQ_GATED);
        atomic_store(&fixture->memory.fail_all, true);
        assert_ok(holds ? schedq_hold(fx_worker(fixture), refused, NULL)
                        : schedq_delete(fx_worker(fixture), refused, NULL));
        account_heal(&fixture->memory);
        fx_tick(fixture);
        assert_place(look(fixture, GANG).place, SCHEDQ_ACTIVE);
        fx_free(fixture);
    }
}

/* A cycle that was activated does not end in a parked record. */
static void
an_activation_in_the_cycle_is_noted_or_answers_no_memory(void **unused)
{
    bool happened = true;
    (void)unused;
    for (int64_t site = 0; happened; site++) {
        trial_t trial = {.fixture = fx_new(SCHEDQ_PRESET_DEFAULT)};
        fixture_t *fixture = trial.fixture;
        trial.fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
        a_cycle_whose_members_failed(&trial);
        account_fail_after(&fixture->memory, site);
        schedq_status_t status = schedq_group_activate(fx_worker(fixture), GANG, NULL);
        happened = account_heal(&fixture->memory);
        assert_true(status == SCHEDQ_OK || (happened && status == SCHEDQ_NOMEM));
        if (status == SCHEDQ_NOMEM)
            assert_ok(schedq_group_activate(fx_worker(fixture), GANG, NULL));
        assert_place(end(fixture, SCHEDQ_GROUP_REJECTED).place, SCHEDQ_ERROR_BACKOFF);
        fx_free(fixture);
    }
}

/* Its members could not be read when it was declared; then some leave. */
static void
a_group_without_a_root_tells_how_many_wait(void **unused)
{
    bool happened = true;
    (void)unused;
    for (int64_t site = 0; happened; site++) {
        trial_t trial = {.fixture = fx_new(SCHEDQ_PRESET_DEFAULT)};
        fixture_t *fixture = trial.fixture;
        schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
        members_without_a_group(&trial);
        spec.parent = ROOT;
        account_fail_after(&fixture->memory, site);
        schedq_status_t status = schedq_group_add(fx_worker(fixture), GANG, &spec, NULL);
        happened = account_heal(&fixture->memory);
        if (status == SCHEDQ_OK) {
            fx_tick(fixture);
            assert_int_equal(look(fixture, GANG).waiting, MEMBERS);
            assert_ok(schedq_delete(fx_worker(fixture), trial.pods[0], NULL));
            assert_ok(schedq_hold(fx_worker(fixture), trial.pods[1], NULL));
            assert_int_equal(look(fixture, GANG).waiting, MEMBERS - 2);
        }
        fx_free(fixture);
    }
}

/* All of the descriptions there is room for. Each pod that is held has one of its own. */
static void
hold_without_memory(fixture_t *fixture)
{
    enum { MOST = 400 };
    static schedq_pod_t pods[MOST];
    char name[16];
    for (unsigned i = 0; i < MOST; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        pods[i] = fx_add(fixture, name, 0);
    }
    atomic_store(&fixture->memory.fail_all, true);
    for (unsigned i = 0; i < MOST; i++)
        if (schedq_hold(fx_worker(fixture), pods[i], NULL) != SCHEDQ_OK)
            break;
}

/* In its cycle an end is a note. */
static void
an_end_in_the_cycle_that_finds_no_memory_says_so(void **unused)
{
    static const schedq_result_t zero;
    trial_t trial = {.fixture = fx_new(SCHEDQ_PRESET_DEFAULT)};
    fixture_t *fixture = trial.fixture;
    schedq_result_t result;
    (void)unused;
    a_cycle(&trial);
    hold_without_memory(fixture);
    memset(&result, 0xff, sizeof result);
    schedq_status_t status = schedq_group_delete(fx_worker(fixture), GANG, &result);
    account_heal(&fixture->memory);
    if (status == SCHEDQ_NOMEM) {
        assert_memory_equal(&result, &zero, sizeof zero);
        assert_int_equal(look(fixture, GANG).declared, 1);
        assert_ok(schedq_group_delete(fx_worker(fixture), GANG, &result));
    }
    assert_place(result.place, SCHEDQ_INFLIGHT);
    assert_int_equal(look(fixture, GANG).declared, 0);
    fx_free(fixture);
}

/* A member that joins is worth another try of a parked record, with memory or without. */
static void
a_join_without_memory_tries_a_parked_record_again(void **unused)
{
    bool happened = true;
    (void)unused;
    for (int64_t site = 0; happened; site++) {
        trial_t trial = {.fixture = fx_new(SCHEDQ_PRESET_DEFAULT)};
        fixture_t *fixture = trial.fixture;
        trial.fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
        trial.gate = fx_gate(fixture, "Gate", NULL, 0);
        a_cycle_whose_members_failed(&trial);
        assert_place(end(fixture, SCHEDQ_GROUP_REJECTED).place, SCHEDQ_PARKED);
        account_fail_after(&fixture->memory, site);
        schedq_status_t status = do_join(&trial);
        happened = account_heal(&fixture->memory);
        if (status == SCHEDQ_NOMEM)
            assert_ok(do_join(&trial));
        else
            assert_ok(status);
        fx_tick(fixture);
        assert_place(look(fixture, GANG).place, SCHEDQ_ERROR_BACKOFF);
        fx_free(fixture);
    }
}

/* What a declaration could not count is not there for ever. */
static void
a_group_declared_without_memory_is_empty_when_its_members_have_left(void **unused)
{
    bool happened = true;
    (void)unused;
    for (int64_t site = 0; happened; site++) {
        trial_t trial = {.fixture = fx_new(SCHEDQ_PRESET_DEFAULT)};
        fixture_t *fixture = trial.fixture;
        members_without_a_group(&trial);
        account_fail_after(&fixture->memory, site);
        schedq_status_t status = do_declare(&trial);
        happened = account_heal(&fixture->memory);
        if (status == SCHEDQ_NOMEM)
            assert_ok(do_declare(&trial));
        else
            assert_ok(status);
        fx_tick(fixture);
        assert_place(look(fixture, GANG).place, SCHEDQ_ACTIVE);
        for (size_t i = 0; i < MEMBERS; i++)
            assert_ok(schedq_delete(fx_worker(fixture), trial.pods[i], NULL));
        assert_place(look(fixture, GANG).place, SCHEDQ_ASIDE);
        fx_free(fixture);
    }
}

/*
 * The gate lets all pass but one, and there is no memory to note what it said; then that one
 * leaves, by a worker that asked nothing. It had been refused, or not been asked about.
 */
static bool
the_refused_one_leaves(unsigned refused, int64_t site)
{
    static const char *const names[] = {"ns/a", "ns/b", "ns/c", "ns/d"};
    uint64_t objects[4];
    trial_t trial = {.fixture = fx_new(SCHEDQ_PRESET_DEFAULT)};
    fixture_t *fixture = trial.fixture;
    schedq_worker_t *other;
    trial.gate = fx_gate(fixture, "Gate", NULL, 0);
    declare(fixture, GANG, 0, 3, 0);
    assert_ok(schedq_worker_register(fx_queue(fixture), &other, NULL, 0));
    trial.gate->refuses = true;
    for (unsigned i = 0; i < 4; i++)
        objects[i] = join(fixture, names[i], GANG).object;
    trial.gate->refuses = false;
    hold_without_memory(fixture);
    account_heal(&fixture->memory);
    trial.gate->refuses = true;
    trial.gate->refused_object = objects[refused];
    account_fail_after(&fixture->memory, site);
    schedq_status_t status = schedq_group_activate(fx_worker(fixture), GANG, NULL);
    bool happened = account_heal(&fixture->memory);
    assert_true(status == SCHEDQ_OK || (happened && status == SCHEDQ_NOMEM));
    assert_ok(schedq_delete_name(other, names[refused], strlen(names[refused]), NULL));
    fx_tick(fixture);
    assert_place(look(fixture, GANG).place, SCHEDQ_ACTIVE);
    assert_ok(schedq_worker_unregister(other));
    fx_free(fixture);
    return happened;
}

static void
who_passed_without_memory_keeps_no_record_gated(void **unused)
{
    (void)unused;
    for (unsigned refused = 1; refused <= 3; refused += 2)
        for (int64_t site = 0; the_refused_one_leaves(refused, site); site++)
            continue;
}

/* The gate lets all pass by now. In kube any wildcard helps a group with an unrejected member. */
static bool
tell_without_memory(int64_t site)
{
    trial_t trial = {.fixture = fx_new(SCHEDQ_PRESET_KUBE_1_37)};
    fixture_t *fixture = trial.fixture;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_pod_spec_t spec = fx_spec(0);
    trial.gate = fx_gate(fixture, "Gate", "*", SCHEDQ_ACTION_ALL);
    declare(fixture, GANG, 0, 2, 0);
    trial.gate->refused_object = join(fixture, "ns/a", GANG).object;
    (void)join(fixture, "ns/b", GANG);
    assert_place(look(fixture, GANG).place, SCHEDQ_GATED);
    trial.gate->refused_object = 0;
    spec.object = 1000;
    change.target = fx_add_spec(fixture, "ns/target", &spec).pod;
    (void)fx_pop(fixture, "ns/target");
    change.event = SCHEDQ_EVENT_WILDCARD;
    change.new_object = spec.object;
    account_fail_after(&fixture->memory, site);
    schedq_status_t status = schedq_notify(fx_worker(fixture), &change, NULL);
    bool happened = account_heal(&fixture->memory);
    assert_true(status == SCHEDQ_OK || (happened && status == SCHEDQ_NOMEM));
    if (status == SCHEDQ_NOMEM)
        fx_tick(fixture);
    assert_place(look(fixture, GANG).place, SCHEDQ_ACTIVE);
    fx_free(fixture);
    return happened;
}

static void
a_wildcard_without_memory_reaches_a_group_with_the_next_tick(void **unused)
{
    (void)unused;
    for (int64_t site = 0; tell_without_memory(site); site++)
        continue;
}

/* A pod that takes a description of its own, and is in no order. */
static void
take_a_description(fixture_t *fixture, unsigned number)
{
    char name[16];
    schedq_pod_spec_t spec = fx_spec(0);
    spec.label = 1;
    spec.not_before_ns = fx_now(fixture) + SEC(100000);
    (void)snprintf(name, sizeof name, "ns/f%u", number);
    (void)fx_add_spec(fixture, name, &spec);
}

/* Which memory is missing changes with how much of each kind was taken before. */
static void
an_activation_without_memory_leaves_nothing_that_a_pop_would_go_on_with(void **unused)
{
    (void)unused;
    fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    unsigned refusals = 0;
    form(fixture, 2, "ab");
    for (unsigned i = 0; i < 600; i++) {
        pop(fixture, GANG, "ab");
        fail_all(fixture, fit->bit);
        assert_place(end(fixture, SCHEDQ_GROUP_REJECTED).place, SCHEDQ_PARKED);
        take_a_description(fixture, i);
        account_fail_after(&fixture->memory, 0);
        schedq_status_t status = schedq_group_activate(fx_worker(fixture), GANG, NULL);
        (void)account_heal(&fixture->memory);
        if (status != SCHEDQ_OK) {
            assert_status(status, SCHEDQ_NOMEM);
            refusals++;
            pop_none(fixture);
            assert_place(look(fixture, GANG).place, SCHEDQ_PARKED);
            assert_ok(schedq_group_activate(fx_worker(fixture), GANG, NULL));
        }
    }
    assert_true(refusals > 0 || fx_engine() == SCHEDQ_ENGINE_MUTEX); /* which needs none */
    fx_free(fixture);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_that_finds_no_memory_changes_nothing),
        cmocka_unit_test(a_cycle_whose_end_finds_no_memory_goes_on),
        cmocka_unit_test(a_record_whose_refused_member_leaves_without_memory_is_let_in_by_a_tick),
        cmocka_unit_test(an_activation_in_the_cycle_is_noted_or_answers_no_memory),
        cmocka_unit_test(a_group_declared_without_memory_is_empty_when_its_members_have_left),
        cmocka_unit_test(an_end_in_the_cycle_that_finds_no_memory_says_so),
        cmocka_unit_test(a_join_without_memory_tries_a_parked_record_again),
        cmocka_unit_test(a_group_without_a_root_tells_how_many_wait),
        cmocka_unit_test(who_passed_without_memory_keeps_no_record_gated),
        cmocka_unit_test(a_wildcard_without_memory_reaches_a_group_with_the_next_tick),
        cmocka_unit_test(an_activation_without_memory_leaves_nothing_that_a_pop_would_go_on_with),
    };
    return fx_run_tests(argc, argv, tests);
}
