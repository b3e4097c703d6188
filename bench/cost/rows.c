/* The steps, the workloads that are made of them, and the rows. */
#include "play.h"

#include "clock.h"
#include "gangs.h"

#include <stdio.h>
#include <string.h>

enum {
    BATCH = 32,
    CANDIDATES = 64, /* a call */
    JOB_PODS = 100,  /* of a label */
    OTHERS = 8,      /* priorities of the pods that stay: below that of a group */
    GROUP_PRIORITY = 1000000,
    NAME_LENGTH = 22,
    NAME_ROOM = 32,
};

#define JOB UINT64_MAX /* a label; each worker has one, downwards */
#define BACKOFF_OVER_NS INT64_C(2000000000)

/* ---- names, priorities ----------------------------------------------------------------------- */

static const char *
name_of(uint64_t number, char text[NAME_ROOM])
{
    snprintf(text, NAME_ROOM, "default/pod-%010llu", (unsigned long long)number);
    return text;
}

static int32_t
priority_of(const struct play *play, uint64_t number)
{
    return (int32_t)(number % play->row->priorities);
}

static schedq_pod_spec_t
spec_of(uint64_t number, int32_t priority)
{
    return (schedq_pod_spec_t){
        .struct_size = sizeof(schedq_pod_spec_t), .object = number + 1, .priority = priority};
}

/* What the brackets themselves cost. */
static uint64_t
call_nothing(struct play *play, unsigned worker)
{
    (void)worker;
    play_begin(play);
    play_end(play);
    return 1;
}

/* ---- adding ---------------------------------------------------------------------------------- */

static void
add_labelled(struct play *play, unsigned worker, int32_t priority, uint64_t label)
{
    char name[NAME_ROOM];
    uint64_t number = play->next++;
    schedq_pod_spec_t spec = spec_of(number, priority);
    bool right;

    spec.label = label;

    name_of(number, name);
    play->hands[worker].number = number;
    if (play->bare != NULL) {
        right = MEASURED(play, bare_add(play->bare, name, NAME_LENGTH, priority, number + 1)) ==
                BARE_OK;
    } else {
        right = MEASURED(play, schedq_add(play->workers[worker], name, NAME_LENGTH, &spec, NULL)) ==
                SCHEDQ_OK;
    }
    play_require(right, play, "add");
}

static void
add_pod(struct play *play, unsigned worker, int32_t priority)
{
    add_labelled(play, worker, priority, play->row->labelled ? 1 + play->next / JOB_PODS : 0);
}

static uint64_t
add_job(struct play *play, unsigned worker)
{
    for (unsigned i = 0; i < JOB_PODS; i++) {
        add_labelled(play, worker, priority_of(play, i), JOB - worker);
    }
    return JOB_PODS;
}

/* Behind a backlog in the highest band, which so stays as long as it is. */
static uint64_t
add(struct play *play, unsigned worker)
{
    add_pod(play, worker, (int32_t)play->row->priorities - 1);
    return 1;
}

/* To each band in turn: those above the lowest run empty, and most pods are popped at once. */
static uint64_t
add_spread(struct play *play, unsigned worker)
{
    add_pod(play, worker, priority_of(play, play->next));
    return 1;
}

static uint64_t
add_some(struct play *play, unsigned worker)
{
    for (unsigned i = 0; i < play->each; i++) {
        (void)add(play, worker);
    }
    return play->each;
}

/* Above all that stay: these are what the group's next pops take. */
static uint64_t
add_group(struct play *play, unsigned worker)
{
    for (unsigned i = 0; i < play->each; i++) {
        add_pod(play, worker, GROUP_PRIORITY);
    }
    return play->each;
}

static uint64_t
add_many(struct play *play, unsigned worker)
{
    char names[BATCH * NAME_LENGTH + NAME_ROOM];
    schedq_add_item_t items[BATCH];
    uint8_t statuses[BATCH];

    for (unsigned i = 0; i < BATCH; i++) {
        items[i] = (schedq_add_item_t){i * NAME_LENGTH, NAME_LENGTH,
                                       spec_of(play->next, (int32_t)play->row->priorities - 1)};
        name_of(play->next++, names + items[i].name_offset);
    }
    schedq_status_t status =
        MEASURED(play, schedq_add_many(play->workers[worker], names, sizeof names, items, BATCH,
                                       NULL, statuses, NULL));
    play_require(status == SCHEDQ_OK, play, "schedq_add_many");
    return BATCH;
}

