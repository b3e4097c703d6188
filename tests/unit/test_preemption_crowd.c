/*
 * A scheduler of several threads that preempt at once: in the end every pod that was not deleted
 * has its place.
 *
 * Nodes are full of unimportant pods; there are two for each preemptor. Schedulers pop, bind what
 * fits, else decide, nominate and mark under one lock, hand the eviction over and park the
 * preemptor. Executors run what was handed over, at once, on the scheduler's own thread, or late;
 * deletions fail now and then; an informer tells of victims that are gone, before or after the call
 * that deleted them returned. Somebody updates preemptors, and deletes a few. When nothing runs,
 * nothing is handed over and no event is pending, a preemptor that waits was lost.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "expect.h"
#include "mailbox.h"
#include "rounds.h"
#include "schedq/eviction.h"
#include "schedq/preemption.h"
#include "seed.h"

enum {
    PREEMPTORS = 12,
    NODES = 2 * PREEMPTORS,
    VICTIMS = 3, /* on each node */
    SCHEDULERS = 3,
    EXECUTORS = 2,
    THREADS = SCHEDULERS + EXECUTORS + 2,
    ROUNDS = 100,
    NODE_CPU = 300
};

/* Objects: preemptors from 1, victims from VICTIM. */
#define VICTIM 1000

enum fate { RUNS, SENT, TOLD };

struct preemptor {
    schedq_pod_t pod;
    int32_t priority;
    uint32_t node; /* nominated, or bound */
    bool is_bound, is_deleted;
};

struct task {
    void (*run)(void *argument);
    void *argument;
};

struct crowd {
    mailbox_t mailbox;
    pthread_mutex_t lock; /* of all that follows, the snapshot and the lists */
    schedq_cluster_t *cluster;
    struct preemptor preemptors[PREEMPTORS + 1];
    schedq_running_t victims[NODES * VICTIMS];
    enum fate fates[NODES * VICTIMS];
    int64_t room[NODES];
    struct task tasks[PREEMPTORS * 4];
    unsigned task_count;
    unsigned pending; /* events that will be told, tasks that have not ended */
    unsigned open;    /* preemptors that have neither a place nor an end */

    schedq_t *queue;
    schedq_evictor_t *evictor;
    uint64_t fit;
    atomic_uint steps;
    atomic_bool over;
};

struct member {
    struct crowd *crowd;
    pthread_t thread;
    schedq_worker_t *worker;
    schedq_preemption_t *preemption;
    uint64_t chance;
    unsigned number;
};

static _Thread_local struct member *self;

static uint32_t
below(uint32_t bound)
{
    self->chance = self->chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(self->chance >> 33) % bound;
}

static void
check(schedq_status_t status, const char *call)
{
    if (status != SCHEDQ_OK) {
        mailbox_complain(&self->crowd->mailbox, "%s returns %s", call, schedq_status_name(status));
    }
}

static const char *
name_of(char *name, size_t size, const char *kind, unsigned number)
{
    (void)snprintf(name, size, "ns/%s%u", kind, number);
    return name;
}

/* ---- victims --------------------------------------------------------------------------------- */

static schedq_running_spec_t
victim_spec(unsigned victim)
{
    return (schedq_running_spec_t){.struct_size = sizeof(schedq_running_spec_t),
                                   .object = VICTIM + victim,
                                   .node = victim / VICTIMS,
                                   .priority = (int32_t)(victim % 5),
                                   .requests.cpu_milli = NODE_CPU / VICTIMS};
}

/* Under the lock. */
static void
mark(struct crowd *crowd, unsigned victim, bool terminating)
{
    schedq_running_spec_t spec = victim_spec(victim);

    spec.terminating = terminating;
    spec.disruption_status = terminating;
    spec.disruption_reason = terminating ? "PreemptionByScheduler" : NULL;
    check(schedq_cluster_update_pod(crowd->cluster, crowd->victims[victim], &spec), "update_pod");
}

