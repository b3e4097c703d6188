/*
 * The dry run: visits the potential nodes in a circle from the offset until enough candidates are
 * found.
 *
 * Candidates without violations and those with some are two lists; each takes at most `wanted`, and
 * the search ends as soon as the first has one and both have `wanted` together. With an executor,
 * windows of nodes are visited by its tasks, each into its lane, and what they found is then taken
 * in the order of the nodes: what lies behind the end of the search is forgotten, so that the
 * result is the same.
 */
#include "preemption/evaluation.h"

#define WINDOW_WORDS 4 /* of nodes for each task */
#define SLOTS_AHEAD 10

/* ---- the lists ------------------------------------------------------------------------------- */

static uint32_t
wanted(const schedq_preemption_t *of)
{
    uint64_t share = (uint64_t)of->potential * of->config.candidates_percentage / 100;
    uint64_t count =
        share > of->config.candidates_absolute ? share : of->config.candidates_absolute;

    if (count < of->config.candidates_min) {
        count = of->config.candidates_min;
    }
    return count < of->potential ? (uint32_t)count : of->potential;
}

/* False: no memory. A list that is full lets a candidate go. */
static bool
take(schedq_preemption_t *of, const schedq_candidate_node_t *candidate)
{
    struct candidates *list = candidate->violations == 0 ? &of->peaceful : &of->violating;

    return list->count >= of->wanted || candidates_push(list, &of->memory, candidate);
}

static bool
has_enough(const schedq_preemption_t *of)
{
    return of->peaceful.count >= 1 && of->peaceful.count + of->violating.count >= of->wanted;
}

/* ---- one thread ------------------------------------------------------------------------------ */

/* Its pods are wanted soon: a node that passed the columns was not touched yet. */
static void
fetch_ahead(const schedq_preemption_t *of, uint32_t node)
{
    if (node != SCHEDQ_NO_NODE) {
        const struct slot *slots = of->cluster->nodes[node].slots;

        for (uint32_t i = 0; i < SLOTS_AHEAD; i += 2) {
            __builtin_prefetch(slots + i);
        }
    }
}

/* Returns true if the search is over. */
static bool
visit_range(schedq_preemption_t *of, uint32_t from, uint32_t to)
{
    struct lane *lane = &of->lanes[0];
    schedq_candidate_node_t candidate;
    struct scan scan;
    uint32_t next;

    scan_open(&scan, from, to);
    next = scan_next(&scan, of);
    while (next != SCHEDQ_NO_NODE) {
        uint32_t node = next;

        next = scan_next(&scan, of);
        fetch_ahead(of, next);
        of->verdicts[node] = victims_on(of, lane, node, &candidate);
        if (lane->no_memory) {
            return true;
        }
        if (of->verdicts[node].kind != SCHEDQ_VERDICT_CANDIDATE) {
            continue;
        }
        if (!take(of, &candidate)) {
            lane->no_memory = true;
            return true;
        }
        if (has_enough(of)) {
            scan_forget(of, node + 1, to);
            return true;
        }
    }
    return false;
}

/* ---- an executor's threads ------------------------------------------------------------------- */

struct window {
    schedq_preemption_t *of;
    uint32_t from, to;
    /* nodes of a task; a multiple of WORD_NODES, and so is where each but the first begins */
    uint32_t step;
};

static void
visit_part(void *argument, uint32_t part)
{
    const struct window *window = argument;
    schedq_preemption_t *of = window->of;
    struct lane *lane = &of->lanes[part];
    uint64_t base = window->from / WORD_NODES * WORD_NODES;
    uint64_t from = base + (uint64_t)part * window->step;
    uint64_t to = from + window->step;
    schedq_candidate_node_t candidate;
    struct scan scan;
    uint32_t node;

    from = from < window->from ? window->from : from;
    to = to > window->to ? window->to : to;
    if (from >= to) {
        return;
    }
    scan_open(&scan, (uint32_t)from, (uint32_t)to);
    while (!lane->no_memory && (node = scan_next(&scan, of)) != SCHEDQ_NO_NODE) {
        of->verdicts[node] = victims_on(of, lane, node, &candidate);
        if (of->verdicts[node].kind == SCHEDQ_VERDICT_CANDIDATE &&
            !candidates_push(&lane->found, lane->memory, &candidate)) {
            lane->no_memory = true;
        }
    }
}

