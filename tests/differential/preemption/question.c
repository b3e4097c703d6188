/*
 * Draws configurations and preemptors, plays filter, extenders and executor for the library,
 * compares the decisions.
 */
#include "question.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct tally tally;

struct asking {
    struct world *world;
    struct ref_question ref;
    schedq_preemptor_t preemptor;
    schedq_extender_t extenders[EXTENDERS_MAX];
    struct extender_ctx {
        const struct ref_extender *extender;
    } contexts[EXTENDERS_MAX];
    schedq_executor_t executor;
    uint8_t statuses[NODES_MAX];
    schedq_amount_t extended[2];
    char name[32];
};

/* ---- what the library calls ------------------------------------------------------------------ */

static schedq_fit_t
filter(void *ctx, const schedq_filter_question_t *question)
{
    const struct asking *asking = ctx;
    const struct ref_cluster *ref = &asking->world->ref;
    bool away[PODS_MAX] = {false};

    if (ref->nodes[question->node].broken) {
        return SCHEDQ_FIT_ERROR;
    }
    if (ref->nodes[question->node].tainted) {
        return SCHEDQ_FIT_UNRESOLVABLE;
    }
    for (uint32_t i = 0; i < question->removed_count; i++) {
        schedq_running_view_t view;

        if (schedq_cluster_pod(question->cluster, question->removed[i], &view) != SCHEDQ_OK ||
            view.node != question->node || away[view.object - 1]) {
            return (schedq_fit_t)99;
        }
        away[view.object - 1] = true;
    }
    for (int i = 0; i < ref->pods_end; i++) {
        const struct ref_pod *pod = &ref->pods[i];

        if (pod->used && pod->node == (int)question->node && !away[i] && pod->app != 0 &&
            pod->app == asking->ref.conflict) {
            return SCHEDQ_FIT_UNSCHEDULABLE;
        }
    }
    for (uint32_t i = 0; i < question->nominated_count; i++) {
        if (asking->ref.odd_nominated && question->nominated[i] % 2 == 1) {
            return SCHEDQ_FIT_UNSCHEDULABLE;
        }
    }
    return SCHEDQ_FIT_YES;
}

static int
process(void *ctx, const schedq_cluster_t *cluster, schedq_candidate_node_t *candidates,
        uint32_t count)
{
    const struct ref_extender *extender = ((const struct extender_ctx *)ctx)->extender;

    (void)cluster;
    for (uint32_t i = 0; i < count; i++) {
        candidates[i].dropped = extender->drop >> (candidates[i].node % 64) & 1;
        if (extender->shortens && candidates[i].victim_count > 1) {
            candidates[i].victim_count--;
        }
        if (extender->empty >> (candidates[i].node % 64) & 1) {
            candidates[i].victim_count = 0;
        }
    }
    return extender->uninterested ? SCHEDQ_EXTENDER_UNINTERESTED
           : extender->fails      ? SCHEDQ_EXTENDER_FAILED
                                  : SCHEDQ_EXTENDER_DONE;
}

static void
run_backwards(void *ctx, void (*task)(void *argument, uint32_t i), void *argument, uint32_t count)
{
    (void)ctx;
    while (count > 0) {
        task(argument, --count);
    }
}

static uint32_t
cost(void *ctx, const schedq_cluster_t *cluster, schedq_running_t pod)
{
    const struct ref_cluster *ref = ctx;
    schedq_running_view_t view;

    (void)schedq_cluster_pod(cluster, pod, &view);
    return reference_cost(&ref->pods[view.object - 1]);
}

/* ---- draws ----------------------------------------------------------------------------------- */

static void
draw_config(struct world *world, chance_t *chance, schedq_preemption_config_t *config)
{
    static const schedq_preset_t presets[] = {SCHEDQ_PRESET_DEFAULT, SCHEDQ_PRESET_KUBE_1_34,
                                              SCHEDQ_PRESET_KUBE_1_34, SCHEDQ_PRESET_KUBE_1_12};
    static const uint32_t few[] = {0, 1, 2, 3, 100};

    *config = (schedq_preemption_config_t)SCHEDQ_PREEMPTION_CONFIG_INIT;
    (void)schedq_preemption_config_preset(config, CHANCE_OF(chance, presets));
    if (chance_one_in(chance, 2)) {
        config->candidates_percentage = chance_below(chance, 101);
        config->candidates_absolute = CHANCE_OF(chance, few);
    }
    if (chance_one_in(chance, 4)) {
        config->victim_order = (uint8_t)chance_below(chance, 2);
        config->budget_rule = (uint8_t)chance_below(chance, 2);
        config->terminating_rule = (uint8_t)chance_below(chance, 2);
        config->no_victims = (uint8_t)chance_below(chance, 2);
        config->sorts_again = (uint8_t)chance_below(chance, 2);
        config->start_criterion = (uint8_t)chance_below(chance, 2);
        config->heeds_never = (uint8_t)chance_below(chance, 2);
        config->asynchronous = (uint8_t)chance_below(chance, 2);
    }
    if (chance_one_in(chance, 4)) {
        config->max_victims = chance_below(chance, 4);
        config->min_run_ns = (int64_t)chance_below(chance, 4) * 15;
        config->evict_again_ns = (int64_t)chance_below(chance, 4) * 15;
        config->nomination_lease_ns = (int64_t)chance_below(chance, 3) * 10;
    }
    if (chance_one_in(chance, 5)) {
        config->victim_cost = cost;
        config->victim_cost_ctx = &world->ref;
    }
}