static void
tell(uint64_t object)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;

    change.event = SCHEDQ_EVENT_ASSIGNED_POD_DELETE;
    change.old_object = object;
    check(schedq_notify(self->worker, &change, NULL), "move_all");
}

/* What was pending is over. */
static void
settle(struct crowd *crowd)
{
    pthread_mutex_lock(&crowd->lock);
    crowd->pending--;
    pthread_mutex_unlock(&crowd->lock);
}

/* A victim is gone: the snapshot first, then the queue. */
static bool
inform(struct crowd *crowd)
{
    unsigned victim = 0;

    pthread_mutex_lock(&crowd->lock);
    while (victim < NODES * VICTIMS && crowd->fates[victim] != SENT) {
        victim++;
    }
    if (victim < NODES * VICTIMS) {
        crowd->fates[victim] = TOLD;
        crowd->room[victim / VICTIMS] += NODE_CPU / VICTIMS;
        check(schedq_cluster_remove_pod(crowd->cluster, crowd->victims[victim]), "remove_pod");
    }
    pthread_mutex_unlock(&crowd->lock);
    if (victim == NODES * VICTIMS) {
        return false;
    }
    tell(VICTIM + victim);
    settle(crowd);
    return true;
}

static int
evict(void *ctx, uint64_t object, uint64_t preemptor)
{
    struct crowd *crowd = ctx;
    unsigned victim = (unsigned)(object - VICTIM);
    int answer = SCHEDQ_DELETE_SENT;

    (void)preemptor;
    pthread_mutex_lock(&crowd->lock);
    if (crowd->fates[victim] == TOLD) {
        answer = SCHEDQ_DELETE_GONE;
    } else if (crowd->fates[victim] == RUNS && below(6) == 0) {
        mark(crowd, victim, false);
        answer = SCHEDQ_DELETE_FAILED;
    } else if (crowd->fates[victim] == RUNS) {
        crowd->fates[victim] = SENT;
        crowd->pending++;
    }
    pthread_mutex_unlock(&crowd->lock);
    if (answer == SCHEDQ_DELETE_SENT && below(2) == 0) {
        (void)inform(crowd);
    }
    return answer;
}

static int
clear(void *ctx, uint64_t nominated, uint64_t preemptor)
{
    struct crowd *crowd = ctx;
    struct preemptor *of = &crowd->preemptors[nominated];
    char name[40];

    (void)preemptor;
    pthread_mutex_lock(&crowd->lock);
    if (!of->is_bound && !of->is_deleted && of->node != SCHEDQ_NO_NODE) {
        of->node = SCHEDQ_NO_NODE;
        (void)schedq_cluster_unnominate(crowd->cluster,
                                        name_of(name, sizeof name, "p", (unsigned)nominated), 0);
        (void)schedq_nominate(self->worker, of->pod, 0);
    }
    pthread_mutex_unlock(&crowd->lock);
    return below(8) == 0 ? -1 : 0;
}

static void
activate(void *ctx, uint64_t preemptor)
{
    struct crowd *crowd = ctx;

    check(schedq_activate(self->worker, &crowd->preemptors[preemptor].pod, 1, NULL), "activate");
}

/* ---- evictions ------------------------------------------------------------------------------- */

static int
spawn(void *ctx, void (*run)(void *argument), void *argument)
{
    struct crowd *crowd = ctx;

    switch (below(6)) {
    case 0:
        return -1;
    case 1:
        run(argument);
        return 0;
    default:
        pthread_mutex_lock(&crowd->lock);
        crowd->tasks[crowd->task_count++] = (struct task){run, argument};
        crowd->pending++;
        pthread_mutex_unlock(&crowd->lock);
        return 0;
    }
}

static bool
execute(struct crowd *crowd)
{
    struct task task = {0};

    pthread_mutex_lock(&crowd->lock);
    if (crowd->task_count > 0) {
        unsigned at = below(crowd->task_count);

        task = crowd->tasks[at];
        crowd->tasks[at] = crowd->tasks[--crowd->task_count];
    }
    pthread_mutex_unlock(&crowd->lock);
    if (task.run != NULL) {
        task.run(task.argument);
        settle(crowd);
    }
    return task.run != NULL;
}

