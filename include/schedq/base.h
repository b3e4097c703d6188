/** @file
 * schedq/base: what all libraries share: version, outcomes, where memory comes from.
 *
 * schedq/schedq.h (the queue) and schedq/preemption.h (victims) include it. Neither includes the
 * other. It declares no function and needs no library.
 */
#ifndef SCHEDQ_BASE_H
#define SCHEDQ_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCHEDQ_VERSION_MAJOR 0 /**< a greater one may change API and ABI */
#define SCHEDQ_VERSION_MINOR 1 /**< so may this one before 1.0; else it adds */
#define SCHEDQ_VERSION_PATCH 0 /**< changes neither */

#ifndef SCHEDQ_API
#if defined(__GNUC__)
#define SCHEDQ_API __attribute__((visibility("default")))
#else
#define SCHEDQ_API
#endif
#endif

#define SCHEDQ_NAME_MAX    317       /**< bytes of a name, at most */
#define SCHEDQ_NO_DEADLINE INT64_MAX /**< a time that never comes */

/**
 * Outcomes. Each function lists those it returns; adding one to a list is an API change. INVALID
 * may also come unlisted: for a NULL, or in a child after fork. */
typedef enum schedq_status {
    SCHEDQ_OK = 0,
    SCHEDQ_EMPTY,     /**< nothing to pop or to look at, or the end of the candidates */
    SCHEDQ_CLOSED,    /**< the queue is closed (and, for pop, nothing is poppable now) */
    SCHEDQ_TIMEDOUT,  /**< the deadline passed, or the time to wait is over */
    SCHEDQ_EXISTS,    /**< that name is there already */
    /** no such pod, group, node, budget or nomination; nothing changed */
    SCHEDQ_NOT_FOUND,
    /** this token was used before or never given, or this nomination was replaced */
    SCHEDQ_STALE,
    SCHEDQ_GONE,      /**< the pod was deleted meanwhile; schedq_apply: it does not wait any more;
                           schedq_position: it is not active */
    SCHEDQ_FULL,      /**< a cap is reached, or the width of a word; nothing changed */
    /** the allocator gave nothing; nothing changed unless the function says so */
    SCHEDQ_NOMEM,
    SCHEDQ_BUSY,      /**< called from a callback of this queue; setup is over; destroy: it is in
                           use; or another thread is inside this worker (mostly seen, not always) */
    SCHEDQ_RETRY,     /**< [host] judge the newer events, then call again */
    SCHEDQ_CHANGED,   /**< [host] judge the new object, then call again */
    /** an argument is out of range; the words say which and the range; nothing changed */
    SCHEDQ_INVALID,
    SCHEDQ_NOT_EMPTY, /**< schedq_destroy: there are pods; nothing changed */
    SCHEDQ_CANCELED   /**< schedq_wait_cancel ended this wait; nothing was taken */
} schedq_status_t;

/** The behaviour that a configuration begins with; KUBE_1_n: that of kube-scheduler 1.n. */
typedef enum schedq_preset {
    SCHEDQ_PRESET_DEFAULT = 0,
    SCHEDQ_PRESET_KUBE_1_12 = 12,
    SCHEDQ_PRESET_KUBE_1_26 = 26,
    SCHEDQ_PRESET_KUBE_1_34 = 34,
    SCHEDQ_PRESET_KUBE_1_37 = 37
} schedq_preset_t;

/**
 * Where memory comes from. Both functions or neither. All zero: the default, which is libc's malloc
 * for a snapshot, a workspace and an evictor. For a queue it is the build's: a jemalloc of its own,
 * whose arenas all queues share, or (`system`) libc's malloc. A MUTEX queue calls them in one
 * thread at a time, unless a plugin has pre-queueing hints. Then, and with LOCKFREE, an executor or
 * an evictor, several threads may be inside them at once. They may run with locks held, and must
 * not call what they serve: a queue answers BUSY. Layout frozen (32 bytes).
 */
typedef struct schedq_allocator {
    /**
     * Memory of at least `bytes`, 1 or more, with any contents, aligned to `align` (a power of two,
     * at most 4096). NULL: there is none.
     */
    void *(*alloc)(void *ctx, size_t bytes, size_t align);
    /** Gives back what alloc returned, never NULL, with the same `bytes`; on any thread. */
    void (*free)(void *ctx, void *memory, size_t bytes);
    void    *ctx;         /**< passed to both */
    uint64_t reserved; /**< zero */
} schedq_allocator_t;

#ifdef __cplusplus
}
#endif

#endif
