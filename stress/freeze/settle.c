/*
 * Order: the actors that never sleep long end; a worker (the dead actor's, adopted) takes all there
 * is, sets free what waits, then adds each name once more and takes all there is again; sleepers
 * are handed single pods; close ends them; what is left is compared with the account. A thread of
 * its own does it: in a queue that stands still it would never come back.
 *
 * What a dead actor leaves open is exactly known: the pods in its hands, and the outcome of one
 * call.
 */
#include "settle.h"

#include <stdio.h>
#include <time.h>

#include "control.h"
#include "plugins.h"

#define HANDOVERS 50

static bool
join(run_t *run, const actor_t *dead, unsigned first, unsigned end)
{
    bool all = true;
    for (unsigned i = first; i < end; i++) {
        actor_t *actor = &run->actors[i];
        if (actor != dead && !run_join(run, actor->thread, NULL)) {
            tally_violation(&run->tally, "thread %u does not end; it is in %s", i,
                            call_name(atomic_load(&actor->ice.call)));
            all = false;
        }
    }
    return all;
}

static bool
obtain_worker(run_t *run, actor_t *own, actor_t *dead)
{
    char why[200] = "";
    schedq_status_t status;
    actor_prepare(own, run, ACTORS_MAX);
    if (dead != NULL && dead->worker != NULL) {
        status = schedq_worker_adopt(run->queue, dead->worker);
        own->worker = dead->worker;
    } else {
        status = schedq_worker_register(run->queue, &own->worker, why, sizeof why);
    }
    TALLY_CHECK(&run->tally, status == SCHEDQ_OK, "%s says %s %s",
                dead != NULL && dead->worker != NULL ? "schedq_worker_adopt"
                                                     : "schedq_worker_register",
                schedq_status_name(status), why);
    return status == SCHEDQ_OK;
}

static void
take_all(actor_t *own)
{
    while (actor_try_pop(own) == SCHEDQ_OK)
        actor_finish_held(own);
}

static unsigned
ended(run_t *run, unsigned index)
{
    return atomic_load(&run->tally.dones[index]);
}

/*
 * Single pods for threads that all sleep by then: here no other call makes up for a lost wake-up.
 * Every second one only becomes active by time, which the sleepers serve if the timer thread does
 * not. */
static void
hand_over(run_t *run, actor_t *own)
{
    for (unsigned i = 0; i < HANDOVERS; i++) {
        unsigned index = i % TALLY_NAMES, before = ended(run, index);
        patience_t patience;
        bool by_time = i % 2 == 1;
        if ((by_time ? actor_readd_named(own, index) : actor_add_named(own, index)) != SCHEDQ_OK)
            continue;
        run_wait(&patience);
        while (ended(run, index) == before && run_waited(&patience, run_progress(run))) {
        }
        if (ended(run, index) == before) {
            tally_violation(&run->tally, "nobody who sleeps in pop was woken for pod-%u", index);
            return;
        }
    }
}

static bool
has_sleepers(const run_t *run, const actor_t *dead)
{
    unsigned sleepers = run->actor_count > FIRST_SLEEPER ? run->actor_count - FIRST_SLEEPER : 0;
    bool slept = dead != NULL && dead->worker != NULL && dead->number >= FIRST_SLEEPER;
    return sleepers > (slept ? 1 : 0);
}

static int
count_waiting(void *ctx, const schedq_pod_info_t *pod)
{
    *(unsigned *)ctx += pod->place != SCHEDQ_ACTIVE && pod->place != SCHEDQ_INFLIGHT;
    return 1;
}

/*
 * How much too high the words may be: by the pods that the dead thread moved, or admitted, and did
 * not count. Events and time move any number of pods before they count them.
 */
static uint64_t
may_be_uncounted(const actor_t *dead)
{
    bool is_timer = dead->worker == NULL;
    switch (atomic_load(&dead->intent)) {
    case OP_NONE:
    case OP_ADD:
    case OP_ADD_MANY:
    case OP_UPDATE:
    case OP_DELETE:
    case OP_DONE:
    case OP_DONE_MANY:
    case OP_FIND:
    case OP_GET:
        return is_timer ? UINT64_MAX : BATCH;
    default:
        return UINT64_MAX;
    }
}

