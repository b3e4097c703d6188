/*
 * Handles that nobody was given: a guess may name a pod whose add has not returned (schedq.h). What
 * it does to that pod must not be counted twice, nor stay when the add is refused.
 */
#include "actor_calls.h"
#include "cluster.h"
#include "scenarios.h"
#include "world.h"

#define GUESSES 6
#define NODE 3

static struct ledger *const ledger = &world.ledger;

/* The handle of the first pod, which the guesses go on from. */
static uint64_t known;

static void
add_first(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    known = ledger->lives[0].handle;
}

static void
add_two(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_add(actor, 1, 1);
    known = ledger->lives[1].handle;
}

static void
add_refused(struct actor *actor)
{
    (void)actor_add(actor, 0, 2);
}

static void
add_end_and_readd(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    known = ledger->lives[0].handle;
    (void)actor_pop(actor);
    (void)actor_done(actor);
    (void)actor_readd(actor, 0);
}

static void
readd_refused(struct actor *actor)
{
    (void)actor_readd(actor, 0);
}

/* Records are numbered in turn; lives count from the first of a page. */
static schedq_pod_t
guess(unsigned i)
{
    return (schedq_pod_t){known + 1 + i};
}

static bool
is_told(schedq_pod_t pod)
{
    for (uint32_t i = 0; i < ledger->life_count; i++) {
        if (ledger->lives[i].handle == pod.bits) {
            return true;
        }
    }
    return false;
}

/* For each handle that nobody was told of yet. */
static void
call_guessed(struct actor *actor, op_kind_t kind)
{
    for (unsigned i = 0; i < GUESSES; i++) {
        const schedq_pod_t pod = guess(i);
        op_t op = {.kind = kind, .count = 1, .pods = &pod, .node = NODE};

        if (!is_told(pod)) {
            (void)act_run(actor, &op, (struct open_call){.kind = CALL_OTHER}, 0);
            ledger->sums.deletes += kind == OP_DELETE && op.status == SCHEDQ_OK;
        }
    }
}

static void
delete_guessed(struct actor *actor)
{
    call_guessed(actor, OP_DELETE);
}

static void
nominate_guessed(struct actor *actor)
{
    call_guessed(actor, OP_NOMINATE);
}

/* Its own description would come with the node. */
static void
add_nominated_refused(struct actor *actor)
{
    moment began = act_begin(actor, "add pod", (struct open_call){.kind = CALL_ADD, .key = 0});
    uint64_t object =
        ledger_attempt(ledger, (struct attempt){.key = 0, .priority = 2, .began = began});
    schedq_pod_spec_t spec = act_spec(actor, object);

    spec.nominated_node = NODE + 1;
    size_t length;
    const char *name = world_name(0, &length);
    schedq_status_t status = schedq_add(actor->worker, name, length, &spec, NULL);
    moment ended = act_end(actor, status);
    SIM_CHECK(status == SCHEDQ_EXISTS, "add returns %s", schedq_status_name(status));
    act_attempt_ends(ledger_attempt_of(ledger, object), status, ended);
    actor_nominate(actor, 0, NODE + 2);
}

static void
nominate_guessed_and_1(struct actor *actor)
{
    nominate_guessed(actor);
    actor_nominate(actor, 1, NODE + 3);
    actor_nominated(actor, NODE + 2);
    actor_nominated(actor, NODE + 3);
}

static void
activate_guessed(struct actor *actor)
{
    call_guessed(actor, OP_ACTIVATE);
}

#define GUESS(title, text, ...) SLEEPING(title, text, cluster_use_real_time, __VA_ARGS__)

const struct scenario guess_scenarios[] = {
    GUESS("guess_delete", "a guessed handle is deleted while its add is refused", add_first,
          add_refused, delete_guessed),
    GUESS("guess_nominate", "a guessed handle is nominated while its add is refused", add_first,
          add_refused, nominate_guessed),
    GUESS("guess_nominate_again", "the same, and the add came with a node", add_two,
          add_nominated_refused, nominate_guessed_and_1),
    GUESS("guess_activate", "a guessed handle is activated while its readd is refused",
          add_end_and_readd, readd_refused, activate_guessed),
    GUESS("guess_delete_readd", "a guessed handle is deleted while its readd is refused",
          add_end_and_readd, readd_refused, delete_guessed),
    {.name = NULL},
};
