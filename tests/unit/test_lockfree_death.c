/*
 * A thread dies between two instructions of a call, and its worker is adopted: what the others and
 * the adopted worker do afterwards loses no pod, doubles none, and releases no object too often.
 * The thread runs a step at a time by the processor's trap flag, so this is for x86-64 without
 * sanitizers.
 */
#include "fixture.h"
#include "seed.h"

#if defined(__has_feature)
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !HAS_FEATURE(address_sanitizer) && !HAS_FEATURE(thread_sanitizer)

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lockfree/moves/publish.h"

enum {
    PODS = 24,
    WORKERS = 2,
    WARM_UP = 120,
    AFTERWARDS = 80,
    DEATHS = 8,
    DEATHS_IN_UNREGISTER = 24
};

/* About how many steps an operation takes. */
enum { STEPS = 2000, STEPS_OF_UNREGISTER = 3600 };

/* What the test knows of a pod. */
enum known { ABSENT, ACTIVE, PARKED, FLYING, IN_DOUBT };

enum kind { ADD, POP, DONE, DELETE, UPDATE, FAIL, MOVE, NOMINATE, UNREGISTER, KINDS, LOOK, WALK };

static const char *const kind_names[KINDS] = {"add",  "pop",      "done",     "delete",    "update",
                                              "fail", "move_all", "nominate", "unregister"};

typedef struct pod {
    char name[16];
    enum known known;
    schedq_pod_t pod;
    schedq_token_t token;
} pod_t;

typedef struct operation {
    enum kind kind;
    schedq_worker_t *worker;
    unsigned pod;
    int32_t priority;
    uint64_t object;
    schedq_status_t status;
    schedq_result_t result;
    schedq_popped_t popped;
    uint64_t group;
    schedq_group_info_t info;
    schedq_query_t query;
    schedq_candidate_t *candidates;
    size_t room, count;
} operation_t;

typedef struct world {
    schedq_t *queue;
    schedq_worker_t *workers[WORKERS];
    ledger_t ledger;
    pod_t pods[PODS];
    uint64_t fit;
    uint64_t objects;
    uint64_t random;
} world_t;

/* ---- dying ----------------------------------------------------------------------------------- */

/* in the allocator, or in a callback: not the queue's instructions */
static volatile int outside;
static volatile long steps;                  /* so many more, then it dies; below 0: it does not */
static bool (*volatile dies_now)(void *ctx); /* or when this is true */
static void *volatile dies_ctx;
static volatile sig_atomic_t dead;
static sigjmp_buf grave;

static void
trap(int number)
{
    (void)number;
    if (outside != 0)
        return;
    if ((steps > 0 && --steps == 0) || (dies_now != NULL && dies_now(dies_ctx))) {
        dead = 1;
        siglongjmp(grave, 1);
    }
}

#define TRAPS(bits)                                                                       \
    __asm__ volatile("lea -256(%%rsp), %%rsp\n\tpushfq\n\t" bits ", (%%rsp)\n\tpopfq\n\t" \
                     "lea 256(%%rsp), %%rsp" ::                                           \
                         : "memory", "cc")

static void perform(operation_t *operation);

static void *
perform_in_steps(void *argument)
{
    if (sigsetjmp(grave, 1) == 0) {
        TRAPS("orq $0x100");
        perform(argument);
        TRAPS("andq $~0x100");
    }
    return NULL;
}

