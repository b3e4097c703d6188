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
    change->same_object = false;
    describe_as(&change->description, spec, before->history.timestamp_ns);
    describe_class(&change->description, &before->description, spec->class_id);
}

/*
 * A nomination is counted before it can be seen, and counted off after it was replaced. So the
 * public word is never 0 while a pod is nominated.
 */
static bool
nominate(struct worker *worker, uint32_t record, uint64_t life, struct description *description)
{
    struct queue *queue = queue_of(worker);

    description->nomination = nominator_draw(&queue->nominator);
    if (description->nominated_node != 0 &&
        !nominator_insert(&queue->nominator, worker->epoch, description->nominated_node, record,
                          life, description->nomination)) {
        return false;
    }
    if (description->nominated_node != 0) {
        (void)u64_add(u64_of(&queue->base.words.nominations), 1);
    }
    return true;
}

/* As admission does: to the node that the pod names. A nomination of another origin stays. */
static void
say_node(const struct description *before, struct description *description)
{
    if ((before->described_node | description->described_node) != 0) {
        description->nominated_node = description->described_node;
    }
}

void
describe_renominate(struct redescription *change, const struct view *before)
{
    say_node(&before->description, &change->description);
    change->renominates = describe_names_node(&before->description, &change->description);
}

COLD bool
describe_nominate(struct worker *worker, uint32_t record, uint64_t life,
                  const struct description *before, struct description *description)
{
    say_node(before, description);
    return nominate(worker, record, life, description);
}

/* ---- labels and groups ----------------------------------------------------------------------- */

void
describe_life(struct queue *queue, uint64_t ref, uint64_t label, uint64_t group)
{
    if (label != 0 && nominator_counts(ref)) {
        nominator_count_begin(&queue->labels, label);
    }
    if (group != 0 && nominator_counts(ref)) {
        nominator_count_begin(&queue->members, group);
    }
}

void
describe_life_end(struct queue *queue, struct epoch_record *epoch, uint64_t ref, uint64_t label,
                  uint64_t group)
{
    if (label != 0 && nominator_counts(ref)) {
        nominator_count_end(&queue->labels, epoch, label);
    }
    if (group != 0 && nominator_counts(ref)) {
        nominator_count_end(&queue->members, epoch, group);
    }
}

/* ---- installing ------------------------------------------------------------------------------ */

schedq_status_t
describe_install(struct worker *worker, uint32_t record, const struct view *before,
                 struct redescription *change)
{
    if (change->renominates && !nominate(worker, record, before->life, &change->description)) {
        return SCHEDQ_NOMEM;
    }
    change->desc = before->desc;
    schedq_status_t status = describe_swap(worker, before->entry, before->state, change->word,
                                           &change->description, &change->gating, &change->desc);

    if (change->renominates) {
        describe_end(worker, status == SCHEDQ_OK ? &before->description : &change->description);
    }
    if (status == SCHEDQ_OK && !change->same_object) {
        object_release(worker, before->description.object);
    }
    return status;
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
