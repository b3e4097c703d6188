/* engine/policy/gating.h: who is asked in which order, and which events a gated pod hears of. */
#include "expect.h"
#include "policy/gating.h"

typedef struct door {
    int opens;
    unsigned asked, turn;
} door_t;

static unsigned turn;

static int
knock(void *ctx, uint64_t pod)
{
    door_t *door = ctx;
    assert_int_equal(pod, 55);
    door->asked++;
    door->turn = ++turn;
    return door->opens;
}

/* Three gates: plugins number 2, 5 and 40. */
static uint8_t
ask(door_t doors[3], uint8_t current, uint64_t expected_calls)
{
    static const uint8_t numbers[] = {2, 5, 40};
    struct gate gates[3];
    uint64_t calls = 10;
    turn = 0;
    for (unsigned i = 0; i < 3; i++) {
        doors[i].asked = doors[i].turn = 0;
        gates[i] = (struct gate){.number = numbers[i], .pre_enqueue = knock, .ctx = &doors[i]};
    }
    uint8_t refusing = gating_ask(gates, 3, current, 55, &calls);
    assert_int_equal(calls, 10 + expected_calls);
    return refusing;
}

static void
all_open_is_no_gate(void **state)
{
    (void)state;
    door_t doors[3] = {{.opens = 1}, {.opens = -1}, {.opens = 77}};
    assert_int_equal(ask(doors, 0, 3), 0);
    assert_int_equal(ask(doors, 6, 3), 0);
}

static void
the_first_that_refuses_is_the_gate(void **state)
{
    (void)state;
    door_t doors[3] = {{.opens = 1}, {.opens = 0}, {.opens = 0}};
    assert_int_equal(ask(doors, 0, 2), 6);
    assert_int_equal(doors[2].asked, 0);
}

static void
the_present_gate_is_asked_first_and_once(void **state)
{
    (void)state;
    door_t doors[3] = {{.opens = 0}, {.opens = 1}, {.opens = 0}};
    assert_int_equal(ask(doors, 41, 1), 41);
    doors[2].opens = 1;
    assert_int_equal(ask(doors, 41, 2), 3);
    assert_int_equal(doors[2].turn, 1);
    doors[0].opens = 1;
    assert_int_equal(ask(doors, 41, 3), 0);
    assert_int_equal(doors[2].asked, 1);
}

static void
a_present_gate_that_is_no_gate_is_ignored(void **state)
{
    (void)state;
    door_t doors[3] = {{.opens = 1}, {.opens = 1}, {.opens = 0}};
    assert_int_equal(ask(doors, 9, 3), 41);
}

static void
gates_are_numbered_from_one(void **state)
{
    (void)state;
    assert_true(gate_bit(0) == 0);
    assert_true(gate_bit(1) == 1);
    assert_true(gate_bit(63) == UINT64_C(1) << 62);
    assert_true(gate_bit(64) == 0);
    assert_true(gate_bit(255) == 0);
}

static void
what_a_gated_pod_hears_depends_on_the_release(void **state)
{
    (void)state;
    assert_true(gating_hears(GATING_OWN_EVENTS, false, true));
    assert_false(gating_hears(GATING_OWN_EVENTS, false, false));
    assert_false(gating_hears(GATING_OWN_EVENTS, true, false));
    assert_true(gating_hears(GATING_OWN_EVENTS, true, true));
    assert_true(gating_hears(GATING_OWN_AND_WILDCARDS, true, false));
    assert_false(gating_hears(GATING_OWN_AND_WILDCARDS, false, false));
    assert_true(gating_hears(GATING_OWN_AND_WILDCARDS, false, true));
    assert_true(gating_hears(GATING_ALL_EVENTS, false, false));
    assert_true(gating_hears(GATING_ALL_EVENTS, true, false));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_open_is_no_gate),
        cmocka_unit_test(the_first_that_refuses_is_the_gate),
        cmocka_unit_test(the_present_gate_is_asked_first_and_once),
        cmocka_unit_test(a_present_gate_that_is_no_gate_is_ignored),
        cmocka_unit_test(gates_are_numbered_from_one),
        cmocka_unit_test(what_a_gated_pod_hears_depends_on_the_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
