/*
 * [host] The host decides: it draws and stamps events, copies candidates out, and applies its
 * verdicts.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "operation.h"
#include "plugins.h"
#include "run.h"

#define UNKNOWN_PROFILE 9

/* ---- events ---------------------------------------------------------------------------------- */

void
run_event_begin(world_t *world, const operation_t *operation)
{
    both_t both = {0};

    (void)operation;
    BOTH(&both, .kind = OP_EVENT_BEGIN);
    if (both_call(world, &both, "\n")) {
        (void)compare_bits(world, "sequence",
                           (uint64_t[SIDES]){both.ops[0].sequence, both.ops[1].sequence});
    }
}

/* Most often the newest event; stamps arrive in any order. */
void
run_event_stamp(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    uint64_t newest = world->sides[0].words->event_sequence;
    uint64_t sequence =
        chance_one_in(&chance, 20) ? newest + 1 : plugins_judgement(world, &chance, 0);
    schedq_profile_t profile =
        (schedq_profile_t)(chance_one_in(&chance, 20) ? UNKNOWN_PROFILE
                                                      : chance_below(&chance, PROFILES));
    uint64_t plugins =
        chance_one_in(&chance, 6) ? UINT64_MAX : plugins_set(world, &chance, profile % PROFILES);
    both_t both = {0};

    BOTH(&both, .kind = OP_EVENT_STAMP, .sequence = sequence, .profile = profile,
         .rejectors = plugins);
    (void)both_call(world, &both, " %" PRIu64 " profile %u plugins 0x%" PRIx64 "\n", sequence,
                    profile, plugins);
}

/* ---- decisions ------------------------------------------------------------------------------- */

static void
draw_decision(const world_t *world, chance_t *chance, schedq_decision_t *decision)
{
    static const uint8_t places[] = {SCHEDQ_ACTIVE, SCHEDQ_BACKOFF, SCHEDQ_GATED};

    *decision = (schedq_decision_t){.struct_size = sizeof(schedq_decision_t),
                                    .place = CHANCE_OF(chance, places),
                                    .event = plugins_event(world, chance)};
    decision->gate = decision->place == SCHEDQ_GATED ? plugins_gate(chance) : 0;
    decision->uncounted = decision->place == SCHEDQ_GATED && chance_one_in(chance, 2);
    decision->if_backing_off = decision->place == SCHEDQ_BACKOFF && chance_one_in(chance, 2);
    decision->flushed = chance_one_in(chance, 4);
    decision->judged_up_to = plugins_judgement(world, chance, 0);
    if (chance_one_in(chance, 60)) {
        decision->gate ^= 60;
    }
    if (chance_one_in(chance, 100)) {
        decision->event = chance_one_in(chance, 2) ? SCHEDQ_EVENT_NONE : 60000;
    }
    if (chance_one_in(chance, 100)) {
        decision->place = SCHEDQ_PARKED;
    }
}

/* Most often the newest ref that is known, sometimes one before. */
static ref_t
some_ref(const world_t *world, chance_t *chance, const life_t *life)
{
    unsigned age = chance_one_in(chance, 8) ? 1 + chance_below(chance, REFS_KEPT - 1) : 0;

    if (age > 0 && life->refs[age].bits[0] != 0) {
        world_mark(world, MARK_APPLY_OLD_REF);
    }
    return life->refs[age];
}

void
run_apply(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    life_t *life = world_life(world, operation->targets[0]);
    schedq_decision_t decisions[SIDES];
    both_t both = {0};

    if (life == NULL) {
        return;
    }
    draw_decision(world, &chance, &decisions[0]);
    ref_t ref = some_ref(world, &chance, life);

    decisions[1] = decisions[0];
    decisions[0].ref = ref.bits[0];
    decisions[1].ref = ref.bits[1];
    BOTH(&both, .kind = OP_APPLY, .decisions = &decisions[side]);
    bool agree =
        both_call(world, &both, " of pod %" PRIu32 " place %s%s gate %u judged_up_to %" PRIu64 "\n",
                  life->name, schedq_place_name((schedq_place_t)decisions[0].place),
                  decisions[0].if_backing_off ? " if it backs off" : "", decisions[0].gate,
                  decisions[0].judged_up_to);
    schedq_status_t status = both.ops[0].status;

    if (decisions[0].if_backing_off && status == SCHEDQ_CHANGED &&
        both.results[0].ref == decisions[0].ref) {
        world_mark(world, MARK_APPLY_BACKOFF_OVER);
    }
    if (agree) {
        bool told = status == SCHEDQ_OK || status == SCHEDQ_CHANGED;

        (void)compare_referred(world, told || both.results[0].pod.bits != 0 ? life : NULL,
                               both.results);
    }
}

