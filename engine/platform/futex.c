/* futex.h on Linux. The controlled scheduler brings its own functions. */
#include "platform/futex.h"

#if !defined(SCHEDQ_ATOMICS_CONTROLLED)

#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND INT64_C(1000000000)

void
futex_wait(atomic_u32 *word, uint32_t expected, int64_t deadline_ns, uint32_t bits)
{
    int64_t at = deadline_ns > 0 ? deadline_ns : 0;
    struct timespec deadline = {.tv_sec = (time_t)(at / NS_PER_SECOND),
                                .tv_nsec = (long)(at % NS_PER_SECOND)};

    /* FUTEX_WAIT counts from its call, the bitset form's deadline is absolute. */
    (void)syscall(SYS_futex, &word->raw, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, expected,
                  deadline_ns == FUTEX_NO_DEADLINE ? NULL : &deadline, NULL, bits);
}

void
futex_wake(atomic_u32 *word, uint32_t count)
{
    int most = count < INT_MAX ? (int)count : INT_MAX;

    (void)syscall(SYS_futex, &word->raw, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, most, NULL, NULL, 0);
}

void
futex_wake_bits(atomic_u32 *word, uint32_t bits)
{
    (void)syscall(SYS_futex, &word->raw, FUTEX_WAKE_BITSET | FUTEX_PRIVATE_FLAG, INT_MAX, NULL,
                  NULL, bits);
}

#endif