/* ---- popping, ending ------------------------------------------------------------------------- */

/* True: the next place of the hand has a pod; false: there was none. */
static bool
took_pod(struct play *play, unsigned worker)
{
    struct hand *hand = &play->hands[worker];
    bare_popped_t *bare = &hand->bare[hand->count];
    schedq_popped_t *popped = &hand->popped[hand->count];
    schedq_worker_t *own = play->workers[worker];
    bare_t *queue = play->bare;

    if (queue != NULL) {
        bare_status_t status = MEASURED(play, bare_try_pop(queue, bare));

        play_require(status == BARE_OK || status == BARE_EMPTY, play, "pop");
        return status == BARE_OK;
    }
    schedq_status_t status = MEASURED(play, schedq_try_pop(own, popped));

    play_require(status == SCHEDQ_OK || status == SCHEDQ_EMPTY, play, "pop");
    return status == SCHEDQ_OK;
}

static void
pop_pod(struct play *play, unsigned worker)
{
    play_require(took_pod(play, worker), play, "pop");
    play->hands[worker].count++;
}

static uint64_t
pop(struct play *play, unsigned worker)
{
    pop_pod(play, worker);
    return 1;
}

static uint64_t
pop_group(struct play *play, unsigned worker)
{
    for (unsigned i = 0; i < play->each; i++) {
        pop_pod(play, worker);
    }
    return play->each;
}

static uint64_t
pop_many(struct play *play, unsigned worker)
{
    struct hand *hand = &play->hands[worker];
    size_t count = 0;

    schedq_status_t status =
        MEASURED(play, schedq_try_pop_many(play->workers[worker], hand->popped, BATCH, &count));

    hand->count = (unsigned)count;
    play_require(status == SCHEDQ_OK && count == BATCH, play, "schedq_try_pop_many");
    return count;
}

static uint64_t
pop_nothing(struct play *play, unsigned worker)
{
    play_require(!took_pod(play, worker), play, "a pop of an empty queue");
    return 1;
}

/* Of all that the worker has in its hands. */
static uint64_t
done(struct play *play, unsigned worker)
{
    struct hand *hand = &play->hands[worker];
    uint64_t count = hand->count;

    while (hand->count > 0) {
        hand->count--;
        if (play->bare != NULL) {
            play_begin(play);
            bare_done(play->bare, hand->bare[hand->count].pod);
            play_end(play);
            continue;
        }
        schedq_status_t status =
            MEASURED(play, schedq_done(play->workers[worker], hand->popped[hand->count].token));

        play_require(status == SCHEDQ_OK, play, "schedq_done");
    }
    return count;
}

static uint64_t
done_many(struct play *play, unsigned worker)
{
    struct hand *hand = &play->hands[worker];
    schedq_token_t tokens[BATCH];

    for (unsigned i = 0; i < BATCH; i++) {
        tokens[i] = hand->popped[i].token;
    }
    hand->count = 0;
    schedq_status_t status =
        MEASURED(play, schedq_done_many(play->workers[worker], tokens, BATCH, NULL));

    play_require(status == SCHEDQ_OK, play, "schedq_done_many");
    return BATCH;
}

static uint64_t
delete_own(struct play *play, unsigned worker)
{
    char name[NAME_ROOM];
    bool right;

    name_of(play->hands[worker].number, name);
    if (play->bare != NULL) {
        right = MEASURED(play, bare_delete(play->bare, name, NAME_LENGTH)) == BARE_OK;
    } else {
        right = MEASURED(play, schedq_delete_name(play->workers[worker], name, NAME_LENGTH,
                                                  NULL)) == SCHEDQ_OK;
    }
    play_require(right, play, "delete");
    return 1;
}

