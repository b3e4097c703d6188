/*
 * The life of a group of `part` pods while `pods` others are pending: declare it, add its members,
 * pop it, end each of them and the cycle, undeclare it. A figure is of one pod.
 *
 * The base: the same pods in no group. As many are added, popped and ended one by one, in the same
 * rounds. Both rank before all that is pending.
 */
#include "contestant_schedq.h"
#include "workload.h"

#include <stdlib.h>

enum { GANG_MAX = 512, FIRST = 1000 };

typedef struct group_run {
    const row_t *row;
    bool base;
    schedq_t *queue;
    schedq_worker_t *worker;
    uint64_t next; /* the number of the next pod, or group */
    /* sum over the names that were popped: what keeps the reads from being optimized away */
    uint64_t read;
    schedq_popped_t popped[GANG_MAX];
} group_run_t;

static void *
open_group(const subject_t *subject)
{
    group_run_t *run = bench_alloc(1, sizeof *run);
    uint64_t random = subject->seed;
    schedq_config_t config;

    run->row = subject->row;
    run->base = (subject->contestant->groups & GROUP_BASE) != 0;
    config_for(&config, subject->contestant);
    run->queue = queue_create(subject->contestant, &config, run->row->pods + GANG_MAX + 1, 1);
    run->worker = worker_create(run->queue);
    for (uint32_t i = 0; i < run->row->pods; i++) {
        worker_add(run->worker, ++run->next, random_priority(&random));
    }
    return run;
}

static void
add(group_run_t *run, uint64_t group)
{
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    pod_name_t name;

    spec.object = ++run->next;
    spec.priority = FIRST;
    spec.group = group;
    pod_name_make(&name, spec.object);
    must(schedq_add(run->worker, name.text, name.length, &spec, NULL), "schedq_add");
}

/* The pods of a round are those that it added, each once. */
static void
finish(group_run_t *run, uint64_t before)
{
    uint64_t objects = 0, added = 0;

    for (unsigned i = 0; i < run->row->part; i++) {
        run->read += (unsigned char)run->popped[i].name[0];
        objects += run->popped[i].object;
        added += before + 1 + i;
        must(schedq_done(run->worker, run->popped[i].token), "schedq_done");
    }
    if (objects != added) {
        bench_fail("%s: other pods were popped than came last", run->row->name);
    }
}

static void
live_together(group_run_t *run)
{
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    schedq_group_end_t end = SCHEDQ_GROUP_END_INIT;
    uint64_t group = ++run->next, before = run->next;
    schedq_popped_group_t popped;
    size_t count = 0;

    spec.priority = FIRST;
    spec.quorum = run->row->part;
    must(schedq_group_add(run->worker, group, &spec, NULL), "schedq_group_add");
    for (unsigned i = 0; i < run->row->part; i++) {
        add(run, group);
    }
    must(schedq_try_pop_group(run->worker, &popped, run->popped, GANG_MAX, &count),
         "schedq_try_pop_group");
    if (popped.group != group || count != run->row->part) {
        bench_fail("%s: another group was popped, or not all of it", run->row->name);
    }
    finish(run, before);
    must(schedq_group_done(run->worker, &popped.token, &end, NULL), "schedq_group_done");
    must(schedq_group_delete(run->worker, group, NULL), "schedq_group_delete");
}

static void
live_apart(group_run_t *run)
{
    uint64_t before = run->next;

    for (unsigned i = 0; i < run->row->part; i++) {
        add(run, 0);
    }
    for (unsigned i = 0; i < run->row->part; i++) {
        must(schedq_try_pop(run->worker, &run->popped[i]), "schedq_try_pop");
    }
    finish(run, before);
}

static void
body(gbench_thread_t *thread, void *ctx)
{
    group_run_t *run = ctx;

    while (gbench_next(thread)) {
        for (uint32_t i = 0; i < run->row->count; i += run->row->part) {
            if (run->base) {
                live_apart(run);
            } else {
                live_together(run);
            }
        }
    }
}

static void
settle(void *ctx, double seconds, sample_t *samples)
{
    const row_t *row = ((group_run_t *)ctx)->row;

    samples[0].ns = seconds * 1e9 / ((double)row->count * row->rounds);
}

static void
close_group(void *ctx)
{
    group_run_t *run = ctx;

    worker_end(run->worker);
    queue_destroy(run->queue);
    free(run);
}

static const value_t values[] = {{"", RATIO_TO_BASE, NULL}, {0}};

const workload_t group_workload = {
    .suite = "group",
    .values = values,
    .groups = GROUP_ENGINES | GROUP_BASE,
    .needs = ABLE_SCHEDQ,
    .counts_work = true,
    .open = open_group,
    .body = body,
    .settle = settle,
    .close = close_group,
};
