/* The handler, and the two words that lead into and out of it. */
#define _GNU_SOURCE /* syscall */
#include "ice.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { RUNNING, ASKED, STOPPED };

static _Thread_local ice_t *own;

static void
futex(atomic_uint *word, int operation, unsigned value)
{
    (void)syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void
stand_still(int signal_number)
{
    int saved = errno;
    unsigned asked = ASKED;
    (void)signal_number;
    if (own != NULL && atomic_compare_exchange_strong(&own->word, &asked, STOPPED)) {
        futex(&own->word, FUTEX_WAKE_PRIVATE, 1);
        while (atomic_load(&own->word) == STOPPED)
            futex(&own->word, FUTEX_WAIT_PRIVATE, STOPPED);
    }
    errno = saved;
}

void
ice_install(void)
{
    /* No SA_RESTART: a sleeper in the library meets EINTR. */
    struct sigaction action = {.sa_handler = stand_still};
    sigemptyset(&action.sa_mask);
    sigaction(SIGUSR1, &action, NULL);
}

void
ice_take(ice_t *ice)
{
    own = ice;
    stand_still(SIGUSR1); /* the signal may have come before: it found no ice */
}

ice_t *
ice_own(void)
{
    return own;
}

bool
ice_freeze(ice_t *ice, pthread_t thread)
{
    atomic_store(&ice->word, ASKED);
    if (pthread_kill(thread, SIGUSR1) != 0)
        return false;
    while (atomic_load(&ice->word) == ASKED)
        futex(&ice->word, FUTEX_WAIT_PRIVATE, ASKED);
    return true;
}

void
ice_release(ice_t *ice)
{
    atomic_store(&ice->word, RUNNING);
    futex(&ice->word, FUTEX_WAKE_PRIVATE, 1);
}
