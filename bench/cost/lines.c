/* The rules of lines.h. */
#include "lines.h"

struct line *
lines_at(struct lines *lines, const void *address)
{
    uintptr_t offset = (uintptr_t)address - lines->begin;

    return offset / LINE_BYTES < lines->count ? &lines->of[offset / LINE_BYTES] : NULL;
}

static void
count(uint64_t *counter)
{
    if (counter != NULL) {
        ++*counter;
    }
}

void
line_read(struct line *line, unsigned worker, struct transfers *transfers)
{
    uint64_t own = UINT64_C(1) << worker;

    if ((line->holders & own) == 0 && line->holders != 0) {
        count(transfers != NULL ? &transfers->reads : NULL);
    }
    line->holders |= own;
}

void
line_write(struct line *line, unsigned worker, struct transfers *transfers)
{
    uint64_t own = UINT64_C(1) << worker;

    if ((line->holders & ~own) != 0 && transfers != NULL) {
        count((line->holders & own) != 0 ? &transfers->upgrades : &transfers->writes);
    }
    line->holders = own;
}

bool
line_first(struct lines *lines, struct line *line)
{
    bool first = line->round != lines->round;

    line->round = lines->round;
    return first;
}

void
lines_next_round(struct lines *lines)
{
    lines->round++;
}
