/*
 * descriptor.h on Linux: an eventfd. Its count says only whether it was set; it does not block, so
 * a count at its highest stays readable. The controlled scheduler brings its own functions.
 */
#include "platform/descriptor.h"

#if !defined(SCHEDQ_ATOMICS_CONTROLLED)

#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

int
descriptor_open(void)
{
    return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

void
descriptor_close(int descriptor)
{
    (void)close(descriptor);
}

void
descriptor_set(int descriptor)
{
    const uint64_t one = 1;
    ssize_t written = write(descriptor, &one, sizeof one);

    (void)written;
}

void
descriptor_clear(int descriptor)
{
    uint64_t count;
    ssize_t got = read(descriptor, &count, sizeof count);

    (void)got;
}

#endif
