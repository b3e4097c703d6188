/* Life of the fixture, its plugins and its clock. The verbs on pods are in verbs.c. */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

static int64_t
fixture_clock(void *ctx)
{
    fixture_t *fixture = ctx;
    return atomic_load(&fixture->now_ns);
}

fixture_t *
fx_new(schedq_preset_t preset)
{
    fixture_t *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->config = (schedq_config_t)SCHEDQ_CONFIG_INIT;
    assert_ok(schedq_config_preset(&fixture->config, preset));
    fixture->config.engine = fx_engine();
    account_init(&fixture->memory);
    ledger_init(&fixture->ledger);
    atomic_init(&fixture->now_ns, FX_START);
    fixture->config.allocator = account_allocator(&fixture->memory);
    fixture->config.clock.now_ns = fixture_clock;
    fixture->config.clock.ctx = fixture;
    fixture->config.clock.is_virtual = 1;
    fixture->next_object = 100;
    return fixture;
}

void
fx_free(fixture_t *fixture)
{
    if (fixture->queue != NULL) {
        assert_ok(schedq_close(fixture->queue));
        assert_ok(schedq_stop(fixture->queue));
        if (fixture->worker != NULL)
            assert_ok(schedq_worker_unregister(fixture->worker));
        assert_ok(schedq_destroy_with_pods(fixture->queue, NULL, 0));
    }
    assert_int_equal(atomic_load(&fixture->memory.blocks), 0);
    assert_int_equal(atomic_load(&fixture->memory.bytes), 0);
    assert_int_equal(atomic_load(&fixture->memory.faults), 0);
    assert_int_equal(ledger_sum(&fixture->ledger), 0);
    assert_int_equal(atomic_load(&fixture->ledger.faults), 0);
    free(fixture);
}

int
fx_setup(void **state)
{
    *state = fx_new(SCHEDQ_PRESET_DEFAULT);
    return 0;
}

int
fx_setup_1_37(void **state)
{
    *state = fx_new(SCHEDQ_PRESET_KUBE_1_37);
    return 0;
}

int
fx_setup_1_34(void **state)
{
    *state = fx_new(SCHEDQ_PRESET_KUBE_1_34);
    return 0;
}

int
fx_setup_1_26(void **state)
{
    *state = fx_new(SCHEDQ_PRESET_KUBE_1_26);
    return 0;
}

int
fx_setup_1_12(void **state)
{
    *state = fx_new(SCHEDQ_PRESET_KUBE_1_12);
    return 0;
}

int
fx_setup_host(void **state)
{
    fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
    fixture->config.decide = SCHEDQ_DECIDE_HOST;
    *state = fixture;
    return 0;
}

int
fx_setup_lockfree(void **state)
{
    fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
    fixture->config.engine = SCHEDQ_ENGINE_LOCKFREE;
    *state = fixture;
    return 0;
}

int
fx_teardown(void **state)
{
    fx_free(*state);
    *state = NULL;
    return 0;
}

schedq_t *
fx_queue(fixture_t *fixture)
{
    if (fixture->queue == NULL) {
        schedq_status_t status =
            schedq_create(&fixture->config, &fixture->queue, fixture->why, sizeof fixture->why);
        if (status != SCHEDQ_OK)
            print_error("schedq_create: %s\n", fixture->why);
        assert_ok(status);
    }
    return fixture->queue;
}

schedq_worker_t *
fx_worker(fixture_t *fixture)
{
    if (fixture->worker == NULL)
        assert_ok(schedq_worker_register(fx_queue(fixture), &fixture->worker, fixture->why,
                                         sizeof fixture->why));
    return fixture->worker;
}

void
fx_count_objects(fixture_t *fixture)
{
    assert_null(fixture->queue);
    fixture->config.objects = SCHEDQ_OBJECTS_COUNTED;
    fixture->config.object_ctx = &fixture->ledger;
    fixture->config.retain = ledger_retain;
    fixture->config.release = ledger_release;
}

void
fx_use_real_clock(fixture_t *fixture)
{
    assert_null(fixture->queue);
    memset(&fixture->config.clock, 0, sizeof fixture->config.clock);
}

/* ---- plugins ---- */

schedq_hint_t
fx_hint(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    fx_plugin_t *plugin = ctx;
    plugin->hint_calls++;
    plugin->hint_pod = pod;
    plugin->hint_old = old_object;
    plugin->hint_new = new_object;
    if (plugin->only_object != 0)
        return pod == plugin->only_object ? SCHEDQ_HINT_QUEUE : SCHEDQ_HINT_SKIP;
    return plugin->hint;
}

static int
fixture_gate(void *ctx, uint64_t pod)
{
    fx_plugin_t *plugin = ctx;
    plugin->gate_calls++;
    plugin->gate_pod = pod;
    plugin->asked_at = ++plugin->fixture->asked;
    if (plugin->refused_object != 0)
        return pod != plugin->refused_object;
    return !plugin->refuses;
}

fx_plugin_t *
fx_plugin_full(fixture_t *fixture, schedq_profile_t profile, const char *name, uint8_t flags,
               const schedq_interest_t *interests, size_t count, bool gate)
{
    assert_null(fixture->worker);
    assert_true(fixture->plugin_count < FX_PLUGINS);
    fx_plugin_t *mine = &fixture->plugins[fixture->plugin_count++];
    mine->fixture = fixture;
    mine->hint = SCHEDQ_HINT_QUEUE;

    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    plugin.profile = profile;
    plugin.flags = flags;
    plugin.name = name;
    plugin.interests = interests;
    plugin.interest_count = count;
    plugin.pre_enqueue = gate ? fixture_gate : NULL;
    plugin.ctx = mine;
    assert_ok(schedq_plugin_register(fx_queue(fixture), &plugin, &mine->bit, fixture->why,
                                     sizeof fixture->why));
    assert_true(mine->bit != 0);
    mine->gate = 1 + (unsigned)__builtin_ctzll(mine->bit);
    return mine;
}

static fx_plugin_t *
simple_plugin(fixture_t *fixture, const char *name, const char *resource, uint32_t actions,
              bool gate)
{
    schedq_interest_t interest;
    memset(&interest, 0, sizeof interest);
    interest.resource = resource;
    interest.actions = actions;
    interest.hint = fixture->config.decide == SCHEDQ_DECIDE_HOST ? NULL : fx_hint;
    return fx_plugin_full(fixture, 0, name, 0, resource != NULL ? &interest : NULL,
                          resource != NULL ? 1 : 0, gate);
}

fx_plugin_t *
fx_plugin(fixture_t *fixture, const char *name, const char *resource, uint32_t actions)
{
    return simple_plugin(fixture, name, resource, actions, false);
}

fx_plugin_t *
fx_gate(fixture_t *fixture, const char *name, const char *resource, uint32_t actions)
{
    return simple_plugin(fixture, name, resource, actions, true);
}

/* ---- time ---- */

int64_t
fx_now(fixture_t *fixture)
{
    return atomic_load(&fixture->now_ns);
}

void
fx_advance(fixture_t *fixture, int64_t ns)
{
    atomic_fetch_add(&fixture->now_ns, ns);
}

schedq_result_t
fx_tick(fixture_t *fixture)
{
    schedq_result_t result;
    assert_ok(schedq_tick(fx_worker(fixture), NULL, &result));
    return result;
}

schedq_result_t
fx_pass(fixture_t *fixture, int64_t ns)
{
    fx_advance(fixture, ns);
    return fx_tick(fixture);
}
