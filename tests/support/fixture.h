/**
 * A queue to try things on: a clock that the test moves, counted memory, plugins whose answers the
 * test sets.
 *
 * A setup function picks the preset; a test may change fixture->config until the queue is made,
 * which the first use of fx_queue(), of a plugin or of a pod does. Plugins come before pods. The
 * teardown closes and destroys the queue and fails the test if memory or references are left, so
 * every test is a leak test.
 *
 * The verbs (fx_add, fx_pop ...) assert success; where the status is the point, tests call the
 * library itself.
 *
 * Every fixture has the engine that the program was started with (fx_run in engines.h).
 */
#ifndef SCHEDQ_TESTS_SUPPORT_FIXTURE_H
#define SCHEDQ_TESTS_SUPPORT_FIXTURE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "account.h"
#include "engines.h"
#include "expect.h"
#include "ledger.h"

#define MS(n) ((int64_t)(n)*INT64_C(1000000))
#define SEC(n) ((int64_t)(n)*INT64_C(1000000000))
/** The clock's first reading: a whole second, so that one-second windows are easy to read. */
#define FX_START SEC(1000)

#define FX_PLUGINS 80

typedef struct fixture fixture_t;

/** A plugin: what it answers, and what it was asked. */
typedef struct fx_plugin {
    fixture_t *fixture;
    uint64_t bit;
    unsigned gate;      /* 1 + its number: what result.gate shows */
    schedq_hint_t hint; /* its hint's answer to everything ... */
    /* ... if 0, else QUEUE for this pod's object and SKIP for the others */
    uint64_t only_object;
    bool refuses;            /* PreEnqueue refuses every pod ... */
    uint64_t refused_object; /* ... or, if not 0, this one */
    unsigned hint_calls, gate_calls;
    uint64_t hint_pod, hint_old, hint_new; /* of the last hint call */
    uint64_t gate_pod;                     /* of the last gate call */
    unsigned asked_at;                     /* fixture->asked when its gate was asked last */
} fx_plugin_t;

struct fixture {
    schedq_config_t config;
    schedq_t *queue;
    schedq_worker_t *worker;
    _Atomic int64_t now_ns;
    account_t memory;
    ledger_t ledger;
    fx_plugin_t plugins[FX_PLUGINS];
    size_t plugin_count;
    unsigned asked; /* gate calls of all plugins */
    uint64_t next_object;
    char why[256];
};

/* Setup and teardown for cmocka_unit_test_setup_teardown. */
int fx_setup(void **state);
int fx_setup_1_37(void **state);
int fx_setup_1_34(void **state);
int fx_setup_1_26(void **state);
int fx_setup_1_12(void **state);
int fx_setup_host(void **state); /* default preset, SCHEDQ_DECIDE_HOST */
/* default preset, SCHEDQ_ENGINE_LOCKFREE whatever the program was started with */
int fx_setup_lockfree(void **state);
int fx_teardown(void **state);

#define fx_test(function) cmocka_unit_test_setup_teardown(function, fx_setup, fx_teardown)
#define fx_test_1_37(function) cmocka_unit_test_setup_teardown(function, fx_setup_1_37, fx_teardown)
#define fx_test_1_34(function) cmocka_unit_test_setup_teardown(function, fx_setup_1_34, fx_teardown)
#define fx_test_1_26(function) cmocka_unit_test_setup_teardown(function, fx_setup_1_26, fx_teardown)
#define fx_test_1_12(function) cmocka_unit_test_setup_teardown(function, fx_setup_1_12, fx_teardown)
#define fx_test_host(function) cmocka_unit_test_setup_teardown(function, fx_setup_host, fx_teardown)
#define fx_test_lockfree(function) \
    cmocka_unit_test_setup_teardown(function, fx_setup_lockfree, fx_teardown)

/** A fixture outside cmocka's setup, for tests that make several in a row. */
fixture_t *fx_new(schedq_preset_t preset);
/** Destroys the queue and asserts that nothing is left. */
void fx_free(fixture_t *fixture);

/** The queue; makes it. */
schedq_t *fx_queue(fixture_t *fixture);
/** The fixture's own worker; registers it: no plugin can come after this. */
schedq_worker_t *fx_worker(fixture_t *fixture);
/** CLOCK_MONOTONIC instead of the fixture's clock; before the queue is made. */
void fx_use_real_clock(fixture_t *fixture);
/** Turns reference counts on; before the queue is made. */
void fx_count_objects(fixture_t *fixture);

/**
 * A plugin without a gate that registered one event; resource NULL: none. Its hint says QUEUE until
 * told otherwise.
 */
fx_plugin_t *fx_plugin(fixture_t *fixture, const char *name, const char *resource,
                       uint32_t actions);
