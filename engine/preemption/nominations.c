/*
 * Nominations: pods that were promised a node, in the order of the promises, and until when.
 *
 * Each has a number that no other ever had (its generation), so that a holder that comes late
 * cannot end its successor.
 */
#include "preemption/cluster.h"

#include <inttypes.h>
#include <string.h>

static struct nomination *
find(const schedq_cluster_t *cluster, const char *name)
{
    uint64_t key = name_find(&cluster->texts, name);
    const uint64_t *found = key == 0 ? NULL : map_find(&cluster->nominated_names, key);

    return found == NULL ? NULL : &cluster->nominations[*found];
}

/* ---- sums stay in range ---------------------------------------------------------------------- */

static int64_t
asked(const struct amounts *amounts, uint32_t resource)
{
    switch (resource) {
    case SCHEDQ_RESOURCE_CPU:
        return amounts->cpu;
    case SCHEDQ_RESOURCE_MEMORY:
        return amounts->memory;
    case SCHEDQ_RESOURCE_PODS:
        return 1;
    default:
        return amount_of(amounts, resource);
    }
}

/* Of all that are nominated to a node but `old`, which may be NULL. */
static int64_t
sum_on(const schedq_cluster_t *cluster, uint32_t node, uint32_t resource,
       const struct nomination *old)
{
    int64_t sum = 0;

    for (uint32_t at = cluster->nodes[node].first_nomination; at != 0;
         at = cluster->nominations[at - 1].after) {
        if (&cluster->nominations[at - 1] != old) {
            sum += asked(&cluster->nominations[at - 1].requests, resource);
        }
    }
    return sum;
}

static bool
nominated_sum_fits(schedq_cluster_t *cluster, uint32_t node, uint32_t resource,
                   const struct amounts *amounts, const struct nomination *old)
{
    int64_t sum = sum_on(cluster, node, resource, old) + asked(amounts, resource);

    if (sum > SCHEDQ_QUANTITY_MAX) {
        const struct words words = cluster_words(cluster);

        words_say(&words,
                  "requests: resource %" PRIu32 " of all pods nominated to node %" PRIu32
                  " together %" PRId64 ": 0..%" PRId64,
                  resource, node, sum, SCHEDQ_QUANTITY_MAX);
        return false;
    }
    return true;
}

static bool
nominated_sums_fit(schedq_cluster_t *cluster, uint32_t node, const struct amounts *amounts,
                   const struct nomination *old)
{
    if (!nominated_sum_fits(cluster, node, SCHEDQ_RESOURCE_CPU, amounts, old) ||
        !nominated_sum_fits(cluster, node, SCHEDQ_RESOURCE_MEMORY, amounts, old)) {
        return false;
    }
    for (uint32_t i = 0; i < amounts->extended_count; i++) {
        if (!nominated_sum_fits(cluster, node, amounts->extended[i].resource, amounts, old)) {
            return false;
        }
    }
    return true;
}

/* ---- the list of a node ---------------------------------------------------------------------- */

static void
append(schedq_cluster_t *cluster, uint32_t number)
{
    struct nomination *nomination = &cluster->nominations[number - 1];
    struct node *node = &cluster->nodes[nomination->node];

    nomination->before = node->last_nomination;
    nomination->after = 0;
    if (node->last_nomination == 0) {
        node->first_nomination = number;
    } else {
        cluster->nominations[node->last_nomination - 1].after = number;
    }
    node->last_nomination = number;
}

static void
unlink_nomination(schedq_cluster_t *cluster, const struct nomination *nomination)
{
    struct node *node = &cluster->nodes[nomination->node];

    if (nomination->before == 0) {
        node->first_nomination = nomination->after;
    } else {
        cluster->nominations[nomination->before - 1].after = nomination->after;
    }
    if (nomination->after == 0) {
        node->last_nomination = nomination->before;
    } else {
        cluster->nominations[nomination->after - 1].before = nomination->before;
    }
}

void
nomination_end(schedq_cluster_t *cluster, struct nomination *nomination)
{
    unlink_nomination(cluster, nomination);
    map_remove(&cluster->nominated_names, nomination->key);
    texts_drop(&cluster->texts, (uint32_t)(nomination->key >> 32));
    texts_drop(&cluster->texts, (uint32_t)nomination->key);
    amounts_free(&nomination->requests, &cluster->memory);
    *nomination = (struct nomination){.after = cluster->free_nomination};
    cluster->free_nomination = (uint32_t)(nomination - cluster->nominations) + 1;
    cluster->nomination_count--;
}

/* ---- the calls ------------------------------------------------------------------------------- */

