/* The loops of cloop.h. bench_test.go has the same ones in Go. */
#include "cloop.h"

#include <stdio.h>

static void
describe(struct loop *loop)
{
    uint32_t offset = 0;

    for (uint32_t i = 0; i < LOOP_BATCH; i++) {
        uint32_t length = (uint32_t)sprintf(loop->names + offset, "default/pod-%u", i);

        loop->items[i] = (schedq_add_item_t){
            .name_offset = offset,
            .name_length = length,
            .spec = {.struct_size = sizeof(schedq_pod_spec_t), .object = i, .priority = 1},
        };
        offset += length;
    }
}

static schedq_status_t
add_pending(struct loop *loop, size_t pending)
{
    schedq_status_t status = SCHEDQ_OK;

    for (size_t i = 0; i < pending && status == SCHEDQ_OK; i++) {
        char name[40];
        const schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
        size_t length = (size_t)sprintf(name, "pending/pod-%zu", i);

        status = schedq_add(loop->worker, name, length, &spec, NULL);
    }
    return status;
}

schedq_status_t
loop_open(struct loop *loop, uint8_t engine, size_t pending)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_status_t status;

    config.engine = engine;
    config.decide = SCHEDQ_DECIDE_HOST;
    describe(loop);
    status = schedq_create(&config, &loop->queue, NULL, 0);
    if (status == SCHEDQ_OK) {
        status = schedq_worker_register(loop->queue, &loop->worker, NULL, 0);
    }
    return status == SCHEDQ_OK ? add_pending(loop, pending) : status;
}

void
loop_close(struct loop *loop)
{
    (void)schedq_worker_unregister(loop->worker);
    (void)schedq_destroy_with_pods(loop->queue, NULL, 0);
}

int
loop_lives(struct loop *loop, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        schedq_result_t result;
        schedq_popped_t popped;
        const schedq_add_item_t *item = &loop->items[i % LOOP_BATCH];

        if (schedq_add(loop->worker, loop->names + item->name_offset, item->name_length,
                       &item->spec, &result) != SCHEDQ_OK ||
            schedq_try_pop(loop->worker, &popped) != SCHEDQ_OK ||
            schedq_done(loop->worker, popped.token) != SCHEDQ_OK) {
            return 0;
        }
    }
    return 1;
}

int
loop_batches(struct loop *loop, size_t count)
{
    for (size_t done = 0; done < count; done += LOOP_BATCH) {
        schedq_pod_t pods[LOOP_BATCH];
        uint8_t statuses[LOOP_BATCH];
        schedq_popped_t popped[LOOP_BATCH];
        schedq_token_t tokens[LOOP_BATCH];
        schedq_result_t result;
        size_t taken;

        if (schedq_add_many(loop->worker, loop->names, sizeof loop->names, loop->items, LOOP_BATCH,
                            pods, statuses, &result) != SCHEDQ_OK ||
            schedq_try_pop_many(loop->worker, popped, LOOP_BATCH, &taken) != SCHEDQ_OK ||
            taken != LOOP_BATCH) {
            return 0;
        }
        for (size_t i = 0; i < LOOP_BATCH; i++) {
            tokens[i] = popped[i].token;
        }
        if (schedq_done_many(loop->worker, tokens, LOOP_BATCH, statuses) != SCHEDQ_OK) {
            return 0;
        }
    }
    return 1;
}

int
loop_finds(struct loop *loop, size_t count)
{
    static const char name[] = "pending/pod-0";

    for (size_t i = 0; i < count; i++) {
        schedq_result_t result;

        if (schedq_find(loop->worker, name, sizeof name - 1, &result) != SCHEDQ_OK) {
            return 0;
        }
    }
    return 1;
}
