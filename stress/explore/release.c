/* Checks and ways out of release.h. */
#include "release.h"

#include "cluster.h"
#include "world.h"

#include <string.h>

#define BATCH 4 /* what a mover collects (MOVER_BATCH) */
#define TICKS_TO_REST 4

static struct ledger *const ledger = &world.ledger;

struct sums {
    uint64_t places[SCHEDQ_HELD + 1];
    uint64_t nominated;
    uint64_t nodes; /* as bits */
    int64_t due;    /* the earliest; SCHEDQ_NO_DEADLINE */
};

static int64_t
due_of(const schedq_pod_info_t *info)
{
    switch (info->place) {
    case SCHEDQ_BACKOFF:
    case SCHEDQ_ERROR_BACKOFF:
        return info->backoff_expiry_ns;
    case SCHEDQ_PARKED:
        return world.config.decide == SCHEDQ_DECIDE_HOST
                   ? SCHEDQ_NO_DEADLINE
                   : info->history.timestamp_ns + LIMIT_NS + 1;
    case SCHEDQ_GATED:
        /* its gate is asked again, where leftovers ask gates */
        return world.config.decide == SCHEDQ_DECIDE_HOST || world.config.kube_minor != 0 ||
                       world.config.gates_see_wildcards == 0
                   ? SCHEDQ_NO_DEADLINE
                   : cluster_now() + LIMIT_NS + 1;
    case SCHEDQ_HELD:
        /* one that was let go, and not moved so far, is due since then */
        return info->held                            ? SCHEDQ_NO_DEADLINE
               : info->not_before_ns > cluster_now() ? info->not_before_ns
                                                     : cluster_now();
    default:
        return SCHEDQ_NO_DEADLINE;
    }
}

static int
look_at(void *ctx, const schedq_pod_info_t *info)
{
    struct sums *sums = ctx;
    struct life *life =
        ledger_life(ledger, info->pod.bits, world_key(info->name, info->name_length));
    uint64_t gate = info->gate == 0 ? 0 : UINT64_C(1) << (info->gate - 1);
    int64_t due = due_of(info);

    sums->places[info->place]++;
    sums->nominated += info->nominated_node != 0;
    sums->nodes |= info->nominated_node != 0 ? UINT64_C(1) << info->nominated_node : 0;
    sums->due = due < sums->due ? due : sums->due;
    if (info->place == SCHEDQ_PARKED || info->place == SCHEDQ_GATED) {
        SIM_CHECK((info->place == SCHEDQ_GATED) == (gate != 0), "pod %u is %s with gate %u",
                  life->key, schedq_place_name((schedq_place_t)info->place), info->gate);
        SIM_CHECK(info->place == SCHEDQ_GATED || !cluster_has_gates() ||
                      world.config.decide == SCHEDQ_DECIDE_HOST ||
                      (info->unschedulable & (GATE_A | GATE_B)) == 0,
                  "pod %u is parked, and gates are among its rejectors: %llx", life->key,
                  (unsigned long long)info->unschedulable);
        ledger_check_waiting(ledger, ledger_waiting(ledger, life), (schedq_place_t)info->place,
                             gate, cluster_opened(gate));
    }
    return 1;
}

static int
look_at_due(void *ctx, const schedq_pod_info_t *info)
{
    int64_t *first = ctx, due = due_of(info);

    *first = due < *first ? due : *first;
    return 1;
}

/* When the first of the pods that wait is due. */
static int64_t
due_first(struct actor *healthy)
{
    int64_t first = SCHEDQ_NO_DEADLINE;
    schedq_status_t status = schedq_snapshot(healthy->worker, look_at_due, &first);

    SIM_CHECK(status == SCHEDQ_OK, "snapshot returns %s", schedq_status_name(status));
    return first;
}

static void
look(struct actor *healthy, struct sums *sums)
{
    *sums = (struct sums){.due = SCHEDQ_NO_DEADLINE};
    schedq_status_t status = schedq_snapshot(healthy->worker, look_at, sums);
    SIM_CHECK(status == SCHEDQ_OK, "snapshot returns %s", schedq_status_name(status));
}

/*
 * A frozen thread may have raised one word for the pods of a batch that it did not move (switch.h),
 * or not lowered it for those that it did.
 */
static void
check_word(const char *name, uint64_t word, uint64_t there)
{
    SIM_CHECK(word >= there && word <= there + BATCH * (uint64_t)sim_frozen(),
              "words say %s %llu, there are %llu", name, (unsigned long long)word,
              (unsigned long long)there);
}

/* Wherever threads stopped: a pod that waits for time is waited for (deadline.h). */
static void
check_deadline(int64_t due)
{
    int64_t wanted = schedq_words(world.queue)->next_deadline_ns;

    SIM_CHECK(wanted <= due, "time is wanted at %lld, and a pod is due at %lld", (long long)wanted,
              (long long)due);
}

