/* The account of a run. */
#include "tally.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t
tally_name(unsigned index, char *name)
{
    return (uint32_t)snprintf(name, 32, "s%u/pod-%u", index % 7, index);
}

unsigned
tally_index(const char *name)
{
    const char *dash = strchr(name, '-');
    return dash == NULL ? 0 : (unsigned)strtoul(dash + 1, NULL, 10) % TALLY_NAMES;
}

void
tally_violation(tally_t *tally, const char *format, ...)
{
    va_list arguments;
    TALLY_COUNT(tally->violations);
    va_start(arguments, format);
    flockfile(stderr);
    fputs("violation: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(arguments);
}

void
tally_retain(void *ctx, uint64_t object)
{
    tally_t *tally = ctx;
    if (object == 0 || object > TALLY_OBJECTS)
        tally_violation(tally, "retain of object %llu, which nobody has",
                        (unsigned long long)object);
    else
        TALLY_COUNT(tally->references[object]);
}

void
tally_release(void *ctx, uint64_t object)
{
    tally_t *tally = ctx;
    if (object == 0 || object > TALLY_OBJECTS ||
        atomic_fetch_sub_explicit(&tally->references[object], 1, memory_order_relaxed) <= 0)
        tally_violation(tally, "release of object %llu, which nobody holds",
                        (unsigned long long)object);
}

void
tally_check_lives(tally_t *tally)
{
    for (unsigned i = 0; i < TALLY_NAMES; i++) {
        unsigned adds = atomic_load(&tally->adds[i]);
        unsigned dones = atomic_load(&tally->dones[i]), deletes = atomic_load(&tally->deletes[i]);
        TALLY_CHECK(tally, adds == dones + deletes, "pod-%u: %u adds, but %u dones and %u deletes",
                    i, adds, dones, deletes);
    }
}

void
tally_check_references(tally_t *tally)
{
    for (unsigned i = 0; i <= TALLY_OBJECTS; i++) {
        int references = atomic_load(&tally->references[i]);
        TALLY_CHECK(tally, references == 0, "object %u: %d references left", i, references);
    }
}

uint64_t
tally_sum(atomic_uint *counts)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < TALLY_NAMES; i++)
        sum += atomic_load(&counts[i]);
    return sum;
}