static int
may_enter(void *ctx, uint64_t pod)
{
    struct crowd *crowd = ctx;

    return schedq_evictor_holds(crowd->evictor, pod) == 0;
}

/* ---- scheduling ------------------------------------------------------------------------------ */

static int64_t
request_of(unsigned number)
{
    return number % 3 == 0 ? NODE_CPU : NODE_CPU * 2 / VICTIMS;
}

/* Who is at least as important and was promised the node comes first. */
static uint32_t
place_for(const struct crowd *crowd, unsigned number)
{
    for (uint32_t node = 0; node < NODES; node++) {
        int64_t room = crowd->room[node];

        for (unsigned i = 1; i <= PREEMPTORS; i++) {
            const struct preemptor *other = &crowd->preemptors[i];

            if (i != number && other->node == node && !other->is_bound && !other->is_deleted &&
                other->priority >= crowd->preemptors[number].priority) {
                room -= request_of(i);
            }
        }
        if (room >= request_of(number)) {
            return node;
        }
    }
    return SCHEDQ_NO_NODE;
}

static void
bind(struct crowd *crowd, unsigned number, uint32_t node)
{
    struct preemptor *preemptor = &crowd->preemptors[number];
    char name[40];
    const schedq_running_spec_t spec = {.struct_size = sizeof(schedq_running_spec_t),
                                        .name = name_of(name, sizeof name, "p", number),
                                        .object = number,
                                        .node = node,
                                        .priority = preemptor->priority,
                                        .is_protected = 1,
                                        .requests.cpu_milli = request_of(number)};

    preemptor->is_bound = true;
    crowd->room[node] -= request_of(number);
    crowd->open--;
    (void)schedq_cluster_unnominate(crowd->cluster, name, 0);
    check(schedq_cluster_add_pod(crowd->cluster, &spec, NULL), "add_pod");
}

/* Steps 2 and 3 of schedq_preempt, under the lock. */
static void
promise(struct crowd *crowd, unsigned number, const schedq_preemption_decision_t *decision)
{
    struct preemptor *preemptor = &crowd->preemptors[number];
    char name[40];
    const schedq_nominated_spec_t nomination = {.struct_size = sizeof(schedq_nominated_spec_t),
                                                .name = name_of(name, sizeof name, "p", number),
                                                .object = number,
                                                .node = decision->chosen,
                                                .priority = preemptor->priority,
                                                .requests.cpu_milli = request_of(number),
                                                .expires_ns = SCHEDQ_NO_DEADLINE};

    preemptor->node = decision->chosen;
    check(schedq_cluster_nominate(crowd->cluster, &nomination, NULL), "cluster_nominate");
    (void)schedq_nominate(self->worker, preemptor->pod, decision->chosen + 1);
}

static void
decide(struct crowd *crowd, unsigned number, schedq_preemption_decision_t *decision)
{
    schedq_preemption_config_t config = SCHEDQ_PREEMPTION_CONFIG_INIT;
    schedq_preemptor_t preemptor = SCHEDQ_PREEMPTOR_INIT;
    char name[40];

    preemptor.name = name_of(name, sizeof name, "p", number);
    preemptor.object = number;
    preemptor.priority = crowd->preemptors[number].priority;
    preemptor.requests.cpu_milli = request_of(number);
    preemptor.nominated_node = crowd->preemptors[number].node;
    preemptor.offset = below(NODES);
    *decision = (schedq_preemption_decision_t)SCHEDQ_PREEMPTION_DECISION_INIT;
    check(schedq_preempt(crowd->cluster, self->preemption, &config, &preemptor, decision),
          "preempt");
    if (decision->nomination == SCHEDQ_NOMINATION_SET) {
        promise(crowd, number, decision);
    }
}

