/*
 * What time demands: due backoff gets active, pods that waited for longer than the limit are tried again.
 */
#ifndef SCHEDQ_LOCKFREE_SERVE_H
#define SCHEDQ_LOCKFREE_SERVE_H

#include "lockfree/queue.h"

struct served {
    bool moved;     /* a pod, or tried to */
    bool no_memory; /* some pod that is due stayed where it was */
    int64_t next;   /* when it is wanted next */
};

/**
 * Serves everything that is due, and sets the deadline. Inside a section.
 *
 * @param asked a caller's own tick; otherwise the queue's, which does not repeat in vain (kube presets)
 */
struct served serve_time(struct worker *worker, bool asked, schedq_result_t *result);

/** What tick does beside: strays, sleepers that nobody woke, memory that may go back. Outside a section. */
void serve_upkeep(struct worker *worker, schedq_result_t *result);

/** A sleeper that finds the deadline passed serves it: a tick late if there is a timer thread. True: it did. */
bool serve_if_late(struct worker *worker, int64_t now);

/** Until when a sleeper may sleep, on the queue's clock, so that serve_if_late is called when it has to be. */
int64_t serve_wanted(const struct queue *queue);

/** Can anything be popped? Looks into the bands: a producer may have stopped before he told anybody. */
bool serve_is_poppable(struct worker *worker);

#endif
