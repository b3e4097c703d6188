/** @file
 * schedq/queue: a queue's life, and its workers.
 *
 * schedq/schedq.h says what a queue is, and what holds for every call.
 */
#ifndef SCHEDQ_QUEUE_H
#define SCHEDQ_QUEUE_H

#include <schedq/config.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct schedq_queue  schedq_t;        /**< a queue */
typedef struct schedq_worker schedq_worker_t; /**< a handle of one caller at a time: [worker] */

/**
 * Names a status: "SCHEDQ_OK" and so on. Static text.
 *
 * @param status any value
 * @retval "SCHEDQ_UNKNOWN" for a value that is no status
 *
 * Threads: [any]  Progress: wait-free.
 */
SCHEDQ_API const char *schedq_status_name(schedq_status_t status);

/**
 * Explains a status in a sentence: "there is nothing to take" and so on. Static text.
 *
 * schedq_worker_error says more about the last call with a worker.
 * @param status any value
 * @retval "unknown status" for a value that is no status
 *
 * Threads: [any]  Progress: wait-free.
 */
SCHEDQ_API const char *schedq_status_text(schedq_status_t status);

/**
 * Returns the version of the library that is linked, as (major << 16) | (minor << 8) | patch.
 *
 * Threads: [any]  Progress: wait-free.
 */
SCHEDQ_API uint32_t schedq_version(void);

/* ---- a queue --------------------------------------------------------------------------------- */

/**
 * Makes a queue.
 *
 * It starts no thread. A queue takes up less than 64 KiB before its first worker is registered.
 * That registration allocates what events, nominations and names need. With the default allocator
 * less than 64 KiB are resident with one worker, until the first pod comes.
 * @param config copied; nothing in it is referenced later, except the callbacks' contexts
 * @param queue  receives the queue, NULL if there is none
 * @param why    with INVALID: field, value and legal range; with NOMEM: which allocator refused
 * @retval SCHEDQ_OK       *queue is the caller's until schedq_destroy
 * @retval SCHEDQ_INVALID  *queue is NULL
 * @retval SCHEDQ_NOMEM    *queue is NULL; only memory limits the number of queues
 *
 * Threads: [queue]  Progress: wait-free but for the allocator; allocates.
 */
SCHEDQ_API schedq_status_t schedq_create(const schedq_config_t *config, schedq_t **queue, char *why,
                                         size_t why_size);

/**
 * Closes the queue. Adds get CLOSED; pops go on until nothing is poppable, then they get CLOSED.
 *
 * Every waiting pop looks again. Pods in flight stay in flight; their tokens work as before. Close
 * does not wait for pods in error backoff, parked, gated or held, nor for those in backoff if
 * pop_from_backoff is 0: pops return CLOSED while these are there, and return them if time or an
 * event makes them poppable later. To finish a batch count the pods that were done or deleted, and
 * close at the last one. (LOCKFREE: an add that began before may still add its pod, even after a
 * pop returned CLOSED.)
 * @retval SCHEDQ_OK    words.closed is 1; also if the queue was closed already
 * @retval SCHEDQ_BUSY  nothing changed
 *
 * Threads: [queue]  Progress: locks; waits for nothing else.
 */
SCHEDQ_API schedq_status_t schedq_close(schedq_t *queue);

/**
 * Ends a queue that has no pods, and frees all its memory.
 *
 * queue may be NULL.
 * @param why with BUSY: the callback, or how many workers are in the way, and a thread that is
 *            inside one; with NOT_EMPTY: how many pods are where
 * @retval SCHEDQ_OK         `queue`, its words and its workers are not valid any more
 * @retval SCHEDQ_NOT_EMPTY  there are pods ("3 active, 2 parked, 1 in flight"): end them, or call
 *                           schedq_destroy_with_pods; nothing changed. A declared group without
 *                           members does not count
 * @retval SCHEDQ_BUSY       a worker of schedq_worker_register is registered, a call uses one of
 *                           schedq_worker_get, the timer thread runs, or called from a callback;
 *                           nothing changed. Idle workers of schedq_worker_get end with the queue:
 *                           their threads must not use them any more
 *
 * Threads: [alone]  Progress: locks; O(n).
 */
SCHEDQ_API schedq_status_t schedq_destroy(schedq_t *queue, char *why, size_t why_size);

/**
 * Ends a queue and drops its pods, in flight too. Frees all its memory; COUNTED objects are
 * released.
 *
 * queue may be NULL.
 * @param why with BUSY: as schedq_destroy
 * @retval SCHEDQ_OK    `queue`, its words and its workers are not valid any more
 * @retval SCHEDQ_BUSY  as schedq_destroy; nothing changed
 *
 * Threads: [alone]  Progress: locks; O(n).
 */
SCHEDQ_API schedq_status_t schedq_destroy_with_pods(schedq_t *queue, char *why, size_t why_size);

/**
 * Allocates for that many pods (names of at most 63 bytes), priorities and workers.
 *
 * While that suffices, and pods wait with at most max_lots rejector sets, add, add_many, readd,
 * update, fail, delete, pops, moves, apply, activate and tick do not allocate, with one exception:
 * for times, labels, classes and groups, with the first pod that has one and as pods become more.
 * (LOCKFREE allocates in four more cases: for a priority or rejector set that no pod had lately,
 * freed when it is not used; when a worker has more pods in one of these than ever; for updates,
 * and keys out of order, kept and used again; for a batch of more than some 80 pods, 200 bytes a
 * pod during the call. SCHEDQ_NOMEM then changes nothing.)
 * @param pods    0..max_pods, or 0..268,435,455 if max_pods is 0
 * @param bands   priorities, 0..max_bands, or 0..1,048,575 if max_bands is 0
 * @param workers 0..max_workers
 * @retval SCHEDQ_OK       there is room for all of them
 * @retval SCHEDQ_NOMEM    what was reserved before memory ran out stays
 * @retval SCHEDQ_INVALID  above a cap, `why` says which; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [queue]  Progress: locks; O(what is reserved); allocates.
 */
