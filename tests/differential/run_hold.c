/* Pods that are kept back: hold, release, not_before. */
#include <inttypes.h>

#include "compare.h"
#include "operation.h"
#include "run.h"

static void
take_kept(world_t *world, life_t *life, both_t *both)
{
    bool found = both->ops[0].status == SCHEDQ_OK;

    if (compare_sums(world, both->results)) {
        (void)compare_referred(world, found ? life : NULL, both->results);
    }
}

static void
keep(world_t *world, const operation_t *operation, op_kind_t kind)
{
    life_t *life = world_life(world, operation->targets[0]);
    both_t both = {0};

    if (life == NULL) {
        return;
    }
    BOTH(&both, .kind = kind, .pods = &life->handles[side]);
    if (both_call(world, &both, " of pod %" PRIu32 "\n", life->name)) {
        take_kept(world, life, &both);
    }
}

void
run_hold(world_t *world, const operation_t *operation)
{
    keep(world, operation, OP_HOLD);
}

void
run_release(world_t *world, const operation_t *operation)
{
    keep(world, operation, OP_RELEASE);
}

void
run_not_before(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    life_t *life = world_life(world, operation->targets[0]);
    int64_t time = chance_one_in(&chance, 40) ? -1 : spec_not_before(world, &chance);
    both_t both = {0};

    if (life == NULL) {
        return;
    }
    BOTH(&both, .kind = OP_NOT_BEFORE, .pods = &life->handles[side], .deadline_ns = time);
    if (both_call(world, &both, " of pod %" PRIu32 ": %" PRId64 "\n", life->name, time)) {
        take_kept(world, life, &both);
    }
}
