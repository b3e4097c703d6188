/*
 * The seam between the public entry points (api/) and an engine: what every queue and worker begins
 * with, and one table of functions per engine.
 *
 * api/ checks arguments that can be checked without looking at pods, marks the worker busy, and
 * calls down through the table. Both engines return the same status for the same call; nothing
 * outside the table asks which engine it is.
 */
#ifndef SCHEDQ_ENGINE_H
#define SCHEDQ_ENGINE_H

#include "platform/clock.h"
#include "platform/hash.h"
#include "platform/memory.h"
#include "platform/notifier.h"
#include "plugins/registry.h"
#include "policy/counted.h"
#include "policy/label.h"
#include "policy/rules.h"
#include "worker.h"

#include <schedq/schedq.h>

#define POD_INDEX_BITS 28
#define PODS_MAX ((UINT32_C(1) << POD_INDEX_BITS) - 1)
#define WORKERS_MAX 512
#define BANDS_MAX 1048575

/** For functions that are rarely called: out of line, and callers expect not to call them. */
#define COLD __attribute__((cold, noinline))

/** Out of line, but not cold: what few pods need takes no registers from the path of the others. */
#define RARELY __attribute__((noinline))

/** A step of what nearly always happens: inline in each of its callers. */
#define STRAIGHT static inline __attribute__((always_inline))

struct engine_ops;
struct own;
struct sample;
struct text;

/** What every queue begins with. */
struct schedq_queue {
    const struct engine_ops *ops;
    uint64_t seed;  /* of the hashes of names */
    uint32_t forks; /* inside_forks when it was made: a child has no use for it */
    schedq_config_t config;
    struct memory memory;
    struct clock clock;
    struct rules rules;
    struct registry registry;
    struct own *owns;      /* workers that belong to threads (api/own.h) */
    struct sample *sample; /* NULL, or what times calls (api/sample.h) */
    struct notifier notifier;
    _Alignas(CACHE_LINE) schedq_words_t words;
};

/**
 * Where versions of a queue's records begin. Tokens, handles and refs have versions, so those of
 * another queue are mostly none of this one. Only 32 of the 36 bits are used, so versions hardly go
 * round earlier.
 */
static inline uint64_t
queue_first_version(const schedq_t *queue)
{
    return queue->seed >> 32;
}

/** Sets the text that schedq_worker_error returns. */
__attribute__((cold, format(printf, 2, 3))) void worker_say(schedq_worker_t *worker,
                                                            const char *format, ...);

/** The flags of a spec that describe the pod; others are about the call. */
#define POD_FLAGS (SCHEDQ_POD_AFFINITY | SCHEDQ_POD_ORDER_KEY)

/** Does an update that finds this pod under its name mean another? */
static inline bool
spec_means_another(const schedq_pod_spec_t *spec, schedq_pod_t found)
{
    return spec->only.bits != 0 && spec->only.bits != found.bits;
}

/** What an update's spec describes: without the flags that are about the call. */
static inline schedq_pod_spec_t
spec_of_pod(const schedq_pod_spec_t *spec)
{
    schedq_pod_spec_t pod = *spec;

    pod.flags &= POD_FLAGS;
    return pod;
}

/** A name that passed its check; hash_text of it with the queue's seed. */
struct hashed_name {
    const char *text;
    uint32_t length;
    uint32_t hash;
};

/** So many names of a batch, the first ones, come with their hashes. */
#define BATCH_HASHES 64

/** One batch of pods to add. */
struct add_batch {
    const char *names;
    const schedq_add_item_t *items;
    const uint32_t *hashes; /* of the first BATCH_HASHES names, if their items passed */
    size_t count;
    schedq_pod_t *pods; /* may be NULL */
    uint8_t
        /*
         * preset: SCHEDQ_OK where the item passed its check; the others are left out. NULL: all
         * passed
         */
        *statuses;
};

static inline struct hashed_name
name_in_batch(const schedq_t *queue, const struct add_batch *batch, size_t i)
{
    const schedq_add_item_t *item = &batch->items[i];
    const char *text = batch->names + item->name_offset;

    return (struct hashed_name){.text = text,
                                .length = item->name_length,
                                .hash = i < BATCH_HASHES
                                            ? batch->hashes[i]
                                            : hash_text(queue->seed, text, item->name_length)};
}

/** A pod by handle, or by name if the handle is 0. */
struct pod_key {
    schedq_pod_t pod;
    struct hashed_name name;
};

/** The pod with a node that an assigned_pod call is about. */
struct assigned_pod {
    const char *namespace_name;
    uint32_t namespace_length;
};

/** A pod as a watchdog sees it. */
struct watched {
    schedq_pod_t pod;
    schedq_place_t place;
    schedq_profile_t profile;
    uint8_t gate;
    uint64_t rejectors;
    uint64_t pop_order; /* in flight; 0: its pop has not returned */
    int64_t timestamp;
    uint32_t freed_by; /* as schedq_pod_info_t */
};

