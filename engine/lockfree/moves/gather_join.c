/* Joins, leavings and changes of a group: gather_join.h has the essay. */
#include "lockfree/moves/gather_join.h"

#include "lockfree/moves/stray.h"

/* ---- joining --------------------------------------------------------------------------------- */

/* Only in a queue that knows groups: else nothing can be found by the number. */
uint64_t
gather_announce(struct worker *worker, uint64_t number)
{
    struct group_look group;

    u64_store(&worker->joining, number);
    if (!gather_look(worker, number, &group)) {
        return 0;
    }
    (void)u64_add(&group.block->waiting, 1);
    return group.named;
}

/* Takes a member off the count of the declaration that `counted` names, if it was counted there. */
static void
count_off(struct worker *worker, uint64_t number, uint64_t counted)
{
    struct group_look group;

    if (counted != 0 && gather_look(worker, number, &group) && group.named == counted) {
        (void)u64_add(&group.block->waiting, UINT64_MAX);
    }
}

void
gather_withdraw(struct worker *worker, uint64_t number, uint64_t counted)
{
    count_off(worker, number, counted);
    u64_store_release(&worker->joining, 0);
}

static bool
is_queued(enum place place)
{
    return place == PLACE_READY || place_waits(place);
}

/* What a call brings to a queued record: one member, all of a group and of those below, or none. */
struct comers {
    schedq_pod_t one;
    uint64_t group;
};

static void
begin_attempts_of(struct worker *worker, const struct comers *comers, int64_t now)
{
    if (comers->one.bits != 0) {
        gather_begin_attempt(worker, ref_record(comers->one.bits), ref_version(comers->one.bits),
                             now);
    } else if (comers->group != 0) {
        gather_begin_attempts(worker, comers->group, now);
    }
}

/*
 * gather_bring_queued of a record that members join. Without memory: if the record waits for an
 * event, a tick tries again; if not, a pop or the end of its backoff asks the gates. False: it
 * changed.
 */
static bool
bring_joined(struct worker *worker, const struct group_found *root, const struct way *way,
             uint64_t asked, uint32_t cause, schedq_result_t *result)
{
    enum gather_step step = gather_bring_queued(worker, root, way, asked, cause, result);

    if (step == GATHER_NOMEM && place_waits_for_event(state_place(root->view.state))) {
        stray_leave_short(queue_of(worker), STRAY_UNJUDGED);
    }
    return step != GATHER_AGAIN;
}

/*
 * A join or a leaving brings a record anew to the place where it is: the gates are asked about all
 * members. False: the record changed.
 */
static bool
come_in_again(struct worker *worker, const struct group_found *root, const struct comers *comers,
              uint32_t cause, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    enum place place = state_place(root->view.state);
    const uint64_t asked = stamps_drawn(&queue->stamps);

    if (place != PLACE_READY && !place_backs_off(place)) {
        gather_count(worker, root->view.seen, PLACE_PARKED, cause | CAUSE_NAMED);
        return true; /* nothing but its size changes */
    }
    const struct way way = gather_way(worker, &root->view, place != PLACE_READY);

    if (way.place == place) {
        gather_count(worker, root->view.seen, place, cause | CAUSE_NAMED);
        if (place == PLACE_READY) {
            begin_attempts_of(worker, comers, queue_now(queue));
        }
        return true;
    }
    return bring_joined(worker, root, &way, asked, cause, result);
}

static bool reconsider(struct worker *worker, const struct group_found *root, uint32_t cause,
                       schedq_result_t *result);

/*
 * Members join a record that is queued. A parked record is worth another try. For a record that
 * passed the gates, they are asked about the newcomer only; in kube's groups, about all. False: the
 * record changed.
 */
