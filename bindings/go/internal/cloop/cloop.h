/* Loops of calls on a queue. Each returns 0 if a call did not answer SCHEDQ_OK. */
#ifndef SCHEDQ_GO_CLOOP_H
#define SCHEDQ_GO_CLOOP_H

#include <schedq/schedq.h>

#define LOOP_BATCH 64

struct loop {
    schedq_t *queue;
    schedq_worker_t *worker;
    char names[LOOP_BATCH * 32];
    schedq_add_item_t items[LOOP_BATCH]; /* the pods that come and go */
};

schedq_status_t loop_open(struct loop *loop, uint8_t engine, size_t pending);
void loop_close(struct loop *loop);
int loop_lives(struct loop *loop, size_t count);
int loop_batches(struct loop *loop, size_t count);
int loop_finds(struct loop *loop, size_t count);

#endif
