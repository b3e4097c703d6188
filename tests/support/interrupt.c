/* The handler makes calls that are safe in one, and only stores what is read elsewhere. */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define CHILDREN_MAX 8

/* Lock-free, so that a handler may use them. */
static atomic_int came;
static atomic_int children[CHILDREN_MAX]; /* 0: none */

static void
note(int number)
{
    int error = errno;

    atomic_store(&came, number);
    for (size_t i = 0; i < CHILDREN_MAX; i++) {
        pid_t child = atomic_load(&children[i]);

        if (child != 0) {
            (void)kill(child, SIGKILL);
        }
    }
    errno = error;
}

/* On the alternative stack, if there is one: a tool may have small stacks of its own. */
void
interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = note,
                               .sa_flags = SA_RESTART | SA_ONSTACK | (int)SA_RESETHAND};

    (void)sigemptyset(&action.sa_mask);
    (void)sigaddset(&action.sa_mask, SIGINT);
    (void)sigaddset(&action.sa_mask, SIGTERM);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
}

bool
interrupt_came(void)
{
    return atomic_load(&came) != 0;
}

int
interrupt_status(void)
{
    int number = atomic_load(&came);

    return number == 0 ? 0 : 128 + number;
}

int
interrupt_end(int status, const char *words)
{
    if (!interrupt_came()) {
        return status;
    }
    (void)fflush(stdout);
    fprintf(stderr, "%s: interrupted, %s\n", program_invocation_short_name, words);
    return status == EXIT_FAILURE ? status : interrupt_status();
}

/* A signal that came before is told to the newcomer too. */
void
interrupt_take(pid_t child)
{
    for (size_t i = 0; i < CHILDREN_MAX; i++) {
        int none = 0;

        if (atomic_compare_exchange_strong(&children[i], &none, child)) {
            break;
        }
    }
    if (interrupt_came()) {
        (void)kill(child, SIGKILL);
    }
}

void
interrupt_drop(pid_t child)
{
    for (size_t i = 0; i < CHILDREN_MAX; i++) {
        int same = child;

        (void)atomic_compare_exchange_strong(&children[i], &same, 0);
    }
}
