/*
 * Virtual time. A step takes the earliest time at which anything happens and lets all of it happen:
 * first what time demands of the queue (tick), then completions, nodes that join, pods that arrive,
 * then ends of cycles. Workers that found nothing to pop look again if the queue said that
 * something became poppable.
 */
#include "sim_preempt.h"

#include "support/interrupt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NEVER INT64_MAX
/* The longest sleep without a look whether the program is interrupted. */
#define LOOK_NS UINT64_C(100000000)

/*
 * A tick that is wanted again at once this often, with no time passing in between, is a fault of
 * the queue.
 */
enum { TICKS_IN_VAIN_MAX = 1000 };

static int64_t
earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* When the next pod arrives, node joins or pod ends. */
static int64_t
next_event_ns(const sim_t *sim)
{
    const scenario_t *scenario = sim->scenario;
    int64_t next = NEVER;

    if (sim->next_pod < scenario->pod_count) {
        next = scenario->pods[sim->next_pod].arrival_ns;
    }
    if (sim->next_node < scenario->node_count) {
        next = earlier(next, scenario->nodes[sim->next_node].arrival_ns);
    }
    if (sim->completions.count > 0) {
        next = earlier(next, sim->completions.heap[0].time_ns);
    }
    return next;
}

static int64_t
next_cycle_end_ns(const sim_t *sim)
{
    int64_t next = NEVER;

    for (unsigned i = 0; i < sim->worker_count; i++) {
        if (sim->workers[i].state == SIM_SERVING) {
            next = earlier(next, sim->workers[i].until_ns);
        }
    }
    return next;
}

/* When the queue wants a tick; a time that has passed counts as the present. */
static int64_t
next_tick_ns(const sim_t *sim)
{
    int64_t deadline = __atomic_load_n(&sim->words->next_deadline_ns, __ATOMIC_ACQUIRE);

    if (deadline == SCHEDQ_NO_DEADLINE) {
        return NEVER;
    }
    /* Whatever lies in the past means "at once". */
    return deadline < sim->now_ns + SIM_CLOCK_OFFSET_NS ? sim->now_ns
                                                        : deadline - SIM_CLOCK_OFFSET_NS;
}

static void
check(sim_t *sim, schedq_status_t status, const char *operation, const char *what,
      const sim_worker_t *worker)
{
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "%s(%s): %s: %s", operation, what, schedq_status_name(status),
                 schedq_worker_error(worker->queue));
    }
}

static void
tick(sim_t *sim, sim_worker_t *worker)
{
    schedq_result_t result;

    uint64_t start = costs_now();
    schedq_status_t status = schedq_tick(worker->queue, NULL, &result);
    costs_record(&worker->costs, COST_TICK, start);
    check(sim, status, "schedq_tick", "", worker);
    if (result.poppable != 0) {
        sim_wake_idle(sim);
    }
}

static void
move_all(sim_t *sim, sim_worker_t *worker, const schedq_change_t *change, uint32_t node,
         const char *what)
{
    schedq_result_t result;

    sim_note_event(sim, node);
    if (sim->options->withhold != 0 && sim->result->events % sim->options->withhold == 0) {
        return;
    }

    uint64_t start = costs_now();
    schedq_status_t status = schedq_notify(worker->queue, change, &result);
    costs_record(&worker->costs, COST_MOVE_ALL, start);
    check(sim, status, "schedq_notify", what, worker);
    sim->quiet_ns = sim->now_ns;
    if (result.poppable != 0) {
        sim_wake_idle(sim);
    }
}

/* Hints get the node: the pod may be elsewhere by the time they are asked. */
static void
leave_node(sim_t *sim, sim_worker_t *worker, uint32_t number)
{
    const sim_pod_t *pod = &sim->pods[number];
    schedq_change_t change = SCHEDQ_CHANGE_INIT;

    cluster_release(sim->cluster, pod->node, sim_recorded(sim, number), pod->gpus);
    sim_preempt_ended(sim, number);
    change.event = SCHEDQ_EVENT_ASSIGNED_POD_DELETE;
    change.old_object = sim_object(pod->node);
    move_all(sim, worker, &change, pod->node, "a pod ended");
}

