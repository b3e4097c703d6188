/* The rule of requeue.h. */
#include "policy/requeue.h"

#include "platform/inside.h"
#include "platform/probe.h"

enum strategy
requeue_strongest(uint64_t pending)
{
    return pending != 0 ? STRATEGY_IMMEDIATELY : STRATEGY_AFTER_BACKOFF;
}

static bool
says_queue(const struct hint_entry *entry, const struct requeue_question *question, uint64_t *calls)
{
    if (entry->hint == NULL || !question->ask || question->opaque) {
        return true;
    }
    ++*calls;
    inside_calls(entry->what);
    probe_hint_begin(entry->what, question->pod);
    schedq_hint_t hint =
        entry->hint(entry->ctx, question->pod, question->old_object, question->new_object);

    probe_hint_end(entry->what, hint);
    inside_calls(CALLBACK_NONE);
    return hint != SCHEDQ_HINT_SKIP;
}

static enum strategy
best_answer(const struct hint_list *hints, const struct requeue_question *question, uint64_t *calls)
{
    uint64_t rejectors = question->unschedulable | question->pending;
    enum strategy best = STRATEGY_SKIP;

    if (rejectors == 0) {
        return STRATEGY_AFTER_BACKOFF;
    }
    if ((rejectors & hints->always) != 0) {
        if ((question->pending & hints->always) != 0) {
            return STRATEGY_IMMEDIATELY;
        }
        best = STRATEGY_AFTER_BACKOFF;
    }
    for (uint32_t i = 0; i < hints->count && best < requeue_strongest(question->pending); i++) {
        const struct hint_entry *entry = &hints->entries[i];

        if ((entry->bit & rejectors) == 0 || !says_queue(entry, question, calls)) {
            continue;
        }
        best =
            (entry->bit & question->pending) != 0 ? STRATEGY_IMMEDIATELY : STRATEGY_AFTER_BACKOFF;
    }
    return best;
}

enum strategy
requeue_for_event(const struct hint_list *hints, const struct requeue_question *question,
                  uint64_t *calls)
{
    enum strategy best = best_answer(hints, question, calls);

    return question->opaque && best == STRATEGY_IMMEDIATELY ? STRATEGY_AFTER_BACKOFF : best;
}
