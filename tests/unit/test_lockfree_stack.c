/*
 * lockfree/memory/stack.h: whatever came to the top meanwhile and left again, a swing that expects
 * what was there before fails.
 */
#include "expect.h"
#include "lockfree/memory/stack.h"

static void
swing(atomic_u64 *stack, uint32_t number)
{
    uint64_t seen = u64_load(stack);
    assert_true(stack_swing(stack, &seen, number));
    assert_int_equal(stack_top(u64_load(stack)), number);
}

static void
a_swing_changes_the_top_and_one_that_is_late_learns_of_it(void **state)
{
    atomic_u64 stack = {0};
    uint64_t seen = u64_load(&stack);
    (void)state;
    assert_int_equal(stack_top(seen), 0);
    swing(&stack, 5);
    assert_false(stack_swing(&stack, &seen, 7));
    assert_int_equal(stack_top(seen), 5);
    assert_true(stack_swing(&stack, &seen, 7));
    assert_int_equal(stack_top(u64_load(&stack)), 7);
}

static void
a_number_that_left_and_came_back_is_another_top(void **state)
{
    atomic_u64 stack = {0};
    (void)state;
    swing(&stack, 5);
    uint64_t seen = u64_load(&stack);
    swing(&stack, 0);
    swing(&stack, 5);
    assert_false(stack_swing(&stack, &seen, 3));
    assert_int_equal(stack_top(u64_load(&stack)), 5);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_swing_changes_the_top_and_one_that_is_late_learns_of_it),
        cmocka_unit_test(a_number_that_left_and_came_back_is_another_top),
    };
    return cmocka_run_group_tests_name("lockfree_stack", tests, NULL, NULL);
}
