/* engine/policy/requeue.h: is an event worth another attempt. SPEC 4.2. */
#include "expect.h"
#include "policy/requeue.h"

typedef struct answer {
    schedq_hint_t says;
    unsigned calls;
    uint64_t pod, old_object, new_object;
} answer_t;

static schedq_hint_t
give_answer(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    answer_t *answer = ctx;
    answer->calls++;
    answer->pod = pod;
    answer->old_object = old_object;
    answer->new_object = new_object;
    return answer->says;
}

static enum strategy
ask(answer_t *answers, uint32_t count, uint64_t unschedulable, uint64_t pending, uint64_t always,
    bool ask_hints)
{
    struct hint_entry entries[4];
    uint64_t calls = 100;
    unsigned before = 0, after = 0;
    for (uint32_t i = 0; i < count; i++) {
        entries[i] =
            (struct hint_entry){.bit = UINT64_C(1) << i, .hint = give_answer, .ctx = &answers[i]};
        before += answers[i].calls;
    }
    struct hint_list list = {entries, count, always};
    struct requeue_question question = {7, 8, 9, unschedulable, pending, ask_hints, false};
    enum strategy strategy = requeue_for_event(&list, &question, &calls);
    for (uint32_t i = 0; i < count; i++)
        after += answers[i].calls;
    assert_int_equal(calls, 100 + after - before);
    return strategy;
}

static void
without_rejectors_anything_helps_after_the_backoff(void **state)
{
    (void)state;
    answer_t answer = {.says = SCHEDQ_HINT_SKIP};
    assert_int_equal(ask(&answer, 1, 0, 0, 0, true), STRATEGY_AFTER_BACKOFF);
    assert_int_equal(answer.calls, 0);
}

static void
only_rejectors_are_asked(void **state)
{
    (void)state;
    answer_t answers[2] = {{.says = SCHEDQ_HINT_QUEUE}, {.says = SCHEDQ_HINT_SKIP}};
    assert_int_equal(ask(answers, 2, 2, 0, 0, true), STRATEGY_SKIP);
    assert_int_equal(answers[0].calls, 0);
    assert_int_equal(answers[1].calls, 1);
    assert_int_equal(answers[1].pod, 7);
    assert_int_equal(answers[1].old_object, 8);
    assert_int_equal(answers[1].new_object, 9);
}

static void
one_queue_is_enough(void **state)
{
    (void)state;
    answer_t answers[3] = {
        {.says = SCHEDQ_HINT_SKIP}, {.says = SCHEDQ_HINT_QUEUE}, {.says = SCHEDQ_HINT_QUEUE}};
    assert_int_equal(ask(answers, 3, 7, 0, 0, true), STRATEGY_AFTER_BACKOFF);
    assert_int_equal(answers[2].calls, 0);
}

static void
errors_and_nonsense_count_as_queue(void **state)
{
    (void)state;
    answer_t answer = {.says = SCHEDQ_HINT_ERROR};
    assert_int_equal(ask(&answer, 1, 1, 0, 0, true), STRATEGY_AFTER_BACKOFF);
    answer.says = (schedq_hint_t)42;
    assert_int_equal(ask(&answer, 1, 1, 0, 0, true), STRATEGY_AFTER_BACKOFF);
}

static void
a_pending_plugin_skips_the_backoff_wherever_it_stands(void **state)
{
    (void)state;
    answer_t answers[2] = {{.says = SCHEDQ_HINT_QUEUE}, {.says = SCHEDQ_HINT_QUEUE}};
    assert_int_equal(ask(answers, 2, 1, 2, 0, true), STRATEGY_IMMEDIATELY);
    assert_int_equal(ask(answers, 2, 2, 1, 0, true), STRATEGY_IMMEDIATELY);
    assert_int_equal(ask(answers, 2, 1, 1, 0, true), STRATEGY_IMMEDIATELY);
    answers[1].says = SCHEDQ_HINT_SKIP;
    assert_int_equal(ask(answers, 2, 1, 2, 0, true), STRATEGY_AFTER_BACKOFF);
}