static uint64_t
cancel_job(struct play *play, unsigned worker)
{
    size_t count;

    play_require(MEASURED(play, schedq_label_cancel(play->workers[worker], JOB - worker, NULL, 0,
                                                    &count)) == SCHEDQ_OK &&
                     count == JOB_PODS,
                 play, "label_cancel");
    return JOB_PODS;
}

/* ---- updates --------------------------------------------------------------------------------- */

static void
update_pod(struct play *play, unsigned worker, uint64_t number, int32_t priority)
{
    char name[NAME_ROOM];
    schedq_pod_spec_t spec = spec_of(number, priority);
    bool right;

    name_of(number, name);
    if (play->bare != NULL) {
        right = MEASURED(play, bare_update(play->bare, name, NAME_LENGTH, priority, number + 1)) ==
                BARE_OK;
    } else {
        right = MEASURED(play, schedq_update(play->workers[worker], name, NAME_LENGTH, &spec,
                                             number + 1, NULL, 0, NULL)) == SCHEDQ_OK;
    }
    play_require(right, play, "update");
}

/* Every pending pod in turn, in an order that is not that of their names. */
static uint64_t
next_pending(struct play *play)
{
    return play->turn++ * 389 % play->row->pending;
}

static uint64_t
update_same(struct play *play, unsigned worker)
{
    uint64_t number = next_pending(play);

    update_pod(play, worker, number, priority_of(play, number));
    return 1;
}

/* Each time round all of them have another priority. */
static uint64_t
update_priority(struct play *play, unsigned worker)
{
    uint64_t again = play->turn / play->row->pending;
    uint64_t number = next_pending(play);

    update_pod(play, worker, number, priority_of(play, number + again + 1));
    return 1;
}

/* A parked pod's update that could help it. */
static uint64_t
update_parked(struct play *play, unsigned worker)
{
    static const schedq_event_t event = SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL;
    struct hand *hand = &play->hands[worker];

    for (unsigned i = 0; i < play->each; i++) {
        uint64_t number = hand->refs[i];
        schedq_pod_spec_t spec = spec_of(number, GROUP_PRIORITY);
        schedq_result_t result;
        char name[NAME_ROOM];

        name_of(number, name);
        schedq_status_t status =
            MEASURED(play, schedq_update(play->workers[worker], name, NAME_LENGTH, &spec,
                                         number + 1, &event, 1, &result));

        play_require(status == SCHEDQ_OK && result.place == SCHEDQ_ACTIVE, play,
                     "the update of a parked pod");
    }
    return play->each;
}

/* ---- failures, events, time ------------------------------------------------------------------ */

/* Fails all that the worker has in its hands; notes their numbers. */
static uint64_t
fail_all(struct play *play, unsigned worker, uint64_t rejectors, enum schedq_place place)
{
    struct hand *hand = &play->hands[worker];
    uint64_t count = hand->count;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    failure.unschedulable = rejectors;
    if (play->row->workload->decide) {
        failure.place = (uint8_t)place;
    }
    while (hand->count > 0) {
        schedq_popped_t *popped = &hand->popped[--hand->count];
        schedq_result_t result;

        failure.judged_up_to = popped->seen;
        schedq_status_t status =
            MEASURED(play, schedq_fail(play->workers[worker], &popped->token, &failure, &result));

        play_require(status == SCHEDQ_OK && result.place == place, play, "a failure");
        hand->refs[hand->count] = play->row->workload->decide ? result.ref : popped->object - 1;
    }
    return count;
}

static uint64_t
fail_parked(struct play *play, unsigned worker)
{
    return fail_all(play, worker, play->waits, SCHEDQ_PARKED);
}

static uint64_t
fail_error(struct play *play, unsigned worker)
{
    return fail_all(play, worker, 0, SCHEDQ_ERROR_BACKOFF);
}

static uint64_t
pass_backoff(struct play *play, unsigned worker)
{
    (void)play;
    (void)worker;
    clock_pass(BACKOFF_OVER_NS);
    return 0;
}