static bool
join_queued(struct worker *worker, const struct group_found *root, const struct comers *comers,
            schedq_result_t *result)
{
    const schedq_pod_t newcomer = comers->one;
    struct queue *queue = queue_of(worker);
    const struct rules *rules = &queue->base.rules;
    enum place place = state_place(root->view.state);
    const uint64_t asked = stamps_drawn(&queue->stamps);
    struct way way = {.place = place};
    bool passed = place == PLACE_READY || (place != PLACE_PARKED && rules->pop_from_backoff);

    if (rules->groups_as_kube ||
        (newcomer.bits == 0 && place != PLACE_PARKED && place != PLACE_GATED)) {
        return come_in_again(worker, root, comers, CAUSE_JOIN, result);
    }
    if (newcomer.bits == 0 && place == PLACE_GATED) {
        return reconsider(worker, root, CAUSE_JOIN, result);
    }
    if (place == PLACE_PARKED) {
        way = gather_way(worker, &root->view, true);
    } else if (place == PLACE_GATED || !passed) {
        gather_count_pods(worker, place, CAUSE_JOIN, 1, false);
        return true;
    } else {
        const uint32_t member = ref_record(newcomer.bits);
        const uint64_t born = ref_version(newcomer.bits);

        way.gate = queue->base.registry.has_gates ? gather_ask_one(worker, member, born) : 0;
        if (way.gate == 0) {
            gather_count_pods(worker, place, CAUSE_JOIN, 1, false);
            if (place == PLACE_READY) {
                gather_begin_attempt(worker, member, born, queue_now(queue));
            }
            return true;
        }
        way.place = PLACE_GATED;
    }
    return bring_joined(worker, root, &way, asked, CAUSE_JOIN, result);
}

/*
 * The caller has raised `changes`. Completes a root that is IDLE. A record that is queued gets the
 * members that joined (join_queued); with `comers` NULL it is looked at again (reconsider), since
 * something else about its members changed.
 */
static void
tell_root(struct worker *worker, uint64_t number, const struct comers *comers, uint32_t cause,
          schedq_result_t *result)
{
    struct group_found root;
    bool done = false;

    /* Ends: each further round is another's change of the record, or an event. */
    while (!done && gather_root(worker, number, &root)) {
        enum place place = state_place(root.view.state);

        if (place == PLACE_IDLE) {
            gather_complete(worker, number, result);
        }
        done = !is_queued(place) || (comers != NULL ? join_queued(worker, &root, comers, result)
                                                    : reconsider(worker, &root, cause, result));
    }
}

/* Called after `changes` of `top` was raised. */
static void
join_top(struct worker *worker, uint64_t number, schedq_pod_t newcomer,
         const struct group_look *top, schedq_result_t *result)
{
    const struct comers comers = {.one = newcomer, .group = number};
    enum place place = state_place(entry_state(top->entry));

    /* in its cycle its holder looks at `changes` */
    if (place != PLACE_CYCLE && (place != PLACE_IDLE || gather_may_complete(worker, top->block))) {
        tell_root(worker, number, &comers, CAUSE_JOIN, result);
    }
}

void
gather_joined(struct worker *worker, uint64_t number, uint64_t counted, schedq_pod_t newcomer,
              schedq_result_t *result)
{
    struct group_look group;

    if (gather_look(worker, number, &group)) {
        if (group.named != counted) {
            (void)u64_add(&group.block->waiting, 1);
        }
        if (gather_look_up(worker, &group)) {
            (void)u64_add(&group.block->changes, 1);
            join_top(worker, number, newcomer, &group, result);
        }
        gather_look_at_gate(worker, number, result);
    }
    u64_store_release(&worker->joining, 0);
}

void
gather_tell_joined(struct worker *worker, schedq_pod_t member, schedq_result_t *result)
{
    struct view view;

    if (queue_of(worker)->base.registry.has_gates &&
        report_handle(queue_of(worker), member, &view) && state_place(view.state) == PLACE_ASIDE) {
        result->unschedulable = view.unschedulable;
    }
}

/*
 * `gate` refused a member. Perhaps no member has that noted: there was no memory, or the member has
 * left since.
 */
static void
note_nobody(struct worker *worker, uint64_t number, uint8_t gate)
{
    if (!gather_is_gated_by(worker, number, gate)) {
        /* a tick asks all again */
        if (stray_is_short(queue_of(worker), STRAY_UNMOVED)) {
            stray_leave_short(queue_of(worker), STRAY_UNMOVED); /* memory lacked, most likely */
        } else {
            stray_leave(queue_of(worker), STRAY_UNMOVED);
        }
    }
}

/*
 * A queued record may have too few members, or the member that gated it is gone. False: it changed.
 */