/* A number for a new name, which is entered; 0: no memory. */
static uint32_t
number_for(schedq_cluster_t *cluster, const char *name)
{
    uint32_t space;
    uint32_t local;

    if (!name_use(&cluster->texts, name, &space, &local)) {
        return 0;
    }
    if ((cluster->free_nomination == 0 &&
         !array_reserve(&cluster->memory, &cluster->nominations, &cluster->nomination_capacity,
                        cluster->nominations_end + 1, sizeof *cluster->nominations)) ||
        !map_reserve(&cluster->nominated_names, &cluster->memory)) {
        texts_drop(&cluster->texts, space);
        texts_drop(&cluster->texts, local);
        return 0;
    }
    uint32_t number = cluster->free_nomination;

    if (number == 0) {
        number = ++cluster->nominations_end;
    } else {
        cluster->free_nomination = cluster->nominations[number - 1].after;
    }
    cluster->nominations[number - 1] = (struct nomination){.key = name_key(space, local)};
    map_add(&cluster->nominated_names, name_key(space, local), number - 1);
    cluster->nomination_count++;
    return number;
}

static schedq_status_t
nominate_checked(schedq_cluster_t *cluster, const schedq_nominated_spec_t *spec,
                 uint64_t *generation)
{
    struct nomination *old = find(cluster, spec->name);
    struct amounts requests;

    if (!amounts_copy(&requests, &spec->requests, &cluster->memory)) {
        return SCHEDQ_NOMEM;
    }
    if (!nominated_sums_fit(cluster, spec->node, &requests, old)) {
        amounts_free(&requests, &cluster->memory);
        return SCHEDQ_FULL;
    }
    uint32_t number =
        old != NULL ? (uint32_t)(old - cluster->nominations) + 1 : number_for(cluster, spec->name);

    if (number == 0) {
        amounts_free(&requests, &cluster->memory);
        return SCHEDQ_NOMEM;
    }
    if (old != NULL) {
        unlink_nomination(cluster, old);
        amounts_free(&old->requests, &cluster->memory);
    }
    struct nomination *nomination = &cluster->nominations[number - 1];

    nomination->object = spec->object;
    nomination->generation = ++cluster->nominated_ever;
    nomination->expires_ns = spec->expires_ns != 0 ? spec->expires_ns : SCHEDQ_NO_DEADLINE;
    nomination->node = spec->node;
    nomination->priority = spec->priority;
    nomination->requests = requests;
    append(cluster, number);
    if (generation != NULL) {
        *generation = nomination->generation;
    }
    return SCHEDQ_OK;
}

schedq_status_t
schedq_cluster_nominate(schedq_cluster_t *cluster, const schedq_nominated_spec_t *spec,
                        uint64_t *generation)
{
    if (cluster == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct words words = cluster_words(cluster);

    if (!check_pointer(&words, "spec", spec) ||
        !check_nominated_spec(&words, spec, cluster->resource_count)) {
        return SCHEDQ_INVALID;
    }
    if (!node_exists(cluster, spec->node)) {
        words_say(&words, "node %" PRIu32 ": the number of a node, below %" PRIu32, spec->node,
                  cluster->nodes_end);
        return SCHEDQ_NOT_FOUND;
    }
    return nominate_checked(cluster, spec, generation);
}

schedq_status_t
schedq_cluster_unnominate(schedq_cluster_t *cluster, const char *name, uint64_t generation)
{
    if (cluster == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct words words = cluster_words(cluster);

    if (!check_full_name(&words, "name", name)) {
        return SCHEDQ_INVALID;
    }
    struct nomination *nomination = find(cluster, name);

    if (nomination == NULL) {
        words_say(&words, "name \"%.120s\": a nominated pod", name);
        return SCHEDQ_NOT_FOUND;
    }
    if (generation != 0 && generation != nomination->generation) {
        words_say(&words, "generation %" PRIu64 ": 0 or %" PRIu64, generation,
                  nomination->generation);
        return SCHEDQ_STALE;
    }
    nomination_end(cluster, nomination);
    return SCHEDQ_OK;
}

schedq_status_t
schedq_cluster_expire(schedq_cluster_t *cluster, int64_t now_ns,
                      void (*expired)(void *ctx, uint64_t object), void *ctx)
{
    if (cluster == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct words words = cluster_words(cluster);

    if (!check_time(&words, "now_ns", now_ns)) {
        return SCHEDQ_INVALID;
    }
    for (uint32_t i = 0; i < cluster->nominations_end; i++) {
        struct nomination *nomination = &cluster->nominations[i];

        if (nomination->generation == 0 || nomination->expires_ns == SCHEDQ_NO_DEADLINE ||
            nomination->expires_ns > now_ns) {
            continue;
        }
        uint64_t object = nomination->object;

        nomination_end(cluster, nomination);
        if (expired != NULL) {
            expired(ctx, object);
        }
    }
    return SCHEDQ_OK;
}
