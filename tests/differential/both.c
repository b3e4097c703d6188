/* Calls of both.h. */
#include "both.h"

#include <stdarg.h>
#include <string.h>

#include "compare.h"

static bool
turns_order(const world_t *world, unsigned side)
{
    return side == 1 && world->plant == &plant_others[OTHER_ORDER];
}

/* When it finds nothing, the host has to be woken for the next pod; perhaps it makes one itself. */
static bool
pops_for_host(op_kind_t kind)
{
    return kind == OP_TRY_POP || kind == OP_TRY_POP_MANY || kind == OP_TRY_POP_GROUP;
}

/* Answers are filled first, so that one that a call forgets to write is not taken for zero. */
static schedq_status_t
fill_and_run(const world_t *world, unsigned side, op_t *op)
{
    memset(&op->result, UNTOUCHED, sizeof op->result);
    memset(op->statuses, UNTOUCHED, sizeof op->statuses);
    return op_run(world_worker(world, side), op);
}

/* The specs are copies, for the plant "order". */
static schedq_status_t
run_side(world_t *world, unsigned side, both_t *both)
{
    op_t *op = &both->ops[side];
    const schedq_pod_spec_t *spec = op->spec;
    const schedq_add_item_t *items = op->items;
    schedq_pod_spec_t copy;
    schedq_add_item_t copies[BATCH_MAX];

    if (spec != NULL) {
        copy = *spec;
        copy.order_key ^= turns_order(world, side) ? -1 : 0;
        op->spec = &copy;
    }
    if (items != NULL) {
        for (size_t i = 0; i < op->count; i++) {
            copies[i] = items[i];
            copies[i].spec.order_key ^= turns_order(world, side) ? -1 : 0;
        }
        op->items = copies;
    }
    bool woken = world->sides[side].woken;

    world->sides[side].woken = woken && !pops_for_host(op->kind);
    if (op->kind == OP_ADD_MANY) {
        (void)fill_and_run(world, side, op);
    } else {
        WORLD_CALL(world, side, op->status, fill_and_run(world, side, op));
    }
    world->sides[side].woken |= woken && op->status != SCHEDQ_EMPTY;
    op->spec = spec;
    op->items = items;
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
    if (op->spec != NULL) {
        spec_show(world, op->name_length, op->spec);
    }
    for (size_t i = 0; op->items != NULL && i < op->count; i++) {
        spec_show(world, op->items[i].name_length, &op->items[i].spec);
    }
    if (op->failure != NULL && op->failure->newest != NULL) {
        spec_show(world, 0, op->failure->newest);
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
