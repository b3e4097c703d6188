/* What gates say of members: gather_gate.h has the essay. */
#include "lockfree/moves/gather_gate.h"

#include "lockfree/moves/describe.h"
#include "lockfree/moves/objects.h"
#include "lockfree/moves/route.h"
#include "lockfree/moves/stray.h"

/* ---- asking ---------------------------------------------------------------------------------- */

static void
set_flags(const struct view *view, uint64_t flags)
{
    if ((view->state & flags) != flags) {
        (void)u64_cas(&view->entry->word.low, view->state, view->state | flags);
    }
}

/*
 * Notes the answer in the member, if it is still ASIDE; one attempt. The member counts as passed,
 * and its group's pop may take it, only if it has not changed since its gates were asked.
 */
static void
note_gate(struct worker *worker, uint32_t record, const struct view *seen, uint8_t gate)
{
    struct view view;

    if (!report_view(queue_of(worker), record, seen->life, &view) ||
        state_place(view.state) != PLACE_ASIDE) {
        return;
    }
    const bool passed = gate == 0 && ((view.state ^ seen->state) & ~FLAGS_ASIDE) == 0;
    uint64_t flags = passed ? FLAG_PASSED : 0;

    if (gate != seen->gate) {
        struct redescription change = describe_begin(&view);

        change.gating.stay = (change.gating.stay & ~UINT64_C(0xff)) | gate;
        change.gating.stay |= gate == 0 ? STAY_UNGATED : 0;
        change.gating.refused |= gate_bit(gate);
        change.word = (view.state & ~(uint64_t)FLAG_UNNOTED) | flags;
        if (describe_install(worker, record, &view, &change) != SCHEDQ_NOMEM) {
            return;
        }
        flags |= FLAG_UNNOTED;
        stray_leave_short(queue_of(worker), STRAY_UNMOVED); /* a tick looks at its record's gate */
    }
    set_flags(&view, flags);
}

/* Leaves the section. */
static uint8_t
ask_member(struct worker *worker, uint32_t record, const struct view *view)
{
    const struct queue *queue = queue_of(worker);
    uint64_t calls = 0, object = view->description.object;
    uint32_t count;
    struct description description;
    uint64_t desc;

    const struct gate *gates = registry_gates(&queue->base.registry, view->profile, &count);

    if (objects_counted(queue)) {
        if (!objects_take(worker, view->entry, view->state, &description, &desc)) {
            return 0;
        }
        object = description.object;
    }
    section_pause(worker);
    uint8_t gate = gating_ask(gates, count, view->gate, object, &calls);

    object_give_back(queue, object);
    section_resume(worker);
    tally_add(&worker->tally.gate_calls, calls);
    note_gate(worker, record, view, gate);
    return gate;
}

uint8_t
gather_ask_one(struct worker *worker, uint32_t record, uint64_t life)
{
    struct view view;

    return report_view(queue_of(worker), record, life, &view) &&
                   state_place(view.state) == PLACE_ASIDE
               ? ask_member(worker, record, &view)
               : 0;
}

/* Does `a` come behind `b` in the order in which a pop has them? */
static bool
is_behind(struct worker *worker, const struct gathered *gathered, const struct gathered_pod *a,
          const struct gathered_pod *b)
{
    const uint64_t group_a = gathered->groups[a->node].number;
    const uint64_t group_b = gathered->groups[b->node].number;
    const struct queue *queue = queue_of(worker);
    char name[2][SCHEDQ_NAME_MAX + 9];
    const struct view *both[] = {&a->view, &b->view};
    schedq_popped_t popped[2] = {0};

    if (group_a != group_b) {
        return group_a > group_b;
    }
    for (uint32_t i = 0; i < 2; i++) {
        names_copy(view_words(queue, both[i]), name[i], both[i]->name_length);
        popped[i].name = name[i];
        popped[i].name_length = both[i]->name_length;
        popped[i].priority = both[i]->description.priority;
        popped[i].history = both[i]->history;
    }
    return group_member_before(&popped[1], &popped[0]);
}

/* The gate of the refused member that is last in the order of pops. Leaves the section. */
static uint8_t
ask_all(struct worker *worker, const struct gathered *gathered)
{
    const struct gathered_pod *last = NULL;
    uint8_t gate = 0;

    for (uint32_t i = 0; i < gathered->count; i++) {
        const struct gathered_pod *pod = &gathered->pods[i];
        uint8_t refused = gather_ask_one(worker, pod->record, pod->view.life);

        if (refused != 0 && (last == NULL || is_behind(worker, gathered, pod, last))) {
            last = pod;
            gate = refused;
        }
    }
    return gate;
}

/* Asks about all: each member keeps what was said of it. */
bool
gather_ask(struct worker *worker, uint64_t number, uint8_t *gate)
{
    bool outside = worker->outside, asked = true;
    struct group_found top;
    struct gathered gathered;

    *gate = 0;
    if (!queue_of(worker)->base.registry.has_gates) {
        return true;
    }
    worker->asked_members = true;
    if (outside) {
        section_resume(worker);
    }
    if (gather_find(worker, number, &top)) {
        asked = gather_read(worker, top.block, &gathered);
        if (asked) {
            *gate = ask_all(worker, &gathered);
            gather_free(&gathered);
        }
    }
    if (outside) {
        section_pause(worker);
    }
    return asked;
}

/* ---- members behind a gate ------------------------------------------------------------------- */

struct gate_search {
    struct worker *worker;
    uint8_t gate;
};

/* nominated_fn */
static bool
member_is_gated(void *ctx, uint32_t record, uint64_t life)
{
    const struct gate_search *search = ctx;
    struct view view;

    return report_view(queue_of(search->worker), record, life, &view) &&
           state_place(view.state) == PLACE_ASIDE && view.gate == search->gate;
}

bool
gather_is_gated_by(struct worker *worker, uint64_t number, uint8_t gate)
{
    struct gate_search search = {.worker = worker, .gate = gate};

    return gather_any(worker, number, member_is_gated, &search);
}