static void
check_words(const struct sums *sums)
{
    const schedq_words_t *words = schedq_words(world.queue);

    check_word("parked", words->parked, sums->places[SCHEDQ_PARKED]);
    check_word("gated", words->gated, sums->places[SCHEDQ_GATED]);
    check_word("held", words->held, sums->places[SCHEDQ_HELD]);
    check_word("backoff", words->backoff, sums->places[SCHEDQ_BACKOFF]);
    check_word("error backoff", words->error_backoff, sums->places[SCHEDQ_ERROR_BACKOFF]);
    check_word("nominations", words->nominations, sums->nominated);
    check_deadline(sums->due);
}

static int
count_visit(void *ctx, const schedq_pod_info_t *info)
{
    (void)info;
    ++*(uint64_t *)ctx;
    return 1;
}

static void
check_nominated(struct actor *healthy, const struct sums *sums)
{
    uint64_t visited = 0;

    for (uint64_t nodes = sums->nodes; nodes != 0; nodes &= nodes - 1) {
        (void)schedq_nominated_pods(healthy->worker, (uint64_t)__builtin_ctzll(nodes), count_visit,
                                    &visited);
    }
    SIM_CHECK(visited == sums->nominated, "%llu pods are nominated, nominated_pods shows %llu",
              (unsigned long long)sums->nominated, (unsigned long long)visited);
}

static void
come_to_rest(struct actor *healthy, bool decides)
{
    const schedq_words_t *words = schedq_words(world.queue);
    unsigned ticks = 0;

    while (words->next_deadline_ns <= cluster_now()) {
        SIM_CHECK(ticks < TICKS_TO_REST, "after %u ticks time is wanted at %lld still", ticks,
                  (long long)words->next_deadline_ns);
        if (decides) {
            actor_host_release(healthy);
            release_pop(healthy);
        }
        actor_tick(healthy);
        ticks++;
    }
}

void
release_rest(struct actor *healthy)
{
    if (world.config.decide != SCHEDQ_DECIDE_HOST) {
        come_to_rest(healthy, false);
    }
}

void
release_check(struct actor *healthy)
{
    struct sums sums;

    check_deadline(due_first(healthy));
    /*
     * What a thread left with a note, when it stopped or when it had asked gates often enough,
     * somebody's tick or empty pop finds (stray.h).
     */
    if (sim_frozen() > 0 || cluster_has_gates()) {
        actor_tick(healthy);
    }
    release_rest(healthy);
    look(healthy, &sums);
    check_words(&sums);
    check_nominated(healthy, &sums);
}

/* ---- ways out -------------------------------------------------------------------------------- */

void
release_pop(struct actor *healthy)
{
    for (unsigned i = 0; i < LIVES_MAX && actor_pop(healthy); i++) {
        (void)actor_done(healthy);
    }
}

static void
check_empty(struct actor *healthy, schedq_place_t place, const char *after)
{
    struct sums sums;

    look(healthy, &sums);
    SIM_CHECK(sums.places[place] == 0, "%llu pods are stranded: %s after %s",
              (unsigned long long)sums.places[place], schedq_place_name(place), after);
}

static void
serve(struct actor *healthy, int64_t ns)
{
    const schedq_words_t *words = schedq_words(world.queue);

    actor_tick_after(healthy, ns);
    SIM_CHECK(sim_frozen() > 0 || words->next_deadline_ns > cluster_now(),
              "after a tick at %lld time is wanted at %lld", (long long)cluster_now(),
              (long long)words->next_deadline_ns);
    release_rest(healthy);
    release_pop(healthy);
}

void
release_all(struct actor *healthy)
{
    release_pop(healthy);
    actor_release_all(healthy);
    actor_tick(healthy);
    check_empty(healthy, SCHEDQ_HELD, "its release");
    release_pop(healthy);
    if (world.config.decide == SCHEDQ_DECIDE_HOST) {
        actor_host_release(healthy);
        release_pop(healthy);
        actor_tick_after(healthy, 100 * BACKOFF_NS);
        come_to_rest(healthy, true); /* it decides about all that a tick leaves to it */
        return;
    }
    serve(healthy, 100 * BACKOFF_NS);
    check_empty(healthy, SCHEDQ_BACKOFF, "its time");
    check_empty(healthy, SCHEDQ_ERROR_BACKOFF, "its time");
    cluster_open(GATE_A);
    cluster_open(GATE_B);
    if (random_below(sim_random(), 2) == 0) {
        serve(healthy, LIMIT_NS + 1);
        check_empty(healthy, SCHEDQ_PARKED, "the limit");
    }
    actor_move(healthy, SCHEDQ_EVENT_WILDCARD);
    actor_move(healthy, EVENT_GATE_A);
    actor_move(healthy, EVENT_GATE_B);
    serve(healthy, 100 * BACKOFF_NS);
    check_empty(healthy, SCHEDQ_PARKED, "an event for all");
    check_empty(healthy, SCHEDQ_GATED, "an event for all");
}
