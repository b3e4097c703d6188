/*
 * lockfree/memory/names.h: texts come back as they were given, are compared exactly, and may be
 * compared while they change.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ground.h"
#include "lockfree/memory/names.h"
#include "mailbox.h"

#define LENGTH_MAX 319

struct world {
    struct ground ground;
    struct names names;
    struct names_cache cache;
};

static int
setup(void **state)
{
    world_t *world = ground_make(sizeof *world);
    names_open(&world->names, &world->ground.memory);
    *state = world;
    return 0;
}

static int
teardown(void **state)
{
    world_t *world = *state;
    names_close(&world->names);
    ground_free(world);
    return 0;
}

/* A text without a NUL, in a block that ends with it. */
static char *
text_of(uint32_t length, char fill)
{
    char *text = malloc(length);
    memset(text, fill, length);
    text[length / 2] = '/';
    return text;
}

static uint32_t
take(world_t *world, const char *text, uint32_t length)
{
    return names_take(&world->names, &world->cache, text, length);
}

static bool
equal(world_t *world, uint32_t cell, const char *text, uint32_t length)
{
    return names_equal(&world->names, cell, text, length);
}

static void
every_length_is_kept_and_ends_in_nul(void **state)
{
    world_t *world = *state;
    static uint32_t cells[LENGTH_MAX + 1];
    for (uint32_t length = 3; length <= LENGTH_MAX; length++) {
        char *text = text_of(length, (char)('a' + length % 26));
        cells[length] = take(world, text, length);
        assert_int_not_equal(cells[length], 0);
        free(text);
    }
    for (uint32_t length = 3; length <= LENGTH_MAX; length++) {
        char *text = text_of(length, (char)('a' + length % 26));
        const char *kept = names_text(&world->names, cells[length]);
        assert_memory_equal(kept, text, length);
        assert_int_equal(kept[length], '\0');
        assert_true(equal(world, cells[length], text, length));
        free(text);
    }
}

static void
a_longer_text_than_any_cell_gets_none(void **state)
{
    world_t *world = *state;
    char *text = text_of(LENGTH_MAX + 1, 'a');
    assert_int_equal(take(world, text, LENGTH_MAX + 1), 0);
    free(text);
}

static void
only_the_same_text_is_equal(void **state)
{
    world_t *world = *state;
    static const uint32_t lengths[] = {3, 7, 8, 9, 16, 62, 63, 64, 127, 128, 317, 318};
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        uint32_t length = lengths[i];
        char *text = text_of(length, 'x'), *longer = text_of(length + 1, 'x');
        uint32_t cell = take(world, text, length);
        memcpy(longer, text, length);
        assert_true(equal(world, cell, text, length));
        assert_false(equal(world, cell, longer, length + 1));
        assert_false(equal(world, cell, text, length - 1));
        for (uint32_t at = 0; at < length; at++) {
            text[at] ^= 1;
            assert_false(equal(world, cell, text, length));
            text[at] ^= 1;
        }
        free(text);
        free(longer);
    }
}

static void
a_cell_used_again_holds_nothing_of_its_last_text(void **state)
{
    world_t *world = *state;
    uint32_t cell = take(world, "ns/a-rather-long-name-of-a-pod", 30);
    names_give(&world->names, &world->cache, cell);
    assert_int_equal(take(world, "ns/b", 4), cell);
    assert_string_equal(names_text(&world->names, cell), "ns/b");
    assert_memory_equal(names_text(&world->names, cell), "ns/b\0\0\0", 8);
    assert_false(equal(world, cell, "ns/a-rather-long-name-of-a-pod", 30));
}

static void
a_number_that_names_no_cell_equals_nothing(void **state)
{
    world_t *world = *state;
    assert_false(equal(world, 0, "ns/a", 4));
    uint32_t cell = take(world, "ns/a", 4);
    assert_false(equal(world, cell + 100000, "ns/a", 4));
    assert_false(equal(world, cell | UINT32_C(1) << 28, "ns/a", 4));
    assert_false(equal(world, cell | UINT32_C(3) << 28, "ns/a", 4));
    assert_false(equal(world, UINT32_MAX, "ns/a", 4));
    assert_true(equal(world, cell, "ns/a", 4));
}

