/*
 * Users change their minds while `pods` pods are pending.
 *
 * UPDATE: a pod gets another priority (one of eight, drawn evenly). MOVES: one that differs from
 * the one it has. SAME: the one that it has, and another object. REPLACE: a pod is deleted, and one
 * that was deleted 64 steps before is added again. FIND: it is only looked up. All find the pod by
 * its name. Each thread works on its own share
 * of the pods and visits them in an order that has no locality: steps of about 0.618 of the share,
 * which come by every pod before any twice.
 */
#include "team.h"

#include <stdlib.h>

enum { AWAY = 64 };

/* An update's object is another one: that of the pod plus a version for each visit. */
#define VERSION (UINT64_C(1) << 32)

typedef struct visitor {
    _Alignas(128) uint32_t first; /* the pods of its share: first .. first + share - 1 */
    uint32_t position;
    uint32_t steps;
    uint32_t visits;     /* MOVES: of each of its pods */
    uint32_t away[AWAY]; /* what REPLACE deleted last */
} visitor_t;

typedef struct churn {
    team_t team;
    visitor_t visitors[THREADS_MAX];
    uint32_t share;
    uint32_t stride;
} churn_t;

static uint32_t
greatest_common_divisor(uint32_t a, uint32_t b)
{
    while (b != 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint32_t
stride_for(uint32_t share)
{
    uint32_t stride = (uint32_t)(share * 0.618);
    while (greatest_common_divisor(stride, share) != 1) {
        stride++;
    }
    return stride;
}

/* One of eight by the pod's number: known to who updates it. */
static int32_t
numbered_priority(uint32_t number)
{
    return (int32_t)(number % 8) * 100;
}

static int32_t
first_priority(const row_t *row, uint32_t pod, uint64_t *random)
{
    return row->part == CHURN_MOVES || row->part == CHURN_SAME ? numbered_priority(pod)
                                                               : random_priority(random);
}

static void *
open_churn(const subject_t *subject)
{
    churn_t *churn = bench_alloc(1, sizeof *churn);
    const row_t *row = subject->row;
    uint64_t random = scramble(subject->seed);

    team_open(&churn->team, subject, row->pods, false);
    for (uint32_t i = 0; i < row->pods; i++) {
        member_put(&churn->team, &churn->team.members[0], i, first_priority(row, i, &random));
    }
    churn->share = row->pods / row->threads;
    churn->stride = stride_for(churn->share);
    for (unsigned i = 0; i < row->threads; i++) {
        churn->visitors[i].first = i * churn->share;
    }
    return churn;
}

static uint32_t
next_pod(const churn_t *churn, visitor_t *visitor)
{
    visitor->position = (uint32_t)(((uint64_t)visitor->position + churn->stride) % churn->share);
    return visitor->first + visitor->position;
}

static int32_t
another_priority(const churn_t *churn, member_t *member, const visitor_t *visitor, uint32_t pod)
{
    switch (churn->team.row->part) {
    case CHURN_MOVES:
        return numbered_priority(pod + visitor->visits);
    case CHURN_SAME:
        return numbered_priority(pod);
    default:
        return (int32_t)(random_next(&member->random) % 8) * 100;
    }
}

static void
update(const churn_t *churn, member_t *member, visitor_t *visitor)
{
    pod_name_t name;
    uint32_t pod = next_pod(churn, visitor);

    /* Its first pod again: all have been visited once more. The fill was no visit. */
    visitor->visits += visitor->steps++ % churn->share == 0;
    pod_name_make(&name, pod);
    churn->team.ops->update(member->worker, &name, another_priority(churn, member, visitor, pod),
                            pod + visitor->visits * VERSION);
    member->objects_in += VERSION;
}

static void
find(const churn_t *churn, member_t *member, visitor_t *visitor)
{
    pod_name_t name;
    uint32_t pod = next_pod(churn, visitor);

    pod_name_make(&name, pod);
    if (churn->team.ops->find(member->worker, &name) != pod) {
        bench_fail("%s: another pod has the name", churn->team.row->name);
    }
}

static void
replace(const churn_t *churn, member_t *member, visitor_t *visitor)
{
    pod_name_t name;
    uint32_t pod = next_pod(churn, visitor);
    uint32_t *away = &visitor->away[visitor->steps % AWAY];

    pod_name_make(&name, pod);
    churn->team.ops->delete_pod(member->worker, &name);
    member->objects_out += pod;
    member->balance--;
    if (visitor->steps >= AWAY) {
        member_put(&churn->team, member, *away, random_priority(&member->random));
    }
    *away = pod;
    visitor->steps++;
}

static void
act(const churn_t *churn, member_t *member, visitor_t *visitor)
{
    switch (churn->team.row->part) {
    case CHURN_REPLACE:
        replace(churn, member, visitor);
        break;
    case CHURN_FIND:
        find(churn, member, visitor);
        break;
    default:
        update(churn, member, visitor);
        break;
    }
}

static void
body(gbench_thread_t *thread, void *run)
{
    churn_t *churn = run;
    unsigned me = gbench_thread_index(thread);
    member_t *member = &churn->team.members[me];
    visitor_t *visitor = &churn->visitors[me];

    while (gbench_next(thread)) {
        for (uint32_t i = 0; i < churn->team.row->count; i++) {
            act(churn, member, visitor);
        }
        team_finish(&churn->team);
    }
}

static void
settle(void *run, double seconds, sample_t *samples)
{
    const row_t *row = ((churn_t *)run)->team.row;
    samples[0].ns = seconds * 1e9 / ((double)row->count * row->threads * row->rounds);
}

static void
close_churn(void *run)
{
    churn_t *churn = run;
    team_close(&churn->team);
    free(churn);
}

const workload_t churn_workload = {
    .suite = "churn",
    .counts_work = true,
    .values = one_value,
    .groups = GROUP_ENGINES | GROUP_BARE,
    .needs = ABLE_QUEUE,
    .open = open_churn,
    .body = body,
    .settle = settle,
    .close = close_churn,
};
