/*
 * Every operation on a pod in every place, for three presets: SPEC section 6 as a table.
 *
 * A row is an operation; the letters are where the pod is afterwards, by the place it was in
 * before: absent, Active, Backoff, Error backoff, Parked, Gated, In flight, Held. The last letter
 * is where the pod in flight goes when its cycle then fails with the rejector Fit ('x': its holder
 * gets GONE). '-' is nowhere, '.' a place that the preset lacks.
 */
#include <schedq/hold.h>
#include <string.h>

#include "fixture.h"

#define NAME "ns/x"

typedef struct scene {
    fixture_t *fixture;
    fx_plugin_t *fit;  /* registered Node/Add and Pod/UpdatePodLabel */
    fx_plugin_t *gate; /* registered Node/Add */
    schedq_pod_t pod;
    schedq_popped_t popped;
} scene_t;

typedef void (*operation_fn)(scene_t *scene);

typedef struct row {
    const char *name;
    operation_fn run;
    const char *places; /* "-ABEPGIH" and then the letter after the failure */
} row_t;

static const char letters[] = "-ABEPGIH";

/* ---- operations ---- */

static void
add(scene_t *scene)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = 900;
    assert_status(schedq_add(fx_worker(scene->fixture), NAME, strlen(NAME), &spec, NULL),
                  scene->pod.bits != 0 ? SCHEDQ_EXISTS : SCHEDQ_OK);
}

static void
add_refused(scene_t *scene)
{
    scene->gate->refuses = true;
    add(scene);
    scene->gate->refuses = false;
}

static void
pop(scene_t *scene)
{
    schedq_popped_t popped;
    schedq_place_t before = fx_place(scene->fixture, NAME);
    bool poppable = before == SCHEDQ_ACTIVE ||
                    (before == SCHEDQ_BACKOFF && scene->fixture->config.pop_from_backoff);
    assert_status(schedq_try_pop(fx_worker(scene->fixture), &popped),
                  poppable ? SCHEDQ_OK : SCHEDQ_EMPTY);
}

static void
update_with(scene_t *scene, const schedq_event_t *events, size_t count)
{
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_result_t result;
    spec.object = 901;
    spec.flags = SCHEDQ_POD_ADD;
    assert_ok(schedq_update(fx_worker(scene->fixture), NAME, strlen(NAME), &spec, 0, events, count,
                            &result));
    assert_int_equal(result.added, scene->pod.bits == 0);
}

static void
update(scene_t *scene)
{
    update_with(scene, NULL, 0);
}

static void
update_that_helps(scene_t *scene)
{
    const schedq_event_t event = SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL;
    update_with(scene, &event, 1);
}

static void
delete_pod(scene_t *scene)
{
    assert_status(schedq_delete_name(fx_worker(scene->fixture), NAME, 4, NULL),
                  scene->pod.bits != 0 ? SCHEDQ_OK : SCHEDQ_NOT_FOUND);
}

static void
move_uninteresting(scene_t *scene)
{
    fx_move(scene->fixture, SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION);
}

static void
move_skipped(scene_t *scene)
{
    scene->fit->hint = scene->gate->hint = SCHEDQ_HINT_SKIP;
    fx_move(scene->fixture, SCHEDQ_EVENT_NODE_ADD);
}

static void
move_wanted(scene_t *scene)
{
    fx_move(scene->fixture, SCHEDQ_EVENT_NODE_ADD);
}

static void
move_wanted_but_refused(scene_t *scene)
{
    scene->gate->refuses = true;
    fx_move(scene->fixture, SCHEDQ_EVENT_NODE_ADD);
}

static void
wildcard(scene_t *scene)
{
    fx_move(scene->fixture, SCHEDQ_EVENT_WILDCARD);
}

static void
activate(scene_t *scene)
{
    assert_ok(schedq_activate(fx_worker(scene->fixture), &scene->pod, 1, NULL));
}

static void
activate_refused(scene_t *scene)
{
    scene->gate->refuses = true;
    activate(scene);
}

static void
tick_at_once(scene_t *scene)
{
    fx_tick(scene->fixture);
}

static void
tick_after_the_backoff(scene_t *scene)
{
    fx_pass(scene->fixture, SEC(2));
}

static void
tick_after_the_backoff_refused(scene_t *scene)
{
    scene->gate->refuses = true;
    fx_pass(scene->fixture, SEC(2));
}