static void
send_event(struct play *play, unsigned worker, schedq_event_t event, schedq_result_t *result)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;

    change.event = event;
    change.new_object = 1;
    schedq_status_t status = MEASURED(play, schedq_notify(play->workers[worker], &change, result));

    play_require(status == SCHEDQ_OK, play, "schedq_notify");
}

static uint64_t
event_activates(struct play *play, unsigned worker)
{
    schedq_result_t result;

    send_event(play, worker, SCHEDQ_EVENT_NODE_ADD, &result);
    play_require(result.to_active == GROUP, play, "an event");
    return result.to_active;
}

static uint64_t
event_backs_off(struct play *play, unsigned worker)
{
    schedq_result_t result;

    send_event(play, worker, SCHEDQ_EVENT_NODE_ADD, &result);
    play_require(result.to_backoff == GROUP, play, "an event");
    return result.to_backoff;
}

static uint64_t
event_moves_none(struct play *play, unsigned worker, schedq_event_t event)
{
    schedq_result_t result;

    send_event(play, worker, event, &result);
    play_require(result.to_active + result.to_backoff == 0, play, "an event");
    return 1;
}

static uint64_t
event_for_none(struct play *play, unsigned worker)
{
    return event_moves_none(play, worker, SCHEDQ_EVENT_NODE_DELETE);
}

static uint64_t
event_for_left(struct play *play, unsigned worker)
{
    return event_moves_none(play, worker, SCHEDQ_EVENT_NODE_ADD);
}

static uint64_t
event_is_skipped(struct play *play, unsigned worker)
{
    schedq_result_t result;

    send_event(play, worker, SCHEDQ_EVENT_NODE_UPDATE_LABEL, &result);
    play_require(result.to_active + result.to_backoff == 0, play, "an event");
    return play->row->parked;
}

static uint64_t
serve_time(struct play *play, unsigned worker, uint32_t pods)
{
    schedq_result_t result;
    schedq_status_t status = MEASURED(play, schedq_tick(play->workers[worker], NULL, &result));

    play_require(status == SCHEDQ_OK && result.to_active == pods, play, "schedq_tick");
    return pods;
}

static uint64_t
tick(struct play *play, unsigned worker)
{
    return serve_time(play, worker, GROUP);
}

static uint64_t
tick_idle(struct play *play, unsigned worker)
{
    return serve_time(play, worker, 0) + 1;
}

/* ---- the host decides ------------------------------------------------------------------------ */

static uint64_t
candidates(struct play *play, unsigned worker)
{
    schedq_candidate_t found[CANDIDATES];
    schedq_query_t query = SCHEDQ_QUERY_INIT;
    uint64_t all = 0;

    query.rejectors = play->rejectors[0];
    for (;;) {
        size_t count = 0;

        schedq_status_t status = MEASURED(
            play, schedq_candidates(play->workers[worker], &query, found, CANDIDATES, &count));

        if (status == SCHEDQ_EMPTY) {
            break;
        }
        play_require(status == SCHEDQ_OK, play, "schedq_candidates");
        all += count;
    }
    play_require(all >= play->row->parked, play, "schedq_candidates");
    return all;
}

static uint64_t
apply(struct play *play, unsigned worker)
{
    for (unsigned i = 0; i < play->each; i++) {
        schedq_decision_t decision = {.struct_size = sizeof(schedq_decision_t),
                                      .ref = play->hands[worker].refs[i],
                                      .place = SCHEDQ_ACTIVE,
                                      .event = SCHEDQ_EVENT_WILDCARD};

        schedq_status_t status =
            MEASURED(play, schedq_apply(play->workers[worker], &decision, NULL));

        play_require(status == SCHEDQ_OK, play, "schedq_apply");
    }
    return play->each;
}

/* ---- looking --------------------------------------------------------------------------------- */

static schedq_pod_t
handle_of(struct play *play, unsigned worker, uint64_t number)
{
    char name[NAME_ROOM];
    schedq_result_t result;

    play_require(schedq_find(play->workers[worker], name_of(number, name), NAME_LENGTH, &result) ==
                     SCHEDQ_OK,
                 play, "schedq_find");
    return result.pod;
}

