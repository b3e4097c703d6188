/*
 * The configuration: what the presets set, and that each field out of range is refused with its
 * name and range.
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"

static schedq_config_t
default_config(void)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    config.engine = fx_engine();
    return config;
}

/* `field` must be refused, and the words must hold its name, `value` and both ends of the range. */
static void
expect_refused(const schedq_config_t *config, const char *field, const char *value, const char *low,
               const char *high)
{
    char why[256] = "untouched";
    schedq_t *queue = (schedq_t *)1;
    schedq_status_t status = schedq_create(config, &queue, why, sizeof why);
    if (status != SCHEDQ_INVALID)
        print_error("%s = %s was not refused\n", field, value);
    assert_status(status, SCHEDQ_INVALID);
    assert_null(queue);
    assert_contains(why, field);
    assert_contains(why, value);
    assert_contains(why, low);
    assert_contains(why, high);
}

static void
expect_accepted(const schedq_config_t *config)
{
    char why[256] = "untouched";
    schedq_t *queue = NULL;
    schedq_status_t status = schedq_create(config, &queue, why, sizeof why);
    if (status != SCHEDQ_OK)
        print_error("refused: %s\n", why);
    assert_ok(status);
    assert_string_equal(why, "");
    assert_ok(schedq_destroy_with_pods(queue, NULL, 0));
}

