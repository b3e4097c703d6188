/*
 * One public call, or a few that belong together, as it is recorded.
 *
 * An operation says which pods and tokens it means by the operation that made them, so that it
 * means the same when others are left out; one whose pods and tokens do not exist then is left out
 * too. All its details come from `random`, drawn again from the start each time it runs.
 */
#ifndef DIFFERENTIAL_OPERATION_H
#define DIFFERENTIAL_OPERATION_H

#include "settings.h"
#include "world.h"

#define TARGETS_MAX 8

typedef struct operation {
    uint64_t random;
    uint32_t number; /* in its round */
    uint32_t name;
    uint32_t targets[TARGETS_MAX]; /* references, see world.h */
    uint32_t guest;                /* the same: of a cycle; NOTHING: none */
    uint8_t target_count;
    uint8_t kind; /* in operation_kinds */
    uint8_t worker;
} operation_t;

enum targets {
    TARGETS_NONE,
    TARGETS_NAME, /* operation.name */
    TARGETS_LIFE, /* one pod, most often one that is there */
    TARGETS_LIVES,
    TARGETS_CYCLE, /* one token, most often one that was not used */
    TARGETS_CYCLES
};

/** Mixtures of a round change: pods come in, pods go out. */
enum flow { FLOW_IN = -1, FLOW_NONE = 0, FLOW_OUT = 1 };

/* Who decides: in rounds of the other kind the call is refused, and rare. */
enum mode { MODE_ANY, MODE_CALLBACKS, MODE_HOST };

typedef struct operation_kind {
    const char *name;
    uint32_t weight;   /* how often, relative to the others */
    unsigned features; /* drawn if the round has one of them */
    enum mode mode;
    enum flow flow;
    enum targets targets;
    void (*run)(world_t *world, const operation_t *operation);
} operation_kind_t;

extern const operation_kind_t operation_kinds[];
extern const uint32_t operation_kind_count;

/** Its own random numbers, from the start. */
static inline chance_t
operation_chance(const operation_t *operation)
{
    return (chance_t){operation->random};
}

/*
 * Each of these makes its calls on both sides, compares the answers and takes down what they mean
 * for later ones.
 */
void run_add(world_t *world, const operation_t *operation);
void run_add_many(world_t *world, const operation_t *operation);
void run_update(world_t *world, const operation_t *operation);
void run_bad_spec(world_t *world, const operation_t *operation);
void run_try_pop(world_t *world, const operation_t *operation);
void run_pop(world_t *world, const operation_t *operation);
void run_pop_many(world_t *world, const operation_t *operation);
void run_cancel(world_t *world, const operation_t *operation);
void run_descriptor(world_t *world, const operation_t *operation);
void run_done(world_t *world, const operation_t *operation);
void run_done_alone(world_t *world, const operation_t *operation);
void run_done_many(world_t *world, const operation_t *operation);
void run_token_alive(world_t *world, const operation_t *operation);
void run_forged_token(world_t *world, const operation_t *operation);
void run_delete_name(world_t *world, const operation_t *operation);
void run_delete_handle(world_t *world, const operation_t *operation);
void run_find(world_t *world, const operation_t *operation);
void run_get(world_t *world, const operation_t *operation);
void run_forged_handle(world_t *world, const operation_t *operation);
void run_activate(world_t *world, const operation_t *operation);
void run_clock(world_t *world, const operation_t *operation);
void run_tick(world_t *world, const operation_t *operation);
void run_stats(world_t *world, const operation_t *operation);
void run_reserve(world_t *world, const operation_t *operation);
void run_trim(world_t *world, const operation_t *operation);
void run_reregister(world_t *world, const operation_t *operation);
void run_extra_worker(world_t *world, const operation_t *operation);
void run_adopt(world_t *world, const operation_t *operation);
void run_close(world_t *world, const operation_t *operation);

void run_fail(world_t *world, const operation_t *operation);
void run_readd(world_t *world, const operation_t *operation);
void run_move(world_t *world, const operation_t *operation);
void run_storm(world_t *world, const operation_t *operation);
void run_gates(world_t *world, const operation_t *operation);
void run_define_event(world_t *world, const operation_t *operation);
void run_event_plugins(world_t *world, const operation_t *operation);
void run_late_name(world_t *world, const operation_t *operation);
void run_late_setup(world_t *world, const operation_t *operation);
void run_label(world_t *world, const operation_t *operation);
void run_group(world_t *world, const operation_t *operation);
void run_pop_group(world_t *world, const operation_t *operation);
void run_group_done(world_t *world, const operation_t *operation);
void run_hold(world_t *world, const operation_t *operation);
void run_release(world_t *world, const operation_t *operation);
void run_not_before(world_t *world, const operation_t *operation);
void run_nominate(world_t *world, const operation_t *operation);
void run_nominated(world_t *world, const operation_t *operation);
void run_peek(world_t *world, const operation_t *operation);
void run_peek_many(world_t *world, const operation_t *operation);
void run_explain(world_t *world, const operation_t *operation);
void run_reasons(world_t *world, const operation_t *operation);
void run_position(world_t *world, const operation_t *operation);
void run_snapshot(world_t *world, const operation_t *operation);
void run_watch(world_t *world, const operation_t *operation);
void run_metrics(world_t *world, const operation_t *operation);
void run_jump(world_t *world, const operation_t *operation);
void run_timer(world_t *world, const operation_t *operation);
void run_event_begin(world_t *world, const operation_t *operation);
void run_event_stamp(world_t *world, const operation_t *operation);
void run_candidates(world_t *world, const operation_t *operation);
void run_apply(world_t *world, const operation_t *operation);
void run_apply_many(world_t *world, const operation_t *operation);
void run_apply_walk(world_t *world, const operation_t *operation);

#endif
