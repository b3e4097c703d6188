/* Calls of callbacks: see nest.h. */
#include "nest.h"

#include <string.h>

#include "compare.h"
#include "ops/op.h"
#include "run.h"

/* Callbacks that run before it. */
#define WAITS_MAX 4

/* ---- the guest ------------------------------------------------------------------------------- */

/* A pod that a callback ends counts for the mutex engine until the call is over. */
static bool
tells_cap(const world_t *world, const operation_kind_t *kind)
{
    bool adds = kind->run == run_add || kind->run == run_update || kind->run == run_readd ||
                kind->run == run_group;

    return adds && world->settings.config.max_pods <= NAMES_MAX;
}

/* Names or labels of pods are drawn while it runs, or it tells of all that is counted. */
static bool
has_no_guest(const world_t *world, const operation_kind_t *kind)
{
    return kind->run == run_add_many || kind->run == run_bad_spec || kind->run == run_label ||
           kind->run == run_metrics || kind->run == run_watch || tells_cap(world, kind);
}

static bool
is_about(const world_t *world, const operation_t *operation, const cycle_t *guest)
{
    enum targets targets = operation_kinds[operation->kind].targets;
    bool cycles = targets == TARGETS_CYCLE || targets == TARGETS_CYCLES;
    const life_t *life = &world->lives[guest->life];

    for (unsigned i = 0; i < operation->target_count; i++) {
        if (cycles ? world_cycle(world, operation->targets[i]) == guest
                   : world_life(world, operation->targets[i]) == life) {
            return true;
        }
    }
    return operation->name == life->name;
}

void
nest_begin(world_t *world, const operation_t *operation)
{
    const operation_kind_t *kind = &operation_kinds[operation->kind];
    nest_t *nest = &world->nest;
    chance_t chance = {chance_mix(operation->random)};

    *nest = (nest_t){.random = chance_next(&chance),
                     .guest = world_cycle(world, operation->guest),
                     .calls = settings_have(&world->settings, FEATURE_NESTED)};
    nest->waits[0] = nest->waits[1] =
        chance_one_in(&chance, 2) ? chance_below(&chance, WAITS_MAX) : 0;
    bool has_class = nest->guest != NULL && world->settings.config.class_patience_ns != 0 &&
                     world->lives[nest->guest->life].classed;

    if (nest->guest == NULL || has_no_guest(world, kind) || has_class) {
        nest->guest = NULL;
        return;
    }
    if (is_about(world, operation, nest->guest)) {
        /* a failure has taken its token before it calls back; a visitor gets a copy */
        bool knows_order = kind->run == run_fail || kind->run == run_get;

        nest->guest = knows_order ? nest->guest : NULL;
        nest->only_alike = true;
    }
    if (nest->guest != NULL && !compare_kept_names(world, nest->guest)) {
        nest->guest = NULL;
    }
}

bool
nest_has_guest(const side_t *side, schedq_pod_t pod)
{
    const world_t *world = side->world;
    const cycle_t *guest = world->nest.guest;

    return guest != NULL && world->lives[guest->life].handles[side - world->sides].bits == pod.bits;
}

/* ---- in a callback --------------------------------------------------------------------------- */

static void
be_refused(side_t *side, schedq_worker_t *worker, chance_t *chance)
{
    static const op_kind_t kinds[] = {OP_ADD,  OP_UPDATE,   OP_TRY_POP,  OP_TOKEN_ALIVE,
                                      OP_FAIL, OP_DELETE,   OP_ACTIVATE, OP_NOTIFY,
                                      OP_TICK, OP_SNAPSHOT, OP_CLOSE,    OP_WAIT_CANCEL};
    static const schedq_result_t zero;
    const schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    const schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    const schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_popped_t popped;
    schedq_token_t token = {0};
    schedq_pod_t pod = {0};
    op_t op = {.kind = CHANCE_OF(chance, kinds),
               .name = "a/b",
               .name_length = 3,
               .spec = &spec,
               .failure = &failure,
               .change = &change,
               .popped = &popped,
               .tokens = &token,
               .pods = &pod,
               .queue = side->queue,
               .waits = worker};

    bool has_words = op.kind != OP_CLOSE && op.kind != OP_WAIT_CANCEL;

    if (op_run(worker, &op) != SCHEDQ_BUSY || memcmp(&op.result, &zero, sizeof zero) != 0 ||
        (has_words && schedq_worker_error(worker)[0] == '\0')) {
        (void)differ(side->world, "schedq_%s in a callback: %s answered %s, \"%s\"",
                     op_name(op.kind), side->engine, schedq_status_name(op.status),
                     schedq_worker_error(worker));
    }
}

