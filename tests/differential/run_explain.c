/* Why pods wait: of one, and of all by reason. */
#include <inttypes.h>
#include <string.h>

#include "both.h"
#include "compare.h"
#include "fields.h"
#include "operation.h"

static void
compare_sentences(world_t *world, const schedq_explanation_t explanations[SIDES])
{
    char texts[SIDES][1024];

    for (unsigned side = 0; side < SIDES; side++) {
        (void)schedq_explanation_text(world->sides[side].queue, &explanations[side], texts[side],
                                      sizeof texts[side]);
    }
    SHOW(world, "    %s\n", texts[0]);
    if (plant_due(world, OTHER_SENTENCE)) {
        texts[1][0] ^= 1;
    }
    if (strcmp(texts[0], texts[1]) != 0) {
        (void)differ(world, "schedq_explanation_text: mutex \"%s\", %s \"%s\"", texts[0],
                     world->sides[1].engine, texts[1]);
    }
}

void
run_explain(world_t *world, const operation_t *operation)
{
    const life_t *life = world_life(world, operation->targets[0]);
    schedq_explanation_t explanations[SIDES] = {SCHEDQ_EXPLANATION_INIT, SCHEDQ_EXPLANATION_INIT};
    both_t both = {0};

    if (life == NULL) {
        return;
    }
    BOTH(&both, .kind = OP_EXPLAIN, .pods = &life->handles[side],
         .explanation = &explanations[side]);
    if (both_call(world, &both, " of pod %" PRIu32 "\n", life->name) &&
        both.ops[0].status == SCHEDQ_OK) {
        schedq_pod_t pods[SIDES] = {explanations[0].pod, explanations[1].pod};

        if (compare_pods(world, life, pods) &&
            compare_table(world, &explanation_table, &explanations[0], &explanations[1])) {
            compare_sentences(world, explanations);
        }
    }
}

/* One profile more than there are: the call is refused, and writes nothing. */
void
run_reasons(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    schedq_profile_t profile = (schedq_profile_t)chance_below(&chance, PROFILES + 1);
    schedq_reasons_t reasons[SIDES] = {SCHEDQ_REASONS_INIT, SCHEDQ_REASONS_INIT};
    both_t both = {0};

    BOTH(&both, .kind = OP_COUNT_REASONS, .profile = profile, .reasons = &reasons[side]);
    if (!both_call(world, &both, " of profile %u\n", profile)) {
        return;
    }
    if (plant_due(world, OTHER_REASONS)) {
        reasons[1].parked_by[0]++;
    }
    if (memcmp(&reasons[0], &reasons[1], sizeof reasons[0]) != 0) {
        (void)differ(world,
                     "reasons: mutex %" PRIu64 " parked, %" PRIu64 " gated, %s %" PRIu64
                     " parked, %" PRIu64 " gated, or they differ by plugin",
                     reasons[0].parked, reasons[0].gated, world->sides[1].engine, reasons[1].parked,
                     reasons[1].gated);
    }
}
