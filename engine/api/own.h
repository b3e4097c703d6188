/*
 * Workers that belong to threads: schedq_worker_get.
 *
 * CONTRACT. A thread has at most one own worker of a queue. It is registered as any other, and ends
 * with the thread: a destructor of thread-local data gives it back. A queue that is destroyed first
 * takes back those that no call is inside of.
 *
 * PICTURE
 *   thread   first -> own -> own ...      its workers, one for each queue (own.next_of_thread)
 *   queue    owns  -> own -> own ...      all that were ever made for it (own.next)
 *   own      word {thread's number, state}, worker, queue
 *
 *   state      the record is   the worker is              the thread that goes on
 *   FREE       the queue's     another's, or no thread's  a thread that needs one: TAKEN
 *   TAKEN      the queue's     the thread's               that thread: OWNED
 *   OWNED      both's          the thread's               the thread, when it ends or unregisters:
 *                                                         FREE, then it gives the worker back;
 *                                                         destroy: CLAIMED
 *   CLAIMED    both's          the thread's               destroy: ORPHAN, or OWNED again;
 *                                                         the thread, when it ends: ABANDONED
 *   ABANDONED  the queue's     registered, no thread's    destroy, which gives the worker back
 *   ORPHAN     the thread's    gone with its queue        the thread frees the record
 *
 * Each arrow is one exchange of the word, so neither waits for the other: a thread may end while
 * destroy looks. What is FREE while its worker is still registered counts as registered by hand:
 * destroy refuses until the thread has given it back.
 *
 * MEMORY. libc's: a record may outlive its queue, and the queue's allocator.
 *
 * THREADS THAT END. Destructors of thread-local data run in rounds, in no order. The own workers
 * stay until the last round but one, so that other destructors may use them; in the last one tools
 * such as sanitizers take leave of the thread. A thread that is killed, or whose first
 * schedq_worker_get comes from a late destructor, leaves its worker registered. It is given back
 * when no other worker is to be had (own_reclaim), or by destroy.
 *
 * EVIDENCE. tests/model: own; tests/unit/test_own_workers.c.
 */
#ifndef SCHEDQ_API_OWN_H
#define SCHEDQ_API_OWN_H

#include "engine.h"

/** The thread's own worker of this queue; NULL: it has none. O(queues of the thread). */
schedq_worker_t *own_find(const schedq_t *queue);

/**
 * Makes a registered worker the thread's own.
 *
 * @retval SCHEDQ_OK       it ends with the thread
 * @retval SCHEDQ_NOMEM    it is no thread's; the same with SCHEDQ_INVALID: the thread is ending
 */
schedq_status_t own_begin(schedq_worker_t *worker);

/**
 * Ends a thread's ownership of the worker, before an unregistration or an adoption. True: no thread
 * owns it any more. False: nothing was ended. If another thread owned it when the call looked,
 * *thread is that thread's number. `anybody`: another thread's ownership is ended too.
 */
bool own_end(schedq_t *queue, const schedq_worker_t *worker, bool anybody, uint32_t *thread);

/** Gives the idle own workers of threads that are no more back. True: there was one. */
bool own_reclaim(schedq_t *queue);

/**
 * Alone, for destroy: claims all own workers. False: a call is inside of one, or others are
 * registered (`registered` counts all); words, and nothing has changed.
 */
bool own_claim(schedq_t *queue, uint32_t registered, char *why, size_t why_size);

/** Gives all that were claimed back, for good; then the queue has no worker. */
void own_take_back(schedq_t *queue);

/** Instead: they are the threads' again. */
void own_disclaim(schedq_t *queue);

/** The last of a queue: frees its records. */
void own_close(schedq_t *queue);

#endif