static void
reserved_names_need_no_memory_and_others_answer_none(void **state)
{
    world_t *world = *state;
    enum { PODS = 5000 };
    char *longer = text_of(64, 'x'), *most = text_of(63, 'y');
    assert_true(names_reserve(&world->names, PODS));
    atomic_store(&world->ground.account.fail_all, true);
    for (unsigned i = 0; i < PODS; i++)
        assert_int_not_equal(take(world, most, 63), 0);
    assert_int_equal(take(world, longer, 64), 0);
    assert_false(names_reserve(&world->names, 4 * PODS));
    (void)account_heal(&world->ground.account);
    assert_int_not_equal(take(world, longer, 64), 0);
    free(longer);
    free(most);
}

static void
trim_gives_back_what_was_flushed(void **state)
{
    world_t *world = *state;
    uint32_t cells[3];
    char *texts[3] = {text_of(10, 'a'), text_of(100, 'b'), text_of(300, 'c')};
    static const uint32_t lengths[3] = {10, 100, 300};
    for (unsigned i = 0; i < 3; i++)
        cells[i] = take(world, texts[i], lengths[i]);
    uint64_t before = memory_bytes(&world->ground.memory, MEMORY_NAMES);
    for (unsigned i = 0; i < 3; i++)
        names_give(&world->names, &world->cache, cells[i]);
    names_flush(&world->names, &world->cache);
    epoch_enter(world->ground.record);
    names_trim(&world->names, world->ground.record);
    epoch_leave(world->ground.record);
    epoch_poll(world->ground.record);
    assert_true(memory_bytes(&world->ground.memory, MEMORY_NAMES) < before / 2);
    for (unsigned i = 0; i < 3; i++) {
        assert_false(equal(world, cells[i], texts[i], lengths[i]));
        assert_int_not_equal(take(world, texts[i], lengths[i]), 0);
        free(texts[i]);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 3, ROUNDS = 30000 };

typedef struct team {
    world_t *world;
    mailbox_t mailbox;
    atomic_u32 cell[THREADS]; /* somebody's current name */
} team_t;

typedef struct member {
    pthread_t thread;
    team_t *team;
    unsigned number;
} member_t;

/*
 * Each thread renames its own; it compares those of the others too, whose answer counts for
 * nothing.
 */
static void *
member_main(void *argument)
{
    member_t *member = argument;
    team_t *team = member->team;
    struct names *names = &team->world->names;
    struct names_cache cache = {0};
    struct epoch_record *record = epoch_record_make(team->world->ground.epoch);
    char text[201];
    memset(text, 'a' + (int)member->number, sizeof text);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint32_t length = 3 + round * 7 % 190;
        epoch_enter(record);
        uint32_t cell = names_take(names, &cache, text, length);
        u32_store_release(&team->cell[member->number], cell);
        for (unsigned i = 0; i < THREADS; i++)
            (void)names_equal(names, u32_load_acquire(&team->cell[i]), text, length);
        mailbox_check(&team->mailbox, names_equal(names, cell, text, length));
        mailbox_check(&team->mailbox, strlen(names_text(names, cell)) == length);
        names_give(names, &cache, cell);
        if (round % 1000 == 0)
            names_flush(names, &cache);
        if (round % 5000 == 0)
            names_trim(names, record);
        epoch_leave(record);
        epoch_poll(record);
    }
    epoch_enter(record);
    names_flush(names, &cache);
    epoch_leave(record);
    return NULL;
}

static void
threads_compare_names_that_change(void **state)
{
    static team_t team;
    static member_t members[THREADS];
    memset(&team, 0, sizeof team);
    team.world = *state;
    mailbox_init(&team.mailbox);
    for (unsigned i = 0; i < THREADS; i++) {
        members[i] = (member_t){.team = &team, .number = i};
        assert_int_equal(pthread_create(&members[i].thread, NULL, member_main, &members[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    mailbox_assert_empty(&team.mailbox);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_length_is_kept_and_ends_in_nul, setup, teardown),
        cmocka_unit_test_setup_teardown(a_longer_text_than_any_cell_gets_none, setup, teardown),
        cmocka_unit_test_setup_teardown(only_the_same_text_is_equal, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cell_used_again_holds_nothing_of_its_last_text, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_number_that_names_no_cell_equals_nothing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(reserved_names_need_no_memory_and_others_answer_none, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(trim_gives_back_what_was_flushed, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_compare_names_that_change, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
