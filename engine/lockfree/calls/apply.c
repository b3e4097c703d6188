/*
 * apply: a host's verdicts on candidates, each only if the pod still is at the version that was
 * judged.
 *
 * The pods go by a mover that asks nothing: what `decide` would say is the host's verdict
 * (mover.h). A pod that is to be GATED is published; then the gate's stamp is looked at, and a
 * newer one means RETRY; then the pod is switched. That is done one by one.
 *
 * LINEARIZATION. OK, the switch; CHANGED, GONE: report_unchanged:A of the look whose result is told
 * (a backoff that was over when the call began still is, at that version); RETRY: the look at the
 * stamp.
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

/*
 * So many decisions are collected at once: few, because the pod of a decision that is refused is
 * looked for among them (mover_holds). No more than MOVER_BATCH.
 */
#define TOGETHER SIZE(256, 4)

struct applying {
    struct mover mover;
    schedq_result_t *sum;
    const schedq_decision_t *decisions;
    uint8_t *statuses;        /* of each; NULL: the caller does not ask */
    schedq_result_t *results; /* the same */
    schedq_result_t *unseen;
    size_t first_refused;  /* the first that is not OK */
    schedq_status_t first; /* its status */
};

/* The decision's result, zeroed. */
static schedq_result_t *
result_of(struct applying *applying, size_t i)
{
    schedq_result_t *result = applying->results != NULL ? &applying->results[i] : applying->unseen;

    *result = (schedq_result_t){0};
    return result;
}

/* Told when it is decided, before it is done. If the mover then loses the pod, it is told again. */
static void
tell(struct applying *applying, size_t i, schedq_status_t status)
{
    if (applying->statuses != NULL) {
        applying->statuses[i] = (uint8_t)status;
    }
    if (status != SCHEDQ_OK && i < applying->first_refused) {
        applying->first_refused = i;
        applying->first = status;
    }
}

/* Checks the gate behind which a pod is to go. */
static schedq_status_t
check_decided_gate(const struct applying *applying, const struct view *view,
                   const schedq_decision_t *decision, schedq_result_t *result)
{
    const struct worker *worker = applying->mover.worker;
    const struct queue *queue = queue_of(worker);
    schedq_status_t status =
        verdict_check_gate(&queue->base.registry, view->profile, "decision.gate", decision->gate,
                           applying->mover.worker->base.words, sizeof worker->base.words);

    if (status == SCHEDQ_OK && stamps_newest(&queue->stamps, view->profile,
                                             gate_bit(decision->gate)) > decision->judged_up_to) {
        result->sequence = stamps_drawn(&queue->stamps);
        return SCHEDQ_RETRY;
    }
    return status;
}

/* Tells of the pod that `view` shows, as it is behind its switch. */
static void
describe_moved(const struct applying *applying, uint32_t record, struct view *view,
               const struct way *way, schedq_result_t *result)
{
    const struct queue *queue = queue_of(applying->mover.worker);

    if (applying->results == NULL) {
        return;
    }
    view->state = state_switched(view->state, state_band(view->state), way->place);
    view->gate = way->gate;
    report_pod(queue, record, view, result);
    if (way->place != PLACE_GATED) {
        transfer_report(way->place, result);
        result->poppable = transfer_is_poppable(queue, way->place) ? 1 : 0;
    }
}

static schedq_status_t
carry_out(struct applying *applying, size_t i, uint32_t record, struct view *view,
          schedq_result_t *result)
{
    struct mover *mover = &applying->mover;
    const struct queue *queue = queue_of(mover->worker);
    const schedq_decision_t *decision = &applying->decisions[i];
    struct way way = {.place = PLACE_GATED, .gate = decision->gate};
    schedq_status_t status;

    if (decision->place == SCHEDQ_GATED) {
        mover->result = result; /* a pod that was gated before does not always count */
        status = mover_gate(mover, record, view, decision->gate, decision->judged_up_to);
        mover->result = applying->sum;
        applying->sum->to_gated += result->to_gated;
        if (status == SCHEDQ_RETRY) {
            result->sequence = stamps_drawn(&queue->stamps);
        }
    } else {
        bool backoff = decision->place == SCHEDQ_BACKOFF;

        way = route_admitted(queue, view->unschedulable | view->pending, &view->history, backoff,
                             mover->now);
        if (backoff || label_is_verdict(mover->label)) {
            route_name(queue, backoff, &way);
        }
        status = mover_collect(mover, record, view, &way, i);
    }
    if (status == SCHEDQ_OK) {
        describe_moved(applying, record, view, &way, result);
    }
    return status;
}