static void
tick_after_the_limit(scene_t *scene)
{
    fx_pass(scene->fixture, SEC(301));
}

static void
nominate(scene_t *scene)
{
    assert_status(schedq_nominate(fx_worker(scene->fixture), scene->pod, 5),
                  scene->pod.bits != 0 ? SCHEDQ_OK : SCHEDQ_NOT_FOUND);
}

static void
hold(scene_t *scene)
{
    assert_status(schedq_hold(fx_worker(scene->fixture), scene->pod, NULL),
                  scene->pod.bits != 0 ? SCHEDQ_OK : SCHEDQ_NOT_FOUND);
}

static void
release(scene_t *scene)
{
    assert_status(schedq_release(fx_worker(scene->fixture), scene->pod, NULL),
                  scene->pod.bits != 0 ? SCHEDQ_OK : SCHEDQ_NOT_FOUND);
}

static void
later(scene_t *scene)
{
    assert_status(schedq_not_before(fx_worker(scene->fixture), scene->pod,
                                    fx_now(scene->fixture) + SEC(1), NULL),
                  scene->pod.bits != 0 ? SCHEDQ_OK : SCHEDQ_NOT_FOUND);
}

static void
past(scene_t *scene)
{
    assert_status(
        schedq_not_before(fx_worker(scene->fixture), scene->pod, fx_now(scene->fixture), NULL),
        scene->pod.bits != 0 ? SCHEDQ_OK : SCHEDQ_NOT_FOUND);
}

static void
done_of_another_cycle(scene_t *scene)
{
    assert_status(schedq_done(fx_worker(scene->fixture), (schedq_token_t){scene->pod.bits + 1}),
                  SCHEDQ_STALE);
}

/* ---- the tables ---- */

static const row_t default_rows[] = {
    {"add", add, "AABEPGIHP"},
    {"add, refused by the gate", add_refused, "GABEPGIHP"},
    {"pop", pop, "-IIEPGIHP"},
    {"update", update, "AABEPGIHP"},
    {"update with an event that helps", update_that_helps, "AABEBGIHB"},
    {"delete", delete_pod, "--------x"},
    {"event that nobody registered", move_uninteresting, "-ABEPGIHP"},
    {"event, hint says skip", move_skipped, "-ABEPGIHP"},
    {"event, hint says queue", move_wanted, "-ABEBAIHB"},
    {"event, hint says queue, gate refuses", move_wanted_but_refused, "-ABEGGIHG"},
    {"wildcard", wildcard, "-ABEBAIHB"},
    {"activate", activate, "-AAAAAIHB"},
    {"activate, refused by the gate", activate_refused, "-AGGGGIHG"},
    {"tick at once", tick_at_once, "-ABEPGIHP"},
    {"tick after the backoff", tick_after_the_backoff, "-AAAPGIHP"},
    {"tick after the backoff, gate refuses", tick_after_the_backoff_refused, "-AAAPGIHP"},
    {"tick after the limit", tick_after_the_limit, "-AAAAAIHP"},
    {"nominate", nominate, "-ABEPGIHP"},
    {"done with a wrong token", done_of_another_cycle, "-ABEPGIHP"},
    {"hold", hold, "-HHHHHIHH"},
    {"release", release, "-ABEPGIAP"},
    {"not before, later", later, "-HHHHHIHH"},
    {"not before, past", past, "-ABEPGIHP"},
};

