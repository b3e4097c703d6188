/* The decision of reference.h, step by step as kube-scheduler takes it. */
#include "reference.h"

#include <string.h>

struct run {
    const struct ref_cluster *cluster;
    const struct ref_question *question;
    struct ref_decision *decision;
};

uint32_t
reference_cost(const struct ref_pod *pod)
{
    return (uint32_t)(pod->requests[SCHEDQ_RESOURCE_CPU] / 50 + (pod->app == 1 ? 3 : 0));
}

/* ---- who and when ---------------------------------------------------------------------------- */

static bool
recent(const struct run *run, int64_t from, int64_t span)
{
    return span > 0 && (from == SCHEDQ_NO_START || run->question->now_ns - from < span);
}

static bool
eligible_victim(const struct run *run, const struct ref_pod *pod)
{
    if (pod->priority >= run->question->priority || pod->is_protected) {
        return false;
    }
    if (pod->terminating) {
        return true;
    }
    if (recent(run, pod->start_ns, run->question->config.min_run_ns)) {
        return false;
    }
    return pod->workload == 0 || run->cluster->evicted_ns[pod->workload] == NONE ||
           !recent(run, run->cluster->evicted_ns[pod->workload],
                   run->question->config.evict_again_ns);
}

static bool
status_is_unresolvable(const struct run *run, int node)
{
    return run->question->statuses && run->cluster->nodes[node].unresolvable;
}

static schedq_eligibility_t
judge_preemptor(const struct run *run)
{
    const struct ref_question *question = run->question;
    bool any = question->config.terminating_rule == SCHEDQ_BLOCKED_BY_ANY;

    if (question->never && question->config.heeds_never) {
        return SCHEDQ_INELIGIBLE_NEVER;
    }
    if (question->nominated_node == NONE ||
        (!any && status_is_unresolvable(run, question->nominated_node))) {
        return SCHEDQ_ELIGIBLE;
    }
    for (int i = 0; i < run->cluster->pods_end; i++) {
        const struct ref_pod *pod = &run->cluster->pods[i];

        if (pod->used && pod->node == question->nominated_node &&
            pod->priority < question->priority && pod->terminating &&
            (any || (!pod->is_protected && pod->condition && pod->by_scheduler))) {
            return SCHEDQ_INELIGIBLE_TERMINATING;
        }
    }
    return SCHEDQ_ELIGIBLE;
}

/* ---- filters --------------------------------------------------------------------------------- */

static bool
counts(const struct run *run, int number, int node)
{
    const struct ref_nominated *pod = &run->cluster->nominated[number];

    if (!pod->used || pod->node != node || number == run->question->own ||
        pod->priority < run->question->priority) {
        return false;
    }
    return run->question->config.nomination_lease_ns == 0 ||
           pod->expires_ns > run->question->now_ns;
}

static bool
any_counts(const struct run *run, int node)
{
    for (int i = 0; i < NOMINATED_MAX; i++) {
        if (counts(run, i, node)) {
            return true;
        }
    }
    return false;
}

static schedq_verdict_t
verdict(schedq_verdict_kind_t kind, schedq_reason_t reason, int resource)
{
    return (schedq_verdict_t){
        .kind = (uint8_t)kind, .reason = (uint8_t)reason, .resource = (uint16_t)resource};
}

static schedq_verdict_t
ask_resources(const struct run *run, int node, const bool *away, bool nominated)
{
    static const int order[RESOURCES] = {SCHEDQ_RESOURCE_PODS, SCHEDQ_RESOURCE_CPU,
                                         SCHEDQ_RESOURCE_MEMORY, 3, 4};
    schedq_verdict_t answer = verdict(SCHEDQ_VERDICT_CANDIDATE, SCHEDQ_REASON_NONE, 0);

    for (int k = 0; k < RESOURCES; k++) {
        int r = order[k];
        int64_t sum = run->question->requests[r];

        if (sum == 0) {
            continue;
        }
        for (int i = 0; i < run->cluster->pods_end; i++) {
            const struct ref_pod *pod = &run->cluster->pods[i];
            sum += pod->used && pod->node == node && !away[i] ? pod->requests[r] : 0;
        }
        for (int i = 0; nominated && i < NOMINATED_MAX; i++) {
            sum += counts(run, i, node) ? run->cluster->nominated[i].requests[r] : 0;
        }
        if (sum <= run->cluster->nodes[node].allocatable[r]) {
            continue;
        }
        if (answer.kind == SCHEDQ_VERDICT_CANDIDATE) {
            answer = verdict(SCHEDQ_VERDICT_UNSCHEDULABLE, SCHEDQ_REASON_RESOURCE, r);
        }
        if (r != SCHEDQ_RESOURCE_PODS &&
            run->question->requests[r] > run->cluster->nodes[node].allocatable[r]) {
            answer.kind = SCHEDQ_VERDICT_UNRESOLVABLE;
        }
    }
    return answer;
}

