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

/** Serves time for a sleeper that finds serve_wanted passed. True: pods came out. */
bool serve_late(struct worker *worker);

/** When a sleeper has to serve time, on the queue's clock: at the deadline, a tick later if there is a timer thread. */
int64_t serve_wanted(const struct queue *queue);

/** Can anything be popped? Looks into the bands: a producer may have stopped before he told anybody. */
bool serve_is_poppable(struct worker *worker);

#endif
