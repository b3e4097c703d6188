/* Calls of both.h. */
#include "both.h"

#include <stdarg.h>
#include <string.h>

#include "compare.h"

static size_t
spec_count(const op_t *op)
{
    return op->specs == NULL ? 0 : op->kind == OP_ADD_MANY ? op->count : 1;
}

/*
 * The specs are copies, for the plant "order". Answers are filled first, so that one that a call
 * forgets to write is not taken for zero.
 */
static schedq_status_t
run_side(const world_t *world, unsigned side, both_t *both)
{
    op_t *op = &both->ops[side];
    const schedq_pod_spec_t *specs = op->specs;
    schedq_pod_spec_t copies[BATCH_MAX];

    for (size_t i = 0; i < spec_count(op); i++) {
        copies[i] = specs[i];
        if (side == 1 && world->plant == &plant_others[OTHER_ORDER]) {
            copies[i].order_key = ~copies[i].order_key;
        }
    }
    op->specs = copies;
    op->names = both->names != NULL ? both->names->text : op->names;
    memset(&op->result, UNTOUCHED, sizeof op->result);
    memset(op->statuses, UNTOUCHED, sizeof op->statuses);
    (void)op_run(world_worker(world, side), op);
    op->specs = specs;
    both->results[side] = op->result;
    return op->status;
}

bool
both_run(world_t *world, both_t *both)
{
    schedq_status_t statuses[SIDES];

    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = run_side(world, side, both);
    }
    if (both->names != NULL) {
        /* No queue may read names after a call. */
        memset(both->names->text, '#', both->names->used);
    }
    return compare_status(world, statuses) && compare_statuses(world, both->ops);
}

static void
show_specs(const world_t *world, const op_t *op)
{
    for (size_t i = 0; i < spec_count(op); i++) {
        spec_show(world, &op->specs[i]);
    }
    if (op->failure != NULL && op->failure->has_newest) {
        spec_show(world, &op->failure->newest);
    }
}

bool
both_call(world_t *world, both_t *both, const char *details, ...)
{
    if (world->trace != NULL) {
        va_list arguments;

        fprintf(world->trace, "schedq_%s", op_name(both->ops[0].kind));
        va_start(arguments, details);
        (void)vfprintf(world->trace, details, arguments);
        va_end(arguments);
        show_specs(world, &both->ops[0]);
    }
    return both_run(world, both);
}
