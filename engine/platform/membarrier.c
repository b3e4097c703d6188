/*
 * membarrier.h on Linux. The controlled scheduler brings its own two functions.
 *
 * PRIVATE_EXPEDITED only: it leaves other processes alone, and processors that run none of our
 * threads. ThreadSanitizer does not know what it orders.
 */
#include "platform/membarrier.h"

#include "platform/sanitizer.h"

#if defined(SCHEDQ_ATOMICS_COUNTING)

/* All workers are one thread: counts do not depend on the machine's kernel. */
bool
membarrier_register(void)
{
    return true;
}

bool
membarrier_ask(void)
{
    return true;
}

#elif defined(SCHEDQ_THREAD_SANITIZER)

bool
membarrier_register(void)
{
    return false;
}

bool
membarrier_ask(void)
{
    return false;
}

#elif !defined(SCHEDQ_ATOMICS_CONTROLLED)

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

bool
membarrier_register(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

bool
membarrier_ask(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

#endif
