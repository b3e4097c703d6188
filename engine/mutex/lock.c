/*
 * The lock, the words, and which threads an unlock wakes.
 *
 * SLEEPING. Blocking pops sleep on sleepers.wake, the timer thread on timer.wake; both
 * with the lock, so a pod that was made poppable before a sleeper looked is seen by it, and one
 * made poppable after wakes it: no wake-up is lost.
 *
 * WAKING. The unlock after a call that made pods poppable: one sleeper for one pod, all for more. A
 * call that brought the next deadline forward wakes the timer thread, or, if none runs, all
 * sleepers: one of them has to plan anew. With a virtual clock no thread can sleep until a
 * deadline: each schedq_tick wakes all sleepers.
 */
#include "mutex/deadline.h"
#include "mutex/queue.h"
#include "platform/words.h"

static void
word_update(uint64_t *word, uint64_t value)
{
    if (*word != value) {
        word_store(word, value);
    }
}

static void
publish_words(struct mutex_queue *queue)
{
    schedq_words_t *words = &queue->base.words;
    uint32_t poppable = is_poppable(queue);

    word_update(&words->parked, queue->parked.count);
    word_update(&words->gated, queue->gated.count);
    word_update(&words->backoff, queue->backoff.count);
    word_update(&words->error_backoff, queue->error_backoff.count);
    word_update(&words->nominations, queue->nominator.count);
    word_update(&words->event_sequence, queue->log.newest);
    if (words->poppable != poppable) {
        word_store(&words->poppable, poppable);
    }
}

static void
wake_for_time(struct mutex_queue *queue)
{
    int64_t next = mutex_deadline_next(queue);
    bool sooner = next < queue->base.words.next_deadline_ns;

    queue->time_changed = false;
    word_store(&queue->base.words.next_deadline_ns, next);
    if (sooner && queue->timer.running) {
        (void)pthread_cond_signal(&queue->timer.wake);
    } else if (sooner && queue->sleepers.waiting > 0) {
        (void)pthread_cond_broadcast(&queue->sleepers.wake);
    }
}

void
queue_lock(struct mutex_queue *queue)
{
    (void)pthread_mutex_lock(&queue->lock);
}

void
queue_unlock(struct mutex_queue *queue)
{
    uint32_t made_poppable = queue->made_poppable;

    queue->made_poppable = 0;
    publish_words(queue);
    if (queue->time_changed) {
        wake_for_time(queue);
    }
    if (made_poppable > 0 && queue->sleepers.waiting > 0) {
        if (made_poppable == 1) {
            (void)pthread_cond_signal(&queue->sleepers.wake);
        } else {
            (void)pthread_cond_broadcast(&queue->sleepers.wake);
        }
    }
    (void)pthread_mutex_unlock(&queue->lock);
}