static void
plugins_that_did_not_register_do_not_help(void **state)
{
    (void)state;
    assert_int_equal(ask(NULL, 0, 1, 0, 0, true), STRATEGY_SKIP);
    assert_int_equal(ask(NULL, 0, 0, 1, 0, true), STRATEGY_SKIP);
}

static void
late_names_want_every_event(void **state)
{
    (void)state;
    assert_int_equal(ask(NULL, 0, SCHEDQ_REJECTOR_OTHERS, 0, SCHEDQ_REJECTOR_OTHERS, true),
                     STRATEGY_AFTER_BACKOFF);
    assert_int_equal(ask(NULL, 0, 0, SCHEDQ_REJECTOR_OTHERS, SCHEDQ_REJECTOR_OTHERS, true),
                     STRATEGY_IMMEDIATELY);
    answer_t answer = {.says = SCHEDQ_HINT_QUEUE};
    assert_int_equal(ask(&answer, 1, SCHEDQ_REJECTOR_OTHERS, 1, SCHEDQ_REJECTOR_OTHERS, true),
                     STRATEGY_IMMEDIATELY);
}

static void
without_asking_registering_is_enough(void **state)
{
    (void)state;
    answer_t answer = {.says = SCHEDQ_HINT_SKIP};
    assert_int_equal(ask(&answer, 1, 1, 0, 0, false), STRATEGY_AFTER_BACKOFF);
    assert_int_equal(ask(&answer, 1, 2, 0, 0, false), STRATEGY_SKIP);
    assert_int_equal(answer.calls, 0);
}

/* Not even by who asks no hints, or for a late name. */
static void
an_event_whose_objects_are_gone_never_skips_the_backoff(void **state)
{
    (void)state;
    answer_t answer = {.says = SCHEDQ_HINT_SKIP};
    struct hint_entry entry = {.bit = 1, .hint = give_answer, .ctx = &answer};
    struct hint_list list = {&entry, 1, 0};
    struct requeue_question question = {.pending = 1, .ask = true, .opaque = true};
    uint64_t calls = 0;
    assert_int_equal(requeue_for_event(&list, &question, &calls), STRATEGY_AFTER_BACKOFF);
    question.ask = false;
    assert_int_equal(requeue_for_event(&list, &question, &calls), STRATEGY_AFTER_BACKOFF);
    list.always = 1;
    assert_int_equal(requeue_for_event(&list, &question, &calls), STRATEGY_AFTER_BACKOFF);
    question.pending = 2;
    list.always = 0;
    assert_int_equal(requeue_for_event(&list, &question, &calls), STRATEGY_SKIP);
    assert_int_equal(calls, 0);
}

static void
a_plugin_without_a_hint_wants_its_events(void **state)
{
    (void)state;
    struct hint_entry entry = {.bit = 1};
    struct hint_list list = {&entry, 1, 0};
    struct requeue_question question = {.unschedulable = 1, .ask = true};
    uint64_t calls = 0;
    assert_int_equal(requeue_for_event(&list, &question, &calls), STRATEGY_AFTER_BACKOFF);
    assert_int_equal(calls, 0);
}

static void
the_strongest_answer_depends_on_who_waits(void **state)
{
    (void)state;
    assert_int_equal(requeue_strongest(0), STRATEGY_AFTER_BACKOFF);
    assert_int_equal(requeue_strongest(4), STRATEGY_IMMEDIATELY);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_rejectors_anything_helps_after_the_backoff),
        cmocka_unit_test(only_rejectors_are_asked),
        cmocka_unit_test(one_queue_is_enough),
        cmocka_unit_test(errors_and_nonsense_count_as_queue),
        cmocka_unit_test(a_pending_plugin_skips_the_backoff_wherever_it_stands),
        cmocka_unit_test(plugins_that_did_not_register_do_not_help),
        cmocka_unit_test(late_names_want_every_event),
        cmocka_unit_test(without_asking_registering_is_enough),
        cmocka_unit_test(an_event_whose_objects_are_gone_never_skips_the_backoff),
        cmocka_unit_test(a_plugin_without_a_hint_wants_its_events),
        cmocka_unit_test(the_strongest_answer_depends_on_who_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
