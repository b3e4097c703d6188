/**
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

typedef struct schedq        schedq_t;
typedef struct schedq_worker schedq_worker_t;

/**
 * Names a status: "SCHEDQ_OK" and so on. Static text.
 *
 * @retval "SCHEDQ_UNKNOWN" for a value that is no status
 *
 * Threads: [any]  Progress: wait-free.
 */
SCHEDQ_API const char *schedq_status_name(schedq_status_t status);

/**
 * Explains a status in a sentence: "no pod has this name or handle" and so on. Static text.
 *
 * schedq_worker_error says more about one call.
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
 * It starts no thread. A queue takes up less than 64 KiB before its first worker is registered;
 * what events, nominations and names need is allocated then. With the default allocator a queue
 * with one worker has less than 64 KiB resident until its first pod comes.
 * @param config copied; nothing in it is referenced later, except the callbacks' contexts
 * @param queue  receives the queue, NULL if there is none
 * @param why    with INVALID: field, value and legal range; with NOMEM: which memory was not enough
 * @retval SCHEDQ_OK       *queue is the caller's until schedq_destroy
 * @retval SCHEDQ_INVALID  *queue is NULL, `why` says which field
 * @retval SCHEDQ_NOMEM    *queue is NULL; how many queues there are matters to memory only
 *
 * Threads: [queue]  Progress: wait-free but for the allocator; allocates.
 */
SCHEDQ_API schedq_status_t schedq_create(const schedq_config_t *config, schedq_t **queue, char *why,
                                         size_t why_size);

/**
 * Closes the queue: wakes every sleeper; pops go on until nothing is poppable, adds get CLOSED.
 *
 * Idempotent. Pods in flight stay in flight: their tokens work as before. What is not poppable
 * stays, and snapshot shows it. (LOCKFREE: an add that began before may still get in, also behind a
 * pop that said CLOSED.)
 * @retval SCHEDQ_OK    words.closed is 1
 * @retval SCHEDQ_BUSY  nothing changed
 *
 * Threads: [queue]  Progress: locks; waits for nothing else.
 */
SCHEDQ_API schedq_status_t schedq_close(schedq_t *queue);

/**
 * Ends a queue that has no pods, and gives all its memory back.
 *
 * NULL is allowed.
 * @param why with BUSY and NOT_EMPTY: who is in the way, or how many pods are where
 * @retval SCHEDQ_OK         `queue`, its words and its workers are not valid any more
 * @retval SCHEDQ_NOT_EMPTY  there are pods ("3 active, 2 parked, 1 in flight"): end them, or call
 *                           schedq_destroy_with_pods; nothing changed
 * @retval SCHEDQ_BUSY       workers of schedq_worker_register are registered, a call is inside of a
 *                           thread's own one, the timer thread runs, or called from a callback;
 *                           nothing changed. Idle workers of schedq_worker_get end with the queue:
 *                           their threads must not use them any more
 *
 * Threads: [alone]  Progress: locks; O(n).
 */
SCHEDQ_API schedq_status_t schedq_destroy(schedq_t *queue, char *why, size_t why_size);

/**
 * Ends a queue and drops the pods that are there, in flight too: gives every stored object and all
 * its memory back.
 *
 * NULL is allowed.
 * @param why with BUSY: who is in the way
 * @retval SCHEDQ_OK    `queue`, its words and its workers are not valid any more
 * @retval SCHEDQ_BUSY  as schedq_destroy; nothing changed
 *
 * Threads: [alone]  Progress: locks; O(n).
 */
SCHEDQ_API schedq_status_t schedq_destroy_with_pods(schedq_t *queue, char *why, size_t why_size);

/**
 * Allocates for that many pods (names of at most 63 bytes), priorities and workers.
 *
 * While they suffice, and there are at most max_lots rejector sets, add, add_many, readd, update,
 * fail, delete, pops, moves, apply, activate and tick do not allocate. (LOCKFREE: a
 * pod whose priority, or rejector set, no pod had lately takes memory for it, which goes back when
 * it is not used; what a worker keeps for one of them grows when it has more pods there than ever;
 * updates and keys out of order take memory of their own; all of it is kept and used again. Batches
 * of more than some 80 pods take 200 bytes a pod for the call. SCHEDQ_NOMEM changes nothing.)
 * @param pods    0..max_pods
 * @param bands   0..max_bands
 * @param workers 0..max_workers
 * @retval SCHEDQ_OK       there is room for all of them
 * @retval SCHEDQ_NOMEM    what was reserved stays
 * @retval SCHEDQ_INVALID  above a cap, `why` says which; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [queue]  Progress: locks; O(what is reserved); allocates.
 */