static schedq_verdict_t
ask_filter(const struct run *run, int node, const bool *away, bool nominated)
{
    const struct ref_node *of = &run->cluster->nodes[node];

    if (!run->question->filter) {
        return verdict(SCHEDQ_VERDICT_CANDIDATE, SCHEDQ_REASON_NONE, 0);
    }
    if (of->broken) {
        return verdict(SCHEDQ_VERDICT_ERROR, SCHEDQ_REASON_FILTER, 0);
    }
    if (of->tainted) {
        return verdict(SCHEDQ_VERDICT_UNRESOLVABLE, SCHEDQ_REASON_FILTER, 0);
    }
    for (int i = 0; i < run->cluster->pods_end; i++) {
        const struct ref_pod *pod = &run->cluster->pods[i];

        if (pod->used && pod->node == node && !away[i] && pod->app != 0 &&
            pod->app == run->question->conflict) {
            return verdict(SCHEDQ_VERDICT_UNSCHEDULABLE, SCHEDQ_REASON_FILTER, 0);
        }
    }
    for (int i = 1; nominated && run->question->odd_nominated && i < NOMINATED_MAX; i += 2) {
        if (counts(run, i, node)) {
            return verdict(SCHEDQ_VERDICT_UNSCHEDULABLE, SCHEDQ_REASON_FILTER, 0);
        }
    }
    return verdict(SCHEDQ_VERDICT_CANDIDATE, SCHEDQ_REASON_NONE, 0);
}

/* With the nominated pods, then without. */
static schedq_verdict_t
ask_all(const struct run *run, int node, const bool *away)
{
    schedq_verdict_t answer = {.kind = SCHEDQ_VERDICT_CANDIDATE};
    int rounds = any_counts(run, node) ? 2 : 1;
    bool first = run->question->filter_first;

    /* A filter that goes last is asked twice in a row, after all resources. */
    if (!first) {
        answer = ask_resources(run, node, away, true);
    }
    for (int round = 0; round < rounds && answer.kind == SCHEDQ_VERDICT_CANDIDATE; round++) {
        answer = ask_filter(run, node, away, round == 0);
        if (answer.kind == SCHEDQ_VERDICT_CANDIDATE && first) {
            answer = ask_resources(run, node, away, round == 0);
        }
    }
    return answer;
}

schedq_verdict_t
reference_fits(const struct ref_cluster *cluster, const struct ref_question *question, int node)
{
    const struct run run = {.cluster = cluster, .question = question};
    const bool away[PODS_MAX] = {false};

    return ask_all(&run, node, away);
}

/* ---- one node -------------------------------------------------------------------------------- */

/* Strictly more important, in the order that is configured. */
static bool
before(const struct run *run, int a, int b)
{
    const struct ref_pod *left = &run->cluster->pods[a];
    const struct ref_pod *right = &run->cluster->pods[b];

    if (left->priority != right->priority) {
        return left->priority > right->priority;
    }
    return run->question->config.victim_order == SCHEDQ_VICTIMS_BY_IMPORTANCE &&
           left->start_ns < right->start_ns;
}

static void
sort_stable(const struct run *run, int *list, int count)
{
    for (int i = 1; i < count; i++) {
        for (int k = i; k > 0 && before(run, list[k], list[k - 1]); k--) {
            int moved = list[k];

            list[k] = list[k - 1];
            list[k - 1] = moved;
        }
    }
}

/* In listing order. */
static int
list_potential(const struct run *run, int node, int *list)
{
    int count = 0;

    for (int i = 0; i < run->cluster->pods_end; i++) {
        const struct ref_pod *pod = &run->cluster->pods[i];

        if (pod->used && pod->node == node && eligible_victim(run, pod)) {
            list[count++] = i;
        }
    }
    for (int i = 1; i < count; i++) {
        for (int k = i; k > 0 && run->cluster->pods[list[k]].sequence <
                                     run->cluster->pods[list[k - 1]].sequence;
             k--) {
            int moved = list[k];

            list[k] = list[k - 1];
            list[k - 1] = moved;
        }
    }
    return count;
}