void
run_apply_many(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    schedq_decision_t decisions[SIDES][TARGETS_MAX + 1];
    schedq_result_t results[SIDES][TARGETS_MAX + 1];
    both_t both = {0};
    life_t *lives[TARGETS_MAX + 1];
    size_t count = 0;

    memset(results, 0, sizeof results);
    for (size_t i = 0; i < operation->target_count; i++) {
        lives[count] = world_life(world, operation->targets[i]);
        if (lives[count] == NULL) {
            continue;
        }
        ref_t ref = some_ref(world, &chance, lives[count]);

        draw_decision(world, &chance, &decisions[0][count]);
        decisions[1][count] = decisions[0][count];
        decisions[0][count].ref = ref.bits[0];
        decisions[1][count++].ref = ref.bits[1];
    }
    BOTH(&both, .kind = OP_APPLY_MANY, .count = count, .decisions = decisions[side],
         .results = results[side]);
    if (!both_call(world, &both, " of %zu\n", count) || !compare_sums(world, both.results)) {
        return;
    }
    /*
     * Whether the words tell of an element behind the first one that was refused, the header does
     * not say.
     */
    world->worker_said = both.ops[0].status == SCHEDQ_OK || both.ops[0].status == SCHEDQ_INVALID;
    for (size_t i = 0; i < count; i++) {
        schedq_result_t results_of[SIDES] = {results[0][i], results[1][i]};

        if (!compare_referred(world, results_of[0].pod.bits != 0 ? lives[i] : NULL, results_of)) {
            return;
        }
    }
}

/* ---- candidates ------------------------------------------------------------------------------ */

#define CAPACITY_MAX 64

struct walk {
    schedq_candidate_t *found; /* each pod once */
    size_t count, calls;
    bool *given;      /* by name */
    uint8_t *applied; /* schedq_status_t of the verdict on found[i] */
    schedq_status_t last;
};

static void
draw_query(const world_t *world, chance_t *chance, schedq_query_t *query)
{
    *query = (schedq_query_t)SCHEDQ_QUERY_INIT;
    query->profile = (schedq_profile_t)(chance_one_in(chance, 32) ? UNKNOWN_PROFILE
                                                                  : chance_below(chance, PROFILES));
    query->backoff = chance_one_in(chance, 2);
    query->rejectors = chance_one_in(chance, 4)
                           ? UINT64_MAX
                           : plugins_set(world, chance, query->profile % PROFILES);
    query->gates = chance_one_in(chance, 3) ? 0 : chance_next(chance);
    if (chance_one_in(chance, 3)) {
        query->not_after_ns =
            world->now - (chance_one_in(chance, 2) ? 0 : world->settings.config.max_parked_ns + 1);
    } else if (settings_have(&world->settings, FEATURE_ENDS)) {
        query->not_after_ns = chance_one_in(chance, 4) ? INT64_MIN : spec_any_time(world, chance);
    }
}

/* Some pods are given twice: what is known is then the same. */
static bool
take_candidate(world_t *world, unsigned side, struct walk *walk,
               const schedq_candidate_t *candidate)
{
    uint32_t name = object_name(candidate->object);

    if (name >= world->settings.names) {
        return differ(world,
                      "candidate: %s gave object 0x%" PRIx64 ", which was never given to the queue",
                      world->sides[side].engine, candidate->object);
    }
    if (walk->given[name]) {
        return false;
    }
    walk->given[name] = true;
    walk->found[walk->count++] = *candidate;
    return true;
}

/*
 * What the host makes of a candidate in a walk that applies: most become active, others stay where
 * they are.
 */
static void
apply_candidate(const world_t *world, unsigned side, struct walk *walk)
{
    const schedq_candidate_t *candidate = &walk->found[walk->count - 1];
    schedq_decision_t decision = {.struct_size = sizeof(schedq_decision_t),
                                  .ref = candidate->ref,
                                  .place = SCHEDQ_ACTIVE,
                                  .event = SCHEDQ_EVENT_NODE_ADD};

    if (chance_mix(candidate->object + 3) % 4 != 0) {
        walk->applied[walk->count - 1] =
            (uint8_t)schedq_apply(world_worker(world, side), &decision, NULL);
    }
}

static void
walk_side(world_t *world, unsigned side, const schedq_query_t *from, size_t capacity, bool applies,
          struct walk *walk)
{
    schedq_query_t query = *from;
    schedq_candidate_t out[CAPACITY_MAX];
    size_t count;

