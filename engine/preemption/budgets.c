/* Disruption budgets, chained by namespace: a pod is compared with those of its own only. */
#include "preemption/cluster.h"

#include <stdlib.h>
#include <string.h>

static uint32_t
first_of(const schedq_cluster_t *cluster, uint32_t space)
{
    const uint64_t *first = space == 0 ? NULL : map_find(&cluster->budget_spaces, space);

    return first == NULL ? 0 : (uint32_t)*first;
}

static struct budget *
find_budget(const schedq_cluster_t *cluster, uint64_t key)
{
    for (uint32_t at = first_of(cluster, (uint32_t)(key >> 32)); at != 0;
         at = cluster->budgets[at - 1].next) {
        if (cluster->budgets[at - 1].name == (uint32_t)key) {
            return &cluster->budgets[at - 1];
        }
    }
    return NULL;
}

/* ---- what a description brings --------------------------------------------------------------- */

static void
drop_budget(schedq_cluster_t *cluster, struct budget *budget)
{
    for (uint32_t i = 0; budget->requirements != NULL && i < budget->requirement_count; i++) {
        texts_drop(&cluster->texts, budget->requirements[i].key);
        texts_drop(&cluster->texts, budget->requirements[i].value);
    }
    for (uint32_t i = 0; budget->disrupted != NULL && i < budget->disrupted_count; i++) {
        texts_drop(&cluster->texts, budget->disrupted[i]);
    }
    memory_free(&cluster->memory, MEMORY_ENTRIES, budget->requirements,
                budget->requirement_count * sizeof *budget->requirements);
    memory_free(&cluster->memory, MEMORY_ENTRIES, budget->disrupted,
                budget->disrupted_count * sizeof *budget->disrupted);
}

static bool
copy_requirements(schedq_cluster_t *cluster, struct budget *budget,
                  const schedq_budget_spec_t *spec)
{
    budget->requirement_count = spec->requirement_count;
    if (spec->requirement_count == 0) {
        return true;
    }
    budget->requirements =
        memory_alloc(&cluster->memory, MEMORY_ENTRIES,
                     spec->requirement_count * sizeof *budget->requirements, sizeof(uint32_t));
    if (budget->requirements == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < spec->requirement_count; i++) {
        const schedq_requirement_t *from = &spec->requirements[i];
        struct requirement *to = &budget->requirements[i];

        to->key = texts_use(&cluster->texts, from->key, (uint32_t)strlen(from->key));
        if (from->kind == SCHEDQ_LABEL_EQUALS) {
            to->value = texts_use(&cluster->texts, from->value, (uint32_t)strlen(from->value));
        }
        if (to->key == 0 || (from->kind == SCHEDQ_LABEL_EQUALS && to->value == 0)) {
            return false;
        }
    }
    return true;
}