/** What a watchdog asks an engine for. */
struct watching {
    void (*each)(void *ctx, const struct watched *pod);
    void *ctx;
    uint64_t popped; /* set before `each` is first called: place of the last pop by then */
};

/** Does a watchdog look at such pods? */
static inline bool
watching_wants(schedq_place_t place, uint32_t freed_by)
{
    return place == SCHEDQ_INFLIGHT || place == SCHEDQ_GATED || freed_by == 1 + LABEL_LEFTOVER;
}

/** What is done to a pod of a label. */
typedef schedq_status_t label_fn(void *ctx, schedq_pod_t pod);

struct engine_ops {
    const char *name;
    uint8_t number; /* SCHEDQ_ENGINE_ */
    size_t queue_bytes;

    /* Life. `open` gets a queue whose base is filled in; after it failed, `shut` is not called. */
    bool (*open)(schedq_t *queue);
    /* everything but the base is given back; SCHEDQ_BUSY: nothing is */
    schedq_status_t (*shut)(schedq_t *queue);
    schedq_status_t (*reserve)(schedq_t *queue, uint32_t pods, uint32_t bands, uint32_t workers);
    void (*trim)(schedq_t *queue);
    schedq_status_t (*run)(schedq_t *queue);
    void (*stop)(schedq_t *queue);
    void (*close)(schedq_t *queue);
    /* called behind the making of the host's descriptor: makes it readable */
    void (*tell_host)(schedq_t *queue);

    /* Setup. */
    schedq_status_t (*event_define)(schedq_t *queue, const char *resource, uint32_t actions,
                                    const char *label, schedq_event_t *event);
    schedq_status_t (*profile_define)(schedq_t *queue, const char *name, schedq_profile_t *profile);
    schedq_status_t (*plugin_register)(schedq_t *queue, const schedq_plugin_t *plugin,
                                       uint64_t *bit);
    uint64_t (*event_plugins)(schedq_t *queue, schedq_profile_t profile, schedq_event_t event);
    uint64_t (*rejector_bit)(schedq_t *queue, schedq_profile_t profile, const char *name,
                             uint32_t length);

    /* Workers. */
    schedq_status_t (*worker_register)(schedq_t *queue, schedq_worker_t **worker);
    void (*worker_unregister)(schedq_worker_t *worker);
    schedq_status_t (*worker_adopt)(schedq_t *queue, schedq_worker_t *abandoned);

    /* Pods. Results are zeroed by the caller and never NULL, except that of add. */
    schedq_status_t (*add)(schedq_worker_t *worker, const struct hashed_name *name,
                           const schedq_pod_spec_t *spec, schedq_result_t *result);
    schedq_status_t (*add_many)(schedq_worker_t *worker, const struct add_batch *batch,
                                schedq_result_t *result);
    schedq_status_t (*pop)(schedq_worker_t *worker, schedq_popped_t *out, size_t capacity,
                           size_t *count);
    schedq_status_t (*pop_waiting)(schedq_worker_t *worker, int64_t deadline, schedq_popped_t *out,
                                   size_t capacity, size_t *count);
    void (*wait_cancel)(schedq_worker_t *worker);
    schedq_status_t (*done)(schedq_worker_t *worker, schedq_token_t token);
    schedq_status_t (*done_many)(schedq_worker_t *worker, const schedq_token_t *tokens,
                                 size_t count, uint8_t *statuses);
    /*
     * The same without a worker. `held`: this thread is in a callback that the engine runs while it
     * holds its lock, if it has one.
     */
    schedq_status_t (*end_many)(schedq_t *queue, const schedq_token_t *tokens, size_t count,
                                uint8_t *statuses, bool held);
    schedq_status_t (*token_alive)(schedq_worker_t *worker, schedq_token_t token);
    schedq_status_t (*fail)(schedq_worker_t *worker, schedq_token_t *token,
                            const schedq_failure_t *failure, schedq_result_t *result);
    schedq_status_t (*readd)(schedq_worker_t *worker, const struct hashed_name *name,
                             const schedq_pod_spec_t *spec, const schedq_history_t *history,
                             const schedq_failure_t *failure, schedq_result_t *result);
    schedq_status_t (*find)(schedq_worker_t *worker, const struct hashed_name *name,
                            schedq_result_t *result);
    schedq_status_t (*update)(schedq_worker_t *worker, const struct hashed_name *name,
                              const schedq_pod_spec_t *spec, uint64_t old_object,
                              const schedq_event_t *events, size_t count, schedq_result_t *result);
    schedq_status_t (*delete_pod)(schedq_worker_t *worker, const struct pod_key *key,
                                  schedq_result_t *result);
    schedq_status_t (*activate)(schedq_worker_t *worker, const schedq_pod_t *pods, size_t count,
                                schedq_result_t *result);
    schedq_status_t (*nominate)(schedq_worker_t *worker, schedq_pod_t pod, uint64_t node);
    /* `holds` false: releases */
    schedq_status_t (*hold)(schedq_worker_t *worker, schedq_pod_t pod, bool holds,
                            schedq_result_t *result);
    schedq_status_t (*not_before)(schedq_worker_t *worker, schedq_pod_t pod, int64_t time,
                                  schedq_result_t *result);
    /*
     * Calls `each`, which may make other calls of this table, for every pod of a label, until it
     * does not return OK, and returns that. NOMEM: it was called for none.
     */
    schedq_status_t (*labelled)(schedq_worker_t *worker, uint64_t label, label_fn *each, void *ctx);

