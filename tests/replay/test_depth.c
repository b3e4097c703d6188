/* Bounded samples of the depth, and the heap of running pods. */
#include "files.h"

#include "completions.h"
#include "depth.h"

static void
a_full_set_of_samples_is_thinned_and_keeps_its_span(void **state)
{
    depth_t depth = {.interval_ns = 1};
    (void)state;
    for (int64_t time_ns = 0; time_ns < 100000; time_ns++) {
        if (time_ns >= depth.next_ns) {
            depth_add(&depth, &(depth_sample_t){.time_ns = time_ns});
        }
        assert_true(depth.count <= DEPTH_SAMPLES_MAX);
    }
    assert_true(depth.count > DEPTH_SAMPLES_MAX / 3);
    assert_int_equal(depth.samples[0].time_ns, 0);
    assert_true(depth.samples[depth.count - 1].time_ns > 99000);
    for (size_t i = 1; i < depth.count; i++) {
        assert_int_equal(depth.samples[i].time_ns - depth.samples[i - 1].time_ns,
                         depth.interval_ns);
    }
}

static void
completions_come_out_by_time_and_then_by_pod(void **state)
{
    completions_t completions = {0};
    completion_t last = {.time_ns = -1};
    uint64_t random = 12345;
    (void)state;
    for (uint32_t pod = 0; pod < 1000; pod++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        completions_push(&completions, (int64_t)(random >> 33) % 100, (pod * 7919) % 1000);
    }
    for (unsigned i = 0; i < 1000; i++) {
        completion_t next = completions_pop(&completions);
        assert_true(last.time_ns < next.time_ns ||
                    (last.time_ns == next.time_ns && last.pod < next.pod));
        last = next;
    }
    assert_int_equal(completions.count, 0);
    completions_free(&completions);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_set_of_samples_is_thinned_and_keeps_its_span),
        cmocka_unit_test(completions_come_out_by_time_and_then_by_pod),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
