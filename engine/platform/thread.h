/*
 * A thread of the library's own: all signals are blocked in it, they are the host's business.
 */
#ifndef SCHEDQ_PLATFORM_THREAD_H
#define SCHEDQ_PLATFORM_THREAD_H

#include <stdbool.h>
#include <stdint.h>

struct thread {
    unsigned long id; /* pthread_t */
};

/** False: the system has no thread to give. */
bool thread_start(struct thread *thread, void *(*main)(void *argument), void *argument);

/** Is there a thread of this process with the kernel's number? */
bool thread_lives(uint32_t number);

/** Waits until it has returned. */
void thread_join(const struct thread *thread);

#endif