static int
compare_texts(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a;
    uint32_t right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

static bool
copy_disrupted(schedq_cluster_t *cluster, struct budget *budget, const schedq_budget_spec_t *spec)
{
    budget->disrupted_count = spec->disrupted_count;
    if (spec->disrupted_count == 0) {
        return true;
    }
    budget->disrupted =
        memory_alloc(&cluster->memory, MEMORY_ENTRIES,
                     spec->disrupted_count * sizeof *budget->disrupted, sizeof(uint32_t));
    if (budget->disrupted == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < spec->disrupted_count; i++) {
        budget->disrupted[i] =
            texts_use(&cluster->texts, spec->disrupted[i], (uint32_t)strlen(spec->disrupted[i]));
        if (budget->disrupted[i] == 0) {
            return false;
        }
    }
    qsort(budget->disrupted, budget->disrupted_count, sizeof *budget->disrupted, compare_texts);
    return true;
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* Behind the others of its namespace. */
static void
chain(schedq_cluster_t *cluster, uint32_t number)
{
    uint32_t space = cluster->budgets[number - 1].space;
    uint32_t at = first_of(cluster, space);

    if (at == 0) {
        map_add(&cluster->budget_spaces, space, number);
        return;
    }
    while (cluster->budgets[at - 1].next != 0) {
        at = cluster->budgets[at - 1].next;
    }
    cluster->budgets[at - 1].next = number;
}

static schedq_status_t
add(schedq_cluster_t *cluster, const schedq_budget_spec_t *spec, struct budget *made)
{
    if (!name_use(&cluster->texts, spec->name, &made->space, &made->name)) {
        return SCHEDQ_NOMEM;
    }
    if ((cluster->free_budget == 0 &&
         !array_reserve(&cluster->memory, &cluster->budgets, &cluster->budget_capacity,
                        cluster->budgets_end + 1, sizeof *cluster->budgets)) ||
        !map_reserve(&cluster->budget_spaces, &cluster->memory)) {
        texts_drop(&cluster->texts, made->space);
        texts_drop(&cluster->texts, made->name);
        return SCHEDQ_NOMEM;
    }
    uint32_t number = cluster->free_budget;

    if (number == 0) {
        number = ++cluster->budgets_end;
    } else {
        cluster->free_budget = cluster->budgets[number - 1].next;
    }
    cluster->budgets[number - 1] = *made;
    chain(cluster, number);
    cluster->budget_count++;
    return SCHEDQ_OK;
}

schedq_status_t
schedq_cluster_set_budget(schedq_cluster_t *cluster, const schedq_budget_spec_t *spec)
{
    if (cluster == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct words words = cluster_words(cluster);

    if (!check_pointer(&words, "spec", spec) || !check_budget_spec(&words, spec)) {
        return SCHEDQ_INVALID;
    }
    struct budget made = {.allowed = spec->allowed, .selector = spec->selector};

    if (!copy_requirements(cluster, &made, spec) || !copy_disrupted(cluster, &made, spec)) {
        drop_budget(cluster, &made);
        return SCHEDQ_NOMEM;
    }
    struct budget *old = find_budget(cluster, name_find(&cluster->texts, spec->name));

    if (old != NULL) {
        made.space = old->space;
        made.name = old->name;
        made.next = old->next;
        drop_budget(cluster, old);
        *old = made;
        return SCHEDQ_OK;
    }
    schedq_status_t status = add(cluster, spec, &made);

    if (status != SCHEDQ_OK) {
        drop_budget(cluster, &made);
    }
    return status;
}

static void
remove_first(schedq_cluster_t *cluster, uint32_t space)
{
    uint64_t *first = map_find(&cluster->budget_spaces, space);
    uint32_t number = (uint32_t)*first;
    struct budget *budget = &cluster->budgets[number - 1];

    if (budget->next == 0) {
        map_remove(&cluster->budget_spaces, space);
    } else {
        *first = budget->next;
    }
    drop_budget(cluster, budget);
    texts_drop(&cluster->texts, budget->space);
    texts_drop(&cluster->texts, budget->name);
    *budget = (struct budget){.next = cluster->free_budget};
    cluster->free_budget = number;
    cluster->budget_count--;
}

schedq_status_t
schedq_cluster_remove_budget(schedq_cluster_t *cluster, const char *name)
{
    if (cluster == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct words words = cluster_words(cluster);

    if (!check_full_name(&words, "name", name)) {
        return SCHEDQ_INVALID;
    }
    struct budget *budget = find_budget(cluster, name_find(&cluster->texts, name));

    if (budget == NULL) {
        words_say(&words, "name \"%.120s\": a budget", name);
        return SCHEDQ_NOT_FOUND;
    }
    uint32_t number = (uint32_t)(budget - cluster->budgets) + 1;
    uint64_t *first = map_find(&cluster->budget_spaces, budget->space);

    /* The one to go becomes the first, the others keep their order. */
    if (*first != number) {
        uint32_t at = (uint32_t)*first;

        while (cluster->budgets[at - 1].next != number) {
            at = cluster->budgets[at - 1].next;
        }
        cluster->budgets[at - 1].next = budget->next;
        budget->next = (uint32_t)*first;
        *first = number;
    }
    remove_first(cluster, budget->space);
    return SCHEDQ_OK;
}

void
budgets_clear(schedq_cluster_t *cluster)
{
    for (uint32_t i = 0; i < cluster->budgets_end; i++) {
        uint32_t space = cluster->budgets[i].space;

        while (first_of(cluster, space) != 0) {
            remove_first(cluster, space);
        }
    }
    cluster->budgets_end = 0;
    cluster->free_budget = 0;
}