/* Differs from the default: no wildcard and no leftover flush for gated pods. */
static const row_t kube_1_34_rows[] = {
    {"add", add, "AABEPGIHP"},
    {"add, refused by the gate", add_refused, "GABEPGIHP"},
    {"pop", pop, "-IIEPGIHP"},
    {"update", update, "AABEPGIHP"},
    {"update with an event that helps", update_that_helps, "AABEBGIHB"},
    {"delete", delete_pod, "--------x"},
    {"event that nobody registered", move_uninteresting, "-ABEPGIHP"},
    {"event, hint says skip", move_skipped, "-ABEPGIHP"},
    {"event, hint says queue", move_wanted, "-ABEBAIHB"},
    {"event, hint says queue, gate refuses", move_wanted_but_refused, "-ABEGGIHG"},
    {"wildcard", wildcard, "-ABEBGIHB"},
    {"activate", activate, "-AAAAAIHB"},
    {"activate, refused by the gate", activate_refused, "-AGGGGIHG"},
    {"tick at once", tick_at_once, "-ABEPGIHP"},
    {"tick after the backoff", tick_after_the_backoff, "-AAAPGIHP"},
    {"tick after the backoff, gate refuses", tick_after_the_backoff_refused, "-AAAPGIHP"},
    {"tick after the limit", tick_after_the_limit, "-AAAAGIHP"},
    {"nominate", nominate, "-ABEPGIHP"},
    {"done with a wrong token", done_of_another_cycle, "-ABEPGIHP"},
    {"hold", hold, "-HHHHHIHH"},
    {"release", release, "-ABEPGIAP"},
    {"not before, later", later, "-HHHHHIHH"},
    {"not before, past", past, "-ABEPGIHP"},
};

/* No hints, no pop from backoff, errors park; any move retries what is in flight. */
static const row_t kube_1_26_rows[] = {
    {"add", add, "AAB.PGIHP"},
    {"add, refused by the gate", add_refused, "GAB.PGIHP"},
    {"pop", pop, "-IB.PGIHP"},
    {"update", update, "AAB.PGIHP"},
    {"update that changed something", update_that_helps, "AAB.BAIHP"},
    {"delete", delete_pod, "---.----x"},
    {"event that nobody registered", move_uninteresting, "-AB.PGIHB"},
    {"event, hints are not asked", move_skipped, "-AB.BAIHB"},
    {"event", move_wanted, "-AB.BAIHB"},
    {"event, gate refuses", move_wanted_but_refused, "-AB.BGIHB"},
    {"wildcard", wildcard, "-AB.BAIHB"},
    {"activate", activate, "-AA.AAIHP"},
    {"activate, refused by the gate", activate_refused, "-AG.GGIHP"},
    {"tick at once", tick_at_once, "-AB.PGIHP"},
    {"tick after the backoff", tick_after_the_backoff, "-AA.PGIHP"},
    {"tick after the backoff, gate refuses", tick_after_the_backoff_refused, "-AG.PGIHP"},
    {"tick after the limit", tick_after_the_limit, "-AA.AAIHP"},
    {"nominate", nominate, "-AB.PGIHP"},
    {"done with a wrong token", done_of_another_cycle, "-AB.PGIHP"},
    {"hold", hold, "-HH.HHIHH"},
    {"release", release, "-AB.PGIBP"},
    {"not before, later", later, "-HH.HHIHH"},
    {"not before, past", past, "-AB.PGIHP"},
};

/* ---- running them ---- */

static void
open_scene(scene_t *scene, schedq_preset_t preset)
{
    static const schedq_interest_t interests[] = {
        {.resource = "Node", .actions = SCHEDQ_ACTION_ADD, .hint = fx_hint},
        {.resource = "Pod", .actions = SCHEDQ_ACTION_UPDATE_POD_LABEL, .hint = fx_hint},
    };
    memset(scene, 0, sizeof *scene);
    scene->fixture = fx_new(preset);
    scene->fit = fx_plugin_full(scene->fixture, 0, "Fit", 0, interests, 2, false);
    scene->gate = fx_plugin_full(scene->fixture, 0, "Gate", 0, interests, 1, true);
}

static void
put_pod(scene_t *scene, schedq_place_t place)
{
    fixture_t *fixture = scene->fixture;
    switch (place) {
    case SCHEDQ_NOWHERE:
        fx_worker(fixture);
        break;
    case SCHEDQ_ACTIVE:
        scene->pod = fx_add(fixture, NAME, 0);
        break;
    case SCHEDQ_BACKOFF:
        scene->pod = fx_back_off(fixture, NAME, scene->fit->bit, SCHEDQ_EVENT_NODE_ADD);
        break;
    case SCHEDQ_ERROR_BACKOFF:
        scene->pod = fx_err(fixture, NAME);
        break;
    case SCHEDQ_PARKED:
        scene->pod = fx_park(fixture, NAME, scene->fit->bit);
        break;
    case SCHEDQ_GATED:
        scene->gate->refuses = true;
        scene->pod = fx_add(fixture, NAME, 0);
        scene->gate->refuses = false;
        break;
    case SCHEDQ_INFLIGHT:
        scene->pod = fx_add(fixture, NAME, 0);
        scene->popped = fx_pop(fixture, NAME);
        break;
    case SCHEDQ_HELD:
        scene->pod = fx_add(fixture, NAME, 0);
        hold(scene);
        break;
    case SCHEDQ_ASIDE: /* of members: test_group.c */
        break;
    }
    assert_place(fx_place(fixture, NAME), place);
}

