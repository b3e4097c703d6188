/*
 * Starting and joining. The worker is registered on the thread that uses it, so that registering
 * races too.
 */
#include "squad.h"

typedef struct post {
    soldier_t soldier;
    squad_fn body;
    pthread_t thread;
} post_t;

static void *
serve(void *argument)
{
    post_t *post = argument;
    soldier_t *soldier = &post->soldier;
    if (!mailbox_check(soldier->mailbox, schedq_worker_register(soldier->queue, &soldier->worker,
                                                                NULL, 0) == SCHEDQ_OK))
        return NULL;
    post->body(soldier);
    mailbox_check(soldier->mailbox, schedq_worker_unregister(soldier->worker) == SCHEDQ_OK);
    return NULL;
}

void
squad_run(fixture_t *fixture, unsigned count, uint64_t seed, squad_fn body, void *ctx)
{
    post_t posts[SQUAD_MAX];
    mailbox_t mailbox;
    assert_true(count <= SQUAD_MAX);
    mailbox_init(&mailbox);
    for (unsigned i = 0; i < count; i++) {
        posts[i].body = body;
        posts[i].soldier = (soldier_t){.number = i,
                                       .seed = seed + i * UINT64_C(7919),
                                       .queue = fx_queue(fixture),
                                       .mailbox = &mailbox,
                                       .ctx = ctx};
    }
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(pthread_create(&posts[i].thread, NULL, serve, &posts[i]), 0);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(pthread_join(posts[i].thread, NULL), 0);
    mailbox_assert_empty(&mailbox);
}
