/* Calls that keep pods back, and let them go. */
#include "actor_calls.h"

#include "cluster.h"
#include "world.h"

static struct ledger *const ledger = &world.ledger;

static void
keep(struct actor *actor, const schedq_pod_t *pod, uint32_t key, op_kind_t kind, int64_t until)
{
    op_t op = {.kind = kind, .pods = pod, .deadline_ns = until};
    struct keep *keep = ledger_keep(ledger, (struct keep){.handle = pod->bits,
                                                          .is_time = kind == OP_NOT_BEFORE,
                                                          .holds = kind == OP_HOLD,
                                                          .until = until});

    keep->began =
        act_begin(actor, op_name(kind), (struct open_call){.kind = CALL_OTHER, .key = key});
    schedq_status_t status = op_run(actor->worker, &op);
    moment ended = act_end(actor, status);

    act_check(actor, &op, 0);
    if (status == SCHEDQ_OK) {
        keep->ended = ended;
        keep->stays = op.result.place == SCHEDQ_HELD && (world.refusals >> SCHEDQ_NOMEM & 1) == 0;
        SIM_CHECK(op.result.pod.bits == pod->bits, "%s tells of another pod", op_name(kind));
    }
}

static void
find_and_keep(struct actor *actor, uint32_t key, op_kind_t kind, int64_t until)
{
    schedq_result_t result;

    if (act_find(actor, key, &result)) {
        keep(actor, &result.pod, key, kind, until);
    }
}

void
actor_hold(struct actor *actor, uint32_t key)
{
    find_and_keep(actor, key, OP_HOLD, 0);
}

void
actor_release(struct actor *actor, uint32_t key)
{
    find_and_keep(actor, key, OP_RELEASE, 0);
}

void
actor_not_before(struct actor *actor, uint32_t key, int64_t ns)
{
    find_and_keep(actor, key, OP_NOT_BEFORE, ns == 0 ? 0 : cluster_now() + ns);
}

void
actor_keep_back(struct actor *actor, uint32_t key)
{
    switch (random_below(sim_random(), 4)) {
    case 0:
        actor_hold(actor, key);
        break;
    case 1:
        actor_release(actor, key);
        break;
    default:
        actor_not_before(actor, key, random_below(sim_random(), 3) * BACKOFF_NS);
        break;
    }
}

struct held {
    schedq_pod_t pods[LIVES_MAX];
    uint32_t keys[LIVES_MAX];
    uint32_t count;
};

static int
collect(void *ctx, const schedq_pod_info_t *info)
{
    struct held *held = ctx;

    if (info->place == SCHEDQ_HELD) {
        held->keys[held->count] = world_key(info->name, info->name_length);
        held->pods[held->count++] = info->pod;
    }
    return 1;
}

void
actor_release_all(struct actor *actor)
{
    struct held held = {.count = 0};
    op_t op = {.kind = OP_SNAPSHOT, .visit = collect, .ctx = &held};

    (void)act_run(actor, &op, (struct open_call){.kind = CALL_OTHER}, 0);
    for (uint32_t i = 0; i < held.count; i++) {
        keep(actor, &held.pods[i], held.keys[i], OP_NOT_BEFORE, 0);
        keep(actor, &held.pods[i], held.keys[i], OP_RELEASE, 0);
    }
}