static int
some_used_node(const struct world *world, chance_t *chance)
{
    int node = world->ref.nodes_end == 0
                   ? NONE
                   : (int)chance_below(chance, (uint32_t)world->ref.nodes_end);

    return node != NONE && world->ref.nodes[node].used ? node : NONE;
}

static void
draw_question(struct asking *asking, chance_t *chance)
{
    struct world *world = asking->world;
    struct ref_question *ref = &asking->ref;

    draw_config(world, chance, &ref->config);
    ref->priority = world_priority(world, chance);
    if (!chance_one_in(chance, 3) && !world->extremes) {
        ref->priority = world->priorities * 10; /* above all, so that there is something to do */
    }
    world_amounts(chance, ref->requests, false);
    if (chance_one_in(chance, 6)) {
        memset(ref->requests, 0, sizeof ref->requests);
        ref->requests[SCHEDQ_RESOURCE_PODS] = 1;
    }
    ref->own = chance_one_in(chance, 3) ? (int)chance_below(chance, NOMINATED_MAX) : NONE;
    ref->nominated_node = chance_one_in(chance, 4) ? some_used_node(world, chance) : NONE;
    ref->never = chance_one_in(chance, 30);
    ref->statuses = !chance_one_in(chance, 4);
    ref->offset = (uint32_t)chance_next(chance);
    ref->now_ns = chance_below(chance, 80);
    ref->filter = chance_one_in(chance, 3);
    ref->filter_first = chance_one_in(chance, 2);
    ref->conflict = (int)chance_below(chance, 3);
    ref->odd_nominated = chance_one_in(chance, 2);
    ref->extender_count =
        chance_one_in(chance, 6) ? 1 + (int)chance_below(chance, EXTENDERS_MAX) : 0;
    for (int i = 0; i < ref->extender_count; i++) {
        ref->extenders[i] = (struct ref_extender){
            .drop = chance_next(chance) & chance_next(chance),
            .empty = chance_one_in(chance, 2)
                         ? chance_next(chance) & chance_next(chance) & chance_next(chance)
                         : 0,
            .fails = chance_one_in(chance, 6),
            .ignorable = chance_one_in(chance, 2),
            .uninterested = chance_one_in(chance, 6),
            .shortens = chance_one_in(chance, 5),
        };
    }
}

/* The same for the library. */
static void
describe(struct asking *asking, chance_t *chance)
{
    const struct ref_question *ref = &asking->ref;
    schedq_preemptor_t *preemptor = &asking->preemptor;

    *preemptor = (schedq_preemptor_t)SCHEDQ_PREEMPTOR_INIT;
    preemptor->priority = ref->priority;
    preemptor->requests = world_public_amounts(asking->world, ref->requests, asking->extended);
    preemptor->nominated_node =
        ref->nominated_node == NONE ? SCHEDQ_NO_NODE : (uint32_t)ref->nominated_node;
    preemptor->never = ref->never;
    preemptor->offset = ref->offset;
    preemptor->now_ns = ref->now_ns;
    if (ref->own != NONE) {
        (void)snprintf(asking->name, sizeof asking->name, "s0/q%d", ref->own);
        preemptor->name = asking->name;
    } else if (chance_one_in(chance, 2)) {
        preemptor->name = "s0/x";
    }
    if (ref->statuses) {
        for (int i = 0; i < asking->world->ref.nodes_end; i++) {
            asking->statuses[i] = asking->world->ref.nodes[i].unresolvable
                                      ? SCHEDQ_NODE_UNRESOLVABLE
                                      : SCHEDQ_NODE_UNSCHEDULABLE;
        }
        preemptor->statuses = asking->statuses;
        preemptor->status_count = schedq_cluster_nodes_end(asking->world->cluster);
    }
    if (ref->filter) {
        preemptor->filter = filter;
        preemptor->filter_ctx = asking;
        preemptor->filter_first = ref->filter_first;
    }
    for (int i = 0; i < ref->extender_count; i++) {
        asking->contexts[i].extender = &ref->extenders[i];
        asking->extenders[i] = (schedq_extender_t){.process = process,
                                                   .ctx = &asking->contexts[i],
                                                   .ignorable = ref->extenders[i].ignorable};
    }
    preemptor->extenders = asking->extenders;
    preemptor->extender_count = (uint32_t)ref->extender_count;
    if (chance_one_in(chance, 3)) {
        asking->executor =
            (schedq_executor_t){.run = run_backwards, .tasks = 1 + chance_below(chance, 4)};
        preemptor->executor = &asking->executor;
    }
}

