/*
 * apply: a host's verdicts on candidates, each only if the pod still is at the version that was
 * judged.
 *
 * A mover of one pod. GATED is published, then the gate's stamp is looked at, then switched: newer
 * means RETRY.
 *
 * LINEARIZATION. OK, the switch; CHANGED, GONE: report_record:B of the look that is told (a backoff
 * that was over when the call began still is, at that version); RETRY: the look at the stamp.
 *
 * PROGRESS. Lock-free: a second look at a pod means that another thread changed it. A host's thread
 * that stops inside add or readd, behind the look at the stamp of a pod that it gates, leaves that
 * pod to the gate's next event.
 *
 * EVIDENCE. tests/model: gate; stress/explore: host_apply, host_delete, host_gated_backoff;
 * tests/unit/test_apply.c.
 */
#include "lockfree/calls/mover.h"
#include "lockfree/calls/ops.h"
#include "plugins/verdict.h"

static schedq_status_t
outdated_gate(const struct queue *queue, const struct view *view, const schedq_decision_t *decision,
              schedq_result_t *result)
{
    if (decision->place != SCHEDQ_GATED ||
        stamps_newest(&queue->stamps, view->profile, gate_bit(decision->gate)) <=
            decision->judged_up_to) {
        return SCHEDQ_OK;
    }
    result->sequence = stamps_drawn(&queue->stamps);
    return SCHEDQ_RETRY;
}

/*
 * OK: *view shows the pod where it was put. SCHEDQ_CHANGED also if it is still there, and another
 * thread was first.
 */
static schedq_status_t
apply_at(struct worker *worker, uint32_t record, struct view *view,
         const schedq_decision_t *decision, int64_t now, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    struct mover mover = {.worker = worker,
                          .now = now,
                          .label = registry_label(&queue->base.registry, decision->event),
                          .counts = true,
                          .recount = decision->uncounted == 0,
                          .result = result};
    struct way way = {.place = PLACE_GATED, .gate = decision->gate};

    if (decision->place != SCHEDQ_GATED) {
        way = route_admitted(queue, view->unschedulable | view->pending, &view->history,
                             decision->place == SCHEDQ_BACKOFF, now);
    }
    schedq_status_t status = mover_apply(&mover, record, view, &way, decision->judged_up_to);

    if (status == SCHEDQ_RETRY) {
        result->sequence = stamps_drawn(&queue->stamps);
    }
    if (status == SCHEDQ_OK) {
        view->state = state_switched(view->state, state_band(view->state), way.place);
        view->gate = way.gate;
    }
    return status;
}

/* Judged as a pod that backs off, and it does not any more. */
static bool
missed_its_backoff(const struct queue *queue, const struct view *view,
                   const schedq_decision_t *decision, int64_t now)
{
    return decision->if_backing_off &&
           !route_is_backing_off(queue, view->gate, &view->history, now);
}

static schedq_status_t
apply(struct worker *worker, const schedq_decision_t *decision, int64_t now,
      schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    uint32_t record = ref_record(decision->ref);
    uint64_t version = ref_version(decision->ref);
    struct view view;

    if (record >= slab_end(&queue->entries.records) || !report_any(queue, record, &view) ||
        !state_waits(view.state) || !state_has_had(view.state, view.life, version)) {
        return SCHEDQ_GONE;
    }
    if (state_version(view.state) != version || missed_its_backoff(queue, &view, decision, now)) {
        report_pod(queue, record, &view, result);
        return SCHEDQ_CHANGED;
    }
    schedq_status_t status =
        verdict_check_gate(&queue->base.registry, view.profile, "decision.gate", decision->gate,
                           worker->base.words, sizeof worker->base.words);

    status = status == SCHEDQ_OK ? outdated_gate(queue, &view, decision, result) : status;
    if (status != SCHEDQ_OK) {
        return status;
    }
    status = apply_at(worker, record, &view, decision, now, result);
    if (status == SCHEDQ_CHANGED) {
        /*
         * Another thread was first: the answer is the pod as it is now. Ends: each further round is
         * another's change.
         */
        return apply(worker, decision, now, result);
    }
    if (status == SCHEDQ_OK) {
        report_moved(queue, record, &view, result);
        result->unschedulable = view.unschedulable;
        result->pending = view.pending;
    }
    return status;
}

static void
add_counts(schedq_result_t *sum, const schedq_result_t *one)
{
    sum->to_active += one->to_active;
    sum->to_backoff += one->to_backoff;
    sum->to_parked += one->to_parked;
    sum->to_gated += one->to_gated;
    sum->poppable |= one->poppable;
}

schedq_status_t
lockfree_apply_many(schedq_worker_t *base, const schedq_decision_t *decisions, size_t count,
                    uint8_t *statuses, schedq_result_t *results, schedq_result_t *sum)
{
    struct worker *worker = worker_of(base);
    int64_t now = queue_now(queue_of(worker));
    schedq_status_t first = SCHEDQ_OK;

    section_begin(worker);
    for (size_t i = 0; i < count; i++) {
        schedq_result_t one = {0};
        schedq_status_t status = apply(worker, &decisions[i], now, &one);

        add_counts(sum, &one);
        if (statuses != NULL) {
            statuses[i] = (uint8_t)status;
        }
        if (results != NULL) {
            results[i] = one;
        }
        first = first == SCHEDQ_OK ? status : first;
    }
    section_end(worker);
    return first;
}