/* True: it died, after so many steps or when `when` said so; else it came to its end. */
static bool
die_in(operation_t *operation, long after, bool (*when)(void *ctx), void *ctx)
{
    pthread_t thread;
    dead = 0;
    steps = after;
    dies_ctx = ctx;
    dies_now = when;
    assert_int_equal(pthread_create(&thread, NULL, perform_in_steps, operation), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return dead != 0;
}

/* ---- the queue ------------------------------------------------------------------------------- */

static void *
outer_alloc(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    outside++;
    size_t least = align < 16 ? 16 : align;
    void *memory = aligned_alloc(least, (bytes + least - 1) / least * least);
    outside--;
    return memory;
}

static void
outer_free(void *ctx, void *memory, size_t bytes)
{
    (void)ctx;
    outside++;
    if (memory != NULL)
        memset(memory, 0xdd, bytes);
    free(memory);
    outside--;
}

static void
outer_retain(void *ctx, uint64_t object)
{
    outside++;
    ledger_retain(ctx, object);
    outside--;
}

static void
outer_release(void *ctx, uint64_t object)
{
    outside++;
    ledger_release(ctx, object);
    outside--;
}

static unsigned
below(world_t *world, unsigned limit)
{
    world->random = world->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(world->random >> 33) % limit;
}

static void
world_open_with(world_t *world, uint64_t seed, schedq_config_t config)
{
    static const schedq_interest_t interest = {.resource = "Node", .actions = SCHEDQ_ACTION_ADD};
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    memset(world, 0, sizeof *world);
    world->random = seed;
    ledger_init(&world->ledger);
    config.engine = SCHEDQ_ENGINE_LOCKFREE;
    config.max_backoff_ns = 0;
    config.allocator = (schedq_allocator_t){.alloc = outer_alloc, .free = outer_free};
    if (config.objects == SCHEDQ_OBJECTS_COUNTED) {
        config.retain = outer_retain;
        config.release = outer_release;
        config.object_ctx = &world->ledger;
    }
    assert_ok(schedq_create(&config, &world->queue, NULL, 0));
    plugin.name = "Fit";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    assert_ok(schedq_plugin_register(world->queue, &plugin, &world->fit, NULL, 0));
    for (unsigned i = 0; i < WORKERS; i++)
        assert_ok(schedq_worker_register(world->queue, &world->workers[i], NULL, 0));
    for (unsigned i = 0; i < PODS; i++)
        snprintf(world->pods[i].name, sizeof world->pods[i].name, "ns/%u", i);
}

static void
world_open(world_t *world, uint64_t seed)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    config.objects = SCHEDQ_OBJECTS_COUNTED;
    world_open_with(world, seed, config);
}

static void
world_close(world_t *world)
{
    for (unsigned i = 0; i < WORKERS; i++)
        assert_ok(schedq_worker_unregister(world->workers[i]));
    assert_ok(schedq_destroy_with_pods(world->queue, NULL, 0));
    assert_int_equal(atomic_load(&world->ledger.faults), 0);
}

/* ---- operations ------------------------------------------------------------------------------ */

static world_t *the_world;

static void
perform(operation_t *operation)
{
    pod_t *pod = &the_world->pods[operation->pod];
    uint32_t length = (uint32_t)strlen(pod->name);
    schedq_pod_spec_t spec = {.struct_size = sizeof(schedq_pod_spec_t),
                              .priority = operation->priority,
                              .object = operation->object};
    schedq_failure_t failure;
    schedq_change_t change;
    switch (operation->kind) {
    case ADD:
        operation->status =
            schedq_add(operation->worker, pod->name, strlen(pod->name), &spec, &operation->result);
        break;
    case POP:
        operation->status = schedq_try_pop(operation->worker, &operation->popped);
        break;
    case DONE:
        operation->status = schedq_done(operation->worker, pod->token);
        break;
    case DELETE:
        operation->status =
            schedq_delete_name(operation->worker, pod->name, length, &operation->result);
        break;
    case UPDATE:
        operation->status = schedq_update(operation->worker, pod->name, strlen(pod->name), &spec, 0,
                                          NULL, 0, &operation->result);
        break;
    case FAIL:
        failure = (schedq_failure_t)SCHEDQ_FAILURE_INIT;
        failure.unschedulable = the_world->fit;
        operation->status =
            schedq_fail(operation->worker, &pod->token, &failure, &operation->result);
        break;
    case MOVE:
        change = (schedq_change_t)SCHEDQ_CHANGE_INIT;
        change.event = SCHEDQ_EVENT_NODE_ADD;
        operation->status = schedq_notify(operation->worker, &change, &operation->result);
        break;
    case NOMINATE:
        operation->status = schedq_nominate(operation->worker, pod->pod, 1 + operation->object % 2);
        break;
    case UNREGISTER:
        operation->status = schedq_worker_unregister(operation->worker);
        break;
    case LOOK:
        operation->info = (schedq_group_info_t)SCHEDQ_GROUP_INFO_INIT;
        operation->status = schedq_group_get(operation->worker, operation->group, &operation->info);
        break;
    case WALK:
        operation->status =
            schedq_candidates(operation->worker, &operation->query, operation->candidates,
                              operation->room, &operation->count);
        break;
    case KINDS:
        break;
    }
}

