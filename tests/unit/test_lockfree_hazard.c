/*
 * lockfree/memory/hazard.h: an object is released exactly as often as was asked, and never while
 * somebody pins it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "lockfree/memory/hazard.h"
#include "mailbox.h"

#define SLOTS 64
#define PINS_MAX (HAZARD_PINS * SLOTS)
#define OBJECTS (2 * PINS_MAX + 1)

static unsigned released[OBJECTS];

static void
count_release(void *ctx, uint64_t object)
{
    assert_ptr_equal(ctx, released);
    assert_true(object < OBJECTS);
    released[object]++;
}

static struct hazard_slot slots[SLOTS];
static struct hazard_kept lists[SLOTS][PINS_MAX + 1];

static struct hazard_slot *
slot_of(struct hazards *hazards, uint32_t worker)
{
    if (slots[worker].list == NULL)
        hazard_join(hazards, &slots[worker], lists[worker]);
    return &slots[worker];
}

static int
setup(void **state)
{
    static struct hazards hazards;
    memset(released, 0, sizeof released);
    memset(slots, 0, sizeof slots);
    assert_int_equal(hazard_room(SLOTS), PINS_MAX + 1);
    hazards_open(&hazards, count_release, released);
    *state = &hazards;
    return 0;
}

static int
teardown(void **state)
{
    struct hazards *hazards = *state;
    memset(released, 0, sizeof released);
    hazards_drain(hazards);
    for (unsigned i = 0; i < OBJECTS; i++)
        assert_int_equal(released[i], 0); /* each test leaves nothing behind */
    return 0;
}

static void
what_nobody_pins_is_released_at_once(void **state)
{
    struct hazards *hazards = *state;
    struct hazard_slot *mine = slot_of(hazards, 0);
    (void)slot_of(hazards, 5);
    hazard_release(hazards, mine, 7);
    hazard_release(hazards, mine, 0); /* a legal object, and what idle slots hold */
    assert_int_equal(released[7], 1);
    assert_int_equal(released[0], 1);
}

static void
what_is_pinned_waits_for_the_next_release_after_the_pin(void **state)
{
    struct hazards *hazards = *state;
    struct hazard_slot *mine = slot_of(hazards, 0), *other = slot_of(hazards, 1);
    hazard_pin(other, 0);
    hazard_release(hazards, mine, 0);
    assert_int_equal(released[0], 0);
    hazard_release(hazards, mine, 8);
    assert_int_equal(released[8], 1);
    assert_int_equal(released[0], 0);
    hazard_unpin(other);
    assert_int_equal(released[0], 0);
    hazard_release(hazards, mine, 9);
    assert_int_equal(released[0], 1);
    assert_int_equal(released[9], 1);
}

static void
a_retry_releases_what_the_pin_let_go(void **state)
{
    struct hazards *hazards = *state;
    struct hazard_slot *mine = slot_of(hazards, 0), *other = slot_of(hazards, 63);
    hazard_retry(hazards, mine);
    hazard_pin(other, 3);
    hazard_release(hazards, mine, 3);
    hazard_retry(hazards, mine);
    assert_int_equal(released[3], 0);
    hazard_pin(other, 4); /* a slot pins one object of a pod */
    hazard_retry(hazards, mine);
    assert_int_equal(released[3], 1);
    hazard_unpin(other);
}

static void
the_own_pin_counts_like_any_other(void **state)
{
    struct hazards *hazards = *state;
    struct hazard_slot *mine = slot_of(hazards, 2);
    hazard_pin(mine, 3);
    hazard_release(hazards, mine, 3);
    assert_int_equal(released[3], 0);
    hazard_unpin(mine);
    hazard_retry(hazards, mine);
    assert_int_equal(released[3], 1);
}

static void
the_pins_of_a_slot_are_independent(void **state)
{
    struct hazards *hazards = *state;
    struct hazard_slot *mine = slot_of(hazards, 0), *other = slot_of(hazards, 1);
    hazard_pin_event(other, 4, 5);
    hazard_pin(other, 3);
    for (unsigned object = 3; object < 6; object++)
        hazard_release(hazards, mine, object);
    for (unsigned object = 3; object < 6; object++)
        assert_int_equal(released[object], 0);
    hazard_unpin(other);
    hazard_retry(hazards, mine);
    assert_int_equal(released[3], 1);
    assert_int_equal(released[4], 0);
    assert_int_equal(released[5], 0);
    hazard_pin(other, 6);
    hazard_unpin_event(other);
    hazard_release(hazards, mine, 6);
    assert_int_equal(released[4], 1);
    assert_int_equal(released[5], 1);
    assert_int_equal(released[6], 0);
    hazard_unpin(other);
    hazard_retry(hazards, mine);
    assert_int_equal(released[6], 1);
}

