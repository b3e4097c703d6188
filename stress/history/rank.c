/* By priority, then by the order key, or else the Timestamp. One that nobody told is the latest. */
#include "rank.h"

static rank_t
rank_at(const record_t *description, int64_t key)
{
    return (rank_t){(uint32_t)INT32_MAX - (uint32_t)description->priority,
                    (uint64_t)key ^ UINT64_C(1) << 63};
}

rank_t
rank_of(const stay_t *stay, const record_t *description)
{
    return rank_at(description, description->keyed ? description->key
                                : stay->timed      ? stay->timestamp_ns
                                                   : INT64_MAX);
}

rank_t
rank_sure(const stay_t *stay, const record_t *description)
{
    rank_t rank = rank_of(stay, description);
    rank.key += description->keyed || rank.key > UINT64_MAX - MANY ? 0 : MANY - 1;
    return rank;
}

static bool
overlap(const record_t *a, const record_t *b)
{
    return a->begin <= b->end && b->begin <= a->end;
}

rank_t
rank_of_pop(const record_t *pop)
{
    const life_t *life = pop->life;
    const record_t *description = life_description(life, pop->object);
    rank_t rank = rank_of(pop->stay, description != NULL ? description : life->created);
    for (const record_t *update = life->first_update; update != NULL;
         update = update->next_update) {
        if (!overlap(update, pop))
            continue;
        const record_t *replaced = life_description(life, update->replaced);
        rank = rank_better(rank, rank_of(pop->stay, update));
        if (replaced != NULL)
            rank = rank_better(rank, rank_of(pop->stay, replaced));
    }
    return rank;
}

void
rank_bounds(const stay_t *stay, uint64_t from, uint64_t until, rank_t *best, rank_t *worst)
{
    const record_t *description = life_next_description(stay->life, NULL, from, until);
    *best = (rank_t){UINT32_MAX, UINT64_MAX};
    *worst = (rank_t){0, 0};
    for (; description != NULL;
         description = life_next_description(stay->life, description, from, until)) {
        bool known = description->keyed || stay->timed;
        *best = rank_better(*best,
                            known ? rank_of(stay, description) : rank_at(description, INT64_MIN));
        *worst = rank_worse(*worst, rank_sure(stay, description));
    }
}