static void
end_pod(sim_t *sim, sim_worker_t *worker)
{
    completion_t ended = completions_pop(&sim->completions);

    sim->pods[ended.pod].place = SIM_ENDED;
    leave_node(sim, worker, ended.pod);
}

static void
join_node(sim_t *sim, sim_worker_t *worker)
{
    size_t node = sim->next_node++;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;

    cluster_join(sim->cluster, (uint32_t)node);
    sim_preempt_node_joined(sim, (uint32_t)node);
    change.event = SCHEDQ_EVENT_NODE_ADD;
    change.new_object = sim_object(node);
    move_all(sim, worker, &change, (uint32_t)node, "a node joined");
}

void
sim_pod_name(const sim_t *sim, size_t pod, char name[SCHEDQ_NAME_MAX + 1])
{
    (void)snprintf(name, SCHEDQ_NAME_MAX + 1, "copy-%" PRIu32 "/%s", sim->scenario->pods[pod].copy,
                   sim_recorded(sim, pod)->name);
}

static void
add_pod(sim_t *sim, sim_worker_t *worker, size_t number)
{
    char name[SCHEDQ_NAME_MAX + 1];
    schedq_result_t result;

    sim_pod_name(sim, number, name);
    schedq_pod_spec_t spec = {
        .struct_size = sizeof(schedq_pod_spec_t),
        .object = sim_object(number),
        .priority = sim->options->priority[sim_recorded(sim, number)->qos],
        .class_id = sim_class(sim, number),
    };
    sim_count_waiting(sim, number);
    size_t length = strlen(name);

    uint64_t start = costs_now();
    schedq_status_t status = schedq_add(worker->queue, name, length, &spec, &result);
    costs_record(&worker->costs, COST_ADD, start);
    check(sim, status, "schedq_add", name, worker);
    sim->pods[number].handle = result.pod;
    sim->quiet_ns = sim->now_ns;
    if (result.poppable != 0) {
        sim_wake_idle(sim);
    }
}

void
sim_evict(sim_t *sim, sim_worker_t *worker, uint32_t number)
{
    sim_pod_t *pod = &sim->pods[number];

    completions_remove(&sim->completions, number);
    pod->lost_ns += sim->now_ns - pod->bound_ns;
    pod->evictions++;
    sim->result->evictions++;
    sim->result->wasted_ns += sim->now_ns - pod->bound_ns;
    sim->result->pods_scheduled--;
    sim->possible_left++;
    leave_node(sim, worker, number);
    add_pod(sim, worker, number);
}

static void
end_cycles(sim_t *sim, sim_worker_t *worker)
{
    for (unsigned i = 0; i < sim->worker_count; i++) {
        sim_worker_t *ending = &sim->workers[i];
        if (ending->state == SIM_SERVING && ending->until_ns <= sim->now_ns) {
            sim_preempt_decide(sim, worker, ending);
            sim_wake(ending);
        }
    }
}

static void
sample_depth(sim_t *sim)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    schedq_status_t status = schedq_stats(sim->queue, &stats);
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_stats: %s", schedq_status_name(status));
        return;
    }
    depth_add(&sim->result->depth, &(depth_sample_t){
                                       .time_ns = sim->now_ns,
                                       .active = stats.active,
                                       .backoff = stats.backoff + stats.error_backoff,
                                       .parked = stats.parked + stats.gated + stats.held,
                                       .inflight = stats.inflight,
                                       .running = sim->completions.count,
                                   });
}

/*
 * Paced replay: sleeps until the real time that stands for `virtual_ns`. The first arrival is the
 * start of both.
 */
static void
wait_real_time(const sim_t *sim, int64_t virtual_ns)
{
    double span = (double)(virtual_ns - sim->scenario->pods[0].arrival_ns) / sim->options->pace;

    if (span <= 0) {
        return;
    }
    uint64_t wake = sim->wall_start + (uint64_t)span;
    for (uint64_t now = costs_now(); now < wake && !interrupt_came(); now = costs_now()) {
        uint64_t rest = wake - now < LOOK_NS ? wake - now : LOOK_NS;
        const struct timespec nap = {.tv_nsec = (long)rest};
        (void)nanosleep(&nap, NULL);
    }
}

