/* The lines of metrics.h. */
#include "observe/metrics.h"

#include "observe/histogram.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void
metrics_head(struct text *text, const char *name, const char *type, const char *help)
{
    text_add(text, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

#define PLAIN_QUEUES 4 /* the first rows of pending[]; the others are for members of groups only */

void
metrics_stats(struct text *text, const schedq_stats_t *stats, const struct metrics_inside *inside,
              bool entities)
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
        {"schedq_class_hides_total", "counter",
         "Pods kept back untried since another one of their class was rejected.",
         stats->class_hides},
        {"schedq_class_turns_total", "counter",
         "Pods that were kept back, and are the next to be tried for their class.",
         stats->class_turns},
        {"schedq_wakeups_total", "counter", "Times that threads were woken that wait in a pop.",
         inside->wakes},
        {"schedq_membarriers_total", "counter",
         "Fences in all threads that the kernel was asked for.", stats->membarriers},
        {"schedq_memory_waiting_bytes", "gauge",
         "Memory that was replaced and that some call may still read.", inside->waiting_bytes},
        {"schedq_standing_calls", "gauge",
         "Calls that began before memory that waits was replaced.", inside->standing},
    };
    const struct {
        const char *kind;
        uint64_t bytes;
    } memory[] = {
        {"entries", stats->bytes_entries}, {"names", stats->bytes_names},
        {"index", stats->bytes_index},     {"queues", stats->bytes_queues},
        {"other", stats->bytes_other},
    };

    metrics_head(text, "scheduler_pending_pods", "gauge", "Pods that wait, by queue.");
    for (size_t i = 0; i < sizeof pending / sizeof pending[0]; i++) {
        if (i < PLAIN_QUEUES || stats->groups_known) {
            text_add(text, "scheduler_pending_pods{queue=\"%s\"} %" PRIu64 "\n", pending[i].queue,
                     pending[i].pods);
        }
    }
    if (entities) {
        metrics_head(text, "scheduler_queued_entities", "gauge",
                     "Entities that wait, by queue and type.");
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
        metrics_head(text, own[i].name, own[i].type, own[i].help);
        text_add(text, "%s %" PRIu64 "\n", own[i].name, own[i].value);
    }
    metrics_head(text, "schedq_memory_bytes", "gauge", "Memory held, by kind.");
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

    metrics_head(text, pods.name, "counter", "Pods that came into a queue, by event.");
    add_incoming_family(text, registry, &pods, count, queue);
    if (registry->rules->counts_entities) {
        metrics_head(
            text, entities_name, "counter",
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

/* ---- all pods -------------------------------------------------------------------------------- */

#define PLACES (SCHEDQ_ASIDE + 1)

struct metrics_pods {
    int64_t now;
    uint32_t profiles;
    struct {
        struct histogram waits, attempts;
        int64_t oldest; /* age, nanoseconds */
    } places[PLACES];
    uint64_t rejected[][REGISTRY_REJECTORS]; /* waiting pods by profile and number of the bit */
};

void
metrics_pods_add(struct metrics_pods *pods, const struct metrics_pod *pod)
{
    int64_t age = pod->timestamp_ns < pods->now ? pods->now - pod->timestamp_ns : 0;

    histogram_add(&pods->places[pod->place].waits, HISTOGRAM_WAITS, age);
    histogram_add(&pods->places[pod->place].attempts, HISTOGRAM_ATTEMPTS, pod->attempts);
    if (age > pods->places[pod->place].oldest) {
        pods->places[pod->place].oldest = age;
    }
    if (pod->place == SCHEDQ_INFLIGHT || pod->profile >= pods->profiles) {
        return; /* the profile was defined meanwhile */
    }
    for (uint64_t bits = pod->rejectors; bits != 0; bits &= bits - 1) {
        pods->rejected[pod->profile][__builtin_ctzll(bits)]++;
    }
}

/* Which of its two histograms a place tells. */
enum side { SIDE_WAITS, SIDE_ATTEMPTS };

static void
add_places(struct text *text, const char *name, const struct metrics_pods *pods, enum side side)
{
    for (uint32_t place = SCHEDQ_NOWHERE + 1; place < PLACES; place++) {
        char labels[40];

        (void)snprintf(labels, sizeof labels, "place=\"%s\"",
                       schedq_place_name((schedq_place_t)place));
        histogram_write(
            text, name, labels, side == SIDE_WAITS ? HISTOGRAM_WAITS : HISTOGRAM_ATTEMPTS,
            side == SIDE_WAITS ? &pods->places[place].waits : &pods->places[place].attempts);
    }
}

static void
add_oldest(struct text *text, const struct metrics_pods *pods)
{
    static const char name[] = "schedq_oldest_pod_seconds";

    metrics_head(text, name, "gauge", "Age of the oldest pod of a place; 0: there is none.");
    for (uint32_t place = SCHEDQ_NOWHERE + 1; place < PLACES; place++) {
        int64_t oldest = pods->places[place].oldest;

        text_add(text, "%s{place=\"%s\"} %" PRId64 ".%09" PRId64 "\n", name,
                 schedq_place_name((schedq_place_t)place), oldest / 1000000000,
                 oldest % 1000000000);
    }
}

void
metrics_pods(struct text *text, const struct registry *registry, int64_t now, metrics_pods_fn visit,
             const void *queue)
{
    static const char waits[] = "schedq_pod_wait_seconds", attempts[] = "schedq_pod_attempts";
    uint32_t profiles = registry_profile_count(registry);
    struct metrics_pods *pods = calloc(1, sizeof *pods + profiles * sizeof pods->rejected[0]);

    if (pods == NULL) {
        text->failed = true;
        return;
    }
    pods->now = now;
    pods->profiles = profiles;
    visit(queue, pods);
    metrics_head(text, "scheduler_unschedulable_pods", "gauge",
                 "Waiting pods, by the plugins that rejected them.");
    for (uint32_t i = 0; i < profiles; i++) {
        add_profile(text, registry, (schedq_profile_t)i, pods->rejected[i]);
    }
    metrics_head(text, waits, "histogram",
                 "Time since a pod that is there now came or failed last, by place.");
    add_places(text, waits, pods, SIDE_WAITS);
    metrics_head(text, attempts, "histogram", "Pops so far of a pod that is there now, by place.");
    add_places(text, attempts, pods, SIDE_ATTEMPTS);
    add_oldest(text, pods);
    free(pods);
}

void
metrics_pre_hints(struct text *text, const struct registry *registry)
{
    static const char *const answers[2] = {"all_pods", "narrowed"};
    static const char name[] = "scheduler_pre_queueing_hint_evaluations_total";

    if (!registry->rules->pre_hints) {
        return;
    }
    metrics_head(text, name, "counter", "Answers of pre-queueing hints.");
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
