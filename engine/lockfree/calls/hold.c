/*
 * hold, release, not_before: what keeps a pod back is changed in its description (hold.h). A pod
 * that nothing keeps back any more is made due, and moved like one whose time has come.
 *
 * LINEARIZATION. entry_describe:A of the exchange that changes what keeps the pod back; if nothing
 * is to change, the load of its word; of the pod that is moved out, its switch. NOT_FOUND: the look
 * at the word. ORDERING: hold.h.
 *
 * PROGRESS. Lock-free: each further round is another thread's change of the pod. A thread that
 * stops between the two steps of a release leaves the pod due: a tick moves it.
 *
 * EVIDENCE. As in hold.h.
 */
#include "lockfree/calls/hold.h"

#include "lockfree/calls/class.h"
#include "lockfree/calls/ops.h"
#include "lockfree/moves/hold.h"

/* What a call wants of a pod. */
struct wish {
    bool about_mark; /* else about the time */
    bool held;
    int64_t not_before;
};

bool
hold_is_over(struct mover *mover, const struct view *view, struct way *way)
{
    return route_from_hold(mover->worker, view, mover->now, way);
}

/*
 * A pod can be found due although it is kept back. Its ref was then published by a call whose
 * exchange failed because another call held the pod first, or which stopped before its exchange.
 * The pod is held anew: it gets another version, and that ref is stale.
 */
bool
hold_is_due(struct mover *mover, const struct view *view, struct way *way)
{
    if (hold_is_over(mover, view, way)) {
        return true;
    }
    *way = (struct way){.place = PLACE_HELD};
    return state_place(view->state) == PLACE_HELD && mover_is_due(mover, view);
}

void
hold_leave(struct worker *worker, uint32_t record, uint64_t life, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    struct mover mover = {.worker = worker,
                          .now = queue_now(queue),
                          .label = LABEL_POD_UPDATE,
                          .recount = true,
                          .alone = true,
                          .result = result,
                          .decide = hold_is_over};
    struct view view;

    mover_begin(&mover);
    if (report_view(queue, record, life, &view)) {
        mover_try(&mover, record, &view);
    }
    mover_end(&mover);
}

/*
 * Where this call put the pod. If another thread moved it, where it waits now; a pod that does not
 * wait was taken since. For a member, *result counts what became of its group.
 */
static schedq_place_t
place_it_left_for(const struct queue *queue, const struct view *now, bool ended,
                  const schedq_result_t *result)
{
    if (route_is_aside(now)) {
        return SCHEDQ_ASIDE;
    }
    if (result->to_backoff > 0) {
        return place_public(backoff_place(queue, now->unschedulable | now->pending));
    }
    if (result->to_gated > 0) {
        return SCHEDQ_GATED;
    }
    bool waits = result->to_active == 0 && !ended && state_waits(now->state);

    return waits ? place_public(state_place(now->state)) : SCHEDQ_ACTIVE;
}

void
hold_report(const struct queue *queue, uint32_t record, const struct view *before, bool left,
            schedq_result_t *result)
{
    struct view now = *before, seen;

    bool ended = !report_view(queue, record, before->life, &seen);

    if (!ended) {
        now = seen;
    }
    schedq_place_t told = left ? place_it_left_for(queue, &now, ended, result)
                               : place_public(state_place(before->state));

    report_pod(queue, record, &now, result);
    if (result->place != told) { /* it went on since */
        result->place = (uint8_t)told;
        result->gate = result->backing_off = 0;
        result->ref = 0;
    }
}

/*
 * SCHEDQ_RETRY: another thread changed the pod. With OK *before says where the pod is. *moves: it
 * is held, and nothing keeps it back any more.
 */
static schedq_status_t
grant(struct worker *worker, uint32_t record, struct view *before, const struct wish *wish,
      int64_t now, bool *moves, schedq_result_t *result)
{
    struct redescription change = describe_begin(before);
    struct description *description = &change.description;
    enum place place = state_place(before->state);

    if (wish->about_mark) {
        description->marks &= (uint8_t)~MARK_HELD;
        description->marks |= wish->held ? MARK_HELD : 0;
        if (wish->held && (description->flags & DESCRIBED_BY_CLASS) != 0) {
            description_set_time(description, 0); /* its turn would never come: its ref is stale */
        }
    } else {
        description_set_time(description, wish->not_before);
    }
    bool same = description->marks == before->description.marks &&
                description_time(description) == description_time(&before->description);
    bool keeps = description_keeps(description, now);

    *moves = place == PLACE_HELD && !keeps;
    if (same) {
        return SCHEDQ_OK;
    }
    if (place == PLACE_INFLIGHT || (place != PLACE_HELD && !keeps)) {
        change.word = place == PLACE_INFLIGHT ? before->state | FLAG_JUDGE : before->state;
        return describe_install(worker, record, before, &change);
    }
    schedq_status_t status = hold_install(worker, record, before, &change, now, result);

    before->state = change.word; /* hold_report tells this place */
    return status;
}

static schedq_status_t
change_pod(schedq_worker_t *base, schedq_pod_t pod, const struct wish *wish, int64_t now,
           schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    const struct queue *queue = queue_of(worker);
    uint32_t record = ref_record(pod.bits);
    schedq_status_t status;
    struct view view;
    bool moves = false;

    section_begin(worker);
    /* Ends: each further round is another thread's change of the pod. */
    do {
        status = report_handle(queue, pod, &view) && report_exists(worker, record, &view)
                     ? grant(worker, record, &view, wish, now, &moves, result)
                     : SCHEDQ_NOT_FOUND;
    } while (status == SCHEDQ_RETRY);
    if (status == SCHEDQ_OK && moves) {
        hold_leave(worker, record, view.life, result);
    }
    if (status == SCHEDQ_OK) {
        hold_report(queue, record, &view, moves, result);
        const struct class_key key = class_of_view(queue, &view);

        result->poppable |= class_look(worker, &key, pod);
    }
    section_end(worker);
    return status;
}

schedq_status_t
lockfree_hold(schedq_worker_t *base, schedq_pod_t pod, bool holds, schedq_result_t *result)
{
    const struct wish wish = {.about_mark = true, .held = holds};

    return change_pod(base, pod, &wish, clock_now(&base->queue->clock), result);
}

schedq_status_t
lockfree_not_before(schedq_worker_t *base, schedq_pod_t pod, int64_t time, schedq_result_t *result)
{
    int64_t now = clock_now(&base->queue->clock);
    /* a time that is past keeps nothing back, whatever the clock says later */
    const struct wish wish = {.not_before = time > now ? time : 0};

    return change_pod(base, pod, &wish, now, result);
}
