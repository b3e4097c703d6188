/* Names, memory, and the end when something fails. */
#include "support.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
pod_name_make(pod_name_t *name, uint64_t number)
{
    static const char digits[] = "0123456789abcdef";
    static const char frame[sizeof name->text] = "team-00/batch-worker-000000000000";

    memcpy(name->text, frame, sizeof frame);
    name->length = 33;
    name->text[5] = digits[number >> 4 & 15];
    name->text[6] = digits[number & 15];
    for (unsigned i = 0; i < 12; i++) {
        name->text[32 - i] = digits[number >> (4 * i) & 15];
    }
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
