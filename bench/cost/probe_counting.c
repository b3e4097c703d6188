/*
 * Accesses to shared words, and cache lines that change owner (lines.h): the functions of
 * platform/atomic_counting.h.
 *
 * Accesses outside of the measured calls move lines too, but are not counted.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "probe.h"

#include "arena.h"
#include "lines.h"

#include <schedq/schedq.h>

#include "platform/atomic.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

const unsigned probe_workers[] = {1, 2, 8, 32, 64, 0};
const bool probe_all = false;

static struct {
    struct lines lines;
    unsigned worker;
    bool on;
    uint64_t loads, stores, rmws, fences, distinct;
    struct transfers transfers;
} probe;

void
probe_reset(void)
{
    size_t count = ARENA_BYTES / LINE_BYTES;
    size_t bytes = count * sizeof(struct line);

    if (probe.lines.of != NULL) {
        (void)munmap(probe.lines.of, bytes);
    }
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (map == MAP_FAILED) {
        perror("schedq-cost: no memory for the lines");
        exit(1);
    }
    probe.lines = (struct lines){.begin = ARENA_BEGIN, .count = count, .of = map, .round = 1};
    probe.worker = 0;
    probe.on = false;
}

void
probe_worker(unsigned worker)
{
    probe.worker = worker;
}

void
probe_start(void)
{
    probe.loads = probe.stores = probe.rmws = probe.fences = probe.distinct = 0;
    probe.transfers = (struct transfers){0, 0, 0};
}

void
probe_round(void)
{
    lines_next_round(&probe.lines);
}

void
probe_on(void)
{
    probe.on = true;
}

void
probe_off(void)
{
    probe.on = false;
}

void
probe_finish(const char *subject, const char *row, unsigned workers, uint64_t units)
{
    printf("%s/%s %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
           " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
           subject, row, workers, units, probe.loads, probe.stores, probe.rmws, probe.fences,
           probe.distinct, probe.transfers.reads, probe.transfers.writes, probe.transfers.upgrades);
}

static void
touch(const void *address, bool to_write)
{
    struct line *line = lines_at(&probe.lines, address);
    struct transfers *transfers = probe.on ? &probe.transfers : NULL;

    if (line == NULL) {
        return;
    }
    if (probe.on) {
        probe.distinct += line_first(&probe.lines, line);
    }
    if (to_write) {
        line_write(line, probe.worker, transfers);
    } else {
        line_read(line, probe.worker, transfers);
    }
}

void
count_load(const void *word)
{
    probe.loads += probe.on;
    touch(word, false);
}

void
count_store(const void *word)
{
    probe.stores += probe.on;
    touch(word, true);
}

void
count_rmw(const void *word)
{
    probe.rmws += probe.on;
    touch(word, true);
}

void
count_fence(void)
{
    probe.fences += probe.on;
}

void
count_prefetch(const void *line, int to_write)
{
    touch(line, to_write != 0);
}
