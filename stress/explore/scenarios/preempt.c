/*
 * Preemptors whose victims are evicted later, by the engine's evictor: none may be left waiting
 * once its victims are gone.
 *
 * A scheduler holds each preemptor in flight, hands the eviction over and parks it. An executor
 * runs what was handed over, and an informer tells the queue of victims that are gone; whatever
 * these two did not come to in the episode, the drain does: late tasks, late events. Afterwards
 * every preemptor that was not deleted must be ready to be popped, or to be when its backoff ends:
 * the last victim's event, or `activate`, brought it.
 *
 * A victim's deletion is sent once or more often, becomes an event once, and then the victim is not
 * there any more.
 */
#include "arena.h"
#include "scenarios.h"
#include "scheduler.h"

#include <schedq/eviction.h>

#include <stdio.h>
#include <string.h>

#define PREEMPTORS 2
#define VICTIMS 3 /* objects 1.. */
#define CLEARED 90
#define TRIES 4
#define LATE_NS INT64_C(1000000000000)
#define HEALTHY SIM_THREADS_MAX

enum variant {
    EVENT_FIRST = 1,  /* the queue hears of a deletion before the call that sends it returns */
    INLINE = 2,       /* spawn runs the task */
    LAST_FAILS = 4,   /* deletions of the last victim fail */
    FIRST_FAILS = 8,  /* of the first */
    CLEAR_FAILS = 16, /* ending a nomination fails */
    SHARED = 32,      /* two preemptors; the second one has the last victims of the first */
    SHARED_ONE = 64,  /* the last one only */
    CLOSES = 128,     /* somebody closes the queue: nobody is brought back for sure then */
    KUBE = 256        /* with kube 1.34's settings */
};

enum fate { RUNS, SENT, GONE };

struct task {
    void (*run)(void *argument); /* NULL: nothing, or somebody took it */
    void *argument;
};

static struct {
    unsigned variant;
    schedq_t *queue;
    schedq_evictor_t *evictor;
    schedq_worker_t *workers[SIM_THREADS_MAX + 1];
    int64_t now;
    uint64_t fit; /* the bit of the plugin that rejects */
    schedq_popped_t held[PREEMPTORS];
    unsigned preemptors;
    bool is_deleted; /* the first one */
    struct task tasks[PREEMPTORS];
    unsigned task_count;
    unsigned begun, ended; /* tasks, events, parkings: what a stopped thread never ends */
    enum fate victims[VICTIMS + 1];
} play;

static bool
plays(enum variant variant)
{
    return (play.variant & variant) != 0;
}

static schedq_worker_t *
worker(void)
{
    return play.workers[sim_thread()];
}

static void
require(schedq_status_t status, const char *call)
{
    sim_call_ends();
    SIM_CHECK(status == SCHEDQ_OK, "%s returns %s", call, schedq_status_name(status));
}

/* ---- victims --------------------------------------------------------------------------------- */

static void
tell(uint64_t victim)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;

    play.victims[victim] = GONE;
    play.begun++;
    change.event = SCHEDQ_EVENT_ASSIGNED_POD_DELETE;
    change.old_object = victim;
    require(schedq_notify(worker(), &change, NULL), "notify");
    play.ended++;
}

static bool
tell_one(void)
{
    for (unsigned victim = 1; victim <= VICTIMS; victim++) {
        if (play.victims[victim] == SENT) {
            tell(victim);
            return true;
        }
    }
    return false;
}

static int
evict(void *ctx, uint64_t victim, uint64_t preemptor)
{
    (void)ctx;
    (void)preemptor;
    sim_point();
    if ((plays(LAST_FAILS) && victim == VICTIMS) || (plays(FIRST_FAILS) && victim == 1)) {
        return SCHEDQ_DELETE_FAILED;
    }
    if (play.victims[victim] == GONE) {
        return SCHEDQ_DELETE_GONE;
    }
    play.victims[victim] = SENT;
    if (plays(EVENT_FIRST)) {
        tell(victim);
    }
    sim_point();
    return SCHEDQ_DELETE_SENT;
}

