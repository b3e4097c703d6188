/*
 * Cache lines, and which of the workers' caches have them: what it costs to move them from one
 * processor to another, counted instead of timed.
 *
 * Each worker is a processor with a cache of its own that forgets nothing. A line is nowhere, in
 * one cache, or in several that all may read it. A write needs the line in the writer's cache
 * alone. A line that is nowhere comes from memory, which is no transfer; else
 *
 *   read miss    the reader has no copy, another has
 *   write miss   the writer has no copy, another has
 *   upgrade      the writer has a copy, and so have others
 *
 * each are one transfer. That is MESI without capacity, so a figure says what sharing costs, not
 * what memory costs.
 */
#ifndef SCHEDQ_COST_LINES_H
#define SCHEDQ_COST_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE_BYTES = 64, LINE_WORKERS_MAX = 64 };

struct line {
    uint64_t holders; /* bit w: worker w has a copy */
    uint64_t round;   /* in which it was counted last */
};

struct transfers {
    uint64_t reads, writes, upgrades;
};

struct lines {
    uintptr_t begin; /* of the memory that is looked at; the rest is not counted */
    size_t count;
    struct line *of; /* `count`, zeroed at first */
    uint64_t round;
};

/* NULL: the address lies elsewhere. */
struct line *lines_at(struct lines *lines, const void *address);

/* Worker `worker` reads or writes the line. `transfers` may be NULL: only the line changes. */
void line_read(struct line *line, unsigned worker, struct transfers *transfers);
void line_write(struct line *line, unsigned worker, struct transfers *transfers);

/*
 * Distinct lines: true the first time in a round, which is whatever lies between two
 * lines_next_round.
 */
bool line_first(struct lines *lines, struct line *line);
void lines_next_round(struct lines *lines);

#endif