/* Returns true if the search is over. */
static bool
take_window(schedq_preemption_t *of, const struct window *window, uint32_t tasks)
{
    for (uint32_t i = 0; i < tasks; i++) {
        if (of->lanes[i].no_memory) {
            of->lanes[0].no_memory = true;
            return true;
        }
    }
    for (uint32_t i = 0; i < tasks; i++) {
        const struct candidates *found = &of->lanes[i].found;

        for (uint32_t k = 0; k < found->count; k++) {
            if (!take(of, &found->items[k])) {
                of->lanes[0].no_memory = true;
                return true;
            }
            if (has_enough(of)) {
                scan_forget(of, found->items[k].node + 1, window->to);
                return true;
            }
        }
    }
    return false;
}

static bool
visit_windows(schedq_preemption_t *of, uint32_t from, uint32_t to)
{
    const schedq_executor_t *executor = of->preemptor.executor;
    uint32_t tasks = executor->tasks;
    /* Where every node is wanted, one window is enough. */
    uint32_t words =
        of->wanted < of->potential ? WINDOW_WORDS * tasks : (to - from) / WORD_NODES + 2;
    uint32_t step = (words + tasks - 1) / tasks * WORD_NODES;

    while (from < to) {
        uint64_t end = (uint64_t)from / WORD_NODES * WORD_NODES + (uint64_t)step * tasks;
        struct window window = {
            .of = of, .from = from, .to = end > to ? to : (uint32_t)end, .step = step};

        for (uint32_t i = 0; i < tasks; i++) {
            of->lanes[i].found.count = 0;
        }
        executor->run(executor->ctx, visit_part, &window, tasks);
        if (take_window(of, &window, tasks)) {
            return true;
        }
        from = window.to;
    }
    return false;
}

/* ---- both ------------------------------------------------------------------------------------ */

/* What the visits came to. Candidates that found their list full count as such. */
static void
count_verdicts(schedq_preemption_t *of)
{
    of->errors = 0;
    of->rejected = 0;
    for (uint32_t word = 0; word < (of->cluster->nodes_end + WORD_NODES - 1) / WORD_NODES; word++) {
        of->rejected += count_ones(of->pruned[word]);
        for (uint64_t bits = of->evaluated[word] & ~of->pruned[word]; bits != 0; bits &= bits - 1) {
            uint32_t node = word * WORD_NODES + (uint32_t)__builtin_ctzll(bits);

            of->errors += of->verdicts[node].kind == SCHEDQ_VERDICT_ERROR;
            of->rejected += of->verdicts[node].kind != SCHEDQ_VERDICT_CANDIDATE;
        }
    }
}

/* Both lists in one: those without violations, then the others. */
static bool
join(schedq_preemption_t *of)
{
    for (uint32_t i = 0; i < of->violating.count; i++) {
        if (!candidates_push(&of->peaceful, &of->memory, &of->violating.items[i])) {
            return false;
        }
    }
    return true;
}

bool
dry_run(schedq_preemption_t *of)
{
    uint32_t end = of->cluster->nodes_end;

    of->peaceful.count = 0;
    of->violating.count = 0;
    of->offset = 0;
    of->wanted = wanted(of);
    if (of->potential > 0) {
        bool (*visit)(schedq_preemption_t *, uint32_t, uint32_t) =
            of->preemptor.executor == NULL ? visit_range : visit_windows;

        of->offset = of->preemptor.offset % of->potential;

        uint32_t from = scan_find(of, of->offset);

        if (!visit(of, from, end)) {
            (void)visit(of, 0, from);
        }
    }
    if (of->lanes[0].no_memory || !join(of)) {
        return false;
    }
    count_verdicts(of);
    return true;
}