/* By the words, for they help nobody; by the places where the words may be too high. */
static bool
anything_waits(run_t *run, const actor_t *own, const actor_t *dead)
{
    schedq_words_t *words = schedq_words(run->queue);
    uint64_t counted = __atomic_load_n(&words->parked, __ATOMIC_ACQUIRE) +
                       __atomic_load_n(&words->gated, __ATOMIC_ACQUIRE) +
                       __atomic_load_n(&words->backoff, __ATOMIC_ACQUIRE) +
                       __atomic_load_n(&words->error_backoff, __ATOMIC_ACQUIRE) +
                       __atomic_load_n(&words->held, __ATOMIC_ACQUIRE);
    unsigned waiting = 0;
    if (dead == NULL || counted == 0 || counted > may_be_uncounted(dead))
        return counted != 0;
    return schedq_snapshot(own->worker, count_waiting, &waiting) != SCHEDQ_OK || waiting != 0;
}

/*
 * Two events concern every pod that waits, and every one that fails later but was popped before.
 * Then it is for time to bring them: for the sleepers, which serve it if the timer thread does not;
 * for this thread if there are none.
 */
static void
set_free(run_t *run, actor_t *own, const actor_t *dead)
{
    patience_t patience;
    for (unsigned i = 0; i < sizeof plugins_free_all / sizeof *plugins_free_all; i++)
        actor_notify(own, plugins_free_all[i]);
    run_wait(&patience);
    while (anything_waits(run, own, dead) && run_waited(&patience, run_progress(run))) {
        if (!has_sleepers(run, dead)) {
            actor_tick(own);
            take_all(own);
        }
    }
    const schedq_words_t *words = schedq_words(run->queue);
    TALLY_CHECK(&run->tally, !anything_waits(run, own, dead),
                "%llu pods stay parked, %llu gated, %llu in backoff, %llu in error backoff",
                (unsigned long long)words->parked, (unsigned long long)words->gated,
                (unsigned long long)words->backoff, (unsigned long long)words->error_backoff);
}

static void
use_every_name_again(actor_t *own)
{
    for (unsigned i = 0; i < TALLY_NAMES; i++)
        (void)actor_add_named(own, i);
    take_all(own);
}

/* ---- the account when everybody came back ---- */

static void
check_nothing_is_left(run_t *run, actor_t *own)
{
    schedq_result_t result;
    for (unsigned i = 0; i < TALLY_NAMES; i++)
        TALLY_CHECK(&run->tally, actor_find_named(own, i, &result) == SCHEDQ_NOT_FOUND,
                    "pod-%u is left, %s", i, schedq_place_name((schedq_place_t)result.place));
    tally_check_lives(&run->tally);
    tally_check_stats(&run->tally, run->queue, false);
}

/* ---- the account with a dead actor ---- */

static int
times_open(const actor_t *dead, unsigned index)
{
    int times = 0;
    for (unsigned i = 0; i < dead->intent_count; i++)
        times += dead->intent_index[i] == index;
    return times;
}

static bool
is_held(const actor_t *dead, unsigned index)
{
    for (unsigned i = 0; i < atomic_load(&dead->held_count); i++) {
        if (dead->held[i].index == index)
            return true;
    }
    return false;
}

/* The dead actor may have added, or ended, the names of its last call without counting it. */
static bool
is_even(const actor_t *dead, unsigned index, int balance, int present)
{
    int times = times_open(dead, index), missing = present - balance;
    switch (atomic_load(&dead->intent)) {
    case OP_ADD:
    case OP_ADD_MANY:
    case OP_UPDATE:
        return missing >= 0 && missing <= times;
    case OP_DELETE:
    case OP_DONE:
    case OP_DONE_MANY:
        return missing <= 0 && missing >= -times;
    default:
        return missing == 0;
    }
}

static unsigned
may_hold_unseen(const actor_t *dead)
{
    unsigned intent = atomic_load(&dead->intent);
    return intent == OP_TRY_POP_MANY ? BATCH : op_pops_one(intent) ? 1 : 0;
}

/*
 * Every name that is still there must be in the dead actor's hands. Deletes it. Returns how many it
 * had not noted.
 */
