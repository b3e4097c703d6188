/*
 * Writing and comparing answers.
 *
 * Why a node was rejected, and the summary of a result, is upstream's wording: not compared. Of
 * several `choose` any one is right, and then no actions are recorded. Deleted and cleared pods are
 * sets, but the pod that is deleted last.
 */
#include "preemption_answer.h"

#include <inttypes.h>
#include <string.h>

/* ---- writing --------------------------------------------------------------------------------- */

static const char *
node_name(const struct preemption_world *world, uint32_t node)
{
    return world->nodes[node]->name;
}

static void
write_pods(const struct preemption_world *world, const schedq_running_t *pods, uint32_t count,
           FILE *out)
{
    for (uint32_t i = 0; i < count; i++) {
        schedq_running_view_t view;

        (void)schedq_cluster_pod(world->cluster, pods[i], &view);
        fprintf(out, "%s%s", i == 0 ? "" : ",",
                ((const struct case_pod *)(uintptr_t)view.object)->name);
    }
    if (count == 0) {
        fputc('-', out);
    }
}

static void
write_candidates(const struct preemption_world *world, FILE *out)
{
    for (uint32_t i = 0; i < world->decision.candidate_count; i++) {
        const schedq_candidate_node_t *candidate = &world->decision.candidates[i];

        fprintf(out,
                "candidate %s violations=%" PRIu32 " victims=", node_name(world, candidate->node),
                candidate->violations);
        write_pods(world, candidate->victims, candidate->victim_count, out);
        fputc('\n', out);
    }
}

/* Of the potential nodes, the position at which the dry run begins. */
static uint32_t
first_node(const struct preemption_world *world)
{
    uint32_t number = world->decision.offset;
    uint32_t node = 0;

    while (world->statuses[node] != SCHEDQ_NODE_UNSCHEDULABLE || number-- > 0) {
        node++;
    }
    return node;
}

static void
write_rejected(const struct preemption_world *world, FILE *out)
{
    static const char *const kinds[] = {
        [SCHEDQ_VERDICT_UNSCHEDULABLE] = "unschedulable",
        [SCHEDQ_VERDICT_UNRESOLVABLE] = "unresolvable",
        [SCHEDQ_VERDICT_ERROR] = "error",
    };
    uint32_t first = first_node(world);

    for (uint32_t i = 0; i < world->node_count; i++) {
        uint32_t node = (first + i) % world->node_count;
        schedq_verdict_t verdict;

        (void)schedq_preemption_verdict(world->preemption, node, &verdict);
        if (verdict.kind >= SCHEDQ_VERDICT_UNSCHEDULABLE) {
            fprintf(out, "rejected %s %s\n", node_name(world, node), kinds[verdict.kind]);
        }
    }
}

static const char *
eligibility_text(uint8_t eligibility)
{
    switch (eligibility) {
    case SCHEDQ_ELIGIBLE:
        return "eligible";
    case SCHEDQ_INELIGIBLE_NEVER:
        return "ineligible not eligible due to preemptionPolicy=Never.";
    default:
        return "ineligible not eligible due to a terminating pod on the nominated node.";
    }
}

static void
write_result(const struct preemption_world *world, FILE *out)
{
    static const char *const outcomes[] = {
        [SCHEDQ_PREEMPT_SUCCESS] = "success", [SCHEDQ_PREEMPT_UNSCHEDULABLE] = "unschedulable",
        [SCHEDQ_PREEMPT_NO_NODES] = "error",  [SCHEDQ_PREEMPT_NODE_ERRORS] = "error",
        [SCHEDQ_PREEMPT_EXTENDER] = "error",
    };
    static const char *const nominations[] = {
        [SCHEDQ_NOMINATION_KEEP] = "keep",
        [SCHEDQ_NOMINATION_CLEAR] = "clear",
        [SCHEDQ_NOMINATION_SET] = "set",
    };

    fprintf(out, "result %s nomination=%s\n", outcomes[world->decision.outcome],
            nominations[world->decision.nomination]);
}

void
answer_write(struct preemption_world *world, FILE *out)
{
    const schedq_preemption_decision_t *decision = &world->decision;

    fprintf(out, "%s\n", eligibility_text(decision->eligibility));
    if (decision->potential > 0) {
        fprintf(out,
                "dry-run potential=%" PRIu32 " offset=%" PRIu32 " wanted=%" PRIu32
                " rejected=%" PRIu32 "\n",
                decision->potential, decision->offset, decision->wanted, decision->rejected);
        write_candidates(world, out);
        write_rejected(world, out);
    }
    if (decision->chosen != SCHEDQ_NO_NODE) {
        fprintf(out, "choose %s victims=", node_name(world, decision->chosen));
        write_pods(world, decision->victims, decision->victim_count, out);
        fputc('\n', out);
    }
    write_result(world, out);
}

