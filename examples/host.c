/*
 * A scheduler that the queue never calls back: what a binding for Go, Java or Python does.
 *
 * Hints stay on the host's side. A node joins: the host stamps the event, asks for candidates,
 * judges them, and applies its decision to each. A cycle fails: the host says up to which event it
 * judged the failure; if a newer one concerns the rejectors, the queue answers RETRY. Time is a
 * word that the host raises, so the output is the same in every run.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <schedq/schedq.h>

#define SECOND_NS INT64_C(1000000000)

struct pod {
    const char *name;
    int64_t cpu_milli;
};

struct node {
    const char *name;
    int64_t free_milli;
};

/* Objects are indices into tables of the host; nothing in C points at them. */
static const struct pod pods[] = {{"default/small", 2000}, {"default/big", 8000}};
static const struct node nodes[] = {{"node-a", 1000}, {"node-b", 4000}, {"node-c", 16000}};
static size_t node_count = 1;

/*
 * The host's log of events. A host that drops old entries must judge "it helps" for what it
 * dropped.
 */
static struct {
    uint64_t sequence;
    uint64_t node;
} event_log[8];
static size_t event_count;

static void
require(schedq_status_t status, const char *call, const char *why)
{
    if (status != SCHEDQ_OK) {
        fprintf(stderr, "%s: %s %s\n", call, schedq_status_name(status), why);
        exit(EXIT_FAILURE);
    }
}

/* Asks for the words here, after the call: of two arguments C may evaluate either one first. */
static void
worker_require(schedq_worker_t *worker, schedq_status_t status, const char *call)
{
    require(status, call, schedq_worker_error(worker));
}

static schedq_t *
create_queue(uint64_t *fit)
{
    char why[200] = "";
    schedq_t *queue;
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    const schedq_interest_t interest = {.resource = "Node", .actions = SCHEDQ_ACTION_ADD};

    config.decide = SCHEDQ_DECIDE_HOST;
    config.external_clock = 1;
    config.start_ns = SECOND_NS;
    require(schedq_create(&config, &queue, why, sizeof why), "schedq_create", why);

    plugin.name = "Fit";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    require(schedq_plugin_register(queue, &plugin, fit, why, sizeof why), "schedq_plugin_register",
            why);
    return queue;
}

static void
add_pod(schedq_worker_t *worker, uint64_t index)
{
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;

    spec.object = index;
    worker_require(worker,
                   schedq_add(worker, pods[index].name, strlen(pods[index].name), &spec, NULL),
                   "schedq_add");
}

static int
fits(uint64_t pod, uint64_t node)
{
    return nodes[node].free_milli >= pods[pod].cpu_milli;
}

/* Does an event after `seen`, up to `sequence`, help this pod? */
static int
event_helps(uint64_t pod, uint64_t seen, uint64_t sequence)
{
    for (size_t i = 0; i < event_count; i++) {
        if (event_log[i].sequence > seen && event_log[i].sequence <= sequence &&
            fits(pod, event_log[i].node)) {
            return 1;
        }
    }
    return 0;
}

/* Judges one candidate again and again until the decision meets the pod it was taken for. */
static void
try_again_if_it_fits(schedq_worker_t *worker, const schedq_candidate_t *candidate, uint64_t node)
{
    schedq_decision_t decision = SCHEDQ_DECISION_INIT;
    schedq_result_t result;
    schedq_status_t status;
    uint64_t pod = candidate->object;

    decision.ref = candidate->ref;
    decision.place = SCHEDQ_BACKOFF; /* acts as active if the backoff is over */
    decision.event = SCHEDQ_EVENT_NODE_ADD;
    while (fits(pod, node)) {
        status = schedq_apply(worker, &decision, &result);
        if (status == SCHEDQ_CHANGED) { /* updated meanwhile: judge the new object */
            decision.ref = result.ref;
            pod = result.object;
            continue;
        }
        if (status != SCHEDQ_GONE) { /* GONE: the pod does not wait any more */
            worker_require(worker, status, "schedq_apply");
            printf("  %s: to %s\n", pods[pod].name,
                   schedq_place_name((schedq_place_t)result.place));
        }
        return;
    }
    printf("  %s: does not help\n", pods[pod].name);
}