static unsigned
check_names(run_t *run, actor_t *own, const actor_t *dead)
{
    unsigned unseen = 0;
    for (unsigned i = 0; i < TALLY_NAMES; i++) {
        schedq_result_t result;
        int present = actor_find_named(own, i, &result) == SCHEDQ_OK;
        unsigned adds = atomic_load(&run->tally.adds[i]);
        unsigned ends = ended(run, i) + atomic_load(&run->tally.deletes[i]);
        TALLY_CHECK(&run->tally, is_even(dead, i, (int)(adds - ends), present),
                    "pod-%u: %u adds, %u dones and deletes, %s; the dead thread was in %s%s", i,
                    adds, ends, present ? "still there" : "not there",
                    call_name(atomic_load(&dead->intent)),
                    times_open(dead, i) > 0 ? " with it" : "");
        if (!present)
            continue;
        TALLY_CHECK(&run->tally, result.place == SCHEDQ_INFLIGHT, "pod-%u is stranded, %s", i,
                    schedq_place_name((schedq_place_t)result.place));
        unseen += result.place == SCHEDQ_INFLIGHT && !is_held(dead, i);
        TALLY_CHECK(&run->tally, actor_delete_named(own, i) == SCHEDQ_OK,
                    "pod-%u cannot be deleted", i);
    }
    return unseen;
}

static void
end_what_it_held(run_t *run, actor_t *own, const actor_t *dead)
{
    for (unsigned i = 0; i < atomic_load(&dead->held_count); i++) {
        unsigned intent = atomic_load(&dead->intent), index = dead->held[i].index;
        bool open = (intent == OP_DONE || intent == OP_DONE_MANY || intent == OP_FAIL) &&
                    times_open(dead, index) > 0;
        schedq_status_t status = schedq_done(own->worker, dead->held[i].token);
        TALLY_CHECK(&run->tally,
                    status == SCHEDQ_OK || status == SCHEDQ_GONE ||
                        (open && status == SCHEDQ_STALE),
                    "done of pod-%u, which the dead thread held, says %s", index,
                    schedq_status_name(status));
    }
}

static void
check_what_the_dead_left(run_t *run, actor_t *own, const actor_t *dead)
{
    unsigned unseen = check_names(run, own, dead), may = may_hold_unseen(dead);
    TALLY_CHECK(&run->tally, unseen <= may,
                "%u pods in flight that nobody popped; the dead thread may hold %u", unseen, may);
    end_what_it_held(run, own, dead);
}

/* A timer thread that stands still cannot be joined: then the queue must refuse to end. */
static void
destroy(run_t *run, actor_t *own, const actor_t *dead)
{
    bool timer_is_dead = dead == &run->timer;
    if (!timer_is_dead)
        schedq_stop(run->queue);
    schedq_status_t status = schedq_worker_unregister(own->worker);
    TALLY_CHECK(&run->tally, status == SCHEDQ_OK, "schedq_worker_unregister says %s",
                schedq_status_name(status));
    for (unsigned i = 0; i < run->actor_count; i++) {
        if (run->actors[i].worker != own->worker)
            (void)schedq_worker_unregister(run->actors[i].worker);
    }
    status = schedq_destroy_with_pods(run->queue, NULL, 0);
    TALLY_CHECK(&run->tally, status == (timer_is_dead ? SCHEDQ_BUSY : SCHEDQ_OK),
                "schedq_destroy says %s", schedq_status_name(status));
}

static bool
settle_here(run_t *run, actor_t *dead)
{
    actor_t *own = &run->settler;
    if (!join(run, dead, 0, FIRST_SLEEPER) || !obtain_worker(run, own, dead))
        return false;
    take_all(own);
    set_free(run, own, dead);
    use_every_name_again(own);
    set_free(run, own, dead);
    if (has_sleepers(run, dead))
        hand_over(run, own);
    schedq_close(run->queue);
    if (!join(run, dead, FIRST_SLEEPER, run->actor_count))
        return false;
    TALLY_CHECK(&run->tally, actor_try_pop(own) == SCHEDQ_CLOSED,
                "a pod is left that all sleepers overlooked");
    actor_finish_held(own);
    if (dead != NULL)
        check_what_the_dead_left(run, own, dead);
    else
        check_nothing_is_left(run, own);
    destroy(run, own, dead);
    return true;
}

typedef struct job {
    run_t *run;
    actor_t *dead;
} job_t;

static void *
settler_main(void *argument)
{
    job_t *job = argument;
    run_enter_thread();
    return settle_here(job->run, job->dead) ? job : NULL;
}

bool
settle(run_t *run, actor_t *dead)
{
    static job_t job; /* outlives a settler that hangs */
    pthread_t thread;
    void *result = NULL;
    job = (job_t){run, dead};
    atomic_store(&run->phase, PHASE_DRAINING);
    if (pthread_create(&thread, NULL, settler_main, &job) != 0 || !run_join(run, thread, &result))
        tally_violation(&run->tally, "the queue cannot be settled; the settler is in %s",
                        call_name(atomic_load(&run->settler.ice.call)));
    return result != NULL;
}
