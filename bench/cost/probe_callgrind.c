/*
 * Instructions. Callgrind collects between probe_on and probe_off only; each row ends in a dump of
 * its own, whose number is the line that is printed here. Instructions of the brackets themselves
 * are those of the row `nothing`.
 */
#include "probe.h"

#include <inttypes.h>
#include <stdio.h>
#include <valgrind/callgrind.h>

const unsigned probe_workers[] = {1, 0};
const bool probe_all = true;

static uint64_t brackets;
static unsigned dumps;

void
probe_reset(void)
{
    brackets = 0;
}

void
probe_worker(unsigned worker)
{
    (void)worker;
}

void
probe_start(void)
{
    CALLGRIND_START_INSTRUMENTATION;
}

void
probe_round(void)
{
}

void
probe_on(void)
{
    brackets++;
    CALLGRIND_TOGGLE_COLLECT;
}

void
probe_off(void)
{
    CALLGRIND_TOGGLE_COLLECT;
}

void
probe_finish(const char *subject, const char *row, unsigned workers, uint64_t units)
{
    CALLGRIND_DUMP_STATS;
    CALLGRIND_STOP_INSTRUMENTATION;
    printf("%s/%s %u %" PRIu64 " %" PRIu64 " %u\n", subject, row, workers, units, brackets,
           ++dumps);
}