static bool
may(enum kind kind, enum known known)
{
    switch (kind) {
    case ADD:
        return known == ABSENT;
    case DONE:
    case FAIL:
        return known == FLYING;
    case DELETE:
    case UPDATE:
    case NOMINATE:
        return known == ACTIVE || known == PARKED;
    default:
        return true;
    }
}

/*
 * An operation of this kind on some pod that it may be done to; of another kind if there is none.
 */
static operation_t
choose(world_t *world, schedq_worker_t *worker, enum kind kind)
{
    operation_t operation = {.kind = kind, .worker = worker, .pod = below(world, PODS)};
    unsigned looked = 0;
    operation.priority = (int32_t)below(world, 4);
    operation.object = 1 + world->objects++ % (LEDGER_OBJECTS - 1);
    for (; looked < PODS && !may(kind, world->pods[operation.pod].known); looked++)
        operation.pod = (operation.pod + 1) % PODS;
    if (looked == PODS)
        operation.kind = kind == ADD ? POP : MOVE;
    return operation;
}

static void
note_pop(world_t *world, const operation_t *operation)
{
    for (unsigned i = 0; i < PODS && operation->status == SCHEDQ_OK; i++) {
        pod_t *pod = &world->pods[i];
        if (strcmp(pod->name, operation->popped.name) == 0) {
            assert_true(pod->known == ACTIVE || pod->known == IN_DOUBT);
            pod->known = FLYING;
            pod->token = operation->popped.token;
            return;
        }
    }
    assert_status(operation->status, SCHEDQ_EMPTY);
}

/* What a call that returned says. */
static void
note(world_t *world, const operation_t *operation)
{
    pod_t *pod = &world->pods[operation->pod];
    if (operation->kind == POP) {
        note_pop(world, operation);
        return;
    }
    assert_ok(operation->status);
    switch (operation->kind) {
    case ADD:
        pod->known = ACTIVE;
        pod->pod = operation->result.pod;
        break;
    case DONE:
    case DELETE:
        pod->known = ABSENT;
        break;
    case FAIL:
        pod->known = operation->result.place == SCHEDQ_PARKED ? PARKED : ACTIVE;
        break;
    case MOVE:
        for (unsigned i = 0; i < PODS; i++)
            world->pods[i].known = world->pods[i].known == PARKED ? ACTIVE : world->pods[i].known;
        break;
    default:
        break;
    }
}

/* What a call that did not return leaves open. */
static void
note_death(world_t *world, const operation_t *operation)
{
    for (unsigned i = 0; i < PODS; i++) {
        pod_t *pod = &world->pods[i];
        bool all = operation->kind == MOVE && pod->known == PARKED;
        bool one = i == operation->pod && operation->kind != POP && operation->kind != MOVE &&
                   operation->kind != NOMINATE && operation->kind != UNREGISTER;
        pod->known = all || one ? IN_DOUBT : pod->known;
    }
}

static void
work(world_t *world, unsigned operations)
{
    static const enum kind mix[] = {ADD,  ADD,    ADD,    ADD,  POP,  POP,  DONE,
                                    DONE, DELETE, UPDATE, FAIL, FAIL, MOVE, NOMINATE};
    for (unsigned i = 0; i < operations; i++) {
        enum kind kind = mix[below(world, sizeof mix / sizeof mix[0])];
        operation_t operation = choose(world, world->workers[below(world, WORKERS)], kind);
        perform(&operation);
        note(world, &operation);
    }
}

/* ---- afterwards ------------------------------------------------------------------------------ */

typedef struct sight {
    world_t *world;
    unsigned shown[PODS];
} sight_t;