/* Lists what is to be done, and marks it. */
static schedq_eviction_t
plan(struct crowd *crowd, unsigned number, const schedq_preemption_decision_t *decision,
     uint64_t *victims, uint64_t *clears)
{
    schedq_running_view_t view;

    for (uint32_t i = 0; i < decision->delete_count; i++) {
        check(schedq_cluster_pod(crowd->cluster, decision->deletes[i], &view), "cluster_pod");
        victims[i] = view.object;
        mark(crowd, (unsigned)(view.object - VICTIM), true);
    }
    for (uint32_t i = 0; i < decision->clear_count; i++) {
        clears[i] = decision->clears[i].object;
    }
    return (schedq_eviction_t){.struct_size = sizeof(schedq_eviction_t),
                               .preemptor = number,
                               .victims = victims,
                               .victim_count = decision->delete_count,
                               .clears = clears,
                               .clear_count = decision->clear_count,
                               .later = decision->holds};
}

/* True: nothing failed on the way, so that an event will come. */
static bool
carry_out(struct crowd *crowd, schedq_eviction_t *eviction)
{
    schedq_evicted_t evicted;
    schedq_status_t status = schedq_evictor_evict(crowd->evictor, eviction, &evicted);

    if (status == SCHEDQ_BUSY || status == SCHEDQ_FULL) {
        eviction->later = 0;
        status = schedq_evictor_evict(crowd->evictor, eviction, &evicted);
        /* Those behind the one that failed were not asked for. */
        pthread_mutex_lock(&crowd->lock);
        for (uint32_t i = evicted.sent + evicted.gone + 1;
             evicted.failed != 0 && i < eviction->victim_count; i++) {
            if (crowd->fates[eviction->victims[i] - VICTIM] == RUNS) {
                mark(crowd, (unsigned)(eviction->victims[i] - VICTIM), false);
            }
        }
        pthread_mutex_unlock(&crowd->lock);
    }
    check(status, "evict");
    return evicted.failed == 0;
}

static void
park(struct crowd *crowd, schedq_popped_t *popped, bool event_will_come)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    failure.unschedulable = event_will_come ? crowd->fit : 0;
    schedq_status_t status = schedq_fail(self->worker, &popped->token, &failure, NULL);

    if (status != SCHEDQ_GONE) {
        check(status, "add_unschedulable");
    }
}

static bool
schedule(struct crowd *crowd)
{
    uint64_t victims[NODES * VICTIMS];
    uint64_t clears[PREEMPTORS];
    schedq_preemption_decision_t decision;
    schedq_eviction_t eviction;
    schedq_popped_t popped;

    if (schedq_try_pop(self->worker, &popped) != SCHEDQ_OK) {
        return false;
    }
    unsigned number = (unsigned)popped.object;

    pthread_mutex_lock(&crowd->lock);
    bool is_deleted = crowd->preemptors[number].is_deleted;
    uint32_t node = is_deleted ? SCHEDQ_NO_NODE : place_for(crowd, number);

    if (node != SCHEDQ_NO_NODE) {
        bind(crowd, number, node);
    } else if (!is_deleted) {
        decide(crowd, number, &decision);
        eviction = plan(crowd, number, &decision, victims, clears);
    }
    pthread_mutex_unlock(&crowd->lock);
    if (node != SCHEDQ_NO_NODE) {
        check(schedq_done(self->worker, popped.token), "done");
    } else if (is_deleted) {
        park(crowd, &popped, true);
    } else {
        bool sound = decision.outcome <= SCHEDQ_PREEMPT_UNSCHEDULABLE;

        sound = carry_out(crowd, &eviction) && sound;
        park(crowd, &popped, sound);
    }
    return true;
}

/* ---- everybody else -------------------------------------------------------------------------- */

static schedq_pod_spec_t
pod_spec(const struct crowd *crowd, unsigned number)
{
    return (schedq_pod_spec_t){.struct_size = sizeof(schedq_pod_spec_t),
                               .object = number,
                               .priority = crowd->preemptors[number].priority};
}