static int
clear(void *ctx, uint64_t nominated, uint64_t preemptor)
{
    (void)ctx;
    SIM_CHECK(nominated == CLEARED, "clear gets object %llu", (unsigned long long)nominated);
    SIM_CHECK(schedq_evictor_holds(play.evictor, preemptor) != 0,
              "preemptor %llu is not held while nominations end", (unsigned long long)preemptor);
    return plays(CLEAR_FAILS) ? 1 : 0;
}

static void
activate(void *ctx, uint64_t preemptor)
{
    (void)ctx;
    sim_point();
    require(schedq_activate(worker(), &play.held[preemptor - 1].pod, 1, NULL), "activate");
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static int
spawn(void *ctx, void (*run)(void *argument), void *argument)
{
    (void)ctx;
    if (plays(INLINE)) {
        run(argument);
    } else {
        play.tasks[play.task_count++] = (struct task){run, argument};
    }
    return 0;
}

static bool
run_one(void)
{
    for (unsigned i = 0; i < play.task_count; i++) {
        struct task task = play.tasks[i];

        if (task.run != NULL) {
            play.tasks[i].run = NULL;
            play.begun++;
            task.run(task.argument);
            sim_call_ends();
            play.ended++;
            return true;
        }
    }
    return false;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void
schedule(unsigned preemptor)
{
    static const uint64_t all[VICTIMS] = {1, 2, 3};
    static const uint64_t clears[] = {CLEARED};
    schedq_popped_t *held = &play.held[preemptor];
    unsigned spared = preemptor == 0 ? 0 : plays(SHARED_ONE) ? 2 : 1;
    const schedq_eviction_t eviction = {.struct_size = sizeof(schedq_eviction_t),
                                        .preemptor = held->object,
                                        .victims = all + spared,
                                        .victim_count = VICTIMS - spared,
                                        .clears = clears,
                                        .clear_count = 1,
                                        .later = 1};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    play.begun++;
    sim_point();
    require(schedq_evictor_evict(play.evictor, &eviction, NULL), "evict");
    sim_point();
    failure.unschedulable = play.fit;
    schedq_status_t status = schedq_fail(worker(), &held->token, &failure, NULL);
    sim_call_ends();
    SIM_CHECK(status == SCHEDQ_OK || (status == SCHEDQ_GONE && play.is_deleted), "fail returns %s",
              schedq_status_name(status));
    play.ended++;
}

static void
execute(void)
{
    for (unsigned i = 0; i < TRIES; i++) {
        sim_point();
        (void)run_one();
    }
}

static void
inform(void)
{
    for (unsigned i = 0; i < 2 * TRIES; i++) {
        sim_point();
        (void)tell_one();
    }
}

static const char *
name_of(unsigned preemptor)
{
    return preemptor == 0 ? "ns/first" : "ns/second";
}

static schedq_pod_spec_t
spec_of(unsigned preemptor)
{
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;

    spec.object = preemptor + 1;
    spec.priority = 10;
    return spec;
}

/* Whatever else may happen to the first one meanwhile. */
static void
disturb(void)
{
    schedq_pod_spec_t spec = spec_of(0);
    const schedq_event_t event = SCHEDQ_EVENT_ASSIGNED_POD_DELETE;
    schedq_change_t change;

    spec.flags = SCHEDQ_POD_ADD;
    for (unsigned i = 0; i < TRIES; i++) {
        sim_point();
        switch (random_below(sim_random(), 5)) {
        case 0:
            if (!play.is_deleted && !plays(CLOSES)) {
                require(schedq_update(worker(), name_of(0), strlen(name_of(0)), &spec, spec.object,
                                      &event, random_below(sim_random(), 2), NULL),
                        "update");
            }
            break;
        case 1:
            require(schedq_activate(worker(), &play.held[0].pod, 1, NULL), "activate");
            break;
        case 2:
            change = (schedq_change_t)SCHEDQ_CHANGE_INIT;
            change.event = SCHEDQ_EVENT_WILDCARD;
            require(schedq_notify(worker(), &change, NULL), "notify");
            break;
        case 3:
            require(schedq_tick(worker(), NULL, NULL), "tick");
            break;
        default:
            if (!play.is_deleted && random_below(sim_random(), 4) == 0) {
                play.is_deleted = true;
                require(schedq_delete(worker(), play.held[0].pod, NULL), "delete");
            }
            break;
        }
    }
}

static void
play_thread(const struct scenario *scenario, unsigned thread)
{
    (void)scenario;
    switch (thread) {
    case 0:
        schedule(0);
        break;
    case 1:
        execute();
        break;
    case 2:
        inform();
        break;
    case 3:
        if (plays(SHARED)) {
            schedule(1);
        } else {
            disturb();
        }
        break;
    default:
        if (plays(CLOSES)) {
            require(schedq_close(play.queue), "close");
        } else {
            execute();
        }
        break;
    }
}

/* ---- the queue ------------------------------------------------------------------------------- */

static int64_t
read_clock(void *ctx)
{
    (void)ctx;
    return play.now;
}

static int
may_enter(void *ctx, uint64_t pod)
{
    (void)ctx;
    sim_point();
    int held = schedq_evictor_holds(play.evictor, pod);
    sim_point();
    return held == 0;
}

static void
add_plugin(const char *name, schedq_pre_enqueue_fn pre_enqueue, uint64_t *bit)
{
    const schedq_interest_t interest = {.resource = "AssignedPod", .actions = SCHEDQ_ACTION_DELETE};
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;

    plugin.name = name;
    plugin.interests = &interest;
    plugin.interest_count = 1;
    plugin.pre_enqueue = pre_enqueue;
    require(schedq_plugin_register(play.queue, &plugin, bit, NULL, 0), "plugin_register");
}

static void
make_queue(const struct scenario *scenario)
{
    uint64_t bit;
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    char why[200] = "";

    if (plays(KUBE)) {
        schedq_config_kube_1_34(&config);
    }
    config.max_workers = 8;
    config.max_bands = 16;
    config.max_pods = 64;
    config.event_log = 4;
    config.max_lots = 2;
    config.clock = (schedq_clock_t){.now_ns = read_clock, .is_virtual = 1};
    config.allocator = arena_allocator();
    schedq_status_t status = schedq_create(&config, &play.queue, why, sizeof why);
    SIM_CHECK(status == SCHEDQ_OK, "create returns %s: %s", schedq_status_name(status), why);
    add_plugin("Fit", NULL, &play.fit);
    add_plugin("Preemption", may_enter, &bit);
    for (unsigned i = 0; i < scenario->threads; i++) {
        require(schedq_worker_register(play.queue, &play.workers[i], NULL, 0), "worker_register");
    }
    require(schedq_worker_register(play.queue, &play.workers[HEALTHY], NULL, 0), "worker_register");
}

static void
make_evictor(void)
{
    schedq_evictor_config_t config = SCHEDQ_EVICTOR_CONFIG_INIT;

    config.max_held = PREEMPTORS;
    config.allocator = arena_allocator();
    config.evict = evict;
    config.clear = clear;
    config.activate = activate;
    config.spawn = spawn;
    require(schedq_evictor_create(&config, &play.evictor, NULL, 0), "evictor_create");
}

static void
play_begin(const struct scenario *scenario)
{
    memset(&play, 0, sizeof play);
    play.variant = scenario->variant;
    play.now = 1;
    play.preemptors = plays(SHARED) ? 2 : 1;
    make_evictor();
    make_queue(scenario);
    for (unsigned i = 0; i < play.preemptors; i++) {
        const schedq_pod_spec_t spec = spec_of(i);

        require(schedq_add(worker(), name_of(i), strlen(name_of(i)), &spec, NULL), "add");
        require(schedq_try_pop(play.workers[i == 0 ? 0 : 3], &play.held[i]), "try_pop");
        SIM_CHECK(play.held[i].object == i + 1, "the wrong pod is popped");
    }
}

static int
note_place(void *place, const schedq_pod_info_t *info)
{
    *(schedq_place_t *)place = (schedq_place_t)info->place;
    return 0;
}

static void
check_ready(unsigned preemptor)
{
    schedq_place_t place = SCHEDQ_NOWHERE;
    schedq_status_t status = schedq_get(worker(), play.held[preemptor].pod, note_place, &place);

    if (preemptor == 0 && play.is_deleted) {
        SIM_CHECK(status == SCHEDQ_NOT_FOUND || sim_frozen() > 0,
                  "a preemptor that was deleted is %s", schedq_place_name(place));
        return;
    }
    SIM_CHECK(plays(CLOSES) ||
                  (place != SCHEDQ_PARKED && place != SCHEDQ_GATED && place != SCHEDQ_NOWHERE),
              "lost: preemptor %u is %s, and its victims are gone", preemptor,
              schedq_place_name(place));
}

/*
 * What is late happens now. Where a thread stopped in something that brings preemptors back,
 * nothing is promised.
 */
static void
play_drain(const struct scenario *scenario)
{
    schedq_popped_t popped;

    (void)scenario;
    while (run_one() || tell_one()) {
    }
    require(schedq_tick(worker(), NULL, NULL), "tick"); /* finds what a stopped thread left */
    for (unsigned i = 0; i < play.preemptors && play.begun == play.ended; i++) {
        SIM_CHECK(schedq_evictor_holds(play.evictor, i + 1) == 0,
                  "preemptor %u is held, and nobody evicts for it", i);
        check_ready(i);
    }
    play.now += LATE_NS;
    require(schedq_tick(worker(), NULL, NULL), "tick");
    while (schedq_try_pop(worker(), &popped) == SCHEDQ_OK) {
        require(schedq_done(worker(), popped.token), "done");
    }
}

static void
play_end(const struct scenario *scenario)
{
    require(schedq_close(play.queue), "close");
    for (unsigned i = 0; i < scenario->threads; i++) {
        require(schedq_worker_unregister(play.workers[i]), "worker_unregister");
    }
    require(schedq_worker_unregister(play.workers[HEALTHY]), "worker_unregister");
    require(schedq_destroy_with_pods(play.queue, NULL, 0), "destroy");
    require(schedq_evictor_destroy(play.evictor), "evictor_destroy");
}

static const struct harness play_harness = {play_begin, play_thread, play_drain, play_end};

#define PREEMPT(title, text, bits)                                                                \
    {                                                                                             \
        .name = (title), .about = (text), .harness = &play_harness, .threads = 5, .sleeps = true, \
        .variant = (bits)                                                                         \
    }

const struct scenario preempt_scenarios[] = {
    PREEMPT("preempt", "a preemptor is parked while its victims are evicted", 0),
    PREEMPT("preempt_event_first",
            "events of victims come before the calls that delete them return", EVENT_FIRST),
    PREEMPT("preempt_inline", "the eviction runs on the scheduler's thread", INLINE),
    PREEMPT("preempt_inline_event_first", "the same, events come before the calls return",
            INLINE | EVENT_FIRST),
    PREEMPT("preempt_last_fails", "the last victim cannot be deleted", LAST_FAILS | EVENT_FIRST),
    PREEMPT("preempt_first_fails", "the first victim cannot be deleted", FIRST_FAILS),
    PREEMPT("preempt_clear_fails", "a nomination cannot be ended", CLEAR_FAILS | EVENT_FIRST),
    PREEMPT("preempt_shared", "two preemptors evict the same victims", SHARED),
    PREEMPT("preempt_shared_one", "the only victim of one preemptor is the last of another",
            SHARED | SHARED_ONE),
    PREEMPT("preempt_shared_fails", "the same, and it cannot be deleted",
            SHARED | SHARED_ONE | LAST_FAILS | EVENT_FIRST),
    PREEMPT("preempt_closed", "the queue is closed while victims are evicted", CLOSES),
    PREEMPT("preempt_kube_1_34", "victims are evicted with kube 1.34's settings", KUBE),
    PREEMPT("preempt_kube_1_34_shared", "the same, two preemptors", KUBE | SHARED | SHARED_ONE),
    {.name = NULL},
};
