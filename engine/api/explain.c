/* Why pods wait: of one pod, as a sentence, and of all by reason. */
#include "api/call.h"
#include "api/check.h"
#include "policy/group.h"
#include "policy/leftover.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- one pod --------------------------------------------------------------------------------- */

/* When time alone brings a pod, or the record of a group, out of such a place. */
STRAIGHT int64_t
wake_from(schedq_t *queue, uint8_t place, int64_t backoff_expiry_ns, int64_t timestamp_ns)
{
    const struct rules *rules = &queue->rules;

    switch (place) {
    case SCHEDQ_BACKOFF:
    case SCHEDQ_ERROR_BACKOFF:
        return backoff_due(&rules->backoff, backoff_expiry_ns);
    case SCHEDQ_PARKED:
        return rules->host ? SCHEDQ_NO_DEADLINE
                           : leftover_tried(rules, timestamp_ns, queue->ops->flushed(queue));
    default:
        return SCHEDQ_NO_DEADLINE;
    }
}

static int64_t
wake_of(schedq_t *queue, const schedq_pod_info_t *info)
{
    if (info->place == SCHEDQ_HELD) {
        return info->held ? SCHEDQ_NO_DEADLINE : info->not_before_ns;
    }
    return wake_from(queue, info->place, info->backoff_expiry_ns, info->history.timestamp_ns);
}

static const char *
freed_by(const schedq_t *queue, const schedq_pod_info_t *info)
{
    return info->freed_by != 0 ? registry_label_text(&queue->registry, info->freed_by - 1) : NULL;
}

struct explaining {
    schedq_t *queue;
    schedq_explanation_t *explanation;
};

/* schedq_visit_fn */
static int
explain_info(void *ctx, const schedq_pod_info_t *info)
{
    const struct explaining *explaining = ctx;
    schedq_explanation_t *restrict explanation = explaining->explanation;
    const char *freed = freed_by(explaining->queue, info);
    int64_t now = clock_now(&explaining->queue->clock);
    int64_t wake = wake_of(explaining->queue, info);

    /* All fields by name: else the compiler clears the struct before it fills it. */
    *explanation = (schedq_explanation_t){
        .struct_size = (uint32_t)sizeof *explanation,
        .place = info->place,
        .profile = info->profile,
        .gate = (uint8_t)info->gate,
        .kept_by_class = info->kept_by_class,
        .pod = info->pod,
        .unschedulable = info->unschedulable,
        .pending = info->pending,
        .history = info->history,
        .now_ns = now,
        .backoff_expiry_ns = info->backoff_expiry_ns,
        .wake_ns = wake,
        .nominated_node = info->nominated_node,
        .nomination = info->nomination,
        .freed_by = freed,
        .group = info->group,
        .group_root = 0,
        .group_waiting = 0,
        .group_quorum = 0,
        .group_place = SCHEDQ_NOWHERE,
        .group_declared = 0,
        .reserved_too = {0, 0},
        .class_id = info->class_id,
        .scout = info->scout,
    };
    return 0;
}

/*
 * Of a member: its group, and where the root's record is. A group that ends between two looks has
 * no root.
 */
COLD static void
explain_group(schedq_worker_t *worker, schedq_explanation_t *explanation)
{
    const struct engine_ops *ops = worker->queue->ops;
    schedq_group_info_t info = SCHEDQ_GROUP_INFO_INIT;

    if (ops->group_get(worker, explanation->group, &info) != SCHEDQ_OK) {
        return;
    }
    explanation->group_waiting = info.waiting;
    explanation->group_quorum = info.quorum;
    explanation->group_declared = info.declared;
    if (info.root == 0 || (info.root != explanation->group &&
                           ops->group_get(worker, info.root, &info) != SCHEDQ_OK)) {
        return;
    }
    explanation->group_root = info.root;
    explanation->group_place = info.place;
    if (explanation->place == SCHEDQ_ASIDE) {
        explanation->wake_ns =
            wake_from(worker->queue, info.place, info.backoff_expiry_ns, info.history.timestamp_ns);
    }
}

schedq_status_t
schedq_explain(schedq_worker_t *worker, schedq_pod_t pod, schedq_explanation_t *explanation)
{
    schedq_status_t status = call_begin_worker(worker);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (check_not_null(worker, explanation, "explanation") &&
        check_size(worker, "explanation", explanation->struct_size, sizeof *explanation)) {
        struct explaining explaining = {.queue = worker->queue, .explanation = explanation};

        status = worker->queue->ops->get(worker, pod, explain_info, &explaining);
        if (status == SCHEDQ_OK && explanation->group != 0) {
            explain_group(worker, explanation);
        }
    } else {
        status = SCHEDQ_INVALID;
    }
    call_end_worker(worker);
    return status;
}