/*
 * The order matters: log the event, stamp the plugins, look for candidates. A thread that parks a
 * pod after the stamp gets RETRY.
 */
static void
node_joins(schedq_worker_t *worker, const schedq_words_t *words, uint64_t fit)
{
    uint64_t node = node_count++;
    uint64_t sequence;
    schedq_query_t query = SCHEDQ_QUERY_INIT;
    schedq_candidate_t candidates[64];
    size_t count;
    schedq_status_t status;

    printf("%s joins\n", nodes[node].name);
    require(schedq_event_begin(worker, &sequence), "schedq_event_begin", "");
    event_log[event_count].sequence = sequence;
    event_log[event_count++].node = node;
    worker_require(worker, schedq_event_stamp(worker, sequence, 0, fit), "schedq_event_stamp");
    if (__atomic_load_n(&words->parked, __ATOMIC_ACQUIRE) == 0) {
        return;
    }
    query.rejectors = fit;
    while ((status = schedq_candidates(worker, &query, candidates, 64, &count)) == SCHEDQ_OK) {
        for (size_t i = 0; i < count; i++) {
            try_again_if_it_fits(worker, &candidates[i], node);
        }
    }
    if (status != SCHEDQ_EMPTY) {
        worker_require(worker, status, "schedq_candidates");
    }
}

/* A pod that fitted nowhere: park it, unless an event that came during its cycle helps. */
static void
fail(schedq_worker_t *worker, schedq_popped_t *popped, uint64_t fit)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result;
    schedq_status_t status;

    failure.unschedulable = fit;
    failure.place = SCHEDQ_PARKED;
    failure.judged_up_to = popped->seen;
    while ((status = schedq_fail(worker, &popped->token, &failure, &result)) == SCHEDQ_RETRY) {
        printf("  %s: an event came meanwhile\n", pods[popped->object].name);
        if (event_helps(popped->object, failure.judged_up_to, result.sequence)) {
            failure.place = SCHEDQ_BACKOFF;
        }
        failure.judged_up_to = result.sequence;
    }
    if (status == SCHEDQ_GONE) {
        return;
    }
    worker_require(worker, status, "schedq_fail");
    printf("  %s: to %s\n", pods[popped->object].name,
           schedq_place_name((schedq_place_t)result.place));
}

static schedq_popped_t
pop(schedq_worker_t *worker)
{
    schedq_popped_t popped;

    require(schedq_try_pop(worker, &popped), "schedq_try_pop", "");
    printf("%s: popped, attempt %" PRIu32 "\n", popped.name, popped.history.attempts);
    return popped;
}

int
main(void)
{
    char why[200] = "";
    uint64_t fit = 0;
    schedq_t *queue = create_queue(&fit);
    const schedq_words_t *words = schedq_words(queue);
    schedq_worker_t *worker;
    schedq_popped_t popped;
    schedq_result_t result;

    require(schedq_worker_register(queue, &worker, why, sizeof why), "schedq_worker_register", why);
    add_pod(worker, 0);
    add_pod(worker, 1);

    popped = pop(worker);
    node_joins(worker, words, fit); /* during the cycle of default/small, which fits there */
    fail(worker, &popped, fit);
    popped = pop(worker);
    fail(worker, &popped, fit); /* node-b was there when default/big was popped, and is too small */
    node_joins(worker, words, fit);

    require(schedq_clock_advance(queue, 3 * SECOND_NS), "schedq_clock_advance", "");
    require(schedq_tick(worker, NULL, &result), "schedq_tick", "");
    printf("two seconds later: %" PRIu32 " pods are active\n", result.to_active);
    for (int i = 0; i < 2; i++) {
        popped = pop(worker);
        require(schedq_done(worker, popped.token), "schedq_done", "");
    }

    require(schedq_close(queue), "schedq_close", "");
    require(schedq_worker_unregister(worker), "schedq_worker_unregister", "");
    require(schedq_destroy(queue, why, sizeof why), "schedq_destroy", why);
    return EXIT_SUCCESS;
}
