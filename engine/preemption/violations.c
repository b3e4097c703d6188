/*
 * Which potential victims would violate a disruption budget.
 *
 * Budgets count down in order of importance over all potential victims, also those that stay in the
 * end; the less important ones are those that find nothing left. A pod that a budget has counted as
 * disrupted already costs it nothing.
 */
#include "preemption/evaluation.h"

static bool
has_label(const struct pod *pod, const struct requirement *requirement)
{
    for (uint32_t i = 0; i < pod->label_count; i++) {
        if (pod->labels[i].key == requirement->key) {
            return requirement->value == 0 || pod->labels[i].value == requirement->value;
        }
    }
    return false;
}

static bool
matches(const struct budget *budget, const struct pod *pod)
{
    for (uint32_t i = 0; i < budget->requirement_count; i++) {
        if (!has_label(pod, &budget->requirements[i])) {
            return false;
        }
    }
    return budget->requirement_count > 0;
}

static bool
is_disrupted(const struct budget *budget, uint32_t name)
{
    uint32_t low = 0;
    uint32_t high = budget->disrupted_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (budget->disrupted[middle] < name) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < budget->disrupted_count && budget->disrupted[low] == name;
}

/* What is left of a budget on this visit. */
static int32_t *
left_of(const schedq_preemption_t *of, struct lane *lane, uint32_t number)
{
    if (lane->stamps[number] != lane->visit) {
        lane->stamps[number] = lane->visit;
        lane->left[number] = of->cluster->budgets[number].allowed;
    }
    return &lane->left[number];
}

/* Below zero it says no more than it said at -1, and the count has an end. */
static bool
counts_down_below_zero(int32_t *left)
{
    *left = *left > 0 ? *left - 1 : -1;
    return *left < 0;
}

static bool
violates(const schedq_preemption_t *of, struct lane *lane, const struct pod *pod)
{
    const uint64_t *first = map_find(&of->cluster->budget_spaces, pod->space);
    bool violated = false;

    for (uint32_t at = first == NULL ? 0 : (uint32_t)*first; at != 0;
         at = of->cluster->budgets[at - 1].next) {
        const struct budget *budget = &of->cluster->budgets[at - 1];

        if (!matches(budget, pod)) {
            continue;
        }
        if (of->config.budget_rule == SCHEDQ_BUDGETS_BY_ALLOWED) {
            violated |= budget->allowed <= 0;
        } else if (!is_disrupted(budget, pod->name)) {
            violated |= counts_down_below_zero(left_of(of, lane, at - 1));
        }
    }
    return violated;
}

static bool
reserve(const schedq_preemption_t *of, struct lane *lane)
{
    uint32_t count = of->cluster->budgets_end;

    return array_reserve(lane->memory, &lane->left, &lane->budget_capacity, count,
                         sizeof *lane->left) &&
           array_reserve(lane->memory, &lane->stamps, &lane->stamp_capacity, count,
                         sizeof *lane->stamps);
}

uint32_t
split_by_budgets(const schedq_preemption_t *of, struct lane *lane, const struct node *node,
                 uint32_t count)
{
    uint32_t violating = 0;
    uint32_t peaceful = 0;

    if (!reserve(of, lane)) {
        lane->no_memory = true;
        return 0;
    }
    lane->visit++;
    for (uint32_t i = 0; i < count; i++) {
        const struct slot *slot = &node->slots[lane->potential[i]];

        if ((slot->flags & SLOT_LABELS) != 0 &&
            violates(of, lane, &of->cluster->pods[slot->pod.index])) {
            lane->violating[violating++] = lane->potential[i];
        } else {
            lane->peaceful[peaceful++] = lane->potential[i];
        }
    }
    return violating;
}