static uint64_t
position(struct play *play, unsigned worker)
{
    schedq_pod_t pod = handle_of(play, worker, next_pending(play));
    uint64_t lower, upper;

    schedq_status_t status =
        MEASURED(play, schedq_position(play->workers[worker], pod, &lower, &upper));

    play_require(status == SCHEDQ_OK && lower == upper, play, "schedq_position");
    return 1;
}

static int
count_visit(void *ctx, const schedq_pod_info_t *pod)
{
    uint64_t *visits = ctx;

    (void)pod;
    (*visits)++;
    return 1;
}

static uint64_t
peek(struct play *play, unsigned worker)
{
    uint64_t visits = 0;

    schedq_status_t status =
        MEASURED(play, schedq_peek(play->workers[worker], count_visit, &visits));

    play_require(status == SCHEDQ_OK && visits == 1, play, "schedq_peek");
    return visits;
}

static uint64_t
peek_many(struct play *play, unsigned worker)
{
    uint64_t visits = 0;

    schedq_status_t status =
        MEASURED(play, schedq_peek_many(play->workers[worker], BATCH, count_visit, &visits));

    play_require(status == SCHEDQ_OK && visits == BATCH, play, "schedq_peek_many");
    return visits;
}

/* A parked pod. */
static uint64_t
explain(struct play *play, unsigned worker)
{
    uint64_t number = play->row->pending + play->turn++ % play->row->parked;
    schedq_pod_t pod = handle_of(play, worker, number);
    schedq_explanation_t explanation = SCHEDQ_EXPLANATION_INIT;

    schedq_status_t status =
        MEASURED(play, schedq_explain(play->workers[worker], pod, &explanation));

    play_require(status == SCHEDQ_OK && explanation.place == SCHEDQ_PARKED, play, "schedq_explain");
    return 1;
}

/* ---- what lies in the queue ------------------------------------------------------------------ */

static uint64_t
some_rejectors(const struct play *play, uint64_t number)
{
    uint64_t set = 0;

    for (unsigned i = 0; i < REJECTORS; i++) {
        set |= number >> i & 1 ? play->rejectors[i] : 0;
    }
    return set;
}

/* By the workers in turn, as everything. */
static unsigned
turn_of(const struct play *play, uint64_t number)
{
    return (unsigned)(number % play->worker_count);
}

/* One pod after the other; `rejectors` of each are a number's bits, 1.. `sets`. */
static void
park(struct play *play, uint32_t count, uint32_t sets)
{
    for (uint32_t i = 0; i < count; i++) {
        unsigned worker = turn_of(play, i);

        add_pod(play, worker, GROUP_PRIORITY);
        pop_pod(play, worker);
        (void)fail_all(play, worker, some_rejectors(play, i % sets + 1), SCHEDQ_PARKED);
    }
}

static void
open_pending(struct play *play)
{
    for (uint32_t i = 0; i < play->row->pending; i++) {
        add_pod(play, turn_of(play, i), priority_of(play, i));
    }
    park(play, play->row->parked, 1);
}

/* Each priority is higher than those before, so that no pop meets them. */
static void
open_after_priorities(struct play *play)
{
    for (uint32_t i = 0; i < play->row->before; i++) {
        unsigned worker = turn_of(play, i);

        add_pod(play, worker, (int32_t)(i + OTHERS));
        pop_pod(play, worker);
        (void)done(play, worker);
    }
    play->next = 0;
    open_pending(play);
}

/* Rejector sets come and go, one pod after the other; `all`: what is in each of them. */
static void
pass_sets(struct play *play, uint64_t all)
{
    for (uint32_t i = 0; i < play->row->before; i++) {
        unsigned worker = turn_of(play, i);

        add_pod(play, worker, GROUP_PRIORITY);
        pop_pod(play, worker);
        (void)fail_all(play, worker, some_rejectors(play, i + 1) | all, SCHEDQ_PARKED);
        (void)delete_own(play, worker);
    }
    play->next = 0;
}

/* Then some stay. */
static void
open_after_rejectors(struct play *play)
{
    pass_sets(play, 0);
    park(play, play->row->parked, play->row->before);
}