/* What a pop that died had claimed stays in flight. */
static int
see(void *ctx, const schedq_pod_info_t *info)
{
    sight_t *sight = ctx;
    for (unsigned i = 0; i < PODS; i++) {
        pod_t *pod = &sight->world->pods[i];
        if (strcmp(pod->name, info->name) == 0 && !info->deleted) {
            sight->shown[i]++;
            if (info->place == SCHEDQ_INFLIGHT && pod->known == ACTIVE)
                pod->known = IN_DOUBT;
        }
    }
    return 1;
}

static void
check_all_are_there(world_t *world)
{
    sight_t sight = {.world = world};
    assert_ok(schedq_snapshot(world->workers[1], see, &sight));
    for (unsigned i = 0; i < PODS; i++) {
        assert_true(sight.shown[i] <= 1);
        if (world->pods[i].known != IN_DOUBT)
            assert_int_equal(sight.shown[i], world->pods[i].known == ABSENT ? 0 : 1);
    }
}

/* All that the test is sure of is popped; nothing is popped twice. */
static void
drain(world_t *world)
{
    operation_t operation = {.kind = MOVE, .worker = world->workers[1]};
    perform(&operation);
    note(world, &operation);
    do {
        operation = (operation_t){.kind = POP, .worker = world->workers[below(world, WORKERS)]};
        perform(&operation);
        note(world, &operation);
    } while (operation.status == SCHEDQ_OK);
    for (unsigned i = 0; i < PODS; i++)
        assert_true(world->pods[i].known != ACTIVE && world->pods[i].known != PARKED);
}

static void
adopt(world_t *world)
{
    schedq_status_t status = schedq_worker_adopt(world->queue, world->workers[0]);
    if (status == SCHEDQ_INVALID) /* its unregistration had come to its end */
        status = schedq_worker_register(world->queue, &world->workers[0], NULL, 0);
    assert_ok(status);
}

/* Dies in an operation of this kind after so many steps, if it takes so many. */
static void
die_once(enum kind kind, long after, uint64_t seed)
{
    static world_t world;
    the_world = &world;
    world_open(&world, seed);
    work(&world, WARM_UP + below(&world, 16));
    operation_t operation = choose(&world, world.workers[0], kind);
    if (die_in(&operation, after, NULL, NULL)) {
        note_death(&world, &operation);
        adopt(&world);
    } else if (operation.kind == UNREGISTER) {
        assert_ok(schedq_worker_register(world.queue, &world.workers[0], NULL, 0));
    } else {
        note(&world, &operation);
    }
    check_all_are_there(&world);
    work(&world, AFTERWARDS);
    check_all_are_there(&world);
    drain(&world);
    world_close(&world);
}

static void
a_thread_that_dies_anywhere_takes_nothing_with_it(void **state)
{
    (void)state;
    uint64_t seed = seed_of("test_lockfree_death");
    for (unsigned kind = 0; kind < KINDS; kind++) {
        long deaths = kind == UNREGISTER ? DEATHS_IN_UNREGISTER : DEATHS;
        for (long i = 0; i < deaths; i++) {
            uint64_t one = seed + kind * 1000003u + (uint64_t)i * 7919u;
            long most = kind == UNREGISTER ? STEPS_OF_UNREGISTER : STEPS;
            uint64_t draw = one;
            long after = 1 + (long)seed_next(&draw) % most;
            print_message("%s of seed %llu: ", kind_names[kind], (unsigned long long)one);
            die_once((enum kind)kind, after, one);
            print_message(dead ? "died after %ld steps\n" : "came to its end before %ld steps\n",
                          after);
        }
    }
}

/* The worker's run is free, and still the worker's. */
static bool
run_is_in_two_places(void *ctx)
{
    const struct worker *worker = ctx;
    const struct queue *queue = (const struct queue *)worker->base.queue;
    const struct run *run = worker->spare_run;
    return run != NULL && stack_top(u64_load(&queue->runs.free[run->size_class])) == run->number;
}

