/* The exchange of hold.h, which has the essay. */
#include "lockfree/moves/hold.h"

#include "lockfree/moves/gather_join.h"

schedq_status_t
hold_install(struct worker *worker, uint32_t record, const struct view *before,
             struct redescription *change, int64_t now, schedq_result_t *result)
{
    const struct way way = {.place = PLACE_HELD};
    const bool leaves = state_place(before->state) == PLACE_ASIDE;
    /* before room is made: gather_leaves may settle another thread's add, into the lane */
    const uint64_t counted = leaves ? gather_leaves(worker, before->description.group) : 0;
    struct view planned = *before;
    struct transfer transfer;

    planned.description = change->description;
    /* both before the publication: a ref whose description cannot follow would be due */
    if (!describe_prepare(worker) ||
        !transfer_prepare(worker, record, &planned, &way, now, &transfer)) {
        if (leaves) {
            u64_store_release(&worker->joining, 0);
        }
        return SCHEDQ_NOMEM;
    }
    if (transfer.to.bin != NULL && transfer.to.key < now) {
        transfer.to.key = transfer.to.due = now;
    }
    change->gating.stay &= ~(UINT64_C(0xff) | STAY_FLUSHED);
    change->gating.stay |= STAY_UNGATED;
    change->gating.tried = 0;
    if (change->gating.first != 0) {
        change->gating.stay |= STAY_ATTEMPTED; /* an attempt that began in the old place counts */
    }
    change->word = transfer_next(&transfer);
    transfer_publish(worker, &transfer, CAUSE_NONE);
    schedq_status_t status = describe_install(worker, record, before, change);

    if (status == SCHEDQ_OK) {
        switch_counted(worker, before->state, change->word, CAUSE_NONE);
        if (state_place(before->state) == PLACE_ACTIVE) {
            tally_add_last(&worker->holds, 1); /* hold_install:A, read by read_leaves */
        } else if (leaves) {
            gather_left(worker, before->description.group, counted, before->gate, result);
        }
    } else {
        transfer_withdraw(worker, &transfer);
        if (leaves) {
            u64_store_release(&worker->joining, 0);
        }
    }
    return status;
}

schedq_status_t
hold_end_turn(struct worker *worker, uint32_t record, const struct view *before, int64_t now)
{
    struct redescription change = describe_begin(before);
    schedq_result_t unseen = {0};

    description_note_try(&change.description);
    return hold_install(worker, record, before, &change, now, &unseen);
}
