/*
 * Evaluations of one snapshot at the same time, and an executor with threads of its own.
 *
 * Each answer is that of an evaluation alone, to the last victim. And it is right: on every node
 * three pods of 100 fill 300, so that exactly the least important one has to go, and the node is
 * chosen whose victim is least important. That is worked out here without the library.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "snapshot.h"

enum {
    NODES = 700,
    PODS_OF_A_NODE = 3,
    THREADS = 4,
    DECISIONS = 50,
    PREEMPTOR = 100,
    WANTED = NODES * 40 / 100
};

static schedq_running_t running[NODES][PODS_OF_A_NODE];

static int32_t
priority_of(int node, int pod)
{
    return (node * 5 + pod * 7) % 120;
}

/* The pod of the node that is least important; -1: none is less important than the preemptor. */
static int
victim_of(int node)
{
    int least = 0;

    for (int pod = 1; pod < PODS_OF_A_NODE; pod++) {
        least = priority_of(node, pod) < priority_of(node, least) ? pod : least;
    }
    return priority_of(node, least) < PREEMPTOR ? least : -1;
}

struct answer {
    uint32_t node;
    schedq_running_t victim;
};

/* In a circle from `offset`, until so many candidates are found as are wanted. */
static struct answer
work_out(uint32_t offset)
{
    int best = -1;
    unsigned found = 0;

    for (unsigned i = 0; i < NODES && found < WANTED; i++) {
        int node = (int)((offset + i) % NODES), victim = victim_of(node);

        if (victim < 0) {
            continue;
        }
        found++;
        if (best < 0 || priority_of(node, victim) < priority_of(best, victim_of(best))) {
            best = node;
        }
    }
    return (struct answer){(uint32_t)best, running[best][victim_of(best)]};
}

static bool
is_right(const schedq_preemption_decision_t *decision, uint32_t offset)
{
    struct answer answer = work_out(offset);

    return decision->outcome == SCHEDQ_PREEMPT_SUCCESS && decision->chosen == answer.node &&
           decision->delete_count == 1 && decision->deletes[0].index == answer.victim.index &&
           decision->candidate_count == WANTED;
}

static void
fill(snapshot_t *snapshot)
{
    char name[40];

    for (int i = 0; i < NODES; i++) {
        (void)snprintf(name, sizeof name, "n%d", i);
        uint32_t node = snapshot_node(snapshot, name, 300);
        assert_int_equal(node, i);
        for (int k = 0; k < PODS_OF_A_NODE; k++) {
            (void)snprintf(name, sizeof name, "ns/p%d-%d", i, k);
            running[i][k] = snapshot_pod(snapshot, name, node, priority_of(i, k), 100);
        }
    }
    assert_int_equal(snapshot->preemptor.priority, PREEMPTOR);
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
    schedq_preemption_decision_t decision = SCHEDQ_PREEMPTION_DECISION_INIT;
    schedq_preemption_t *preemption;

    if (schedq_preemption_create(NULL, &preemption, NULL, 0) != SCHEDQ_OK) {
        (*evaluator->wrong)++;
        return NULL;
    }
    for (uint32_t i = 0; i < DECISIONS; i++) {
        preemptor.offset = (evaluator->first + i) % DECISIONS;
        if (schedq_preempt(evaluator->snapshot->cluster, preemption, &evaluator->snapshot->config,
                           &preemptor, &decision) != SCHEDQ_OK ||
            digest_of(&decision) != evaluator->expected[preemptor.offset] ||
            !is_right(&decision, preemptor.offset)) {
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
        assert_true(is_right(&snapshot->decision, offset));
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