/** The same with a PreEnqueue, which lets everything pass until told otherwise. */
fx_plugin_t *fx_gate(fixture_t *fixture, const char *name, const char *resource, uint32_t actions);
/** Fully described: any number of interests, flags, profile. */
fx_plugin_t *fx_plugin_full(fixture_t *fixture, schedq_profile_t profile, const char *name,
                            uint8_t flags, const schedq_interest_t *interests, size_t count,
                            bool gate);
/** The hint that fixtures give; for interests of fx_plugin_full. */
schedq_hint_t fx_hint(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object);

/* ---- time ---- */

int64_t fx_now(fixture_t *fixture);
/** Moves the clock; nobody is told (fx_tick does that). */
void fx_advance(fixture_t *fixture, int64_t ns);
/** schedq_tick, which must be OK. */
schedq_result_t fx_tick(fixture_t *fixture);
/** Moves the clock and ticks. */
schedq_result_t fx_pass(fixture_t *fixture, int64_t ns);

/* ---- pods ---- */

/** A spec for a name that is passed as `names` itself; object and nominations are 0. */
schedq_pod_spec_t fx_spec(int32_t priority);
/** One of many: its name is so many bytes from there on. */
schedq_add_item_t fx_item(uint32_t name_offset, uint32_t name_length, int32_t priority);
/** Adds a pod with an object of its own; it may be active or gated. */
schedq_pod_t fx_add(fixture_t *fixture, const char *name, int32_t priority);
/** Adds what `spec` says; it may be active or gated. */
schedq_result_t fx_add_spec(fixture_t *fixture, const char *name, const schedq_pod_spec_t *spec);
/** Pops, and expects this name. */
schedq_popped_t fx_pop(fixture_t *fixture, const char *name);
/** Pops, and expects SCHEDQ_EMPTY. */
void fx_pop_nothing(fixture_t *fixture);
void fx_done(fixture_t *fixture, const schedq_popped_t *popped);
/** Ends a cycle with these rejectors; both 0: with an error. */
schedq_result_t fx_fail(fixture_t *fixture, const schedq_popped_t *popped, uint64_t unschedulable,
                        uint64_t pending);
/** Adds, pops and rejects; the pod must be the best one, and is parked then. */
schedq_pod_t fx_park(fixture_t *fixture, const char *name, uint64_t unschedulable);
/** Adds, pops and fails with an error; the pod must be the best one. */
schedq_pod_t fx_err(fixture_t *fixture, const char *name);
/**
 * Adds, pops, sends `event` during the flight and rejects: the pod backs off. The event must
 * concern `unschedulable`.
 */
schedq_pod_t fx_back_off(fixture_t *fixture, const char *name, uint64_t unschedulable,
                         schedq_event_t event);
/** A pod in each place where one waits for something. */
typedef struct fx_waiting {
    schedq_pod_t backoff, error, parked, gated;
} fx_waiting_t;

/**
 * Makes "ns/backoff", "ns/error", "ns/parked" and "ns/gated".
 *
 * SCHEDQ_EVENT_NODE_ADD concerns `fit`; `gate` lets everything pass, afterwards too.
 */
fx_waiting_t fx_wait_everywhere(fixture_t *fixture, const fx_plugin_t *fit, fx_plugin_t *gate);
/**
 * `count` parked pods "ns/parked<i>", as many after an error "ns/error<i>", as many active
 * "ns/active<i>".
 */
void fx_fill(fixture_t *fixture, const fx_plugin_t *fit, unsigned count);
/** schedq_notify without objects. */
schedq_result_t fx_move(fixture_t *fixture, schedq_event_t event);

/* ---- looking ---- */

/** A copy of what a visitor saw; name.text outlives the visit. */
typedef struct fx_seen {
    schedq_pod_info_t info;
    char text[SCHEDQ_NAME_MAX + 1];
    unsigned visits;
} fx_seen_t;

/** A visitor that looks at nothing, and goes on. */
int fx_visit_nothing(void *ctx, const schedq_pod_info_t *pod);
/** Where the pod of this name is, SCHEDQ_NOWHERE if nobody has it. */
schedq_place_t fx_place(fixture_t *fixture, const char *name);
/** The pod's result of schedq_find, which must be OK. */
schedq_result_t fx_find(fixture_t *fixture, const char *name);
/** The pod's info; it must exist. */
schedq_pod_info_t fx_info(fixture_t *fixture, schedq_pod_t pod);
schedq_stats_t fx_stats(fixture_t *fixture);
/** Asserts how many pods are in each place. */
void fx_assert_counts(fixture_t *fixture, unsigned active, unsigned backoff, unsigned error_backoff,
                      unsigned parked, unsigned gated, unsigned inflight);
/** The metrics, to be freed with free(). */
char *fx_metrics(fixture_t *fixture);
/** Value of the one metric line that begins with `sample` and a space; -1 if there is none. */
long fx_metric(fixture_t *fixture, const char *sample);

/** Copies the last visited pod, counts the visits, goes on. ctx is an fx_seen_t. */
int fx_see(void *ctx, const schedq_pod_info_t *pod);

#endif