SCHEDQ_API schedq_status_t schedq_reserve(schedq_t *queue, uint32_t pods, uint32_t bands,
                                          uint32_t workers, char *why, size_t why_size);

/**
 * Frees memory that holds no pod, also what schedq_reserve made for pods.
 *
 * (LOCKFREE: the index of names stays. Each worker, also one that was unregistered, keeps free
 * objects, and up to some 100 KiB that waited for other calls to end at the worker's last call.
 * While trim runs, other calls may allocate.)
 * @retval SCHEDQ_OK    also if there was nothing to free
 * @retval SCHEDQ_BUSY  nothing changed
 *
 * Threads: [queue]  Progress: locks; O(capacity); allocates.
 */
SCHEDQ_API schedq_status_t schedq_trim(schedq_t *queue);

/* ---- workers --------------------------------------------------------------------------------- */

/**
 * Makes a worker of this queue: the handle that every call that touches pods needs.
 *
 * The first worker ends setup.
 * @param worker receives it; NULL with FULL and NOMEM
 * @retval SCHEDQ_OK       *worker is the caller's until schedq_worker_unregister
 * @retval SCHEDQ_FULL     max_workers are registered, the timer thread's included; nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 * @retval SCHEDQ_INVALID  an argument is NULL; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [queue]  Progress: locks; allocates.
 */
SCHEDQ_API schedq_status_t schedq_worker_register(schedq_t *queue, schedq_worker_t **worker,
                                                  char *why, size_t why_size);

/**
 * Gives the calling thread's own worker of this queue. The thread's first call makes it.
 *
 * Each later call gives the same one. The worker goes back when the thread ends: there is nothing
 * to unregister. (schedq_worker_unregister by that thread ends it sooner.) A thread has one for
 * each queue, beside any of schedq_worker_register. The first worker ends setup. schedq_destroy
 * takes back those that no call uses, whether their threads live or not.
 *
 * While a thread ends, destructors of thread-local data may use its worker, and call this. The
 * worker goes back in their last but one round (PTHREAD_DESTRUCTOR_ITERATIONS); calls after that
 * are INVALID. The worker of a killed thread, or of one whose first call comes from a late
 * destructor, stays registered until destroy, or until a registration finds no other free.
 *
 * It takes some 64 bytes of libc's malloc for each thread and queue, and one pthread_key_t for all
 * queues of the process.
 * @param worker receives it; NULL with FULL, NOMEM, and if the thread is ending
 * @retval SCHEDQ_OK       *worker is the thread's
 * @retval SCHEDQ_FULL     max_workers are registered, the timer thread's included; nothing changed
 * @retval SCHEDQ_NOMEM    no memory, or no pthread_key_t is free; nothing changed
 * @retval SCHEDQ_INVALID  an argument is NULL, or the thread is ending; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [queue]  Progress: the first call of a thread locks and allocates; later ones are
 *          wait-free, O(queues of the thread).
 */
SCHEDQ_API schedq_status_t schedq_worker_get(schedq_t *queue, schedq_worker_t **worker, char *why,
                                             size_t why_size);

/**
 * Ends a worker.
 *
 * Pods stay where they are. Tokens of its pops work with any worker.
 * @retval SCHEDQ_OK       `worker` must not be used any more; a later registration may get the same
 *         address
 * @retval SCHEDQ_INVALID  it is another thread's own (schedq_worker_get); nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_worker_unregister(schedq_worker_t *worker);

/**
 * Makes a worker usable again whose thread died inside a call.
 *
 * The caller must know that the thread is dead. MUTEX: a thread that died with the mutex held has
 * stopped the queue; this does not help then. LOCKFREE: the call that it died in has happened or
 * not; a pod that it popped without returning stays in flight. The worker's own free memory is lost
 * until destroy: at most 128 free records, names and descriptions each. With COUNTED objects some
 * references are never released. A thread that died inside schedq_worker_unregister may have ended
 * the worker: adopt it before the next registration, which could get the same address.
 * @param abandoned the worker whose thread is dead
 * @retval SCHEDQ_OK       the worker is the caller's
 * @retval SCHEDQ_INVALID  not a registered worker of this queue, or the timer thread's; nothing
 *                         changed
 * @retval SCHEDQ_BUSY     called from a callback; nothing changed
 *
 * Threads: [queue]  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_worker_adopt(schedq_t *queue, schedq_worker_t *abandoned);

/**
 * Returns the INVALID, FULL or BUSY of this worker's last call in words. For INVALID and FULL:
 * argument, value, legal range. For BUSY: the callback it was called from, or the thread that was
 * inside the worker (its number, as gettid).
 *
 * Never NULL; an empty text if that call was not refused so. Valid until the worker's next call.
 * The words of BUSY belong to the calling thread's last call with this worker. They stay until such
 * a call goes through, or another worker refuses the thread. So if a call made in a callback was
 * refused, its words are there after the outer call, too. A schedq_done that goes through in a
 * callback leaves the words of its worker as they are. The words of BUSY may be read while another
 * thread uses the worker.
 * Threads: [worker], and in callbacks  Progress: wait-free.
 */
SCHEDQ_API const char *schedq_worker_error(const schedq_worker_t *worker);

#ifdef __cplusplus
}
#endif

#endif
