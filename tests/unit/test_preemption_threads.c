/* Evaluations of one snapshot at the same time, and an executor with threads of its own: every answer is the lone one's. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "snapshot.h"

enum { NODES = 700, THREADS = 4, DECISIONS = 50 };

static void
fill(snapshot_t *snapshot)
{
    char name[40];

    for (int i = 0; i < NODES; i++) {
        (void)snprintf(name, sizeof name, "n%d", i);
        uint32_t node = snapshot_node(snapshot, name, 300);
        for (int k = 0; k < 3; k++) {
            (void)snprintf(name, sizeof name, "ns/p%d-%d", i, k);
            (void)snapshot_pod(snapshot, name, node, (i * 5 + k * 7) % 120, 100);
        }
    }
    snapshot->config.candidates_percentage = 40;
}

/* What a decision comes to, in one number. */
static uint64_t
digest_of(const schedq_preemption_decision_t *decision)
{
    uint64_t digest = decision->chosen;

    for (uint32_t i = 0; i < decision->candidate_count; i++) {
        digest = digest * 31 + decision->candidates[i].node;
        for (uint32_t k = 0; k < decision->candidates[i].victim_count; k++) {
            digest = digest * 31 + decision->candidates[i].victims[k].index;
        }
    }
    return digest * 31 + decision->rejected;
}

struct evaluator {
    const snapshot_t *snapshot;
    const uint64_t *expected; /* by offset */
    atomic_uint *wrong;
    uint32_t first;
};

static void *
evaluate(void *argument)
{
    const struct evaluator *evaluator = argument;
    schedq_preemptor_t preemptor = evaluator->snapshot->preemptor;
    schedq_preemption_decision_t decision;
    schedq_preemption_t *preemption;

    schedq_preemption_decision_init(&decision);
    if (schedq_preemption_create(NULL, &preemption, NULL, 0) != SCHEDQ_OK) {
        (*evaluator->wrong)++;
        return NULL;
    }
    for (uint32_t i = 0; i < DECISIONS; i++) {
        preemptor.offset = (evaluator->first + i) % DECISIONS;
        if (schedq_preempt(evaluator->snapshot->cluster, preemption, &evaluator->snapshot->config, &preemptor,
                           &decision) != SCHEDQ_OK ||
            digest_of(&decision) != evaluator->expected[preemptor.offset]) {
            (*evaluator->wrong)++;
        }
    }
    schedq_preemption_destroy(preemption);
    return NULL;
}

static void
expect_all(snapshot_t *snapshot, uint64_t *expected)
{
    for (uint32_t offset = 0; offset < DECISIONS; offset++) {
        snapshot->preemptor.offset = offset;
        snapshot_decide(snapshot);
        expected[offset] = digest_of(&snapshot->decision);
    }
}

static void
evaluations_may_overlap(void **state)
{
    snapshot_t *snapshot = *state;
    struct evaluator evaluators[THREADS];
    pthread_t threads[THREADS];
    uint64_t expected[DECISIONS];
    atomic_uint wrong = 0;

    fill(snapshot);
    expect_all(snapshot, expected);
    for (uint32_t i = 0; i < THREADS; i++) {
        evaluators[i] = (struct evaluator){snapshot, expected, &wrong, i * 11};
        assert_int_equal(pthread_create(&threads[i], NULL, evaluate, &evaluators[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(wrong, 0);
}

struct job {
    void (*task)(void *argument, uint32_t i);
    void *argument;
    uint32_t number;
};

static void *
do_job(void *argument)
{
    const struct job *job = argument;

    job->task(job->argument, job->number);
    return NULL;
}

static void
run_on_threads(void *ctx, void (*task)(void *argument, uint32_t i), void *argument, uint32_t count)
{
    struct job jobs[THREADS];
    pthread_t threads[THREADS];

    (void)ctx;
    for (uint32_t i = 0; i < count; i++) {
        jobs[i] = (struct job){task, argument, i};
        assert_int_equal(pthread_create(&threads[i], NULL, do_job, &jobs[i]), 0);
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

static void
threads_of_an_executor_change_nothing(void **state)
{
    snapshot_t *snapshot = *state;
    const schedq_executor_t executor = {.run = run_on_threads, .tasks = THREADS};
    uint64_t alone[DECISIONS];
    uint64_t together[DECISIONS];

    fill(snapshot);
    expect_all(snapshot, alone);
    snapshot->preemptor.executor = &executor;
    expect_all(snapshot, together);
    assert_memory_equal(alone, together, sizeof alone);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        snapshot_test(evaluations_may_overlap),
        snapshot_test(threads_of_an_executor_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