/* The event would have concerned all of them. */
static void
open_after_waiting_sets(struct play *play)
{
    pass_sets(play, play->waits);
    park(play, play->row->parked, 1);
}

static void
open_nothing(struct play *play)
{
    (void)play;
}

/* ---- workloads ------------------------------------------------------------------------------- */

enum { S0 = 1, S1 = 2, S2 = 4, S3 = 8, S4 = 16, S5 = 32, S6 = 64 };

/* A group of pods that fail; what becomes of them ends with ENDED. */
#define FAILED(fail)                      \
    {add_group, EACH}, {pop_group, EACH}, \
    {                                     \
        fail, EACH                        \
    }
#define ENDED          \
    {pop_group, EACH}, \
    {                  \
        done, EACH     \
    }
#define WORKLOAD(name, open, ...) \
    static const struct workload name = {open, {__VA_ARGS__}, false, false}
#define GROUP_WORKLOAD(name, decides, ...) \
    static const struct workload name = {open_pending, {__VA_ARGS__}, true, decides}

WORKLOAD(nothing, open_nothing, {call_nothing, EACH});
WORKLOAD(life, open_pending, {add, EACH}, {pop, EACH}, {done, EACH});
WORKLOAD(spread, open_pending, {add_spread, EACH}, {pop, EACH}, {done, EACH});
WORKLOAD(old_life, open_after_priorities, {add_spread, EACH}, {pop, EACH}, {done, EACH});
WORKLOAD(batch, open_pending, {add_many, EACH}, {pop_many, EACH}, {done_many, EACH});
WORKLOAD(same, open_pending, {update_same, EACH});
WORKLOAD(other, open_pending, {update_priority, EACH});
WORKLOAD(removal, open_pending, {add, EACH}, {delete_own, EACH});
WORKLOAD(job, open_pending, {add_job, EACH}, {cancel_job, EACH});
WORKLOAD(empty, open_nothing, {pop_nothing, EACH});
WORKLOAD(old_empty, open_after_priorities, {pop_nothing, EACH});
WORKLOAD(none, open_pending, {event_for_none, EACH});
WORKLOAD(skips, open_pending, {event_is_skipped, ONE});
WORKLOAD(old_none, open_after_rejectors, {event_for_none, EACH});
WORKLOAD(left, open_after_waiting_sets, {event_for_left, EACH});
WORKLOAD(idle, open_pending, {tick_idle, EACH});
WORKLOAD(positions, open_pending, {position, EACH});
WORKLOAD(peeks, open_pending, {peek, EACH});
WORKLOAD(peeks_many, open_pending, {peek_many, EACH});
WORKLOAD(gang, gangs_open, {gang_join, EACH}, {gang_pop, EACH}, {gang_fail, EACH},
         {gang_reject, EACH}, {gang_event, ONE}, {gang_pop, EACH}, {gang_end, EACH});
WORKLOAD(explaining, open_pending, {explain, EACH});
GROUP_WORKLOAD(split, false, {add_some, FIRST_HALF}, {pop_group, SECOND_HALF}, {done, SECOND_HALF});
GROUP_WORKLOAD(parking, false, FAILED(fail_parked), {pass_backoff, ONE}, {event_activates, ONE},
               ENDED);
GROUP_WORKLOAD(late, false, FAILED(fail_parked), {event_backs_off, ONE}, {pass_backoff, ONE},
               {tick, ONE}, ENDED);
GROUP_WORKLOAD(errors, false, FAILED(fail_error), {pass_backoff, ONE}, {tick, ONE}, ENDED);
GROUP_WORKLOAD(helped, false, FAILED(fail_parked), {pass_backoff, ONE}, {update_parked, EACH},
               ENDED);
GROUP_WORKLOAD(looking, true, {candidates, ONE});
GROUP_WORKLOAD(applying, true, FAILED(fail_parked), {apply, EACH}, ENDED);

