/* All pods of a label: cancel, hold, release, count. */
#include <inttypes.h>
#include <stdlib.h>

#include "compare.h"
#include "operation.h"
#include "run.h"

#define ROOM 4096 /* more than have one label */

static int
ascending(const void *a, const void *b)
{
    const schedq_result_t *left = a, *right = b;

    return left->object < right->object ? -1 : left->object > right->object;
}

/* The same objects on both sides, in any order; each is of a pod that was there. */
static void
take_cancelled(world_t *world, schedq_result_t results[SIDES][ROOM], size_t count)
{
    for (unsigned side = 0; side < SIDES; side++) {
        qsort(results[side], count, sizeof results[side][0], ascending);
    }
    for (size_t i = 0; i < count; i++) {
        schedq_result_t both[SIDES] = {results[0][i], results[1][i]};
        uint64_t object = both[0].object;
        life_t *life = object_slot(object) < NAMES_MAX * OBJECT_VARIANTS
                           ? world_named(world, object_name(object))
                           : NULL;

        if (life == NULL) {
            (void)differ(world, "label_cancel tells of object 0x%" PRIx64, object);
            return;
        }
        if (!compare_results(world, life, both)) {
            return;
        }
        world_deleted(world, life);
    }
}

void
run_label(world_t *world, const operation_t *operation)
{
    static const op_kind_t kinds[] = {OP_LABEL_CANCEL, OP_LABEL_HOLD, OP_LABEL_RELEASE,
                                      OP_LABEL_RELEASE, OP_LABEL_COUNT};
    static schedq_result_t results[SIDES][ROOM];
    chance_t chance = operation_chance(operation);
    op_kind_t kind = kinds[chance_below(&chance, sizeof kinds / sizeof kinds[0])];
    uint64_t label = chance_one_in(&chance, 40) ? 0 : 1 + chance_below(&chance, LABELS);
    both_t both = {0};

    BOTH(&both, .kind = kind, .label = label, .results = results[side], .room = ROOM);
    if (!both_call(world, &both, " %" PRIu64 "\n", label)) {
        return;
    }
    if (both.ops[0].got != both.ops[1].got) {
        (void)differ(world, "count: %zu and %zu", both.ops[0].got, both.ops[1].got);
    } else if (kind == OP_LABEL_CANCEL) {
        take_cancelled(world, results, both.ops[0].got);
    }
}