    do {
        count = 0;
        walk->last = schedq_candidates(world_worker(world, side), &query, out, capacity, &count);
        for (size_t i = 0; i < count && walk->last == SCHEDQ_OK; i++) {
            if (take_candidate(world, side, walk, &out[i]) && applies) {
                apply_candidate(world, side, walk);
            }
        }
    } while (walk->last == SCHEDQ_OK && !world->different && ++walk->calls <= 4U * world->pods + 4);
    if (walk->last == SCHEDQ_OK && !world->different) {
        (void)differ(world, "schedq_candidates: %s does not come to an end",
                     world->sides[side].engine);
    }
}

static int
order_candidates(const void *left, const void *right)
{
    uint32_t a = object_name(((const schedq_candidate_t *)left)->object);
    uint32_t b = object_name(((const schedq_candidate_t *)right)->object);

    return a < b ? -1 : a > b;
}

/* The statuses of the verdicts are counted before the order of the walk is lost. */
static void
compare_walks(world_t *world, struct walk walks[SIDES])
{
    size_t counts[SIDES] = {walks[0].count, walks[1].count};
    uint64_t applied[SIDES] = {0, 0};

    if (counts[0] > 0 && plant_due(world, OTHER_CANDIDATES)) {
        counts[1]--;
    }
    if (counts[0] != counts[1]) {
        (void)differ(world, "candidates: mutex %zu, %s %zu", counts[0], world->sides[1].engine,
                     counts[1]);
        return;
    }
    for (unsigned side = 0; side < SIDES; side++) {
        for (size_t i = 0; i < counts[0]; i++) {
            applied[side] +=
                chance_mix(walks[side].found[i].object) * (walks[side].applied[i] + 1U);
        }
        qsort(walks[side].found, counts[0], sizeof *walks[side].found, order_candidates);
    }
    if (applied[0] != applied[1]) {
        (void)differ(world, "schedq_apply in a walk: %s answered other statuses than mutex",
                     world->sides[1].engine);
    }
    for (size_t i = 0; i < counts[0] && !world->different; i++) {
        schedq_candidate_t both[SIDES] = {walks[0].found[i], walks[1].found[i]};

        if (compare_candidates(world, both)) {
            world_referred(world_named(world, object_name(both[0].object)),
                           (const uint64_t[SIDES]){both[0].ref, both[1].ref});
        }
    }
}

static bool
walk_open(const world_t *world, struct walk *walk)
{
    uint32_t names = world->settings.names;

    walk->found = calloc(names, sizeof *walk->found);
    walk->applied = calloc(names, sizeof *walk->applied);
    walk->given = calloc(names, sizeof *walk->given);
    return walk->found != NULL && walk->applied != NULL && walk->given != NULL;
}

static void
walk_both(world_t *world, chance_t *chance, bool applies)
{
    static const size_t capacities[] = {0, 1, 1, 2, 7, CAPACITY_MAX, CAPACITY_MAX, CAPACITY_MAX};
    size_t capacity = CHANCE_OF(chance, capacities);
    struct walk walks[SIDES] = {0};
    schedq_query_t query;

    draw_query(world, chance, &query);
    SHOW(world,
         "schedq_candidates, %zu at a time%s: profile %u backoff %u rejectors 0x%" PRIx64
         " gates 0x%" PRIx64 " not after %" PRId64 "\n",
         capacity, applies ? ", applied" : "", query.profile, query.backoff, query.rejectors,
         query.gates, query.not_after_ns);
    for (unsigned side = 0; side < SIDES && !world->different; side++) {
        if (!walk_open(world, &walks[side])) {
            (void)differ(world, "no memory for a walk");
        } else {
            walk_side(world, side, &query, capacity, applies, &walks[side]);
        }
    }
    if (!world->different &&
        compare_status(world, (const schedq_status_t[SIDES]){walks[0].last, walks[1].last})) {
        if (walks[0].calls > 1) {
            world_mark(world, MARK_CANDIDATES_MANY_CALLS);
        }
        compare_walks(world, walks);
    }
    for (unsigned side = 0; side < SIDES; side++) {
        free(walks[side].found);
        free(walks[side].applied);
        free(walks[side].given);
    }
    world->worker_said = walks[0].last == SCHEDQ_INVALID;
}

void
run_candidates(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);

    walk_both(world, &chance, false);
}

void
run_apply_walk(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);

    walk_both(world, &chance, true);
}