/* ---- in words -------------------------------------------------------------------------------- */

struct sentence {
    char *text;
    size_t size, length;
};

__attribute__((format(printf, 2, 3))) static void
sentence_add(struct sentence *sentence, const char *format, ...)
{
    size_t at = sentence->length < sentence->size ? sentence->length : sentence->size;
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(sentence->size > 0 ? sentence->text + at : NULL, sentence->size - at,
                           format, arguments);

    va_end(arguments);
    sentence->length += length > 0 ? (size_t)length : 0;
}

static void
add_duration(struct sentence *sentence, int64_t from_ns, int64_t to_ns)
{
    int64_t duration = to_ns > from_ns ? time_add(to_ns, -from_ns) : 0;

    sentence_add(sentence, "%" PRId64 ".%03" PRId64 " s", duration / BACKOFF_SECOND_NS,
                 duration % BACKOFF_SECOND_NS / 1000000);
}

static const char *
rejector_name(const schedq_t *queue, schedq_profile_t profile, uint64_t bit)
{
    if (profile >= registry_profile_count(&queue->registry) || bit == 0 || (bit & (bit - 1)) != 0) {
        return NULL;
    }
    if (bit == SCHEDQ_REJECTOR_OTHERS) {
        return "others";
    }
    return (registry_known(&queue->registry, profile) & bit) != 0
               ? registry_plugin_name(&queue->registry, profile, (uint32_t)__builtin_ctzll(bit))
               : NULL;
}

static void
add_rejectors(struct sentence *sentence, const schedq_t *queue, schedq_profile_t profile,
              const char *before, uint64_t bits)
{
    for (; bits != 0; bits &= bits - 1) {
        const char *name = rejector_name(queue, profile, bits & (0 - bits));

        sentence_add(sentence, "%s%s", before, name != NULL ? name : "?");
        before = ", ";
    }
}

/* What a member that is aside waits for. */
static void
add_group(struct sentence *sentence, const schedq_explanation_t *explanation)
{
    static const char *const records[] = {
        [SCHEDQ_ACTIVE] = "waits for its turn to be popped",
        [SCHEDQ_BACKOFF] = "backs off",
        [SCHEDQ_ERROR_BACKOFF] = "backs off after an error",
        [SCHEDQ_PARKED] = "is parked",
        [SCHEDQ_GATED] = "is gated",
        [SCHEDQ_INFLIGHT] = "was popped and has not ended its cycle",
        [SCHEDQ_ASIDE] = "is incomplete",
    };
    uint8_t place = explanation->group_place;
    const char *record = place < sizeof records / sizeof records[0] ? records[place] : NULL;

    sentence_add(sentence, "waits on group %" PRIu64 ", ", explanation->group);
    if (explanation->group_declared == 0 && explanation->group_root == 0) {
        sentence_add(sentence, "which is not declared");
        return;
    }
    if (explanation->group_root == 0 || record == NULL) {
        sentence_add(sentence, "which has no root");
    } else if (explanation->group_root == explanation->group) {
        sentence_add(sentence, "which %s", record);
    } else {
        sentence_add(sentence, "whose root %" PRIu64 " %s", explanation->group_root, record);
    }
    sentence_add(sentence, ": members %" PRIu64 ", quorum %" PRIu32, explanation->group_waiting,
                 group_needs(explanation->group_quorum, false));
}

