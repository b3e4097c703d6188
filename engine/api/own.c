/* Own workers of own.h, which has the states. */
#include "api/own.h"

#include "api/call.h"
#include "platform/thread.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum state { FREE, TAKEN, OWNED, CLAIMED, ABANDONED, ORPHAN };

struct own {
    uint64_t word; /* {thread's number, state} */
    schedq_t *queue;
    schedq_worker_t *worker;
    uint32_t forks;   /* inside_forks: a child leaves its parent's queues alone */
    struct own *next; /* of the queue; constant */
    struct own *next_of_thread;
};

/* The thread's. */
static _Thread_local struct {
    struct own *first;
    unsigned rounds; /* of destructors so far */
} mine;

static pthread_key_t key;
static int key_error;

static uint64_t
word_of(uint32_t thread, enum state state)
{
    return (uint64_t)thread << 8 | (uint64_t)state;
}

static uint32_t
word_thread(uint64_t word)
{
    return (uint32_t)(word >> 8);
}

/* Acquire and release: what the record had goes with it. */
static bool
change(struct own *own, uint64_t from, uint64_t to)
{
    return __atomic_compare_exchange_n(&own->word, &from, to, 0, __ATOMIC_ACQ_REL,
                                       __ATOMIC_ACQUIRE);
}