    /* Groups, by their numbers, which are not 0. */
    schedq_status_t (*group_add)(schedq_worker_t *worker, uint64_t group,
                                 const schedq_group_spec_t *spec, schedq_result_t *result);
    schedq_status_t (*group_update)(schedq_worker_t *worker, uint64_t group,
                                    const schedq_group_spec_t *spec, schedq_result_t *result);
    schedq_status_t (*group_delete)(schedq_worker_t *worker, uint64_t group,
                                    schedq_result_t *result);
    schedq_status_t (*group_activate)(schedq_worker_t *worker, uint64_t group,
                                      schedq_result_t *result);
    schedq_status_t (*group_get)(schedq_worker_t *worker, uint64_t group,
                                 schedq_group_info_t *info);
    /* `waits`: until `deadline` */
    schedq_status_t (*pop_group)(schedq_worker_t *worker, bool waits, int64_t deadline,
                                 schedq_popped_group_t *group, schedq_popped_t *members,
                                 size_t room, size_t *count);
    schedq_status_t (*group_done)(schedq_worker_t *worker, schedq_token_t *token,
                                  const schedq_group_end_t *end, schedq_result_t *result);

    /*
     * Changes. `assigned`: only pods that its arrival may help; NULL: every pod that passes
     * change->precheck. `listed`: only pods that are on it; NULL: all.
     */
    schedq_status_t (*notify)(schedq_worker_t *worker, const schedq_change_t *change,
                              const struct assigned_pod *assigned,
                              const struct schedq_pod_list *listed, schedq_result_t *result);
    void (*event_begin)(schedq_worker_t *worker, uint64_t *sequence);
    schedq_status_t (*event_stamp)(schedq_worker_t *worker, uint64_t sequence,
                                   schedq_profile_t profile, uint64_t plugins);
    schedq_status_t (*candidates)(schedq_worker_t *worker, schedq_query_t *query,
                                  schedq_candidate_t *out, size_t capacity, size_t *count);
    schedq_status_t (*apply_many)(schedq_worker_t *worker, const schedq_decision_t *decisions,
                                  size_t count, uint8_t *statuses, schedq_result_t *results,
                                  schedq_result_t *sum);

    /* Looking and time. */
    schedq_status_t (*get)(schedq_worker_t *worker, schedq_pod_t pod, schedq_visit_fn visit,
                           void *ctx);
    schedq_status_t (*snapshot)(schedq_worker_t *worker, schedq_visit_fn visit, void *ctx);
    schedq_status_t (*nominated_pods)(schedq_worker_t *worker, uint64_t node, schedq_visit_fn visit,
                                      void *ctx);
    schedq_status_t (*peek)(schedq_worker_t *worker, schedq_visit_fn visit, void *ctx);
    schedq_status_t (*peek_many)(schedq_worker_t *worker, size_t count, schedq_visit_fn visit,
                                 void *ctx);
    schedq_status_t (*position)(schedq_worker_t *worker, schedq_pod_t pod, uint64_t *lower,
                                uint64_t *upper);
    /* *reasons: all but struct_size is zeroed */
    void (*reasons)(schedq_worker_t *worker, schedq_profile_t profile, schedq_reasons_t *reasons);
    /* what the last flush of leftovers reached (policy/leftover.h) */
    int64_t (*flushed)(schedq_t *queue);
    void (*stats)(schedq_t *queue, schedq_stats_t *stats);
    /* NULL: it was never made. Without a lock */
    schedq_worker_t *(*worker_at)(schedq_t *queue, uint32_t number);
    /*
     * Tells of the pods that watching_wants. Calls no callback but `each`, which runs while the
     * engine holds its lock, if it has one. TIMEDOUT: the lock was not to be had
     */
    schedq_status_t (*watch)(schedq_worker_t *worker, struct watching *watching);
    schedq_status_t (*metrics)(schedq_t *queue, struct text *text);
    schedq_status_t (*tick)(schedq_worker_t *worker, int64_t *next, schedq_result_t *result);
};

extern const struct engine_ops lockfree_engine;
extern const struct engine_ops mutex_engine;

#endif
