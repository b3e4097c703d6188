/*
 * The end of a run: every pod is either in the queue or was placed, the queue's own counts agree,
 * and nothing is left reserved on the nodes. Then the figures.
 */
#include "sim.h"

#include "alloc.h"

#include <inttypes.h>
#include <stdlib.h>

static int
visit(void *ctx, const schedq_pod_info_t *info)
{
    sim_t *sim = ctx;
    size_t number = sim_number(info->object);

    if (number >= sim->scenario->pod_count || sim->pods[number].place != SIM_WAITING ||
        sim->pods[number].seen) {
        sim_fail(sim, "the snapshot shows %s (%s), which %s", info->name,
                 schedq_place_name((schedq_place_t)info->place),
                 number < sim->scenario->pod_count && sim->pods[number].seen ? "it showed before"
                                                                             : "does not wait");
        return 0;
    }
    sim->pods[number].seen = true;
    return 1;
}

/* Which pods are in the queue, as it says itself. */
static void
take_snapshot(sim_t *sim)
{
    schedq_status_t status = schedq_snapshot(sim->workers[0].queue, visit, sim);

    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_snapshot: %s", schedq_status_name(status));
    }
}

static void
check_pods(sim_t *sim)
{
    for (size_t i = 0; i < sim->scenario->pod_count; i++) {
        const sim_pod_t *pod = &sim->pods[i];
        if (pod->place != SIM_ENDED && !pod->seen) {
            sim_fail(sim,
                     "pod %s of copy %" PRIu32
                     " is lost: it was not placed and is not in the queue",
                     sim_recorded(sim, i)->name, sim->scenario->pods[i].copy);
            return;
        }
    }
    if (!cluster_is_empty(sim->cluster)) {
        sim_fail(sim, "all pods have ended, but a node is not empty");
    }
}

static void
check_stats(sim_t *sim)
{
    const simulate_result_t *result = sim->result;
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    schedq_status_t status = schedq_stats(sim->queue, &stats);
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_stats: %s", schedq_status_name(status));
        return;
    }
    uint64_t waiting = stats.active + stats.backoff + stats.error_backoff + stats.parked +
                       stats.gated + stats.held;
    uint64_t adds = result->pods_total + result->evictions;
    uint64_t dones = result->pods_scheduled + result->evictions;
    uint64_t failures = result->attempts - dones;
    if (stats.adds != adds || stats.dones != dones || stats.pops != result->attempts ||
        stats.failures != failures || stats.inflight != 0 || waiting != result->pods_unscheduled) {
        sim_fail(sim,
                 "the queue counts %" PRIu64 " adds, %" PRIu64 " pops, %" PRIu64 " dones, %" PRIu64
                 " failures, %" PRIu64 " waiting, %" PRIu64 " in flight; the replay %" PRIu64
                 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", 0",
                 stats.adds, stats.pops, stats.dones, stats.failures, waiting, stats.inflight, adds,
                 result->attempts, dones, failures, result->pods_unscheduled);
    }
}

static void
count_moves(sim_t *sim)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    if (schedq_stats(sim->queue, &stats) == SCHEDQ_OK) {
        sim->result->moves = stats.moves;
    }
}

static unsigned
attempt_bucket(uint32_t attempts)
{
    return attempts == 0 ? 0 : 32 - (unsigned)__builtin_clz(attempts);
}

static void
count_attempts(sim_t *sim)
{
    simulate_result_t *result = sim->result;

    for (size_t i = 0; i < sim->scenario->pod_count; i++) {
        uint32_t attempts = sim->pods[i].attempts;
        result->attempt_buckets[attempt_bucket(attempts)]++;
        result->attempts_max = attempts > result->attempts_max ? attempts : result->attempts_max;
        result->pods_impossible += !sim->pods[i].possible;
    }
}

static int
compare_times(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

/* The smallest wait that at least `permille` of the sorted waits do not exceed. */
static int64_t
percentile(const int64_t *waits, size_t count, size_t permille)
{
    size_t rank = (count * permille + 999) / 1000;

    return waits[rank == 0 ? 0 : rank - 1];
}

static void
sum_up_class(const sim_t *sim, size_t qos, int64_t *waits)
{
    class_waits_t *sums = &sim->result->classes[qos];
    size_t count = 0;

    for (size_t i = 0; i < sim->scenario->pod_count; i++) {
        if (sim_recorded(sim, i)->qos != qos) {
            continue;
        }
        sums->pods++;
        sums->evictions += sim->pods[i].evictions;
        if (sim->pods[i].place == SIM_ENDED) {
            waits[count++] =
                sim->pods[i].bound_ns - sim->scenario->pods[i].arrival_ns - sim->pods[i].lost_ns;
        }
    }
    sums->scheduled = count;
    if (count == 0) {
        return;
    }
    qsort(waits, count, sizeof *waits, compare_times);
    sums->p50_ns = percentile(waits, count, 500);
    sums->p90_ns = percentile(waits, count, 900);
    sums->p99_ns = percentile(waits, count, 990);
    sums->max_ns = waits[count - 1];
}

static void
sum_up_waits(sim_t *sim)
{
    size_t classes = sim->scenario->workload->classes.count;
    int64_t *waits = alloc_array(sim->scenario->pod_count, sizeof *waits);

    sim->result->classes = alloc_array(classes, sizeof *sim->result->classes);
    for (size_t qos = 0; qos < classes; qos++) {
        sum_up_class(sim, qos, waits);
    }
    free(waits);
}

void
sim_account(sim_t *sim)
{
    simulate_result_t *result = sim->result;

    result->pods_unscheduled = result->pods_total - result->pods_scheduled;
    result->virtual_ns = sim->now_ns;
    result->max_parked_ns = sim->max_parked_ns;
    if (!result->interrupted) {
        take_snapshot(sim);
        check_pods(sim);
        check_stats(sim);
    }
    count_moves(sim);
    sim_count_causes(sim);
    count_attempts(sim);
    sum_up_waits(sim);
    for (unsigned i = 0; i < sim->worker_count; i++) {
        costs_merge(&result->costs, &sim->workers[i].costs);
    }
}