/*
 * Whatever an operation did: the counts of all places agree with a walk over the pods, and each
 * name is there once.
 */
typedef struct census {
    unsigned by_place[SCHEDQ_HELD + 1];
    unsigned alive;
} census_t;

static int
count_pod(void *ctx, const schedq_pod_info_t *pod)
{
    census_t *census = ctx;
    census->by_place[pod->place]++;
    census->alive += !pod->deleted;
    return 1;
}

static void
check_counts(scene_t *scene)
{
    census_t census;
    memset(&census, 0, sizeof census);
    assert_ok(schedq_snapshot(fx_worker(scene->fixture), count_pod, &census));
    fx_assert_counts(scene->fixture, census.by_place[SCHEDQ_ACTIVE],
                     census.by_place[SCHEDQ_BACKOFF], census.by_place[SCHEDQ_ERROR_BACKOFF],
                     census.by_place[SCHEDQ_PARKED], census.by_place[SCHEDQ_GATED],
                     census.by_place[SCHEDQ_INFLIGHT]);
    assert_int_equal(fx_stats(scene->fixture).held, census.by_place[SCHEDQ_HELD]);
    assert_true(census.alive <= 1);
}

static char
letter_after_failure(scene_t *scene)
{
    schedq_result_t result;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.unschedulable = scene->fit->bit;
    schedq_status_t status =
        schedq_fail(fx_worker(scene->fixture), &scene->popped.token, &failure, &result);
    return status == SCHEDQ_GONE ? 'x' : status == SCHEDQ_OK ? letters[result.place] : '?';
}

static unsigned
run_cell(schedq_preset_t preset, const row_t *row, schedq_place_t place)
{
    scene_t scene;
    unsigned wrong = 0;
    open_scene(&scene, preset);
    put_pod(&scene, place);
    row->run(&scene);
    char got = letters[fx_place(scene.fixture, NAME)];
    if (got != row->places[place]) {
        print_error("%s, pod %s: expected %c, got %c\n", row->name, schedq_place_name(place),
                    row->places[place], got);
        wrong++;
    }
    check_counts(&scene);
    if (place == SCHEDQ_INFLIGHT) {
        got = letter_after_failure(&scene);
        if (got != row->places[SCHEDQ_HELD + 1]) {
            print_error("%s in flight, then failed: expected %c, got %c\n", row->name,
                        row->places[SCHEDQ_HELD + 1], got);
            wrong++;
        }
        check_counts(&scene);
    }
    fx_free(scene.fixture);
    return wrong;
}

static void
run_rows(schedq_preset_t preset, const row_t *rows, size_t count)
{
    unsigned wrong = 0;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(strlen(rows[i].places), SCHEDQ_HELD + 2);
        for (int place = SCHEDQ_NOWHERE; place <= SCHEDQ_HELD; place++) {
            if (rows[i].places[place] != '.')
                wrong += run_cell(preset, &rows[i], (schedq_place_t)place);
        }
    }
    assert_int_equal(wrong, 0);
}

#define ROWS(table) (table), sizeof(table) / sizeof *(table)

static void
every_operation_from_every_place_by_default(void **state)
{
    (void)state;
    run_rows(SCHEDQ_PRESET_DEFAULT, ROWS(default_rows));
}

static void
every_operation_from_every_place_in_kube_1_34(void **state)
{
    (void)state;
    run_rows(SCHEDQ_PRESET_KUBE_1_34, ROWS(kube_1_34_rows));
}

static void
every_operation_from_every_place_in_kube_1_26(void **state)
{
    (void)state;
    run_rows(SCHEDQ_PRESET_KUBE_1_26, ROWS(kube_1_26_rows));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_from_every_place_by_default),
        cmocka_unit_test(every_operation_from_every_place_in_kube_1_34),
        cmocka_unit_test(every_operation_from_every_place_in_kube_1_26),
    };
    return fx_run_tests(argc, argv, tests);
}