SCHEDQ_API schedq_status_t schedq_reserve(schedq_t *queue, uint32_t pods, uint32_t bands,
                                          uint32_t workers, char *why, size_t why_size);

/**
 * Gives memory that holds no pod back to the allocator.
 *
 * What schedq_reserve made for pods goes too. (LOCKFREE: not the index of names, nor what
 * registered workers keep. While it runs, other calls find less free memory and may allocate.)
 * @retval SCHEDQ_OK    also if there was nothing to give back
 * @retval SCHEDQ_BUSY  nothing changed
 *
 * Threads: [queue]  Progress: locks; O(capacity); allocates.
 */
SCHEDQ_API schedq_status_t schedq_trim(schedq_t *queue);

/* ---- workers --------------------------------------------------------------------------------- */

/**
 * Makes a worker: what every call that touches pods needs.
 *
 * It belongs to this queue. The first one ends setup.
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
 * Returns the calling thread's own worker of this queue, which it makes at the first call.
 *
 * The same one at each later call, until the thread ends and gives it back: there is nothing to
 * unregister, and nothing to pass on. (schedq_worker_unregister by that thread ends it sooner.) A
 * thread has one of each queue. Workers from schedq_worker_register are beside them. The first one
 * ends setup. schedq_destroy takes those back that no call is inside of, whether their threads live
 * or not.
 *
 * While a thread ends, destructors of thread-local data may use its worker, and call this: it goes
 * back in the last but one of their rounds (PTHREAD_DESTRUCTOR_ITERATIONS). Calls after that are
 * INVALID. A thread that is killed, or whose first call comes from a late destructor, leaves its
 * worker registered, until destroy, or until no other is to be had.
 *
 * The memory for that is libc's, some 64 bytes for each thread and queue, and one pthread_key_t for
 * all queues of the process.
 * @param worker receives it; NULL with FULL, NOMEM, and an INVALID that is not about it
 * @retval SCHEDQ_OK       *worker is the thread's
 * @retval SCHEDQ_FULL     max_workers are registered; nothing changed
 * @retval SCHEDQ_NOMEM    no memory, or the process has no pthread_key_t to give; nothing changed
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
 * Pods stay where they are; tokens that it popped stay valid with any worker.
 * @retval SCHEDQ_OK       `worker` must not be used any more; a later registration may get the same
 *         address
 * @retval SCHEDQ_INVALID  it is another thread's own (schedq_worker_get); nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_worker_unregister(schedq_worker_t *worker);

/**
 * Makes a worker usable again that no thread will use (its thread died inside a call).
 *
 * Only the caller can know that. With SCHEDQ_ENGINE_MUTEX a user that died while it held the mutex
 * has stopped the queue: this cannot help then. LOCKFREE: the call that it died in has happened or
 * not; a pod that it popped without returning stays in flight. What it held for itself is lost
 * until destroy: at most 128 free records, names and descriptions, and with COUNTED objects some
 * references, which are never released. A user that died inside schedq_worker_unregister may have
 * ended the worker: adopt it before another worker is registered, which could get the same address.
 * @retval SCHEDQ_OK       the worker is the caller's
 * @retval SCHEDQ_INVALID  not a registered worker of this queue, or the timer thread's; nothing
 *                         changed
 * @retval SCHEDQ_BUSY     called from a callback; nothing changed
 *
 * Threads: [queue]  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_worker_adopt(schedq_t *queue, schedq_worker_t *abandoned);

/**
 * Returns the INVALID, FULL or BUSY of this worker's last call in words: argument, value, legal
 * range; of BUSY which callback it was called from, or which thread (its number, as gettid) was
 * inside the worker.
 *
 * Never NULL; an empty text if that call was not refused so. Valid until the worker's next call.
 * The words of BUSY are those of the calling thread's last call with this worker, until a call of
 * the thread with it goes through, or another worker refuses it: so they may be read while another
 * thread uses the worker.
 *
 * Threads: [worker]  Progress: wait-free.
 */
SCHEDQ_API const char *schedq_worker_error(const schedq_worker_t *worker);

#ifdef __cplusplus
}
#endif

#endif
