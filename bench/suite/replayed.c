/* Replays of the bundled trace. REPLAY_TRACE comes from the build. */
#include "replayed.h"

#include "load.h"
#include "simulate.h"

#include <stdlib.h>
#include <sys/resource.h>

struct replayed_trace {
    workload_t workload;
    scenario_t scenario;
    int32_t *priorities;
    char why[400];
};

replayed_trace_t *
replayed_open(uint32_t copies, double nodes_fraction)
{
    const load_files_t files = {.trace = REPLAY_TRACE};
    const scenario_options_t options = {.seed = 1,
                                        .copies = copies,
                                        .jitter_ns = 600 * NS_PER_SECOND,
                                        .nodes_fraction = nodes_fraction};
    input_problems_t problems = {.out = stderr};
    replayed_trace_t *trace = calloc(1, sizeof *trace);

    if (trace == NULL) {
        return NULL;
    }
    workload_init(&trace->workload);
    if (!workload_load(&trace->workload, &files, &problems)) {
        workload_clear(&trace->workload);
        free(trace);
        return NULL;
    }
    const workload_labels_t *classes = &trace->workload.classes;

    trace->priorities = calloc(classes->count, sizeof *trace->priorities);
    for (size_t i = 0; trace->priorities != NULL && i < classes->count; i++) {
        trace->priorities[i] = workload_default_priority(classes->names[i]);
    }
    scenario_init(&trace->scenario, &trace->workload, &options);
    return trace;
}

void
replayed_close(replayed_trace_t *trace)
{
    scenario_clear(&trace->scenario);
    workload_clear(&trace->workload);
    free(trace->priorities);
    free(trace);
}

static double
user_cpu_ns(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_utime.tv_sec * 1e9 + (double)usage.ru_utime.tv_usec * 1e3;
}

static double
median_of(const simulate_result_t *result, cost_t cost)
{
    return (double)histogram_percentile(result->costs.histograms[cost], 50);
}

const char *
replayed_run(replayed_trace_t *trace, uint8_t engine, replayed_t *out)
{
    const simulate_options_t options = {.engine = engine,
                                        .preset = SCHEDQ_PRESET_DEFAULT,
                                        .preemption = SIMULATE_NO_PREEMPTION,
                                        .workers = 1,
                                        .service_ns = 1000000,
                                        .priority = trace->priorities};
    simulate_result_t result = {0};
    double begin_ns = user_cpu_ns();
    bool done = simulate(&trace->scenario, &options, &result, trace->why, sizeof trace->why);

    *out = (replayed_t){.cpu_ns = user_cpu_ns() - begin_ns, .digest = result.digest};
    if (done) {
        out->tick_ns = median_of(&result, COST_TICK);
        out->pop_ns = median_of(&result, COST_POP);
        out->add_unschedulable_ns = median_of(&result, COST_ADD_UNSCHEDULABLE);
        out->move_all_ns = median_of(&result, COST_MOVE_ALL);
    }
    simulate_result_free(&result);
    return done ? NULL : trace->why;
}