static void
delete_one(struct crowd *crowd, unsigned number, const char *name)
{
    struct preemptor *preemptor = &crowd->preemptors[number];

    pthread_mutex_lock(&crowd->lock);
    bool deletes = !preemptor->is_bound && !preemptor->is_deleted;

    if (deletes) {
        preemptor->is_deleted = true;
        crowd->open--;
        crowd->pending++;
        (void)schedq_cluster_unnominate(crowd->cluster, name, 0);
    }
    pthread_mutex_unlock(&crowd->lock);
    if (deletes) {
        check(schedq_delete(self->worker, preemptor->pod, NULL), "delete");
        tell(number);
        settle(crowd);
    }
}

/* An update under the lock finds a pod that is neither bound nor deleted, so that it adds none. */
static bool
disturb(struct crowd *crowd)
{
    unsigned number = 1 + below(PREEMPTORS);
    char name[40];
    schedq_pod_spec_t spec = pod_spec(crowd, number);
    (void)name_of(name, sizeof name, "p", number);
    spec.flags = SCHEDQ_POD_ADD;

    check(schedq_tick(self->worker, NULL, NULL), "tick");
    if (below(40) == 0) {
        delete_one(crowd, number, name);
    } else if (below(10) == 0) {
        pthread_mutex_lock(&crowd->lock);
        if (!crowd->preemptors[number].is_bound && !crowd->preemptors[number].is_deleted) {
            check(schedq_update(self->worker, name, strlen(name), &spec, number, NULL, 0, NULL),
                  "update");
        }
        pthread_mutex_unlock(&crowd->lock);
    }
    return false;
}

static void *
live(void *argument)
{
    struct crowd *crowd = ((struct member *)argument)->crowd;

    self = argument;

    bool (*act)(struct crowd * crowd) = self->number < SCHEDULERS               ? schedule
                                        : self->number < SCHEDULERS + EXECUTORS ? execute
                                        : self->number < THREADS - 1            ? inform
                                                                                : disturb;

    while (!atomic_load(&crowd->over)) {
        if (act(crowd)) {
            atomic_fetch_add(&crowd->steps, 1);
        }
        for (uint32_t pauses = below(4); pauses > 0; pauses--) {
            sched_yield();
        }
    }
    return NULL;
}

/* ---- a round --------------------------------------------------------------------------------- */

static void
open_queue(struct crowd *crowd, uint8_t engine)
{
    const schedq_interest_t interest = {.resource = "AssignedPod", .actions = SCHEDQ_ACTION_DELETE};
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    uint64_t bit;

    config.engine = engine;
    config.initial_backoff_ns = 1000000;
    config.max_backoff_ns = 1000000;
    assert_ok(schedq_create(&config, &crowd->queue, NULL, 0));
    plugin.name = "Fit";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    assert_ok(schedq_plugin_register(crowd->queue, &plugin, &crowd->fit, NULL, 0));
    plugin.name = "Preemption";
    plugin.pre_enqueue = may_enter;
    plugin.ctx = crowd;
    assert_ok(schedq_plugin_register(crowd->queue, &plugin, &bit, NULL, 0));
}

static void
open_evictor(struct crowd *crowd)
{
    schedq_evictor_config_t config = SCHEDQ_EVICTOR_CONFIG_INIT;

    config.max_held = PREEMPTORS / 2;
    config.evict = evict;
    config.clear = clear;
    config.activate = activate;
    config.spawn = spawn;
    config.ctx = crowd;
    assert_ok(schedq_evictor_create(&config, &crowd->evictor, NULL, 0));
}

static void
fill(struct crowd *crowd)
{
    char name[40];

    assert_ok(schedq_cluster_create(NULL, &crowd->cluster, NULL, 0));
    for (unsigned i = 0; i < NODES; i++) {
        const schedq_node_spec_t node = {.struct_size = sizeof(schedq_node_spec_t),
                                         .name = name_of(name, sizeof name, "n", i) + 3,
                                         .allocatable.cpu_milli = NODE_CPU,
                                         .pods = 110};

        assert_ok(schedq_cluster_add_node(crowd->cluster, &node, NULL));
    }
    for (unsigned i = 0; i < NODES * VICTIMS; i++) {
        schedq_running_spec_t spec = victim_spec(i);

        spec.name = name_of(name, sizeof name, "v", i);
        assert_ok(schedq_cluster_add_pod(crowd->cluster, &spec, &crowd->victims[i]));
    }
}