/* ---- comparison ------------------------------------------------------------------------------ */

struct report {
    char *text;
    size_t size;
    bool differs;
};

__attribute__((format(printf, 2, 3))) static void
differ(struct report *report, const char *format, ...)
{
    va_list arguments;

    if (!report->differs) {
        va_start(arguments, format);
        (void)vsnprintf(report->text, report->size, format, arguments);
        va_end(arguments);
        report->differs = true;
    }
}

static void
compare_number(struct report *report, const char *what, int64_t expected, int64_t got)
{
    if (expected != got) {
        differ(report, "%s: expected %" PRId64 ", got %" PRId64, what, expected, got);
    }
}

static void
compare_pods(struct report *report, const struct world *world, const char *what,
             const int *expected, int count, const schedq_running_t *got, uint32_t got_count)
{
    compare_number(report, what, count, got_count);
    for (int i = 0; !report->differs && i < count; i++) {
        schedq_running_t handle = world->ref.pods[expected[i]].handle;

        if (handle.index != got[i].index || handle.generation != got[i].generation) {
            schedq_running_view_t view;

            (void)schedq_cluster_pod(world->cluster, got[i], &view);
            differ(report, "%s %d: expected p%d, got p%d", what, i, expected[i],
                   (int)view.object - 1);
        }
    }
}

static void
compare_candidates(struct report *report, const struct world *world,
                   const struct ref_decision *expected, const schedq_preemption_decision_t *got)
{
    compare_number(report, "candidates", expected->candidate_count, got->candidate_count);
    for (int i = 0; !report->differs && i < expected->candidate_count; i++) {
        const struct ref_candidate *left = &expected->candidates[i];
        const schedq_candidate_node_t *right = &got->candidates[i];

        compare_number(report, "node of a candidate", left->node, right->node);
        compare_number(report, "violations", left->violations, right->violations);
        compare_pods(report, world, "victim of a candidate", left->victims, left->victim_count,
                     right->victims, right->victim_count);
    }
}

static void
compare_verdicts(struct report *report, const struct world *world,
                 const struct ref_decision *expected)
{
    for (int node = 0; node < world->ref.nodes_end; node++) {
        schedq_verdict_t verdict = {0};

        if (!world->ref.nodes[node].used) {
            continue;
        }
        (void)schedq_preemption_verdict(world->preemption, (uint32_t)node, &verdict);
        compare_number(report, "verdict", expected->verdicts[node].kind, verdict.kind);
        compare_number(report, "reason", expected->verdicts[node].reason, verdict.reason);
        compare_number(report, "missing resource", expected->verdicts[node].resource,
                       verdict.resource);
    }
}

static void
compare_clears(struct report *report, const struct world *world,
               const struct ref_decision *expected, const schedq_preemption_decision_t *got)
{
    compare_number(report, "clears", expected->clear_count, got->clear_count);
    for (int i = 0; !report->differs && i < expected->clear_count; i++) {
        const struct ref_nominated *pod = &world->ref.nominated[expected->clears[i]];

        compare_number(report, "cleared pod", expected->clears[i], (int64_t)got->clears[i].object);
        compare_number(report, "its generation", (int64_t)pod->generation,
                       (int64_t)got->clears[i].generation);
    }
}