static enum state
state_of(const struct own *own)
{
    return (enum state)(word_load(&own->word) & 0xff);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Outside of calls of the queue: gates that the engine asks are callbacks of this one. */
static void
give_back(schedq_worker_t *worker)
{
    struct inside inside;

    inside_enter(&inside, worker->queue);
    worker_bar(worker);
    worker->queue->ops->worker_unregister(worker);
    inside_leave(&inside);
}

/* Ends: a record's word changes at most three times without its thread. */
static void
leave(struct own *own)
{
    for (;;) {
        uint64_t word = word_load(&own->word);
        uint32_t thread = word_thread(word);

        if (word == word_of(thread, ORPHAN)) {
            free(own);
            return;
        }
        schedq_worker_t *worker = own->worker;

        if (own->forks != inside_forks() || thread != INSIDE_THREAD.number) {
            return; /* a parent's; or adopted, since the thread was taken for dead */
        }
        if (word == word_of(thread, OWNED) && change(own, word, word_of(0, FREE))) {
            give_back(worker);
            return;
        }
        if (word == word_of(thread, CLAIMED) && change(own, word, word_of(0, ABANDONED))) {
            return;
        }
        if (word != word_of(thread, OWNED) && word != word_of(thread, CLAIMED) &&
            word == word_load(&own->word)) {
            return;
        }
    }
}

/* Other destructors may use the workers until then; the last round is for those below us. */
#define ROUNDS (PTHREAD_DESTRUCTOR_ITERATIONS - 1)

static void
thread_ends(void *unused)
{
    (void)unused;
    if (++mine.rounds < ROUNDS && pthread_setspecific(key, &mine) == 0) {
        return;
    }
    mine.rounds = ROUNDS;
    while (mine.first != NULL) {
        struct own *own = mine.first;

        mine.first = own->next_of_thread;
        leave(own);
    }
}

static void
make_key(void)
{
    key_error = pthread_key_create(&key, thread_ends);
}

/* False: the system has no room for it. */
static bool
watch_thread(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    return pthread_once(&once, make_key) == 0 && key_error == 0 &&
           pthread_setspecific(key, &mine) == 0;
}

/* The pointer to the thread's record of this queue; to NULL: there is none. Frees orphans. */
static struct own **
find(const schedq_t *queue)
{
    struct own **at = &mine.first;

    /* Ends: at the end of the list. */
    while (*at != NULL) {
        struct own *own = *at;
        uint64_t word = word_load(&own->word);

        if ((enum state)(word & 0xff) == ORPHAN) {
            *at = own->next_of_thread;
            free(own);
        } else if (own->queue == queue && word_thread(word) == INSIDE_THREAD.number) {
            break;
        } else {
            at = &own->next_of_thread;
        }
    }
    return at;
}

schedq_worker_t *
own_find(const schedq_t *queue)
{
    const struct own *own = *find(queue);

    return own != NULL ? own->worker : NULL;
}

/* ---- the queue's records --------------------------------------------------------------------- */

static struct own *
first_of(const schedq_t *queue)
{
    return __atomic_load_n(&queue->owns, __ATOMIC_ACQUIRE);
}

/* A record that is TAKEN. NULL: no memory. */
static struct own *
take_record(schedq_t *queue)
{
    for (struct own *own = first_of(queue); own != NULL; own = own->next) {
        if (change(own, word_of(0, FREE), word_of(0, TAKEN))) {
            return own;
        }
    }
    struct own *own = calloc(1, sizeof *own);

    if (own == NULL) {
        return NULL;
    }
    own->word = word_of(0, TAKEN);
    own->queue = queue;
    own->next = first_of(queue);
    /* Ends: each failed exchange is another thread's record. */
    while (!__atomic_compare_exchange_n(&queue->owns, &own->next, own, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
    }
    return own;
}

schedq_status_t
own_begin(schedq_worker_t *worker)
{
    if (mine.rounds >= ROUNDS) {
        return SCHEDQ_INVALID;
    }
    struct own *own = watch_thread() ? take_record(worker->queue) : NULL;

    if (own == NULL) {
        return SCHEDQ_NOMEM;
    }
    __atomic_store_n(&own->worker, worker, __ATOMIC_RELAXED);
    own->forks = inside_forks();
    own->next_of_thread = mine.first;
    mine.first = own;
    word_store(&own->word, word_of(INSIDE_THREAD.number, OWNED));
    return SCHEDQ_OK;
}

/* The record of the thread that owns the worker. NULL: no thread owns it. */
static struct own *
own_of(const schedq_t *queue, const schedq_worker_t *worker, uint64_t *word)
{
    for (struct own *own = first_of(queue); own != NULL; own = own->next) {
        *word = word_load(&own->word);
        if ((enum state)(*word & 0xff) == OWNED &&
            __atomic_load_n(&own->worker, __ATOMIC_RELAXED) == worker) {
            return own;
        }
    }
    return NULL;
}

bool
own_end(schedq_t *queue, const schedq_worker_t *worker, bool anybody, uint32_t *thread)
{
    struct own **at = find(queue);

    if (*at != NULL && (*at)->worker == worker) {
        struct own *own = *at;

        *at = own->next_of_thread;
        return change(own, word_of(INSIDE_THREAD.number, OWNED), word_of(0, FREE));
    }
    uint64_t word;
    struct own *own = own_of(queue, worker, &word);

    if (own == NULL) {
        return true;
    }
    *thread = word_thread(word);
    return anybody && change(own, word, word_of(0, FREE));
}

bool
own_reclaim(schedq_t *queue)
{
    bool any = false;

    for (struct own *own = first_of(queue); own != NULL; own = own->next) {
        uint64_t word = word_load(&own->word);
        schedq_worker_t *worker = __atomic_load_n(&own->worker, __ATOMIC_RELAXED);

        if ((enum state)(word & 0xff) == OWNED && !thread_lives(word_thread(word)) &&
            worker_user(worker) == 0 && change(own, word, word_of(0, FREE))) {
            worker_bar(worker);
            queue->ops->worker_unregister(worker);
            any = true;
        }
    }
    return any;
}

/* ---- destroy --------------------------------------------------------------------------------- */

/* Goes through records while threads end. */
static uint32_t
claim_all(schedq_t *queue)
{
    uint32_t claimed = 0;

    for (struct own *own = first_of(queue); own != NULL; own = own->next) {
        uint64_t word = word_load(&own->word);
        uint32_t thread = word_thread(word);

        claimed += word == word_of(thread, OWNED) && change(own, word, word_of(thread, CLAIMED));
    }
    return claimed;
}

/* The worker that a call is inside of; NULL: none. */
static const schedq_worker_t *
any_busy(const schedq_t *queue)
{
    for (const struct own *own = first_of(queue); own != NULL; own = own->next) {
        if (state_of(own) == CLAIMED && worker_user(own->worker) != 0) {
            return own->worker;
        }
    }
    return NULL;
}

/* A registered worker that a call is inside of; NULL: none. */
static const schedq_worker_t *
any_inside(schedq_t *queue)
{
    for (uint32_t i = 0; i < queue->config.max_workers; i++) {
        const schedq_worker_t *worker = queue->ops->worker_at(queue, i);
        uint32_t user = worker != NULL ? worker_user(worker) : 0;

        if (user != 0 && user != WORKER_NOBODYS) {
            return worker;
        }
    }
    return NULL;
}

static void
say_registered(schedq_t *queue, uint32_t count, char *why, size_t why_size)
{
    const schedq_worker_t *inside = any_inside(queue);
    char who[80] = "";

    if (inside != NULL) {
        (void)snprintf(who, sizeof who,
                       "; thread %" PRIu32 " is inside a call with worker %" PRIu32,
                       worker_user(inside), inside->number);
    }
    say(why, why_size,
        "workers that are registered: %" PRIu32 ": schedq_worker_unregister, schedq_stop for the "
        "timer thread's%s",
        count, who);
}

bool
own_claim(schedq_t *queue, uint32_t registered, char *why, size_t why_size)
{
    uint32_t claimed = claim_all(queue);
    const schedq_worker_t *busy = any_busy(queue);

    if (busy == NULL && claimed == registered) {
        return true;
    }
    if (busy != NULL) {
        say(why, why_size, "thread %" PRIu32 " is inside a call with its worker %" PRIu32,
            worker_user(busy), busy->number);
    } else {
        say_registered(queue, registered - claimed, why, why_size);
    }
    own_disclaim(queue);
    return false;
}

void
own_disclaim(schedq_t *queue)
{
    for (struct own *own = first_of(queue); own != NULL; own = own->next) {
        uint64_t word = word_load(&own->word);
        uint32_t thread = word_thread(word);

        if (word == word_of(thread, CLAIMED) && change(own, word, word_of(thread, OWNED))) {
            continue;
        }
        if (state_of(own) == ABANDONED) { /* its thread ended meanwhile, and left it to this one */
            schedq_worker_t *worker = own->worker;

            worker_bar(worker);
            queue->ops->worker_unregister(worker);
            word_store(&own->word, word_of(0, FREE));
        }
    }
}

void
own_take_back(schedq_t *queue)
{
    for (const struct own *own = first_of(queue); own != NULL; own = own->next) {
        enum state state = state_of(own);

        if (state == CLAIMED || state == ABANDONED) {
            worker_bar(own->worker);
            queue->ops->worker_unregister(own->worker);
        }
    }
}

void
own_close(schedq_t *queue)
{
    struct own *own = first_of(queue);

    while (own != NULL) {
        struct own *next = own->next;
        uint64_t word = word_load(&own->word);
        uint32_t thread = word_thread(word);

        /* Else the thread ended meanwhile. */
        if (word != word_of(thread, CLAIMED) || !change(own, word, word_of(thread, ORPHAN))) {
            free(own);
        }
        own = next;
    }
}