static void
add_preemptors(struct crowd *crowd)
{
    for (unsigned i = 1; i <= PREEMPTORS; i++) {
        char name[40];
        schedq_result_t result;

        crowd->preemptors[i] =
            (struct preemptor){.priority = 10 + (int32_t)below(3), .node = SCHEDQ_NO_NODE};
        const schedq_pod_spec_t spec = pod_spec(crowd, i);
        (void)name_of(name, sizeof name, "p", i);

        assert_ok(schedq_add(self->worker, name, strlen(name), &spec, &result));
        crowd->preemptors[i].pod = result.pod;
    }
    crowd->open = PREEMPTORS;
}

/* Nobody is in the middle of anything, and nobody will be. */
static bool
is_quiet(struct crowd *crowd)
{
    unsigned steps = atomic_load(&crowd->steps);
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    assert_ok(schedq_stats(crowd->queue, &stats));
    pthread_mutex_lock(&crowd->lock);
    bool nothing = crowd->pending == 0;
    pthread_mutex_unlock(&crowd->lock);
    return nothing && stats.active + stats.backoff + stats.error_backoff + stats.inflight == 0 &&
           atomic_load(&crowd->steps) == steps;
}

static void
wait_for_places(struct crowd *crowd)
{
    unsigned open = PREEMPTORS;

    for (unsigned quiet = 0; open > 0 && quiet < 1000;) {
        quiet = is_quiet(crowd) ? quiet + 1 : 0;
        sched_yield();
        pthread_mutex_lock(&crowd->lock);
        open = crowd->open;
        pthread_mutex_unlock(&crowd->lock);
    }
    if (open > 0) {
        mailbox_complain(&crowd->mailbox,
                         "%u preemptors are lost: nothing is going on, and they wait", open);
    }
    atomic_store(&crowd->over, true);
}

static void
play_round(uint64_t *seed, uint8_t engine)
{
    static struct crowd crowd;
    struct member members[THREADS + 1];

    memset(&crowd, 0, sizeof crowd);
    mailbox_init(&crowd.mailbox);
    pthread_mutex_init(&crowd.lock, NULL);
    open_queue(&crowd, engine);
    open_evictor(&crowd);
    fill(&crowd);
    for (unsigned i = 0; i <= THREADS; i++) {
        members[i] = (struct member){.crowd = &crowd, .chance = seed_next(seed), .number = i};
        assert_ok(schedq_worker_register(crowd.queue, &members[i].worker, NULL, 0));
        assert_ok(schedq_preemption_create(NULL, &members[i].preemption, NULL, 0));
    }
    self = &members[THREADS];
    add_preemptors(&crowd);
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&members[i].thread, NULL, live, &members[i]), 0);
    }
    wait_for_places(&crowd);
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    }
    while (execute(&crowd)) {
    }
    mailbox_assert_empty(&crowd.mailbox);
    assert_ok(schedq_close(crowd.queue));
    for (unsigned i = 0; i <= THREADS; i++) {
        assert_ok(schedq_worker_unregister(members[i].worker));
        schedq_preemption_destroy(members[i].preemption);
    }
    assert_ok(schedq_destroy_with_pods(crowd.queue, NULL, 0));
    assert_ok(schedq_evictor_destroy(crowd.evictor));
    schedq_cluster_destroy(crowd.cluster);
    pthread_mutex_destroy(&crowd.lock);
}

static void
every_preemptor_gets_a_place(void **state)
{
    uint64_t seed = seed_of("test_preemption_crowd");
    const unsigned rounds = rounds_of(ROUNDS);

    (void)state;
    for (unsigned i = 0; i < rounds; i++) {
        play_round(&seed, i % 4 == 0 ? SCHEDQ_ENGINE_MUTEX : SCHEDQ_ENGINE_LOCKFREE);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_preemptor_gets_a_place)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
