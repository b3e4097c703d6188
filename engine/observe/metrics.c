/* The lines of metrics.h. */
#include "observe/metrics.h"

#include <inttypes.h>

static void
head(struct text *text, const char *name, const char *type, const char *help)
{
    text_add(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

#define PLAIN_QUEUES 4 /* of those that pods wait in: the others are of groups */

void
metrics_stats(struct text *text, const schedq_stats_t *stats, bool entities)
{
    const uint64_t in_cycle = stats->members_at[SCHEDQ_INFLIGHT];
    const struct {
        const char *queue;
        uint64_t pods, members, records;
    } pending[] = {
        {"active", stats->active, stats->members_at[SCHEDQ_ACTIVE],
         stats->groups_at[SCHEDQ_ACTIVE]},
        {"backoff", stats->backoff + stats->error_backoff,
         stats->members_at[SCHEDQ_BACKOFF] + stats->members_at[SCHEDQ_ERROR_BACKOFF],
         stats->groups_at[SCHEDQ_BACKOFF] + stats->groups_at[SCHEDQ_ERROR_BACKOFF]},
        {"unschedulable", stats->parked, stats->members_at[SCHEDQ_PARKED],
         stats->groups_at[SCHEDQ_PARKED]},
        {"gated", stats->gated, stats->members_at[SCHEDQ_GATED], stats->groups_at[SCHEDQ_GATED]},
        {"pending", in_cycle, 0, 0},
        {"incomplete", stats->aside - in_cycle, 0, 0},
    };
    const struct {
        const char *name, *type, *help;
        uint64_t value;
    } own[] = {
        {"schedq_inflight_pods", "gauge", "Pods that were popped and whose cycle has not ended.",
         stats->inflight},
        {"schedq_held_pods", "gauge", "Pods that are kept back.", stats->held},
        {"schedq_nominated_pods", "gauge", "Pods that are nominated to a node.", stats->nominated},
        {"schedq_workers", "gauge", "Registered workers, the timer thread's too.", stats->workers},
        {"schedq_adds_total", "counter", "Pods added.", stats->adds},
        {"schedq_pops_total", "counter", "Pods popped.", stats->pops},
        {"schedq_dones_total", "counter", "Pods placed.", stats->dones},
        {"schedq_failures_total", "counter", "Cycles that ended without success.", stats->failures},
        {"schedq_deletes_total", "counter", "Pods deleted.", stats->deletes},
        {"schedq_updates_total", "counter", "Pods updated.", stats->updates},
        {"schedq_moves_total", "counter", "Pods that events or time took out of a waiting place.",
         stats->moves},
        {"schedq_events_total", "counter", "Events that some plugin registered.", stats->events},
        {"schedq_hint_calls_total", "counter", "Hints called.", stats->hint_calls},
        {"schedq_pre_enqueue_calls_total", "counter", "PreEnqueue calls.",
         stats->pre_enqueue_calls},
    };
    const struct {
        const char *kind;
        uint64_t bytes;
    } memory[] = {
        {"entries", stats->bytes_entries}, {"names", stats->bytes_names},
        {"index", stats->bytes_index},     {"queues", stats->bytes_queues},
        {"other", stats->bytes_other},
    };

    head(text, "scheduler_pending_pods", "gauge", "Pods that wait, by queue.");
    for (size_t i = 0; i < sizeof pending / sizeof pending[0]; i++) {
        if (i < PLAIN_QUEUES || stats->groups_known) {
            text_add(text, "scheduler_pending_pods{queue=\"%s\"} %" PRIu64 "\n", pending[i].queue,
                     pending[i].pods);
        }
    }
    if (entities) {
        head(text, "scheduler_queued_entities", "gauge", "Entities that wait, by queue and type.");
    }
    for (size_t i = 0; entities && i < PLAIN_QUEUES; i++) {
        text_add(text, "scheduler_queued_entities{queue=\"%s\",type=\"pod\"} %" PRIu64 "\n",
                 pending[i].queue, pending[i].pods - pending[i].members);
        if (stats->groups_known) {
            text_add(text,
                     "scheduler_queued_entities{queue=\"%s\",type=\"podgroup\"} %" PRIu64 "\n",
                     pending[i].queue, pending[i].records);
        }
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        head(text, own[i].name, own[i].type, own[i].help);
        text_add(text, "%s %" PRIu64 "\n", own[i].name, own[i].value);
    }
    head(text, "schedq_memory_bytes", "gauge", "Memory held, by kind.");
    for (size_t i = 0; i < sizeof memory / sizeof memory[0]; i++) {
        text_add(text, "schedq_memory_bytes{kind=\"%s\"} %" PRIu64 "\n", memory[i].kind,
                 memory[i].bytes);
    }
}

struct incoming_family {
    const char *name, *type; /* type: further labels */
    uint32_t kinds;          /* which counters it adds up, as bits */
};

static void
add_incoming(struct text *text, const struct incoming_family *family, const char *event,
             const uint64_t counts[INCOMING_ALL])
{
    static const char *const places[INCOMING_PLACES] = {"active", "backoff", "unschedulable"};

    for (uint32_t place = 0; place < INCOMING_PLACES; place++) {
        uint64_t count = 0;

        for (uint32_t kinds = family->kinds; kinds != 0; kinds &= kinds - 1) {
            count += counts[(uint32_t)__builtin_ctz(kinds) * INCOMING_PLACES + place];
        }
        if (count > 0) {
            text_add(text, "%s{queue=\"%s\",event=\"", family->name, places[place]);
            text_add_escaped(text, event);
            text_add(text, "\"%s} %" PRIu64 "\n", family->type, count);
        }
    }
}

static void
add_incoming_family(struct text *text, const struct registry *registry,
                    const struct incoming_family *family, metrics_incoming_fn count,
                    const void *queue)
{
    for (uint32_t label = 0; label < registry_label_count(registry); label++) {
        uint64_t counts[INCOMING_ALL] = {0};

        count(queue, label, counts);
        add_incoming(text, family, registry_label_text(registry, label), counts);
    }
}

void
metrics_incoming(struct text *text, const struct registry *registry, metrics_incoming_fn count,
                 const void *queue)
{
    enum { others = 1, named = 2, of_groups = 4, groups = 8 }; /* in the order of the counters */
    static const char entities_name[] = "scheduler_queue_incoming_entities_total";
    static const struct incoming_family pods = {.name = "scheduler_queue_incoming_pods_total",
                                                .type = "",
                                                .kinds = others | named | of_groups},
                                        entities[] = {
                                            {entities_name, ",type=\"pod\"", others},
                                            {entities_name, ",type=\"podgroup\"", groups},
                                        };

    head(text, pods.name, "counter", "Pods that came into a queue, by event.");
    add_incoming_family(text, registry, &pods, count, queue);
    if (registry->rules->counts_entities) {
        head(text, entities_name, "counter",
             "Entities that came into a queue, not where a verdict named, by event and type.");
        for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++) {
            add_incoming_family(text, registry, &entities[i], count, queue);
        }
    }
}

static void
add_rejector(struct text *text, const char *plugin, const char *profile, uint64_t count)
{
    text_add(text, "scheduler_unschedulable_pods{plugin=\"");
    text_add_escaped(text, plugin);
    text_add(text, "\",profile=\"");
    text_add_escaped(text, profile);
    text_add(text, "\"} %" PRIu64 "\n", count);
}

static void
add_profile(struct text *text, const struct registry *registry, schedq_profile_t profile,
            const uint64_t counts[REGISTRY_REJECTORS])
{
    const char *name = registry_profile_name(registry, profile);

    for (uint64_t bits = registry_known(registry, profile) & ~SCHEDQ_REJECTOR_OTHERS; bits != 0;
         bits &= bits - 1) {
        uint32_t plugin = (uint32_t)__builtin_ctzll(bits);

        add_rejector(text, registry_plugin_name(registry, profile, plugin), name, counts[plugin]);
    }
    if (counts[REGISTRY_REJECTORS - 1] > 0) {
        add_rejector(text, "others", name, counts[REGISTRY_REJECTORS - 1]);
    }
}

void
metrics_rejectors(struct text *text, const struct registry *registry, metrics_rejectors_fn count,
                  const void *queue)
{
    head(text, "scheduler_unschedulable_pods", "gauge",
         "Waiting pods, by the plugins that rejected them.");
    for (uint32_t i = 0; i < registry_profile_count(registry); i++) {
        uint64_t counts[REGISTRY_REJECTORS] = {0};

        count(queue, (schedq_profile_t)i, counts);
        add_profile(text, registry, (schedq_profile_t)i, counts);
    }
}

void
metrics_pre_hints(struct text *text, const struct registry *registry)
{
    static const char *const answers[2] = {"all_pods", "narrowed"};
    static const char name[] = "scheduler_pre_queueing_hint_evaluations_total";

    if (!registry->rules->pre_hints) {
        return;
    }
    head(text, name, "counter", "Answers of pre-queueing hints.");
    for (uint32_t i = 0; i < registry_profile_count(registry); i++) {
        schedq_profile_t profile = (schedq_profile_t)i;

        for (uint64_t bits = registry_known(registry, profile) & ~SCHEDQ_REJECTOR_OTHERS; bits != 0;
             bits &= bits - 1) {
            uint32_t plugin = (uint32_t)__builtin_ctzll(bits);

            for (uint32_t listed = 0; listed < 2; listed++) {
                uint64_t count = registry_pre_hints_said(registry, profile, plugin, listed != 0);

                if (count > 0) {
                    text_add(text, "%s{plugin=\"", name);
                    text_add_escaped(text, registry_plugin_name(registry, profile, plugin));
                    text_add(text, "\",result=\"%s\"} %" PRIu64 "\n", answers[listed], count);
                }
            }
        }
    }
}