static bool
reconsider(struct worker *worker, const struct group_found *root, uint32_t cause,
           schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    enum place place = state_place(root->view.state);
    const uint64_t asked = stamps_drawn(&queue->stamps);

    if (!gather_is_complete(worker, root->block)) {
        return gather_make_idle(worker, root, result);
    }
    if (queue->base.rules.groups_as_kube) {
        return come_in_again(worker, root, &(struct comers){.group = 0}, cause, result);
    }
    if (place != PLACE_GATED) {
        return true;
    }
    const struct way way = gather_way(worker, &root->view, true);

    if (gather_stays_gated(queue, &root->view, &way)) {
        note_nobody(worker, root->view.seen, way.gate); /* its block may be gone */
        return true;
    }
    enum gather_step step = gather_bring_queued(worker, root, &way, asked, cause, result);

    if (step == GATHER_NOMEM) {
        stray_leave_short(queue, STRAY_UNMOVED); /* as note_nobody */
    }
    return step != GATHER_AGAIN;
}

/*
 * The caller asked about a group's members, and brought its record to GATED, or left it there. The
 * refused member may have left in between, and its leaver have seen the record elsewhere: then all
 * are asked about again. In kube's groups the record waits for an event.
 *
 *   switch to GATED, members' gates | a member leaves ASIDE, gather_left's look at the record
 */
void
gather_look_at_gate(struct worker *worker, uint64_t number, schedq_result_t *result)
{
    struct group_found root;

    bool asked = worker->asked_members && !queue_of(worker)->base.rules.groups_as_kube;

    worker->asked_members = false;
    /* Ends: each further round is another's change of the record, or an event. */
    while (asked && gather_root(worker, number, &root) &&
           state_place(root.view.state) == PLACE_GATED &&
           !gather_is_gated_by(worker, root.block->number, root.view.gate) &&
           !reconsider(worker, &root, CAUSE_JOIN, result)) {
    }
}

void
gather_changed(struct worker *worker, uint64_t number, uint32_t label, schedq_result_t *result)
{
    struct group_found root;

    u64_store(&worker->joining, number);
    if (gather_root(worker, number, &root)) {
        (void)u64_add(&root.block->changes, 1);
    }
    tell_root(worker, number, NULL, cause_of(label, false), result);
    gather_look_at_gate(worker, number, result);
    u64_store_release(&worker->joining, 0);
}

uint64_t
gather_leaves(struct worker *worker, uint64_t number)
{
    struct group_look group;

    u64_store(&worker->joining, number);
    return gather_look(worker, number, &group) && u32_load_acquire(&group.block->counted) != 0
               ? group.named
               : 0;
}

/* Does the record stay gated without the member that left? `gate`: what had refused it, or 0. */
static bool
stays_without(struct worker *worker, const struct group_found *root, uint8_t gate)
{
    return state_place(root->view.state) == PLACE_GATED &&
           !queue_of(worker)->base.rules.groups_as_kube &&
           gather_is_complete(worker, root->block) &&
           (gate != root->view.gate || gather_is_gated_by(worker, root->block->number, gate));
}

void
gather_left(struct worker *worker, uint64_t number, uint64_t counted, uint8_t gate,
            schedq_result_t *result)
{
    struct group_found found;

    count_off(worker, number, counted);
    /* Ends: each further round is another's change of the record, or an event. */
    while (gather_root(worker, number, &found) && is_queued(state_place(found.view.state)) &&
           !stays_without(worker, &found, gate) &&
           !reconsider(worker, &found, CAUSE_JOIN, result)) {
    }
    gather_look_at_gate(worker, number, result);
    u64_store_release(&worker->joining, 0);
}

/* A member came since the others passed: asks about all, as for one more join. */
enum gather_step
gather_ask_newcomers(struct worker *worker, const struct group_found *root)
{
    const uint64_t asked = stamps_drawn(&queue_of(worker)->stamps);
    const uint64_t number = root->block->number;
    enum gather_step step = GATHER_AGAIN;
    schedq_result_t unseen = {0};
    struct way way = {.place = PLACE_GATED};

    if (!gather_ask(worker, number, &way.gate)) {
        return GATHER_NOMEM;
    }
    u64_store(&worker->joining, number);
    if (way.gate != 0) {
        step = gather_bring_queued(worker, root, &way, asked, CAUSE_JOIN, &unseen);
    }
    gather_look_at_gate(worker, number, &unseen);
    u64_store_release(&worker->joining, 0);
    return step == GATHER_NOMEM ? GATHER_NOMEM : GATHER_AGAIN;
}

