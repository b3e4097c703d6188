/* The index: it grows while names are added, looked for and deleted. */
#include "scenarios.h"
#include "world.h"

static void
add_range(struct actor *actor, uint32_t first, uint32_t end)
{
    for (uint32_t key = first; key < end; key++) {
        (void)actor_add(actor, key, 1);
    }
}

static void
prepare_some(struct actor *actor)
{
    add_range(actor, 0, 30);
}

static void
add_30(struct actor *actor)
{
    add_range(actor, 30, 36);
}

/* Growth is begun by reserve, which needs no crowd of pods. */
static void
grow_and_add(struct actor *actor)
{
    actor_reserve(actor, KEYS_MAX, 0, 0);
    add_range(actor, 30, 35);
}

static void
add_32(struct actor *actor)
{
    add_range(actor, 33, 38);
}

static void
find_and_delete(struct actor *actor)
{
    (void)actor_find(actor, 31);
    (void)actor_delete(actor, 3);
    (void)actor_get(actor, 33);
    (void)actor_add(actor, 3, 1);
    (void)actor_delete(actor, 34);
}

static void
find_absent(struct actor *actor)
{
    (void)actor_find(actor, 99);
    (void)actor_find(actor, 0);
    (void)actor_delete(actor, 98);
}

/* Two lines of six cells: few are left. */
static void
prepare_full(struct actor *actor)
{
    add_range(actor, 0, 9);
}

static void
add_two(struct actor *actor)
{
    add_range(actor, 40, 42);
}

static void
add_and_delete(struct actor *actor)
{
    for (uint32_t key = 42; key < 46; key++) {
        (void)actor_add(actor, key, 1);
        (void)actor_delete(actor, key);
    }
}

static void
reserve(struct actor *actor)
{
    actor_reserve(actor, KEYS_MAX, 4, 4);
}

const struct scenario index_scenarios[] = {
    SCENARIO("index_growth", "the index grows under adds of the same names, finds and deletions",
             NULL, prepare_some, grow_and_add, add_32, find_and_delete),
    SCENARIO("index_reserve", "reserve grows everything under adds and finds", NULL, prepare_some,
             reserve, add_30, find_absent),
    SCENARIO("index_full", "names come and go in lines that are full otherwise, against adds", NULL,
             prepare_full, add_two, add_and_delete, add_and_delete),
    {.name = NULL},
};