static void
show_progress(sim_t *sim)
{
    uint64_t now = costs_now();

    if (now - sim->wall_shown < NS_PER_SECOND / 4) {
        return;
    }
    sim->wall_shown = now;
    fprintf(stderr,
            "\r%5.1f %%  day %.2f  arrived %zu of %zu  scheduled %" PRIu64 "  waiting %" PRIu64
            "  attempts %" PRIu64 " ",
            100.0 * (double)sim->next_pod / (double)sim->scenario->pod_count,
            (double)sim->now_ns / (double)(86400 * NS_PER_SECOND), sim->next_pod,
            sim->scenario->pod_count, sim->result->pods_scheduled, sim->waiting,
            sim->result->attempts);
    fflush(stderr);
}

/* Nothing can happen any more that would place another pod. */
static bool
is_over(const sim_t *sim)
{
    return next_event_ns(sim) == NEVER && next_cycle_end_ns(sim) == NEVER &&
           sim->possible_left == 0 && !sim_preempt_is_due(sim);
}

/*
 * With all nodes empty and nothing arriving, the queue has to give back every pod that can be
 * placed: at the latest when it was parked for too long. Twice that time, the backoff and the time
 * to serve the others are more than enough.
 */
static bool
is_lost(const sim_t *sim)
{
    int64_t service_ns = sim->options->service_ns * (int64_t)(sim->waiting + 1);

    return next_event_ns(sim) == NEVER && sim->possible_left > 0 &&
           sim->now_ns - sim->quiet_ns >
               2 * (sim->max_parked_ns + sim->max_backoff_ns + service_ns + 60 * NS_PER_SECOND);
}

static void
let_happen(sim_t *sim, sim_worker_t *worker, int64_t time_ns)
{
    const scenario_t *scenario = sim->scenario;
    bool ticks = next_tick_ns(sim) <= time_ns;
    uint64_t first_event = sim->result->events;

    sim->ticks_in_vain = ticks && time_ns == sim->now_ns ? sim->ticks_in_vain + 1 : 0;
    sim->now_ns = time_ns;
    schedq_clock_advance(sim->queue, time_ns + SIM_CLOCK_OFFSET_NS);
    sim_preempt_carry_out(sim, worker);
    if (ticks) {
        tick(sim, worker);
    }
    while (sim->completions.count > 0 && sim->completions.heap[0].time_ns <= time_ns) {
        end_pod(sim, worker);
    }
    while (sim->next_node < scenario->node_count &&
           scenario->nodes[sim->next_node].arrival_ns <= time_ns) {
        join_node(sim, worker);
    }
    while (sim->next_pod < scenario->pod_count &&
           scenario->pods[sim->next_pod].arrival_ns <= time_ns) {
        add_pod(sim, worker, sim->next_pod++);
    }
    sim_check_parked(sim, worker, first_event);
    end_cycles(sim, worker);
}

void
sim_step(sim_t *sim, sim_worker_t *worker)
{
    int64_t time_ns =
        sim_preempt_is_due(sim)
            ? sim->now_ns
            : earlier(earlier(next_event_ns(sim), next_cycle_end_ns(sim)), next_tick_ns(sim));

    if (is_over(sim)) {
        sim->stopped = true;
    } else if (interrupt_came()) {
        sim->result->interrupted = true;
        sim->stopped = true;
    } else if (time_ns == NEVER || is_lost(sim)) {
        sim_fail(sim,
                 "%" PRIu64
                 " pods that fit on an empty node stay in the queue, and nothing brings them back",
                 sim->possible_left);
    } else if (sim->ticks_in_vain > TICKS_IN_VAIN_MAX) {
        sim_fail(sim, "after %d ticks at %.9f s the queue still wants one at once",
                 TICKS_IN_VAIN_MAX, (double)sim->now_ns / (double)NS_PER_SECOND);
    }
    if (sim->stopped) {
        return;
    }
    if (sim->options->pace > 0) {
        wait_real_time(sim, time_ns);
    }
    let_happen(sim, worker, time_ns);
    if (sim->now_ns >= sim->result->depth.next_ns) {
        sample_depth(sim);
    }
    if (sim->options->progress) {
        show_progress(sim);
    }
}