const struct row rows[] = {
    {.name = "nothing", .workload = &nothing, .subjects = LOCKFREE, .measured = S0},

    {"add", &life, ALL, S0, .pending = 1000, .priorities = 8},
    {"pop", &life, ALL, S1, .pending = 1000, .priorities = 8},
    {"done", &life, ALL, S2, .pending = 1000, .priorities = 8},
    {"life", &life, ALL, S0 | S1 | S2, .pending = 1000, .priorities = 8},
    {"life/100k", &life, ALL, S0 | S1 | S2, .pending = 100000, .priorities = 8},
    {"life/relaxed", &life, LOCKFREE, S0 | S1 | S2, .pending = 1000, .priorities = 8,
     .relaxed = true},
    {"life/spread", &spread, ALL, S0 | S1 | S2, .pending = 1000, .priorities = 8},
    {"life/1k-priorities", &spread, ALL, S0 | S1 | S2, .pending = 1000, .priorities = 1000},
    {"life/split", &split, ALL, S0 | S1 | S2, .pending = 1000, .priorities = 8},
    {"batch/add", &batch, ENGINES, S0, .pending = 1000, .priorities = 8},
    {"batch/pop", &batch, ENGINES, S1, .pending = 1000, .priorities = 8},
    {"batch/done", &batch, ENGINES, S2, .pending = 1000, .priorities = 8},
    {"batch/life", &batch, ENGINES, S0 | S1 | S2, .pending = 1000, .priorities = 8},

    {"update/same", &same, ALL, S0, .pending = 1000, .priorities = 8},
    {"update/priority", &other, ALL, S0, .pending = 1000, .priorities = 8},
    {"update/parked", &helped, ENGINES, S4, .pending = 1000, .priorities = 8, .parked = 1000},
    {"delete", &removal, ALL, S1, .pending = 1000, .priorities = 8},

    {"label/add", &job, ENGINES, S0, .pending = 1000, .priorities = 8, .calls = 4,
     .labelled = true},
    {"label/cancel/100-of-1k", &job, ENGINES, S1, .pending = 1000, .priorities = 8, .calls = 4,
     .labelled = true},
    {"label/cancel/100-of-1M", &job, ENGINES, S1, .pending = 1000000, .priorities = 8, .calls = 4,
     .labelled = true, .alone = true},

    {"fail/parks", &parking, ENGINES, S2, .pending = 1000, .priorities = 8, .parked = 1000},
    {"fail/backs-off", &errors, ENGINES, S2, .pending = 1000, .priorities = 8, .parked = 1000},
    {"event/none", &none, ENGINES, S0, .pending = 1000, .priorities = 8, .parked = 1000},
    {"event/activates", &parking, ENGINES, S4, .pending = 1000, .priorities = 8, .parked = 1000},
    {"event/backs-off", &late, ENGINES, S3, .pending = 1000, .priorities = 8, .parked = 1000},
    {"event/skips", &skips, ENGINES, S0, .pending = 1000, .priorities = 8, .parked = 1000,
     .calls = 16, .asks = true},
    {"event/skips/10k", &skips, ENGINES, S0, .pending = 1000, .priorities = 8, .parked = 10000,
     .calls = 16, .asks = true, .alone = true},
    {"tick/none", &idle, ENGINES, S0, .pending = 1000, .priorities = 8, .parked = 1000},
    {"tick/backoff", &late, ENGINES, S5, .pending = 1000, .priorities = 8, .parked = 1000},
    {"tick/error", &errors, ENGINES, S4, .pending = 1000, .priorities = 8, .parked = 1000},
    {"candidates", &looking, ENGINES, S0, .pending = 1000, .priorities = 8, .parked = 1000},
    {"apply", &applying, ENGINES, S3, .pending = 1000, .priorities = 8, .parked = 1000},

    {"position", &positions, ENGINES, S0, .pending = 1000, .priorities = 8},
    {"position/100k", &positions, ENGINES, S0, .pending = 100000, .priorities = 8, .calls = 64},
    {"peek", &peeks, ENGINES, S0, .pending = 1000, .priorities = 8},
    {"peek_many", &peeks_many, ENGINES, S0, .pending = 1000, .priorities = 8},
    {"explain", &explaining, ENGINES, S0, .pending = 1000, .priorities = 8, .parked = 1000},

    {"pop/empty", &empty, ALL, S0, .priorities = 1},
    {"pop/empty/6k-before", &old_empty, ENGINES, S0, .priorities = 1, .before = 6000, .calls = 64,
     .alone = true},
    {"pop/empty/60k-before", &old_empty, ENGINES, S0, .priorities = 1, .before = 60000, .calls = 64,
     .alone = true, .slow = true},
    {"pop+done/6k-before", &old_life, ENGINES, S1 | S2, .pending = 8, .priorities = 8,
     .before = 6000, .calls = 64, .alone = true},
    {"pop+done/60k-before", &old_life, ENGINES, S1 | S2, .pending = 8, .priorities = 8,
     .before = 60000, .calls = 64, .alone = true, .slow = true},
    {"pop+done/10k-priorities", &spread, ENGINES, S1 | S2, .pending = 10000, .priorities = 10000,
     .calls = 64},
    {"event/none/5k-sets-before", &old_none, ENGINES, S0, .priorities = 1, .parked = 1000,
     .before = 5000, .calls = 256, .alone = true},
    {"event/none/sets-left", &left, ENGINES, S0, .priorities = 1, .parked = 1000, .before = 100,
     .calls = 256, .alone = true},

    {"group/join/1", &gang, ENGINES, S0, .size = 1},
    {"group/join/8", &gang, ENGINES, S0, .size = 8, .calls = 256},
    {"group/join/64", &gang, ENGINES, S0, .size = 64, .calls = 64},
    {"group/join/512", &gang, ENGINES, S0, .size = 512, .calls = 4, .alone = true},
    {"group/pop/1", &gang, ENGINES, S1, .size = 1},
    {"group/pop/8", &gang, ENGINES, S1, .size = 8, .calls = 256},
    {"group/pop/64", &gang, ENGINES, S1, .size = 64, .calls = 64},
    {"group/pop/512", &gang, ENGINES, S1, .size = 512, .calls = 4, .alone = true},
    {"group/fail/1", &gang, ENGINES, S2, .size = 1},
    {"group/fail/8", &gang, ENGINES, S2, .size = 8, .calls = 256},
    {"group/fail/64", &gang, ENGINES, S2, .size = 64, .calls = 64},
    {"group/fail/512", &gang, ENGINES, S2, .size = 512, .calls = 4, .alone = true},
    {"group/reject/1", &gang, ENGINES, S3, .size = 1},
    {"group/reject/8", &gang, ENGINES, S3, .size = 8, .calls = 256},
    {"group/reject/64", &gang, ENGINES, S3, .size = 64, .calls = 64},
    {"group/reject/512", &gang, ENGINES, S3, .size = 512, .calls = 4, .alone = true},
    {"group/event/1", &gang, ENGINES, S4, .size = 1},
    {"group/event/8", &gang, ENGINES, S4, .size = 8, .calls = 256},
    {"group/event/64", &gang, ENGINES, S4, .size = 64, .calls = 64},
    {"group/event/512", &gang, ENGINES, S4, .size = 512, .calls = 4, .alone = true},
    {"group/end/1", &gang, ENGINES, S6, .size = 1},
    {"group/end/8", &gang, ENGINES, S6, .size = 8, .calls = 256},
    {"group/end/64", &gang, ENGINES, S6, .size = 64, .calls = 64},
    {"group/end/512", &gang, ENGINES, S6, .size = 512, .calls = 4, .alone = true},
    {"group/join/64-beside-10k", &gang, ENGINES, S0, .size = 64, .before = 10000, .calls = 4,
     .alone = true, .slow = true},
    {"group/pop/64-beside-10k", &gang, ENGINES, S1, .size = 64, .before = 10000, .calls = 4,
     .alone = true, .slow = true},
    {"group/event/64-beside-10k", &gang, ENGINES, S4, .size = 64, .before = 10000, .calls = 4,
     .alone = true, .slow = true},
    {"group/end/64-beside-10k", &gang, ENGINES, S6, .size = 64, .before = 10000, .calls = 4,
     .alone = true, .slow = true},
};
const unsigned row_count = sizeof rows / sizeof rows[0];