static void
a_run_that_a_dead_thread_gave_away_is_not_its_worker_s(void **state)
{
    static world_t world;
    (void)state;
    the_world = &world;
    world_open(&world, 1);
    struct worker *worker = worker_of(world.workers[0]);
    struct queue *queue = queue_of(worker);
    operation_t add = choose(&world, world.workers[0], ADD);
    perform(&add);
    note(&world, &add);
    if (worker->spare_run == NULL)
        worker->spare_run = run_take(&queue->runs, RUN_FEW);
    operation_t end = {.kind = UNREGISTER, .worker = world.workers[0]};
    bool died = die_in(&end, 0, run_is_in_two_places, worker);
    if (!died)
        assert_ok(schedq_worker_register(world.queue, &world.workers[0], NULL, 0));
    else
        adopt(&world);
    struct run *run = run_take(&queue->runs, RUN_FEW);
    assert_non_null(run);
    assert_ptr_not_equal(run, worker->spare_run);
    run_give(&queue->runs, run);
    work(&world, AFTERWARDS);
    drain(&world);
    world_close(&world);
}

/* ---- a band that was written down in part ---------------------------------------------------- */

enum { LOW = 1, MID = 2 };

/* Another one that the worker writes down where LOW is; the bands between are MID's at least. */
static int32_t
high_of(struct worker *worker)
{
    int32_t priority = MID + 1;
    while (publish_spot(worker, priority) != publish_spot(worker, LOW))
        priority++;
    return priority;
}

/* One priority beside the band of another. */
static bool
spot_is_torn(void *ctx)
{
    const struct band_spot *spot = ctx;
    return spot->band != NULL && spot->band->priority != spot->priority;
}

static void
add_one(world_t *world, unsigned worker, unsigned pod, int32_t priority)
{
    operation_t add = {
        .kind = ADD, .worker = world->workers[worker], .pod = pod, .priority = priority};
    add.object = 1 + world->objects++;
    perform(&add);
    note(world, &add);
}

static void
a_band_that_a_dead_thread_wrote_down_in_part_is_looked_for_again(void **state)
{
    static world_t world;
    (void)state;
    the_world = &world;
    world_open(&world, 1);
    struct worker *worker = worker_of(world.workers[0]);
    struct band_spot *spot = publish_spot(worker, LOW);
    int32_t high = high_of(worker), last = high;
    add_one(&world, 1, 0, LOW);
    add_one(&world, 1, 1, high);
    add_one(&world, 0, 2, LOW);
    assert_int_equal(spot->priority, LOW);
    operation_t add = {
        .kind = ADD, .worker = world.workers[0], .pod = 3, .priority = high, .object = 100};
    assert_true(die_in(&add, 0, spot_is_torn, spot));
    note_death(&world, &add);
    int32_t written = spot->priority;
    adopt(&world);
    add_one(&world, 0, 4, written);
    add_one(&world, 1, 5, MID);
    operation_t pop;
    do {
        pop = (operation_t){.kind = POP, .worker = world.workers[1]};
        perform(&pop);
        note(&world, &pop);
        if (pop.status == SCHEDQ_OK) {
            assert_in_range(pop.popped.priority, LOW, last);
            last = pop.popped.priority;
        }
    } while (pop.status == SCHEDQ_OK);
    world_close(&world);
}

/* ---- a group that was written down in part --------------------------------------------------- */

enum { GROUP = 7, OTHER = GROUP + KNOWN_GROUPS }; /* are written down in one place */

static uint32_t records[2];

/* The number of one group beside the record of another, or the other way round. */
static bool
known_group_is_torn(void *ctx)
{
    const struct known_group *known = ctx;
    return known->record != 0 && (known->number == GROUP) != (known->record == records[0]);
}

static uint32_t
look_at(world_t *world, unsigned worker, uint64_t group)
{
    operation_t look = {.kind = LOOK, .worker = world->workers[worker], .group = group};
    perform(&look);
    assert_ok(look.status);
    return look.info.quorum;
}

