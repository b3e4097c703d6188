/*
 * The word of deadline.h, which has the essay.
 */
#include "lockfree/signals/deadline.h"

#include <schedq/schedq.h>

/* No clock says such a time. */
#define FIRST_MARKER ((uint64_t)INT64_MIN)
#define MARKERS (UINT64_C(1) << 62)
/* Before every time that a clock says; no marker. */
#define BEFORE_ALL (FIRST_MARKER + MARKERS)

static bool
is_marker(uint64_t word)
{
    return word - FIRST_MARKER < MARKERS;
}

/* A new marker. No two are equal; nothing else is ordered by them. */
static uint64_t
draw(struct deadline *deadline)
{
    return FIRST_MARKER + (u64_add(&deadline->markers, 1) & (MARKERS - 1));
}

void
deadline_open(struct deadline *deadline, int64_t *word)
{
    deadline->word = u64_of((uint64_t *)word);
    time_store(deadline->word, SCHEDQ_NO_DEADLINE);
}

int64_t
deadline_read(const struct deadline *deadline)
{
    /* deadline_read:A reads from deadline_lower:B, deadline_end:A */
    return (int64_t)u64_load_acquire(deadline->word);
}

bool
deadline_lower(struct deadline *deadline, int64_t due)
{
    /* deadline_lower:A; relaxed: the caller's fence orders it */
    uint64_t found = u64_load(deadline->word);

    /* Ends: each failed exchange is another thread's change of the word. */
    for (;;) {
        if (!is_marker(found) && (int64_t)found <= due) {
            return false;
        }
        uint64_t wanted = is_marker(found) ? draw(deadline) : (uint64_t)due;

        /* deadline_lower:B, seen by deadline_end:A */
        if (u64_swing(deadline->word, &found, wanted)) {
            return true;
        }
    }
}

struct planning
deadline_begin(struct deadline *deadline)
{
    uint64_t marker = draw(deadline);

    /* deadline_begin:A: the looks that follow see the pods of calls that found the old word. */
    return (struct planning){.marker = marker, .replaced = u64_exchange(deadline->word, marker)};
}

/* Failed: the word was lowered, or another look was begun. */
void
deadline_let_go(struct deadline *deadline, const struct planning *planning)
{
    (void)u64_cas(deadline->word, planning->marker, BEFORE_ALL); /* deadline_let_go:A */
}

/* The exchange fails if the word was lowered, or another look was begun. */
enum planned
deadline_end(struct deadline *deadline, const struct planning *planning, const struct timed *next)
{
    if (!u64_cas(deadline->word, planning->marker, (uint64_t)next->at)) { /* deadline_end:A */
        return PLANNED_AGAIN;
    }
    u64_store(&deadline->first_ref, next->ref);
    u64_store_release(&deadline->first_due, (uint64_t)next->at);
    return (int64_t)planning->replaced <= (int64_t)BEFORE_ALL ||
                   next->at < (int64_t)planning->replaced
               ? PLANNED_SOONER
               : PLANNED;
}

uint64_t
deadline_first(const struct deadline *deadline, int64_t due)
{
    /* acquire: reads from deadline_end's store, so the ref is that one's, or a later one's */
    return (int64_t)u64_load_acquire(&deadline->first_due) == due ? u64_load(&deadline->first_ref)
                                                                  : 0;
}