/* The host judged the pod as one that backs off, and it does not back off any more. */
static bool
missed_its_backoff(const struct queue *queue, const struct view *view,
                   const schedq_decision_t *decision, int64_t now)
{
    return decision->if_backing_off &&
           !route_is_backing_off(queue, view->gate, &view->history, now);
}

/* CHANGED without *told: another thread was first, and the decision may still be good. */
static schedq_status_t
apply_once(struct applying *applying, size_t i, schedq_result_t *result, bool *told)
{
    const struct queue *queue = queue_of(applying->mover.worker);
    const schedq_decision_t *decision = &applying->decisions[i];
    uint32_t record = ref_record(decision->ref);
    uint64_t version = ref_version(decision->ref);
    struct view view;

    if (record >= slab_end(&queue->entries.records) || !report_any(queue, record, &view) ||
        !state_is_candidate(view.state) || !state_has_had(view.state, view.life, version) ||
        !report_exists(applying->mover.worker, record, &view)) {
        return SCHEDQ_GONE;
    }
    if (state_version(view.state) != version ||
        missed_its_backoff(queue, &view, decision, applying->mover.now)) {
        report_pod(queue, record, &view, result);
        *told = true;
        return SCHEDQ_CHANGED;
    }
    schedq_status_t status = decision->place == SCHEDQ_GATED
                                 ? check_decided_gate(applying, &view, decision, result)
                                 : SCHEDQ_OK;

    return status == SCHEDQ_OK ? carry_out(applying, i, record, &view, result) : status;
}

static void
apply(struct applying *applying, size_t i)
{
    schedq_status_t status;
    bool told;

    /*
     * Ends: each further round is another thread's change of the pod, or comes once, behind the
     * switch that an earlier decision about it asked for.
     */
    do {
        told = false;
        status = apply_once(applying, i, result_of(applying, i), &told);
        if (status != SCHEDQ_OK &&
            mover_holds(&applying->mover, ref_record(applying->decisions[i].ref))) {
            mover_move(&applying->mover);
            status = SCHEDQ_CHANGED;
            told = false;
        }
    } while (status == SCHEDQ_CHANGED && !told);
    tell(applying, i, status);
}

/*
 * Moves what is collected. A decision whose pod another thread changed is applied again: its answer
 * is the pod as it is then.
 */
static void
finish(struct applying *applying)
{
    uint64_t i;
    bool changed;

    /* Ends: each further round is another thread's change of a pod. */
    do {
        mover_move(&applying->mover);
        while (mover_next_lost(&applying->mover, &i, &changed)) {
            if (changed) {
                apply(applying, i);
            } else {
                (void)result_of(applying, i);
                tell(applying, i, SCHEDQ_NOMEM);
            }
        }
    } while (mover_holds_any(&applying->mover));
}

/*
 * What is collected together has one cause, and one place and condition: so decisions about one pod
 * take effect in their order.
 */
static bool
goes_with(const schedq_decision_t *decision, const schedq_decision_t *before)
{
    return decision->event == before->event && decision->uncounted == before->uncounted &&
           decision->place == before->place && decision->flushed == before->flushed &&
           decision->if_backing_off == before->if_backing_off;
}

schedq_status_t
lockfree_apply_many(schedq_worker_t *base, const schedq_decision_t *decisions, size_t count,
                    uint8_t *statuses, schedq_result_t *results, schedq_result_t *sum)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    schedq_result_t unseen;
    struct applying applying;

    /* field by field: all of it is more than the compiler zeroes without a loop */
    applying.mover = (struct mover){.worker = worker,
                                    .now = queue_now(queue),
                                    .counts = true,
                                    .alone = count == 1,
                                    .result = sum};
    applying.sum = sum;
    applying.decisions = decisions;
    applying.statuses = statuses;
    applying.results = results;
    applying.unseen = &unseen;
    applying.first_refused = count;
    applying.first = SCHEDQ_OK;
    section_begin(worker);
    mover_begin(&applying.mover);
    for (size_t i = 0; i < count; i++) {
        bool begins = i == 0 || !goes_with(&decisions[i], &decisions[i - 1]);

        if (i > 0 && (begins || i % TOGETHER == 0)) {
            finish(&applying);
        }
        if (begins) {
            applying.mover.label = registry_label(&queue->base.registry, decisions[i].event);
            applying.mover.recount = decisions[i].uncounted == 0;
            applying.mover.flushes =
                decisions[i].flushed != 0 && decisions[i].place != SCHEDQ_GATED;
        }
        apply(&applying, i);
    }
    finish(&applying);
    section_end(worker);
    return applying.first;
}