void
answer_write_actions(struct preemption_world *world, const char *word, FILE *out)
{
    const schedq_preemption_decision_t *decision = &world->decision;

    if (decision->chosen == SCHEDQ_NO_NODE) {
        return;
    }
    fprintf(out, "%s delete=", word);
    write_pods(world, decision->deletes, decision->delete_count, out);
    fputs(" clear=", out);
    for (uint32_t i = 0; i < decision->clear_count; i++) {
        fprintf(out, "%s%s", i == 0 ? "" : ",",
                (const char *)(uintptr_t)decision->clears[i].object);
    }
    fputs(decision->clear_count == 0 ? "-\n" : "\n", out);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool
begins(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

/* The next line, or NULL. */
static char *
next_line(char **rest)
{
    char *line = *rest;
    char *end = strchr(line, '\n');

    if (end == NULL) {
        return NULL;
    }
    *end = '\0';
    *rest = end + 1;
    return line;
}

/* Length without upstream's wording: three words of `rejected` and `result`. */
static size_t
compared_length(const char *line)
{
    const char *end = line;

    if (!begins(line, "rejected ") && !begins(line, "result ")) {
        return strlen(line);
    }
    for (unsigned words = 0; words < 3 && *end != '\0'; words++) {
        end += end == line ? 0 : 1;
        end += strcspn(end, " ");
    }
    return (size_t)(end - line);
}

static bool
same_line(const char *expected, const char *got)
{
    size_t length = compared_length(expected);

    return length == compared_length(got) && strncmp(expected, got, length) == 0;
}

static bool
same_deletes(struct preemption_case *of, char *expected, char *got)
{
    const char *expected_last = strrchr(expected, ',');
    const char *got_last = strrchr(got, ',');
    struct fields fields = {.file = of->file, .line = of->line, .memory = &of->memory};
    struct list left;
    struct list right;

    expected_last = expected_last == NULL ? expected : expected_last + 1;
    got_last = got_last == NULL ? got : got_last + 1;
    if (strcmp(expected_last, got_last) != 0) {
        return false;
    }
    return parse_list(&fields, "delete", expected, &left) &&
           parse_list(&fields, "delete", got, &right) && list_equal(&left, &right);
}

/* "actions delete=A,B clear=Q" */
static bool
same_actions(struct preemption_case *of, const char *expected, const char *got)
{
    struct fields left = {.file = of->file, .line = of->line, .memory = &of->memory};
    struct fields right = left;
    struct list left_clears;
    struct list right_clears;

    if (!fields_split(&left, keep_text(&of->memory, expected)) ||
        !fields_split(&right, keep_text(&of->memory, got)) || left.count != 3 || right.count != 3 ||
        strcmp(left.item[0], right.item[0]) != 0 || !begins(left.item[1], "delete=") ||
        !begins(left.item[2], "clear=")) {
        return false;
    }
    return same_deletes(of, field_value(left.item[1]), field_value(right.item[1])) &&
           parse_list(&left, "clear", field_value(left.item[2]), &left_clears) &&
           parse_list(&right, "clear", field_value(right.item[2]), &right_clears) &&
           list_equal(&left_clears, &right_clears);
}

/* Any one of the `choose` lines from *at on; *at then stands behind them. */
static bool
same_choice(const struct case_answer *expected, size_t *at, const char *got, bool *several)
{
    bool same = false;
    size_t first = *at;

    for (; *at < expected->lines.count && begins(expected->lines.item[*at], "choose "); ++*at) {
        same = same || strcmp(expected->lines.item[*at], got) == 0;
    }
    *several = *at - first > 1;
    return same;
}

bool
answer_agrees(struct preemption_case *of, const struct case_answer *expected, char *got)
{
    bool several = false;
    size_t at = 0;
    char *line;

    while ((line = next_line(&got)) != NULL) {
        if (several && begins(line, "actions")) {
            continue;
        }
        if (begins(line, "choose ")) {
            if (!same_choice(expected, &at, line, &several)) {
                return false;
            }
            continue;
        }
        if (at == expected->lines.count) {
            return false;
        }
        const char *recorded = expected->lines.item[at++];

        if (!(begins(line, "actions") ? same_actions(of, recorded, line)
                                      : same_line(recorded, line))) {
            return false;
        }
    }
    return at == expected->lines.count;
}