/* ---- activation, ticks ----------------------------------------------------------------------- */

bool
gather_activate(struct worker *worker, uint64_t number, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    struct group_found root;
    enum gather_step step = GATHER_AGAIN;

    /* Ends: each further round is another's change of the record, or an event. */
    while (step == GATHER_AGAIN && gather_root(worker, number, &root)) {
        enum place place = state_place(root.view.state);
        const uint64_t asked = stamps_drawn(&queue->stamps);

        if (place == PLACE_CYCLE && !queue->base.rules.activates_in_flight) {
            return true;
        }
        if (place == PLACE_CYCLE) {
            struct redescription change = describe_begin(&root.view);

            change.description.flags |= DESCRIBED_ACTIVATED;
            gather_describe(&change, &root.view);
            schedq_status_t status = describe_install(worker, root.record, &root.view, &change);

            step = status == SCHEDQ_RETRY ? GATHER_AGAIN
                   : status == SCHEDQ_OK  ? GATHER_DONE
                                          : GATHER_NOMEM;
            continue;
        }
        if (!place_waits(place)) {
            return true;
        }
        const struct way way = queue->base.rules.pop_from_backoff &&
                                       queue->base.rules.backoff_opens_gates &&
                                       place_backs_off(place)
                                   ? (struct way){.place = PLACE_READY}
                                   : gather_way(worker, &root.view, false);

        if (gather_stays_gated(queue, &root.view, &way)) {
            return true;
        }
        step = gather_bring_queued(worker, &root, &way, asked,
                                   cause_of(LABEL_FORCE_ACTIVATE, false), result);
    }
    if (step != GATHER_NOMEM) {
        gather_look_at_gate(worker, number, result);
        return true;
    }
    if (worker->asked_members && state_place(root.view.state) == PLACE_GATED) {
        stray_leave_short(queue, STRAY_UNJUDGED); /* a tick looks at its gate */
    }
    worker->asked_members = false;
    return false;
}

/* Raises `waiting` of each group to the number of its members that were read. */
static void
count_again(struct gathered *gathered)
{
    for (uint32_t i = 0; i < gathered->group_count; i++) {
        struct group_block *block = gathered->groups[i].block;
        int64_t less =
            (int64_t)gathered->groups[i].here - (int64_t)u64_load_acquire(&block->waiting);

        if (less > 0) {
            (void)u64_add(&block->waiting, (uint64_t)less);
        }
    }
}

static void
count_own_again(struct worker *worker, struct group_block *block)
{
    struct gathered gathered;

    if (gather_read_own(worker, block, &gathered)) {
        count_again(&gathered);
        gather_free(&gathered);
    } else {
        stray_leave_short(queue_of(worker), STRAY_UNMOVED);
    }
}

void
gather_look_after(struct worker *worker, uint64_t number)
{
    schedq_result_t unseen = {0};
    struct group_found root;
    struct gathered gathered;

    if (!gather_root(worker, number, &root)) {
        if (gather_find(worker, number, &root)) {
            count_own_again(worker, root.block);
        }
        return;
    }
    if (!gather_read(worker, root.block, &gathered)) {
        stray_leave_short(queue_of(worker), STRAY_UNMOVED); /* a tick looks again */
        return;
    }
    count_again(&gathered);
    if (gather_judge_groups(&gathered, false)) {
        (void)u64_add(&root.block->changes, 1);
    }
    gather_free(&gathered);
    gather_complete(worker, number, &unseen);
    /*
     * Asks only if the refused member has left: ticks that come by often ask nothing else. Ends:
     * each further round is another's change of the record, or an event.
     */
    while (!queue_of(worker)->base.rules.groups_as_kube && gather_root(worker, number, &root) &&
           state_place(root.view.state) == PLACE_GATED &&
           !gather_is_gated_by(worker, root.block->number, root.view.gate) &&
           !reconsider(worker, &root, CAUSE_JOIN, &unseen)) {
    }
}
