/* Names, memory, and the end when something fails. */
#include "support.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A letter from a to p for each four bits of `value`, as the eight bytes of the result. Without a
 * loop or a branch, since making the name is a part of every timed add.
 */
static uint64_t
eight_letters(uint32_t value)
{
    uint64_t spread = value;

    spread = (spread | spread << 16) & UINT64_C(0x0000ffff0000ffff);
    spread = (spread | spread << 8) & UINT64_C(0x00ff00ff00ff00ff);
    spread = (spread | spread << 4) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return spread + UINT64_C(0x6161616161616161);
}

void
pod_name_make(pod_name_t *name, uint64_t number)
{
    static const char frame[sizeof name->text] = "team-00/worker-................";
    const uint64_t high = eight_letters((uint32_t)(number >> 32));
    const uint64_t low = eight_letters((uint32_t)number);

    memcpy(name->text, frame, sizeof frame);
    memcpy(name->text + 5, &low, 2);
    memcpy(name->text + 15, &high, sizeof high);
    memcpy(name->text + 23, &low, sizeof low);
    name->length = 31;
}

void *
bench_alloc(size_t count, size_t size)
{
    size_t bytes = (count * size + 127) / 128 * 128;
    void *memory = aligned_alloc(128, bytes);

    if (memory == NULL) {
        bench_fail("no memory for %zu bytes", bytes);
    }
    memset(memory, 0, bytes);
    return memory;
}

_Noreturn void
bench_fail(const char *format, ...)
{
    va_list arguments;

    fputs("schedq-bench: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}
