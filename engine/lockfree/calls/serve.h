/*
 * What time demands: due backoff gets active, pods that waited for longer than the limit are tried
 * again.
 */
#ifndef SCHEDQ_LOCKFREE_SERVE_H
#define SCHEDQ_LOCKFREE_SERVE_H

#include "lockfree/calls/mover.h"
#include "lockfree/queue.h"

/** What a pop moves before it looks for its pod. */
#define SERVE_SLICE SIZE(256, 4)
#define SERVE_ALL UINT32_MAX

struct served {
    bool moved;     /* a pod, or tried to */
    bool no_memory; /* some pod that is due stayed where it was */
    bool left;      /* something is still due: the slice ended, or no thread can serve it now */
    bool noted;     /* the last look saw a note (stray.h) */
    int64_t next;   /* when it is wanted next */
};

/**
 * Serves what is due at `now`, `slice` pods at most, and sets the deadline if that was all. Inside
 * a section.
 */
struct served serve_time(struct worker *worker, int64_t now, uint32_t slice,
                         schedq_result_t *result);

/**
 * What a tick does besides: strays, a wake-up in place of one that a stopped sleeper took, memory
 * that can be given back. Outside a section.
 *
 * True: something happened since the last time.
 */
bool serve_upkeep(struct worker *worker, schedq_result_t *result);

/** A thread that serves time by itself: a sleeper, or the timer thread. */
struct server {
    struct worker *worker;
    int64_t pause; /* after the next attempt that changes nothing; then four times as long */
    int64_t again; /* no attempt before this */
};

void server_begin(struct server *server, struct worker *worker);

/**
 * Serves a slice, if `wanted` has passed and no pause lasts. True: it changed something, look
 * again.
 */
bool server_serve(struct server *server, int64_t wanted, int64_t now);

/** The pause after one of this length: up to WATCH_NS. */
int64_t serve_pause(int64_t pause);

/** When the queue has to serve time by itself, on its clock: never where only the host can. */
int64_t serve_due(const struct queue *queue);

/** When a sleeper has to serve time: a tick later if there is a timer thread. */
int64_t serve_wanted(const struct queue *queue);

/** Wakes a sleeper if none watches for that. After the caller's full fence. */
void serve_wake_sleeper(struct queue *queue);

#endif