static bool
selects(const struct ref_budget *budget, const struct ref_pod *pod)
{
    switch (budget->selector) {
    case SELECT_APP:
        return pod->app == budget->app;
    case SELECT_TIER:
        return pod->tier == budget->tier;
    case SELECT_APP_EXISTS:
        return pod->app != 0;
    case SELECT_BOTH:
        return pod->app == budget->app && pod->tier == budget->tier;
    default:
        return false;
    }
}

static bool
violates(const struct run *run, int number, int64_t *left)
{
    const struct ref_pod *pod = &run->cluster->pods[number];
    bool violated = false;

    for (int b = 0; b < BUDGETS_MAX; b++) {
        const struct ref_budget *budget = &run->cluster->budgets[b];

        if (!budget->used || budget->space != pod->space || (pod->app == 0 && pod->tier == 0) ||
            !selects(budget, pod)) {
            continue;
        }
        if (run->question->config.budget_rule == SCHEDQ_BUDGETS_BY_ALLOWED) {
            violated = violated || budget->allowed <= 0;
        } else if ((budget->disrupted >> number & 1) == 0) {
            left[b]--;
            violated = violated || left[b] < 0;
        }
    }
    return violated;
}

static schedq_verdict_t
evaluate(const struct run *run, int node, struct ref_candidate *candidate)
{
    const schedq_preemption_config_t *config = &run->question->config;
    bool away[PODS_MAX] = {false};
    int potential[PODS_MAX];
    int count = list_potential(run, node, potential);
    int groups[2][PODS_MAX];
    int sizes[2] = {0, 0};
    int64_t left[BUDGETS_MAX];

    *candidate = (struct ref_candidate){.node = node};
    if (count == 0 && config->no_victims == SCHEDQ_NO_VICTIMS_ERROR) {
        return verdict(SCHEDQ_VERDICT_UNRESOLVABLE, SCHEDQ_REASON_NO_VICTIMS, 0);
    }
    for (int i = 0; i < count; i++) {
        away[potential[i]] = true;
    }
    schedq_verdict_t answer = ask_all(run, node, away);

    if (answer.kind != SCHEDQ_VERDICT_CANDIDATE) {
        return answer;
    }
    sort_stable(run, potential, count);
    for (int b = 0; b < BUDGETS_MAX; b++) {
        left[b] = run->cluster->budgets[b].allowed;
    }
    for (int i = 0; i < count; i++) {
        int group = violates(run, potential[i], left) ? 0 : 1;

        groups[group][sizes[group]++] = potential[i];
    }
    for (int group = 0; group < 2; group++) {
        for (int i = 0; i < sizes[group]; i++) {
            int pod = groups[group][i];

            away[pod] = false;
            if (ask_all(run, node, away).kind != SCHEDQ_VERDICT_CANDIDATE) {
                away[pod] = true;
                candidate->victims[candidate->victim_count++] = pod;
                candidate->violations += group == 0;
            }
        }
    }
    if (candidate->victim_count == 0 && config->no_victims == SCHEDQ_NO_VICTIMS_ERROR) {
        return verdict(SCHEDQ_VERDICT_ERROR, SCHEDQ_REASON_FITS, 0);
    }
    if (config->max_victims > 0 && (uint32_t)candidate->victim_count > config->max_victims) {
        return verdict(SCHEDQ_VERDICT_UNSCHEDULABLE, SCHEDQ_REASON_MAX_VICTIMS, 0);
    }
    if (config->sorts_again && sizes[0] > 0 && sizes[1] > 0) {
        sort_stable(run, candidate->victims, candidate->victim_count);
    }
    return answer;
}

/* ---- the dry run ----------------------------------------------------------------------------- */

static void
dry_run(struct run *run)
{
    static struct ref_candidate lists[2][NODES_MAX];
    struct ref_decision *decision = run->decision;
    const schedq_preemption_config_t *config = &run->question->config;
    int nodes[NODES_MAX];
    uint32_t n = 0;
    uint32_t counts_of[2] = {0, 0};

    for (int node = 0; node < run->cluster->nodes_end; node++) {
        if (run->cluster->nodes[node].used && !status_is_unresolvable(run, node)) {
            nodes[n++] = node;
        }
    }
    uint64_t wanted = (uint64_t)n * config->candidates_percentage / 100;

    wanted = wanted < config->candidates_absolute ? config->candidates_absolute : wanted;
    wanted = wanted < config->candidates_min ? config->candidates_min : wanted;
    wanted = wanted > n ? n : wanted;
    decision->potential = n;
    decision->wanted = (uint32_t)wanted;
    decision->offset = n == 0 ? 0 : run->question->offset % n;
    for (uint32_t i = 0; i < n; i++) {
        int node = nodes[(decision->offset + i) % n];
        struct ref_candidate candidate;
        schedq_verdict_t answer = evaluate(run, node, &candidate);

        decision->verdicts[node] = answer;
        if (answer.kind != SCHEDQ_VERDICT_CANDIDATE) {
            decision->rejected++;
            decision->errors += answer.kind == SCHEDQ_VERDICT_ERROR;
            continue;
        }
        int list = candidate.violations > 0;

        if (counts_of[list] < wanted) {
            lists[list][counts_of[list]++] = candidate;
        }
        if (counts_of[0] >= 1 && counts_of[0] + counts_of[1] >= wanted) {
            break;
        }
    }
    for (int list = 0; list < 2; list++) {
        for (uint32_t i = 0; i < counts_of[list]; i++) {
            decision->candidates[decision->candidate_count++] = lists[list][i];
        }
    }
}