static void
an_event_without_an_object_pins_none(void **state)
{
    struct hazards *hazards = *state;
    struct hazard_slot *mine = slot_of(hazards, 0), *other = slot_of(hazards, 1);
    hazard_pin_event(other, 0, 0);
    hazard_release(hazards, mine, 0);
    assert_int_equal(released[0], 1);
    hazard_pin_event(other, 0, 7);
    hazard_release(hazards, mine, 7);
    hazard_release(hazards, mine, 0);
    assert_int_equal(released[0], 2);
    assert_int_equal(released[7], 0);
    hazard_unpin_event(other);
    hazard_pin_event(other, 8, 0);
    hazard_release(hazards, mine, 8);
    hazard_release(hazards, mine, 0);
    assert_int_equal(released[0], 3);
    assert_int_equal(released[7], 1);
    assert_int_equal(released[8], 0);
    hazard_unpin_event(other);
    hazard_retry(hazards, mine);
    assert_int_equal(released[8], 1);
}

static void
a_dead_thread_s_pins_end_together(void **state)
{
    struct hazards *hazards = *state;
    struct hazard_slot *mine = slot_of(hazards, 0), *dead = slot_of(hazards, 1);
    hazard_pin(dead, 3);
    hazard_pin_event(dead, 4, 5);
    for (unsigned object = 3; object < 6; object++)
        hazard_release(hazards, mine, object);
    hazard_forget(dead);
    hazard_retry(hazards, mine);
    for (unsigned object = 3; object < 6; object++)
        assert_int_equal(released[object], 1);
}

/* It may have died while it changed the list. */
static void
a_dead_thread_s_releases_are_forgotten(void **state)
{
    struct hazards *hazards = *state;
    struct hazard_slot *dead = slot_of(hazards, 0), *other = slot_of(hazards, 1);
    hazard_pin(other, 3);
    hazard_release(hazards, dead, 3);
    hazard_forget(dead);
    hazard_unpin(other);
    hazard_retry(hazards, dead);
    assert_int_equal(released[3], 0);
    hazard_release(hazards, dead, 3);
    assert_int_equal(released[3], 1);
}

/* Every pin of every worker, each with an object of its own from `first` on. */
static void
pin_all(struct hazards *hazards, uint64_t first)
{
    for (uint32_t worker = 0; worker < SLOTS; worker++) {
        struct hazard_slot *slot = slot_of(hazards, worker);
        hazard_pin(slot, first + worker * HAZARD_PINS);
        hazard_pin_event(slot, first + worker * HAZARD_PINS + 1, first + worker * HAZARD_PINS + 2);
    }
}

static void
every_reference_is_released_however_many_wait(void **state)
{
    struct hazards *hazards = *state;
    struct hazard_slot *mine = slot_of(hazards, 0);
    pin_all(hazards, 1);
    for (unsigned round = 0; round < 50; round++) {
        for (unsigned object = 1; object <= PINS_MAX; object++)
            hazard_release(hazards, mine, object);
    }
    for (unsigned object = 1; object <= PINS_MAX; object++)
        assert_int_equal(released[object], 0);
    /*
     * Every pin goes to another object, and the list is full: the new ones find room, the old ones
     * go.
     */
    pin_all(hazards, PINS_MAX + 1);
    for (unsigned object = 1; object <= PINS_MAX; object++)
        hazard_release(hazards, mine, PINS_MAX + object);
    for (unsigned object = 1; object <= PINS_MAX; object++) {
        assert_int_equal(released[object], 50);
        assert_int_equal(released[PINS_MAX + object], 0);
    }
    for (uint32_t worker = 0; worker < SLOTS; worker++) {
        hazard_unpin(&slots[worker]);
        hazard_unpin_event(&slots[worker]);
    }
    hazard_retry(hazards, mine);
    for (unsigned object = 1; object <= PINS_MAX; object++)
        assert_int_equal(released[PINS_MAX + object], 1);
}