static void
compare(struct report *report, const struct world *world, const struct ref_decision *expected,
        const schedq_preemption_decision_t *got)
{
    compare_number(report, "eligibility", expected->eligibility, got->eligibility);
    compare_number(report, "potential", expected->potential, got->potential);
    compare_number(report, "offset", expected->offset, got->offset);
    compare_number(report, "wanted", expected->wanted, got->wanted);
    compare_candidates(report, world, expected, got);
    compare_number(report, "rejected", expected->rejected, got->rejected);
    compare_number(report, "errors", expected->errors, got->errors);
    compare_number(report, "outcome", expected->outcome, got->outcome);
    compare_number(report, "extender", expected->extender, got->extender);
    compare_number(report, "chosen", expected->chosen, (int32_t)got->chosen);
    compare_pods(report, world, "victim", expected->victims, expected->victim_count, got->victims,
                 got->victim_count);
    compare_pods(report, world, "delete", expected->deletes, expected->delete_count, got->deletes,
                 got->delete_count);
    compare_clears(report, world, expected, got);
    compare_number(report, "nomination", expected->nomination, got->nomination);
    compare_number(report, "holds", expected->holds, got->holds);
    compare_number(report, "nomination_expires_ns", expected->nomination_expires_ns,
                   got->nomination_expires_ns);
    if (expected->potential > 0) {
        compare_verdicts(report, world, expected);
    }
}

/* ---- where it fits as things are ------------------------------------------------------------- */

static void
compare_fit(struct report *report, const struct asking *asking, int node, schedq_verdict_t expected)
{
    static const schedq_fit_t fits[] = {
        [SCHEDQ_VERDICT_CANDIDATE] = SCHEDQ_FIT_YES,
        [SCHEDQ_VERDICT_UNSCHEDULABLE] = SCHEDQ_FIT_UNSCHEDULABLE,
        [SCHEDQ_VERDICT_UNRESOLVABLE] = SCHEDQ_FIT_UNRESOLVABLE,
        [SCHEDQ_VERDICT_ERROR] = SCHEDQ_FIT_ERROR,
    };
    const struct world *world = asking->world;
    schedq_fit_t fit;
    uint32_t resource;
    schedq_status_t status =
        schedq_cluster_fits(world->cluster, world->preemption, &asking->ref.config,
                            &asking->preemptor, (uint32_t)node, &fit, &resource);

    if (status != SCHEDQ_OK) {
        world_refused(world, "schedq_cluster_fits", status);
    }
    tally.fits++;
    compare_number(report, "fit", fits[expected.kind], fit);
    compare_number(report, "resource of a fit",
                   expected.reason == SCHEDQ_REASON_RESOURCE ? expected.resource
                                                             : (int64_t)SCHEDQ_NO_RESOURCE,
                   resource);
}

/* Its own node or the first one, by what the reference says of each. */
static void
compare_places(struct report *report, const struct asking *asking)
{
    const struct world *world = asking->world;
    uint32_t expected = SCHEDQ_NO_NODE, got;

    for (int node = world->ref.nodes_end - 1; node >= 0; node--) {
        if (!world->ref.nodes[node].used) {
            continue;
        }
        schedq_verdict_t verdict = reference_fits(&world->ref, &asking->ref, node);

        compare_fit(report, asking, node, verdict);
        if (verdict.kind == SCHEDQ_VERDICT_CANDIDATE &&
            (expected == SCHEDQ_NO_NODE || (int)expected != asking->ref.nominated_node)) {
            expected = (uint32_t)node;
        }
    }
    schedq_status_t status = schedq_cluster_first_fit(
        world->cluster, world->preemption, &asking->ref.config, &asking->preemptor, &got);

    if (status != (got == SCHEDQ_NO_NODE ? SCHEDQ_NOT_FOUND : SCHEDQ_OK)) {
        world_refused(world, "schedq_cluster_first_fit", status);
    }
    compare_number(report, "first fit", expected, got);
}

static void
count_up(const struct ref_decision *decision)
{
    tally.decisions++;
    tally.outcomes[decision->outcome]++;
    tally.ineligible += decision->eligibility != SCHEDQ_ELIGIBLE;
    tally.candidates += (uint64_t)decision->candidate_count;
    for (int i = 0; i < decision->candidate_count; i++) {
        tally.violations += decision->candidates[i].violations;
    }
    tally.clears += (uint64_t)decision->clear_count;
}

bool
question_agrees(struct world *world, chance_t *chance, char *difference, size_t size)
{
    static struct ref_decision expected;
    struct asking asking = {.world = world};
    struct report report = {.text = difference, .size = size};
    schedq_preemption_decision_t got = SCHEDQ_PREEMPTION_DECISION_INIT;

    draw_question(&asking, chance);
    describe(&asking, chance);
    reference_decide(&world->ref, &asking.ref, &expected);
    count_up(&expected);

    schedq_status_t status = schedq_preempt(world->cluster, world->preemption, &asking.ref.config,
                                            &asking.preemptor, &got);

    if (status != SCHEDQ_OK) {
        world_refused(world, "schedq_preempt", status);
    }
    compare(&report, world, &expected, &got);
    compare_places(&report, &asking);
    return !report.differs;
}