/* ---- extenders ------------------------------------------------------------------------------- */

/* Returns false if one failed. */
static bool
extend(struct run *run, struct ref_candidate *left, int *count)
{
    bool takes_empty = run->question->config.no_victims == SCHEDQ_NO_VICTIMS_TAKE;

    for (int e = 0; e<run->question->extender_count && * count> 0; e++) {
        const struct ref_extender *extender = &run->question->extenders[e];
        struct ref_candidate kept[NODES_MAX];
        int kept_count = 0;
        bool failed = extender->fails;

        if (extender->uninterested) {
            continue;
        }
        for (int i = 0; i < *count; i++) {
            struct ref_candidate candidate = left[i];

            if (extender->drop >> (candidate.node % 64) & 1) {
                continue;
            }
            if (extender->shortens && candidate.victim_count > 1) {
                candidate.victim_count--;
            }
            if (extender->empty >> (candidate.node % 64) & 1) {
                candidate.victim_count = 0;
            }
            if (candidate.victim_count == 0 && !takes_empty) {
                failed = failed || !extender->ignorable;
                continue;
            }
            kept[kept_count++] = candidate;
        }
        if (failed && !extender->ignorable) {
            run->decision->extender = (uint32_t)e;
            return false;
        }
        if (!failed) {
            memcpy(left, kept, (size_t)kept_count * sizeof *kept);
            *count = kept_count;
        }
    }
    return true;
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* Keeps of `alive` those with the smallest value. */
static void
keep_smallest(bool *alive, const int64_t *values, int count)
{
    int64_t best = INT64_MAX;

    for (int i = 0; i < count; i++) {
        if (alive[i] && values[i] < best) {
            best = values[i];
        }
    }
    for (int i = 0; i < count; i++) {
        alive[i] = alive[i] && values[i] == best;
    }
}

static int64_t
criterion(const struct run *run, const struct ref_candidate *candidate, int number)
{
    const struct ref_pod *pods = run->cluster->pods;
    int64_t sum = 0;
    int32_t highest = INT32_MIN;
    int64_t earliest = INT64_MAX;

    switch (number) {
    case 0:
        return candidate->violations;
    case 1:
        for (int i = 0; run->question->config.victim_cost != NULL && i < candidate->victim_count;
             i++) {
            sum += reference_cost(&pods[candidate->victims[i]]);
        }
        return sum;
    case 2:
        return pods[candidate->victims[0]].priority;
    case 3:
        for (int i = 0; i < candidate->victim_count; i++) {
            sum += (int64_t)pods[candidate->victims[i]].priority + (INT64_C(1) << 31);
        }
        return sum;
    case 4:
        return candidate->victim_count;
    default:
        if (!run->question->config.start_criterion) {
            return 0;
        }
        for (int i = 0; i < candidate->victim_count; i++) {
            int32_t priority = pods[candidate->victims[i]].priority;

            highest = priority > highest ? priority : highest;
        }
        for (int i = 0; i < candidate->victim_count; i++) {
            const struct ref_pod *pod = &pods[candidate->victims[i]];

            earliest =
                pod->priority == highest && pod->start_ns < earliest ? pod->start_ns : earliest;
        }
        return -earliest;
    }
}

static const struct ref_candidate *
pick(const struct run *run, const struct ref_candidate *left, int count)
{
    bool alive[NODES_MAX];
    int64_t values[NODES_MAX];

    for (int i = 0; i < count; i++) {
        if (left[i].victim_count == 0) {
            return &left[i];
        }
        alive[i] = true;
    }
    for (int number = 0; number < 6; number++) {
        for (int i = 0; i < count; i++) {
            values[i] = alive[i] ? criterion(run, &left[i], number) : 0;
        }
        keep_smallest(alive, values, count);
    }
    for (int i = 0; i < count; i++) {
        if (alive[i]) {
            return &left[i];
        }
    }
    return NULL;
}

/* ---- actions --------------------------------------------------------------------------------- */

static void
list_clears(struct run *run)
{
    struct ref_decision *decision = run->decision;
    uint64_t after = 0;

    for (;;) {
        int next = NONE;

        for (int i = 0; i < NOMINATED_MAX; i++) {
            const struct ref_nominated *pod = &run->cluster->nominated[i];

            if (pod->used && pod->node == decision->chosen &&
                pod->priority < run->question->priority && pod->order > after &&
                (next == NONE || pod->order < run->cluster->nominated[next].order)) {
                next = i;
            }
        }
        if (next == NONE) {
            return;
        }
        decision->clears[decision->clear_count++] = next;
        after = run->cluster->nominated[next].order;
    }
}

static void
act(struct run *run, const struct ref_candidate *chosen)
{
    struct ref_decision *decision = run->decision;
    const schedq_preemption_config_t *config = &run->question->config;

    decision->chosen = chosen->node;
    decision->victim_count = chosen->victim_count;
    memcpy(decision->victims, chosen->victims, sizeof decision->victims);
    for (int i = 0; i < chosen->victim_count; i++) {
        if (!run->cluster->pods[chosen->victims[i]].terminating) {
            decision->deletes[decision->delete_count++] = chosen->victims[i];
        }
    }
    decision->holds = config->asynchronous && decision->delete_count > 0;
    if (!config->asynchronous || decision->delete_count > 0) {
        list_clears(run);
    }
    if (config->nomination_lease_ns > 0) {
        decision->nomination_expires_ns = run->question->now_ns + config->nomination_lease_ns;
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void
conclude(struct ref_decision *decision, schedq_outcome_t outcome, schedq_nomination_t nomination)
{
    decision->outcome = outcome;
    decision->nomination = nomination;
}

static bool
has_nodes(const struct ref_cluster *cluster)
{
    for (int node = 0; node < cluster->nodes_end; node++) {
        if (cluster->nodes[node].used) {
            return true;
        }
    }
    return false;
}

static void
choose(struct run *run)
{
    static struct ref_candidate left[NODES_MAX];
    struct ref_decision *decision = run->decision;
    int count = decision->candidate_count;

    memcpy(left, decision->candidates, (size_t)count * sizeof *left);
    if (!extend(run, left, &count)) {
        conclude(decision, SCHEDQ_PREEMPT_EXTENDER, SCHEDQ_NOMINATION_KEEP);
        return;
    }
    const struct ref_candidate *chosen = pick(run, left, count);

    if (chosen == NULL) {
        conclude(decision, SCHEDQ_PREEMPT_UNSCHEDULABLE, SCHEDQ_NOMINATION_KEEP);
        return;
    }
    conclude(decision, SCHEDQ_PREEMPT_SUCCESS, SCHEDQ_NOMINATION_SET);
    act(run, chosen);
}

void
reference_decide(const struct ref_cluster *cluster, const struct ref_question *question,
                 struct ref_decision *decision)
{
    struct run run = {.cluster = cluster, .question = question, .decision = decision};

    decision->potential = decision->offset = decision->wanted = decision->rejected =
        decision->errors = 0;
    decision->candidate_count = decision->victim_count = decision->delete_count =
        decision->clear_count = 0;
    memset(decision->verdicts, 0, sizeof decision->verdicts);
    decision->chosen = NONE;
    decision->holds = false;
    decision->extender = 0;
    decision->nomination_expires_ns = SCHEDQ_NO_DEADLINE;
    decision->eligibility = judge_preemptor(&run);
    if (decision->eligibility != SCHEDQ_ELIGIBLE) {
        conclude(decision, SCHEDQ_PREEMPT_UNSCHEDULABLE, SCHEDQ_NOMINATION_KEEP);
        return;
    }
    if (!has_nodes(cluster)) {
        conclude(decision, SCHEDQ_PREEMPT_NO_NODES, SCHEDQ_NOMINATION_KEEP);
        return;
    }
    dry_run(&run);
    if (decision->candidate_count > 0) {
        choose(&run);
    } else if (decision->errors > 0) {
        conclude(decision, SCHEDQ_PREEMPT_NODE_ERRORS, SCHEDQ_NOMINATION_KEEP);
    } else {
        conclude(decision, SCHEDQ_PREEMPT_UNSCHEDULABLE, SCHEDQ_NOMINATION_CLEAR);
    }
}