#define REFUSE(field, value, low, high)                     \
    do {                                                    \
        schedq_config_t config = default_config();          \
        config.field = (value);                             \
        expect_refused(&config, #field, #value, low, high); \
    } while (0)

#define ACCEPT(field, value)                       \
    do {                                           \
        schedq_config_t config = default_config(); \
        config.field = (value);                    \
        expect_accepted(&config);                  \
    } while (0)

static void
the_default_is_what_the_header_says(void **state)
{
    (void)state;
    schedq_config_t config;
    memset(&config, 0xff, sizeof config);
    config = (schedq_config_t)SCHEDQ_CONFIG_INIT;
    assert_int_equal(config.struct_size, sizeof config);
    assert_int_equal(config.max_pods, 1048576);
    assert_int_equal(config.max_bands, 0);
    assert_int_equal(config.max_workers, 64);
    assert_int_equal(config.max_events, 256);
    assert_int_equal(config.event_log, 4096);
    assert_int_equal(config.max_lots, 1024);
    assert_int_equal(config.fences, SCHEDQ_FENCES_ASYMMETRIC);
    assert_int_equal(config.sample_calls, 0);
    assert_ns_equal(config.initial_backoff_ns, SEC(1));
    assert_ns_equal(config.max_backoff_ns, SEC(10));
    assert_ns_equal(config.max_parked_ns, SEC(300));
    assert_ns_equal(config.tick_ns, MS(1));
    assert_ns_equal(config.flush_ns, 0);
    assert_int_equal(config.engine, SCHEDQ_ENGINE_LOCKFREE);
    assert_int_equal(config.order, SCHEDQ_ORDER_STRICT);
    assert_int_equal(config.objects, SCHEDQ_OBJECTS_STABLE);
    assert_int_equal(config.decide, SCHEDQ_DECIDE_CALLBACKS);
    assert_int_equal(config.external_clock, 0);
    assert_int_equal(config.requeue, SCHEDQ_REQUEUE_HINTS);
    assert_int_equal(config.pop_from_backoff, 1);
    assert_int_equal(config.backoff_window, 0);
    assert_int_equal(config.backoff_at_expiry, 0);
    assert_int_equal(config.backoff_counts, SCHEDQ_COUNT_FAILURES);
    assert_int_equal(config.errors_park, 0);
    assert_int_equal(config.keep_order, 0);
    assert_int_equal(config.gates_see_wildcards, 1);
    assert_int_equal(config.count_cycles, 0);
    assert_int_equal(config.fifo, 0);
    assert_int_equal(config.kube_minor, 0);
    expect_accepted(&config);
}

static void
the_kube_presets_are_those_releases(void **state)
{
    (void)state;
    schedq_config_t config;
    schedq_config_kube_1_34(&config);
    assert_int_equal(config.requeue, SCHEDQ_REQUEUE_HINTS);
    assert_int_equal(config.pop_from_backoff, 1);
    assert_int_equal(config.backoff_window, 1);
    assert_int_equal(config.backoff_at_expiry, 1);
    assert_int_equal(config.backoff_counts, SCHEDQ_COUNT_FAILURES);
    assert_int_equal(config.errors_park, 0);
    assert_int_equal(config.gates_see_wildcards, 0);
    assert_int_equal(config.count_cycles, 1);
    assert_int_equal(config.kube_minor, 34);
    assert_ns_equal(config.max_parked_ns, SEC(300));
    expect_accepted(&config);
    schedq_config_kube_1_26(&config);
    assert_int_equal(config.requeue, SCHEDQ_REQUEUE_MOVE_CYCLE);
    assert_int_equal(config.pop_from_backoff, 0);
    assert_int_equal(config.backoff_window, 0);
    assert_int_equal(config.backoff_at_expiry, 0);
    assert_int_equal(config.backoff_counts, SCHEDQ_COUNT_ATTEMPTS);
    assert_int_equal(config.errors_park, 1);
    assert_int_equal(config.gates_see_wildcards, 1);
    assert_int_equal(config.count_cycles, 1);
    assert_int_equal(config.kube_minor, 26);
    expect_accepted(&config);
    schedq_config_kube_1_12(&config);
    assert_int_equal(config.requeue, SCHEDQ_REQUEUE_MOVE_CYCLE);
    assert_ns_equal(config.max_backoff_ns, 0);
    assert_ns_equal(config.max_parked_ns, SEC(60));
    assert_int_equal(config.fifo, 0);
    assert_int_equal(config.kube_minor, 12);
    expect_accepted(&config);
}

static void
an_unknown_preset_or_size_is_refused(void **state)
{
    (void)state;
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    config.max_pods = 7;
    assert_status(schedq_config_preset(&config, (schedq_preset_t)13), SCHEDQ_INVALID);
    config.struct_size = 0;
    assert_status(schedq_config_preset(&config, SCHEDQ_PRESET_DEFAULT), SCHEDQ_INVALID);
    config.struct_size = sizeof config + 8;
    assert_status(schedq_config_preset(&config, SCHEDQ_PRESET_DEFAULT), SCHEDQ_INVALID);
    assert_int_equal(config.max_pods, 7);
    assert_status(schedq_config_preset(NULL, SCHEDQ_PRESET_DEFAULT), SCHEDQ_INVALID);
}

static void
caps_out_of_range_are_refused(void **state)
{
    (void)state;
    REFUSE(max_pods, 268435456, "0", "268435455");
    REFUSE(max_bands, 1048576, "0", "1048575");
    REFUSE(max_workers, 0, "1", "512");
    REFUSE(max_workers, 513, "1", "512");
    REFUSE(max_events, 34, "35", "65535");
    REFUSE(max_events, 65536, "35", "65535");
    REFUSE(event_log, 3, "0", "1048576");
    REFUSE(event_log, 2097152, "0", "1048576");
    REFUSE(max_lots, 0, "1", "65535");
    REFUSE(max_lots, 65536, "1", "65535");
    REFUSE(fences, 2, "0", "1");
}

static void
the_ends_of_the_caps_are_accepted(void **state)
{
    (void)state;
    ACCEPT(max_pods, 0);
    ACCEPT(max_pods, 1);
    ACCEPT(max_pods, 268435455);
    ACCEPT(max_bands, 0);
    ACCEPT(max_bands, 1048575);
    ACCEPT(max_workers, 1);
    ACCEPT(max_workers, 512);
    ACCEPT(max_events, 0);
    ACCEPT(max_events, 35);
    ACCEPT(max_events, 65535);
    ACCEPT(event_log, 0);
    ACCEPT(event_log, 1);
    ACCEPT(event_log, 1048576);
    ACCEPT(max_lots, 1);
    ACCEPT(max_lots, 65535);
    ACCEPT(fences, SCHEDQ_FENCES_REAL);
}

static void
times_out_of_range_are_refused(void **state)
{
    (void)state;
    REFUSE(initial_backoff_ns, 999999, "1000000", "3600000000000");
    REFUSE(initial_backoff_ns, 3600000000001, "1000000", "3600000000000");
    REFUSE(initial_backoff_ns, 0, "1000000", "3600000000000");
    REFUSE(max_backoff_ns, 999999, "1000000", "86400000000000");
    REFUSE(max_backoff_ns, -1, "1000000", "86400000000000");
    REFUSE(max_backoff_ns, 86400000000001, "1000000", "86400000000000");
    REFUSE(max_parked_ns, 999999, "1000000", "31536000000000000");
    REFUSE(class_patience_ns, 999999, "1000000", "31536000000000000");
    REFUSE(max_parked_ns, 31536000000000001, "1000000", "31536000000000000");
    REFUSE(tick_ns, 99999, "100000", "1000000000");
    REFUSE(tick_ns, 1000000001, "100000", "1000000000");
}

static void
the_ends_of_the_times_are_accepted(void **state)
{
    (void)state;
    ACCEPT(initial_backoff_ns, 1000000);
    ACCEPT(initial_backoff_ns, 3600000000000);
    ACCEPT(max_backoff_ns, 0);
    ACCEPT(max_backoff_ns, 1000000);
    ACCEPT(max_backoff_ns, 86400000000000);
    ACCEPT(max_parked_ns, 1000000);
    ACCEPT(max_parked_ns, 31536000000000000);
    ACCEPT(tick_ns, 100000);
    ACCEPT(tick_ns, 1000000000);
}

static void
flushes_have_a_period_only_where_kube_minor_is_set(void **state)
{
    (void)state;
    schedq_config_t config = default_config();
    config.flush_ns = SEC(30);
    expect_refused(&config, "flush_ns", "30000000000", "kube_minor", "");
    config.kube_minor = 34;
    expect_accepted(&config);
    config.flush_ns = MS(1);
    expect_accepted(&config);
    config.flush_ns = MS(1) - 1;
    expect_refused(&config, "flush_ns", "999999", "1000000", "3600000000000");
    config.flush_ns = SEC(3600);
    expect_accepted(&config);
    config.flush_ns = SEC(3600) + 1;
    expect_refused(&config, "flush_ns", "3600000000001", "1000000", "3600000000000");
    config.flush_ns = -1;
    expect_refused(&config, "flush_ns", "-1", "1000000", "3600000000000");
}

static void
kinds_that_do_not_exist_are_refused(void **state)
{
    (void)state;
    REFUSE(engine, 0, "2", "2");
    REFUSE(engine, 3, "2", "2");
    REFUSE(order, 2, "0", "1");
    REFUSE(objects, 3, "0", "2");
    REFUSE(decide, 2, "0", "1");
    REFUSE(external_clock, 2, "0", "1");
    REFUSE(requeue, 2, "0", "1");
    REFUSE(pop_from_backoff, 2, "0", "1");
    REFUSE(backoff_window, 2, "0", "1");
    REFUSE(backoff_at_expiry, 2, "0", "1");
    REFUSE(backoff_counts, 2, "0", "1");
    REFUSE(errors_park, 2, "0", "1");
    REFUSE(keep_order, 2, "0", "1");
    REFUSE(gates_see_wildcards, 2, "0", "1");
    REFUSE(count_cycles, 2, "0", "1");
    REFUSE(fifo, 2, "0", "1");
    REFUSE(kube_minor, 13, "12", "34");
    REFUSE(kube_minor, 255, "12", "34");
}

static int64_t
some_clock(void *ctx)
{
    (void)ctx;
    return 1;
}

static void
fields_that_contradict_each_other_are_refused(void **state)
{
    (void)state;
    fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
    schedq_config_t config = default_config();
    config.objects = SCHEDQ_OBJECTS_COUNTED;
    expect_refused(&config, "retain", "", "", "");
    config.retain = ledger_retain;
    expect_refused(&config, "release", "", "", "");
    config.release = ledger_release;
    config.object_ctx = &fixture->ledger;
    expect_accepted(&config);
    config.decide = SCHEDQ_DECIDE_HOST;
    expect_refused(&config, "objects", "1", "", "");
    config.objects = SCHEDQ_OBJECTS_BORROWED;
    expect_refused(&config, "objects", "2", "", "");
    config.decide = SCHEDQ_DECIDE_CALLBACKS;
    expect_refused(&config, "retain", "set", "COUNTED", "");
    config.retain = NULL;
    expect_refused(&config, "release", "set", "COUNTED", "");
    config.release = NULL;
    expect_accepted(&config);

    config = default_config();
    config.external_clock = 1;
    config.clock.now_ns = some_clock;
    expect_refused(&config, "clock", "", "", "");
    config.clock.now_ns = NULL;
    expect_accepted(&config);
    config.start_ns = -1;
    expect_refused(&config, "start_ns", "-1", "0", "");
    config.start_ns = 1;
    expect_accepted(&config);
    config.external_clock = 0;
    expect_refused(&config, "start_ns", "1", "external_clock", "");

    config = default_config();
    config.allocator.alloc = fixture->config.allocator.alloc;
    expect_refused(&config, "allocator", "free", "", "");
    config.allocator.alloc = NULL;
    config.allocator.free = fixture->config.allocator.free;
    expect_refused(&config, "allocator", "alloc", "", "");
    fx_free(fixture);
}

static void
reserved_bytes_and_sizes_are_checked(void **state)
{
    (void)state;
    schedq_config_t config = default_config();
    config.struct_size = 12;
    expect_refused(&config, "struct_size", "12", "", "");
    config = default_config();
    config.clock.reserved[0] = 1;
    expect_refused(&config, "reserved", "", "", "");
}

static void
null_arguments_are_refused(void **state)
{
    (void)state;
    schedq_config_t config = default_config();
    schedq_t *queue = (schedq_t *)1;
    char why[100] = "";
    assert_status(schedq_create(NULL, &queue, why, sizeof why), SCHEDQ_INVALID);
    assert_null(queue);
    assert_contains(why, "config");
    assert_status(schedq_create(&config, NULL, why, sizeof why), SCHEDQ_INVALID);
    assert_contains(why, "queue");
    config.tick_ns = 0;
    assert_status(schedq_create(&config, &queue, NULL, 0), SCHEDQ_INVALID);
}

static void
words_are_cut_to_the_room_they_have(void **state)
{
    (void)state;
    schedq_config_t config = default_config();
    schedq_t *queue;
    char why[16];
    memset(why, '?', sizeof why);
    config.max_workers = 513;
    assert_status(schedq_create(&config, &queue, why, 8), SCHEDQ_INVALID);
    assert_true(strlen(why) < 8);
    assert_int_equal(why[8], '?');
}

static void
without_an_allocator_and_a_clock_the_defaults_work(void **state)
{
    (void)state;
    schedq_config_t config = default_config();
    schedq_t *queue;
    schedq_worker_t *worker;
    schedq_popped_t popped;
    assert_ok(schedq_create(&config, &queue, NULL, 0));
    assert_ok(schedq_worker_register(queue, &worker, NULL, 0));
    schedq_pod_spec_t spec = fx_spec(0);
    assert_ok(schedq_add(worker, "ns/a", 4, &spec, NULL));
    assert_ok(schedq_try_pop(worker, &popped));
    assert_true(popped.history.timestamp_ns > 0);
    assert_ok(schedq_done(worker, popped.token));
    assert_ok(schedq_worker_unregister(worker));
    assert_ok(schedq_destroy_with_pods(queue, NULL, 0));
}

static void
the_configuration_is_copied(void **state)
{
    (void)state;
    fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
    fx_queue(fixture);
    schedq_config_t kept = fixture->config;
    memset(&fixture->config, 0xee, sizeof fixture->config);
    fx_add(fixture, "ns/a", 0);
    fx_pop(fixture, "ns/a");
    fixture->config = kept;
    fx_free(fixture);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_default_is_what_the_header_says),
        cmocka_unit_test(the_kube_presets_are_those_releases),
        cmocka_unit_test(an_unknown_preset_or_size_is_refused),
        cmocka_unit_test(caps_out_of_range_are_refused),
        cmocka_unit_test(the_ends_of_the_caps_are_accepted),
        cmocka_unit_test(times_out_of_range_are_refused),
        cmocka_unit_test(the_ends_of_the_times_are_accepted),
        cmocka_unit_test(flushes_have_a_period_only_where_kube_minor_is_set),
        cmocka_unit_test(kinds_that_do_not_exist_are_refused),
        cmocka_unit_test(fields_that_contradict_each_other_are_refused),
        cmocka_unit_test(reserved_bytes_and_sizes_are_checked),
        cmocka_unit_test(null_arguments_are_refused),
        cmocka_unit_test(words_are_cut_to_the_room_they_have),
        cmocka_unit_test(without_an_allocator_and_a_clock_the_defaults_work),
        cmocka_unit_test(the_configuration_is_copied),
    };
    return fx_run_tests(argc, argv, tests);
}