static void
add_place(struct sentence *sentence, const schedq_t *queue, const schedq_explanation_t *explanation)
{
    static const char *const places[] = {
        [SCHEDQ_NOWHERE] = "in no place",
        [SCHEDQ_ACTIVE] = "waits for its turn to be popped",
        [SCHEDQ_BACKOFF] = "backs off",
        [SCHEDQ_ERROR_BACKOFF] = "backs off after an error",
        [SCHEDQ_PARKED] = "parked",
        [SCHEDQ_GATED] = "gated",
        [SCHEDQ_INFLIGHT] = "popped, and its cycle has not ended",
        [SCHEDQ_HELD] = "held",
    };
    bool known = explanation->place < sizeof places / sizeof places[0];

    if (explanation->place == SCHEDQ_ASIDE) {
        add_group(sentence, explanation);
    } else {
        sentence_add(sentence, "%s", places[known ? explanation->place : SCHEDQ_NOWHERE]);
    }
    if (explanation->kept_by_class != 0) {
        sentence_add(sentence, " back since another pod of its class was rejected");
    } else if (explanation->place == SCHEDQ_HELD) {
        sentence_add(sentence, "%s",
                     explanation->wake_ns == SCHEDQ_NO_DEADLINE ? " until it is released"
                                                                : " until its time");
    }
    const uint64_t gate =
        explanation->gate != 0 ? UINT64_C(1) << (explanation->gate - 1) % REGISTRY_REJECTORS : 0;

    add_rejectors(sentence, queue, explanation->profile, " by ", gate);
    if (explanation->unschedulable != gate) { /* that it rejects the pod is what gates it */
        add_rejectors(sentence, queue, explanation->profile, ", rejected by ",
                      explanation->unschedulable);
    }
    add_rejectors(sentence, queue, explanation->profile, ", waits for ", explanation->pending);
}

/* When time brings it on. That it is due already, and still here, is for a thread to mend. */
static void
add_wake(struct sentence *sentence, const schedq_t *queue, const schedq_explanation_t *explanation)
{
    if (explanation->wake_ns == SCHEDQ_NO_DEADLINE) {
        return;
    }
    if (explanation->wake_ns > explanation->now_ns) {
        sentence_add(sentence, "; time alone tries it again in ");
        add_duration(sentence, explanation->now_ns, explanation->wake_ns);
        return;
    }
    bool backs_off =
        explanation->place == SCHEDQ_BACKOFF || explanation->place == SCHEDQ_ERROR_BACKOFF;
    bool by_host = backs_off && queue->rules.host && queue->config.pop_from_backoff == 0;

    sentence_add(sentence, "; due for ");
    add_duration(sentence, explanation->wake_ns, explanation->now_ns);
    sentence_add(sentence,
                 by_host ? ", until the host applies it" : ", until a thread serves time");
}

size_t
schedq_explanation_text(schedq_t *queue, const schedq_explanation_t *explanation, char *text,
                        size_t size)
{
    struct sentence sentence = {.text = text, .size = size};
    struct call call;

    if (explanation == NULL || (text == NULL && size > 0) ||
        call_begin(&call, queue) != SCHEDQ_OK) {
        return 0;
    }
    add_place(&sentence, queue, explanation);
    sentence_add(&sentence, explanation->history.attempts == 0 ? "; came " : "; came or failed ");
    add_duration(&sentence, explanation->history.timestamp_ns, explanation->now_ns);
    sentence_add(&sentence, " ago");
    add_wake(&sentence, queue, explanation);
    sentence_add(&sentence, "; attempts %" PRIu32 ", rejections %" PRIu32 ", errors %" PRIu32,
                 explanation->history.attempts, explanation->history.rejections,
                 explanation->history.errors);
    if (explanation->freed_by != NULL) {
        sentence_add(&sentence, "; freed last by %s", explanation->freed_by);
    }
    if (explanation->scout.bits == explanation->pod.bits) {
        sentence_add(&sentence, "; others of its class wait until it is tried again");
    }
    if (explanation->nominated_node != 0) {
        sentence_add(&sentence, "; nominated to node %" PRIu64, explanation->nominated_node);
    }
    call_end(&call);
    return sentence.length;
}

const char *
schedq_rejector_name(schedq_t *queue, schedq_profile_t profile, uint64_t bit)
{
    struct call call;

    if (call_begin(&call, queue) != SCHEDQ_OK) {
        return NULL;
    }
    const char *name = rejector_name(queue, profile, bit);

    call_end(&call);
    return name;
}

/* ---- all pods -------------------------------------------------------------------------------- */

schedq_status_t
schedq_count_reasons(schedq_worker_t *worker, schedq_profile_t profile, schedq_reasons_t *reasons)
{
    schedq_status_t status = call_begin_worker(worker);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (check_profile(worker, "profile", profile) && check_not_null(worker, reasons, "reasons") &&
        check_size(worker, "reasons", reasons->struct_size, sizeof *reasons)) {
        *reasons = (schedq_reasons_t){.struct_size = (uint32_t)sizeof *reasons};
        worker->queue->ops->reasons(worker, profile, reasons);
    } else {
        status = SCHEDQ_INVALID;
    }
    call_end_worker(worker);
    return status;
}
