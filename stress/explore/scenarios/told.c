/*
 * What a caller is told of is what pops go by: whoever heard that a pod is there, or how it is
 * described, pops accordingly, though the call that made it so has not returned, and may never
 * return.
 *
 * Only thread 1 pops, so it knows what is there. The ledger cannot say this: it leaves out updates
 * that overlap a pop.
 */
#include "scenarios.h"
#include "world.h"

#define MOVED 0    /* the pod that is moved past the other */
#define STANDING 1 /* stays at MID */

enum { LOW = 1, MID = 3, HIGH = 5 };

static schedq_pod_t moved;
static int32_t moved_from;

/* ---- how a pod is described ------------------------------------------------------------------ */

static void
prepare_moved(struct actor *actor, int32_t priority)
{
    schedq_result_t result;
    size_t length;
    const char *name = world_name(MOVED, &length);

    (void)actor_add(actor, MOVED, priority);
    (void)actor_add(actor, STANDING, MID);
    (void)schedq_find(actor->worker, name, length, &result);
    moved = result.pod;
    moved_from = priority;
}

static void
prepare_high(struct actor *actor)
{
    prepare_moved(actor, HIGH);
}

static void
prepare_low(struct actor *actor)
{
    prepare_moved(actor, LOW);
}

static void
lower_moved(struct actor *actor)
{
    (void)actor_update(actor, MOVED, LOW);
}

static void
raise_moved(struct actor *actor)
{
    (void)actor_update(actor, MOVED, HIGH);
}

static int
read_priority(void *priority, const schedq_pod_info_t *info)
{
    *(int32_t *)priority = info->priority;
    return 0;
}

/* By its handle and without the ledger: a find would tell of the pod before. */
static int32_t
look_at_moved(struct actor *actor)
{
    int32_t priority = moved_from;

    sim_point();
    (void)schedq_get(actor->worker, moved, read_priority, &priority);
    sim_call_ends();
    return priority;
}

static void
pop_as_told(struct actor *actor, int32_t told)
{
    if (!actor_pop(actor)) {
        return;
    }
    int32_t got = actor->held[0].priority;
    uint32_t key = world_key(actor->held[0].name, actor->held[0].name_length);
    SIM_CHECK(got >= MID, "pod %u was popped with priority %d, and pod %u waits with priority %d",
              key, got, STANDING, MID);
    SIM_CHECK(told == moved_from || (key == MOVED) == (told > MID),
              "get said that pod %u has priority %d, and the next pop gave pod %u with priority %d",
              MOVED, told, key, got);
    (void)actor_done_all(actor);
}

static void
get_and_pop(struct actor *actor)
{
    pop_as_told(actor, look_at_moved(actor));
}

static void
pop_only(struct actor *actor)
{
    pop_as_told(actor, moved_from);
}

static void
find_and_pop(struct actor *actor)
{
    (void)actor_find(actor, MOVED);
    get_and_pop(actor);
}

/* ---- that a pod is there --------------------------------------------------------------------- */

static void
add_0_high(struct actor *actor)
{
    (void)actor_add(actor, 0, HIGH);
}

static void
add_0_1_high(struct actor *actor)
{
    (void)actor_add_many(actor, 0, 2, HIGH);
}

static void
expect_pop(struct actor *actor, const char *teller)
{
    SIM_CHECK(actor_pop(actor), "%s said that a pod is there, and the next pop found nothing",
              teller);
    SIM_CHECK(actor->held[0].priority == HIGH,
              "%s said that a pod of priority %d is there, and the next pop gave %d", teller, HIGH,
              actor->held[0].priority);
    (void)actor_done_all(actor);
}

static void
find_0_or_1(struct actor *actor)
{
    if (actor_find(actor, 1) || actor_find(actor, 0)) {
        expect_pop(actor, "find");
    }
}

static void
add_again(struct actor *actor)
{
    if (!actor_add(actor, 0, LOW)) {
        expect_pop(actor, "add");
    }
    actor_consume(actor, 1);
}

static void
add_pair_again(struct actor *actor)
{
    if (actor_add_many(actor, 0, 2, LOW) > 0) {
        expect_pop(actor, "add_many");
    }
    actor_consume(actor, 2);
}

static void
update_0_high(struct actor *actor)
{
    if (actor_update(actor, 0, HIGH)) {
        expect_pop(actor, "update");
    }
}

static void
prepare_two(struct actor *actor)
{
    (void)actor_add(actor, 0, HIGH);
    (void)actor_add(actor, 1, HIGH);
}

static void
lower_0(struct actor *actor)
{
    (void)actor_update(actor, 0, LOW);
}

/* Thread 0 holds pod 1, so that one of the batch exists in any case. */
static void
prepare_held(struct actor *actor)
{
    (void)actor_add(actor, 1, LOW);
    (void)actor_pop(actor);
}

static void
add_0_and_end_1(struct actor *actor)
{
    (void)actor_add(actor, 0, HIGH);
    (void)actor_done_all(actor);
}

static void
add_existing(struct actor *actor)
{
    if (actor_add_many(actor, 0, 2, LOW) == 2) {
        expect_pop(actor, "add_many");
    }
    actor_consume(actor, 1);
}

#define TOLD(title, text, ...) SCENARIO(title, text, NULL, __VA_ARGS__)

const struct scenario told_scenarios[] = {
    TOLD("told_lower_pop", "a pop of a pod that is just being lowered", prepare_high, lower_moved,
         pop_only),
    TOLD("told_lower_get", "get says that a pod went down: it is popped behind others",
         prepare_high, lower_moved, get_and_pop),
    TOLD("told_raise_get", "get says that a pod went up: it is popped before others", prepare_low,
         raise_moved, get_and_pop),
    TOLD("told_raise_find", "the same after a find by name", prepare_low, raise_moved,
         find_and_pop),
    TOLD("told_find", "a pod that find told of is popped next", NULL, add_0_1_high, find_0_or_1),
    TOLD("told_add", "a pod because of which add said EXISTS is popped next", NULL, add_0_high,
         add_again),
    TOLD("told_snapshot", "a snapshot visits a pod that is updated meanwhile", prepare_two, lower_0,
         actor_snapshot),
    TOLD("told_update", "a pod that update described is popped next", NULL, add_0_high,
         update_0_high),
    TOLD("told_batch",
         "a pod because of which add_many said EXISTS is popped before the rest of the batch", NULL,
         add_0_high, add_pair_again),
    TOLD("told_batch_existing", "add_many adds nothing, and tells of a pod: it is popped next",
         prepare_held, add_0_and_end_1, add_existing),
    {.name = NULL},
};
