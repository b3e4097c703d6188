/*
 * Descriptions of describe.h, which has the essay. Nominations go by nominator.h: drawn, inserted,
 * then installed.
 */
#include "lockfree/moves/describe.h"

#include "lockfree/moves/objects.h"

struct redescription
describe_begin(const struct view *before)
{
    return (struct redescription){.description = before->description,
                                  .gating = before->gating,
                                  .word = before->state,
                                  .same_object = true};
}

void
describe_by_spec(struct redescription *change, const struct view *before,
                 const schedq_pod_spec_t *spec)
{
    struct description *description = &change->description;

    change->same_object = false;
    description->object = spec->object;
    description->priority = spec->priority;
    description->flags = spec->flags & POD_FLAGS;
    description->described_node = spec->nominated_node;
    if ((spec->flags & SCHEDQ_POD_ORDER_KEY) != 0) {
        description->own_key = true;
        description->order_key = spec->order_key;
    } else if ((before->description.flags & SCHEDQ_POD_ORDER_KEY) != 0) {
        description->own_key = true;
        description->order_key = before->history.timestamp_ns;
    }
}

void
describe_renominate(struct redescription *change, const struct view *before)
{
    bool spoken_of =
        before->description.described_node != 0 || change->description.described_node != 0;

    if (spoken_of) {
        change->description.nominated_node = change->description.described_node;
    }
    change->renominates = spoken_of || before->description.nominated_node != 0;
}

/* ---- counting nominations -------------------------------------------------------------------- */

static void
count_nomination(struct worker *worker, const struct description *description, uint64_t by)
{
    if (description->nominated_node != 0) {
        (void)u64_add(u64_of(&queue_of(worker)->base.words.nominations), by);
    }
}

void
describe_end(struct worker *worker, const struct description *description)
{
    count_nomination(worker, description, UINT64_MAX);
}

/*
 * Counted before it can be seen, and off after it was replaced: the word is never 0 while a pod is
 * nominated.
 */
static bool
nominate(struct worker *worker, uint32_t record, uint64_t life, struct redescription *change)
{
    struct queue *queue = queue_of(worker);
    struct description *description = &change->description;

    if (!change->renominates) {
        return true;
    }
    description->nomination = nominator_draw(&queue->nominator);
    if (description->nominated_node != 0 &&
        !nominator_insert(&queue->nominator, worker->epoch, description->nominated_node, record,
                          life, description->nomination)) {
        return false;
    }
    count_nomination(worker, description, 1);
    return true;
}

bool
describe_first_nomination(struct worker *worker, uint32_t record, uint64_t life,
                          struct description *description)
{
    struct redescription change = {.description = *description, .renominates = true};

    change.description.nominated_node = description->described_node;
    if (!nominate(worker, record, life, &change)) {
        return false;
    }
    *description = change.description;
    return true;
}

/* ---- installing ------------------------------------------------------------------------------ */

static void
installed(struct worker *worker, const struct view *before, const struct redescription *change)
{
    struct queue *queue = queue_of(worker);

    if (change->renominates) {
        count_nomination(worker, &before->description, UINT64_MAX);
    }
    description_give(&queue->entries, &worker->descriptions, before->desc);
    if (!change->same_object) {
        object_release(worker, before->description.object);
    }
}

schedq_status_t
describe_install(struct worker *worker, uint32_t record, const struct view *before,
                 struct redescription *change)
{
    struct queue *queue = queue_of(worker);
    uint64_t replacement = description_take(&queue->entries, &worker->descriptions);

    if (replacement == 0) {
        return SCHEDQ_NOMEM;
    }
    change->desc = replacement;
    if (!nominate(worker, record, before->life, change)) {
        description_give(&queue->entries, &worker->descriptions, replacement);
        return SCHEDQ_NOMEM;
    }
    description_fill(&queue->entries, replacement, &change->description, &change->gating);
    if (!entry_describe(before->entry, before->state, before->desc, change->word, replacement)) {
        if (change->renominates) {
            count_nomination(worker, &change->description, UINT64_MAX);
        }
        description_give(&queue->entries, &worker->descriptions, replacement);
        return SCHEDQ_RETRY;
    }
    installed(worker, before, change);
    return SCHEDQ_OK;
}

schedq_status_t
describe_nomination(struct worker *worker, uint32_t record, const struct view *view, uint64_t node)
{
    struct redescription change = describe_begin(view);

    if (node == 0 && view->description.nominated_node == 0) {
        return SCHEDQ_OK;
    }
    change.description.nominated_node = node;
    change.renominates = true;
    return describe_install(worker, record, view, &change);
}
