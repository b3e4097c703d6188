/* Threads of thread.h. */
#include "platform/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(pthread_t) == sizeof(unsigned long), "struct thread holds one");

bool
thread_start(struct thread *thread, void *(*main_fn)(void *argument), void *argument)
{
    sigset_t all, old;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = pthread_create(&thread->id, NULL, main_fn, argument);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return failed == 0;
}

bool
thread_lives(uint32_t number)
{
    return syscall(SYS_tgkill, getpid(), (pid_t)number, 0) == 0 || errno != ESRCH;
}

void
thread_join(const struct thread *thread)
{
    (void)pthread_join(thread->id, NULL);
}