/* {0}: there is no guest. */
static schedq_status_t
end_guest(side_t *side, schedq_worker_t *worker, schedq_token_t token, bool many)
{
    const schedq_token_t tokens[] = {token, token, {0}};
    uint8_t statuses[] = {UNTOUCHED, UNTOUCHED, UNTOUCHED};

    if (!many) {
        return schedq_done(worker, token);
    }
    (void)schedq_done_many(worker, tokens, sizeof statuses, statuses);
    if (statuses[1] != SCHEDQ_STALE || statuses[2] != SCHEDQ_STALE) {
        (void)differ(side->world, "schedq_done_many in a callback: %s ended a cycle twice",
                     side->engine);
    }
    return (schedq_status_t)statuses[0];
}

void
nest_call(side_t *side, bool alike)
{
    world_t *world = side->world;
    unsigned number = (unsigned)(side - world->sides);
    nest_t *nest = &world->nest;
    chance_t chance = {nest->random};

    if (!nest->calls || nest->called[number] || (nest->only_alike && !alike) ||
        nest->waits[number]-- > 0) {
        return;
    }
    nest->called[number] = true;
    /* the one whose call this is, or one that is in no call */
    uint32_t mate = (world->worker + chance_below(&chance, 2)) % world->settings.workers;
    schedq_worker_t *worker = side->workers[mate];
    schedq_token_t token = nest->guest != NULL ? nest->guest->tokens[number] : (schedq_token_t){0};

    if (worker == NULL) {
        nest->called[number] = false; /* it was unregistered */
        return;
    }
    be_refused(side, worker, &chance);
    nest->statuses[number] = end_guest(side, worker, token, chance_one_in(&chance, 3));
    if (schedq_now(side->queue) != world->now) {
        (void)differ(world, "schedq_now in a callback: %s says %lld", side->engine,
                     (long long)schedq_now(side->queue));
    }
}

/* ---- behind the calls ------------------------------------------------------------------------ */

static void
mark_guest(const world_t *world)
{
    const nest_t *nest = &world->nest;

    if (nest->called[0] && nest->statuses[0] == SCHEDQ_OK) {
        world_mark(world, MARK_NESTED_DONE);
    } else if (nest->called[0] && nest->statuses[0] == SCHEDQ_GONE) {
        world_mark(world, MARK_NESTED_GONE);
    }
}

void
nest_end(world_t *world)
{
    nest_t *nest = &world->nest;

    nest->calls = false;
    if (nest->guest == NULL || world->different) {
        return;
    }
    for (unsigned side = 0; side < SIDES; side++) {
        if (!nest->called[side]) {
            nest->statuses[side] =
                schedq_done(world->sides[side].workers[0], nest->guest->tokens[side]);
            world->worker_said = false;
        }
    }
    SHOW(world, "    guest: pod %u, %s and %s a callback -> %s, %s\n",
         world->lives[nest->guest->life].name, nest->called[0] ? "in" : "behind",
         nest->called[1] ? "in" : "behind", schedq_status_name(nest->statuses[0]),
         schedq_status_name(nest->statuses[1]));
    mark_guest(world);
    if (plant_due(world, OTHER_NESTED)) {
        nest->statuses[1] ^= 1;
    }
    if (nest->statuses[0] != nest->statuses[1]) {
        (void)differ(world, "done in a callback: mutex %s, %s %s",
                     schedq_status_name(nest->statuses[0]), world->sides[1].engine,
                     schedq_status_name(nest->statuses[1]));
        return;
    }
    take_done(world, nest->guest, nest->statuses[0]);
    nest->guest = NULL;
    bool few = world->settings.length < ROUND_OPERATIONS_MAX; /* a count looks at all groups */

    if (!world->different && few && (nest->called[0] || nest->called[1])) {
        (void)compare_counters(world);
    }
}