static void
a_group_that_a_dead_thread_wrote_down_in_part_is_looked_for_again(void **state)
{
    static world_t world;
    (void)state;
    the_world = &world;
    world_open(&world, 1);
    struct known_group *known = &worker_of(world.workers[0])->known_groups[GROUP % KNOWN_GROUPS];
    for (unsigned i = 0; i < 2; i++) {
        schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
        spec.quorum = 2 + i;
        assert_ok(schedq_group_add(world.workers[1], i == 0 ? GROUP : OTHER, &spec, NULL));
        (void)look_at(&world, 0, i == 0 ? GROUP : OTHER);
        records[i] = known->record;
    }
    assert_int_equal(look_at(&world, 0, GROUP), 2);
    operation_t look = {.kind = LOOK, .worker = world.workers[0], .group = OTHER};
    assert_true(die_in(&look, 0, known_group_is_torn, known));
    adopt(&world);
    assert_int_equal(look_at(&world, 0, OTHER), 3);
    assert_int_equal(look_at(&world, 0, GROUP), 2);
    world_close(&world);
}

/* ---- candidates that were read ahead --------------------------------------------------------- */

enum { CANDIDATES = CANDIDATES_AHEAD + 40 };

/* More were read, and none of them is told. */
static bool
more_were_read(void *ctx)
{
    const struct candidates_ahead *ahead = ctx;
    return ahead->count > 0 && ahead->next == 0;
}

static void
add_gated(world_t *world)
{
    char name[16];
    for (unsigned i = 0; i < CANDIDATES; i++) {
        schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
        spec.gate = 1;
        int length = snprintf(name, sizeof name, "ns/%u", i);
        assert_ok(schedq_add(world->workers[0], name, (size_t)length, &spec, NULL));
    }
}

/* The host goes on where the last call that returned had come to. */
static void
candidates_that_a_dead_thread_read_ahead_are_read_again(void **state)
{
    static world_t world;
    static schedq_candidate_t candidates[CANDIDATES];
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    (void)state;
    the_world = &world;
    config.decide = SCHEDQ_DECIDE_HOST;
    world_open_with(&world, 1, config);
    add_gated(&world);
    operation_t walk = {.kind = WALK, .worker = world.workers[0], .query = SCHEDQ_QUERY_INIT};
    walk.query.gates = world.fit;
    walk.candidates = candidates;
    walk.room = 1;
    perform(&walk);
    assert_int_equal(walk.count, 1);
    walk.room = CANDIDATES;
    operation_t dying = walk;
    assert_true(die_in(&dying, 0, more_were_read, worker_of(world.workers[0])->ahead));
    adopt(&world);
    perform(&walk);
    assert_int_equal(walk.count, CANDIDATES - 1);
    world_close(&world);
}

/* ---- a worker that a dead thread had ended --------------------------------------------------- */

static bool
slot_is_free(void *ctx)
{
    const struct queue *queue = ctx;
    return (u64_load(&queue->taken[0]) & 1) == 0;
}

/* Its thread died before the call returned: it is not adopted, and destroy does not wait for it. */
static void
a_worker_that_a_dead_thread_had_ended_is_in_nobody_s_way(void **state)
{
    static world_t world;
    (void)state;
    the_world = &world;
    world_open(&world, 1);
    operation_t unregister = {.kind = UNREGISTER, .worker = world.workers[0]};
    assert_true(die_in(&unregister, 0, slot_is_free, world.queue));
    assert_status(schedq_worker_adopt(world.queue, world.workers[0]), SCHEDQ_INVALID);
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    assert_ok(schedq_stats(world.queue, &stats));
    assert_int_equal(stats.workers, WORKERS - 1);
    assert_ok(schedq_worker_unregister(world.workers[1]));
    assert_ok(schedq_destroy(world.queue, NULL, 0));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_a_dead_thread_gave_away_is_not_its_worker_s),
        cmocka_unit_test(a_band_that_a_dead_thread_wrote_down_in_part_is_looked_for_again),
        cmocka_unit_test(a_group_that_a_dead_thread_wrote_down_in_part_is_looked_for_again),
        cmocka_unit_test(candidates_that_a_dead_thread_read_ahead_are_read_again),
        cmocka_unit_test(a_worker_that_a_dead_thread_had_ended_is_in_nobody_s_way),
        cmocka_unit_test(a_thread_that_dies_anywhere_takes_nothing_with_it),
    };
    struct sigaction action = {.sa_handler = trap};
    assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int
main(void)
{
    print_message("no steps: not x86-64, or a sanitizer\n");
    return 0;
}

#endif