static void
drain_releases_what_every_slot_keeps(void **state)
{
    struct hazards *hazards = *state;
    struct hazard_slot *other = slot_of(hazards, 9);
    hazard_pin(other, 3);
    hazard_release(hazards, slot_of(hazards, 0), 3);
    hazard_release(hazards, slot_of(hazards, 63), 3);
    hazard_release(hazards, other, 3);
    hazards_drain(hazards);
    assert_int_equal(released[3], 3);
    hazard_unpin(other);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 40000, PODS = 3 };

/* A counted object of the host. */
typedef struct thing {
    uint32_t references;
    uint32_t alive;
} thing_t;

typedef struct team {
    struct hazards hazards;
    mailbox_t mailbox;
    atomic_u64 pod[PODS]; /* each has a reference to an object */
    int64_t things;
} team_t;

static team_t team;

static void
thing_release(void *ctx, uint64_t object)
{
    thing_t *thing = (thing_t *)(uintptr_t)object;
    (void)ctx;
    if (__atomic_fetch_sub(&thing->references, 1, __ATOMIC_ACQ_REL) == 1) {
        thing->alive = 0;
        free(thing);
        __atomic_fetch_sub(&team.things, 1, __ATOMIC_RELAXED);
    }
}

static uint64_t
thing_make(void)
{
    thing_t *thing = malloc(sizeof *thing);
    *thing = (thing_t){.references = 1, .alive = 1};
    __atomic_fetch_add(&team.things, 1, __ATOMIC_RELAXED);
    return (uint64_t)(uintptr_t)thing;
}

static void
look(struct hazard_slot *slot, atomic_u64 *pod)
{
    uint64_t object = u64_load_acquire(pod);
    hazard_pin(slot, object);
    if (u64_load_acquire(pod) != object) {
        hazard_unpin(slot);
        return;
    }
    thing_t *thing = (thing_t *)(uintptr_t)object;
    mailbox_check(&team.mailbox, __atomic_fetch_add(&thing->references, 1, __ATOMIC_RELAXED) > 0);
    hazard_unpin(slot);
    mailbox_check(&team.mailbox, thing->alive == 1);
    hazard_release(&team.hazards, slot, object);
}

static void *
member_main(void *argument)
{
    struct hazard_slot *slot = argument;
    for (unsigned round = 0; round < ROUNDS; round++) {
        atomic_u64 *pod = &team.pod[round % PODS];
        if (round % 4 == 0)
            hazard_release(&team.hazards, slot, u64_exchange(pod, thing_make()));
        else
            look(slot, pod);
    }
    return NULL;
}

static void
threads_never_retain_what_was_released_for_the_last_time(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    mailbox_init(&team.mailbox);
    memset(slots, 0, sizeof slots);
    hazards_open(&team.hazards, thing_release, NULL);
    for (unsigned i = 0; i < PODS; i++)
        u64_store(&team.pod[i], thing_make());
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, member_main, slot_of(&team.hazards, i)),
                         0);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    mailbox_assert_empty(&team.mailbox);
    for (unsigned i = 0; i < PODS; i++)
        hazard_release(&team.hazards, &slots[0], u64_load(&team.pod[i]));
    hazards_drain(&team.hazards);
    assert_int_equal(team.things, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_nobody_pins_is_released_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_pinned_waits_for_the_next_release_after_the_pin,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_retry_releases_what_the_pin_let_go, setup, teardown),
        cmocka_unit_test_setup_teardown(the_own_pin_counts_like_any_other, setup, teardown),
        cmocka_unit_test_setup_teardown(the_pins_of_a_slot_are_independent, setup, teardown),
        cmocka_unit_test_setup_teardown(an_event_without_an_object_pins_none, setup, teardown),
        cmocka_unit_test_setup_teardown(a_dead_thread_s_pins_end_together, setup, teardown),
        cmocka_unit_test_setup_teardown(a_dead_thread_s_releases_are_forgotten, setup, teardown),
        cmocka_unit_test_setup_teardown(every_reference_is_released_however_many_wait, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(drain_releases_what_every_slot_keeps, setup, teardown),
        cmocka_unit_test(threads_never_retain_what_was_released_for_the_last_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
