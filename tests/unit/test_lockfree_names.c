/*
 * lockfree/memory/names.h: texts come back as they were given, are compared exactly, and may be
 * compared while they change. Short ones need no memory.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "ground.h"
#include "lockfree/pod/entry.h"
#include "mailbox.h"

#define LENGTH_MAX 319

struct world {
    struct ground ground;
    struct names names;
    struct names_cache cache;
    struct slab_cache records;
};

/* A record's. */
typedef struct name {
    uint32_t record; /* 0: none yet */
    uint32_t place;
} name_t;

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

static const struct entry *
entry_of(world_t *world, const name_t *name)
{
    return entry_at(&world->ground.entries, name->record);
}

static bool
keep(world_t *world, name_t *name, const char *text, uint32_t length)
{
    if (name->record == 0)
        name->record = slab_take(&world->ground.entries.records, &world->records);
    name->place = entry_keep_name(&world->names, &world->cache, entry_of(world, name), name->record,
                                  text, length);
    return name->place != 0;
}

static const atomic_u64 *
words(world_t *world, const name_t *name, uint32_t length)
{
    return entry_words(&world->names, entry_of(world, name), name->record, name->place, length);
}

static bool
equal(world_t *world, const name_t *name, const char *text, uint32_t length)
{
    return names_equal(words(world, name, length), text, length);
}

static const char *
text(world_t *world, const name_t *name)
{
    return entry_name(&world->names, entry_of(world, name), name->place);
}

static void
every_length_is_kept_and_ends_in_nul(void **state)
{
    world_t *world = *state;
    static name_t names[LENGTH_MAX + 1];
    memset(names, 0, sizeof names);
    for (uint32_t length = 3; length <= LENGTH_MAX; length++) {
        char *given = text_of(length, (char)('a' + length % 26));
        assert_true(keep(world, &names[length], given, length));
        assert_int_equal(names_is_cell(names[length].place), length >= NAMES_OWN);
        free(given);
    }
    for (uint32_t length = 3; length <= LENGTH_MAX; length++) {
        char *given = text_of(length, (char)('a' + length % 26));
        char copy[LENGTH_MAX + 9];
        const char *kept = text(world, &names[length]);
        assert_memory_equal(kept, given, length);
        assert_int_equal(kept[length], '\0');
        assert_true(equal(world, &names[length], given, length));
        names_copy(words(world, &names[length], length), copy, length);
        assert_memory_equal(copy, given, length);
        assert_int_equal(copy[length], '\0');
        free(given);
    }
}

static void
a_longer_text_than_any_cell_gets_none(void **state)
{
    world_t *world = *state;
    char *given = text_of(LENGTH_MAX + 1, 'a');
    name_t name = {0};
    assert_false(keep(world, &name, given, LENGTH_MAX + 1));
    free(given);
}

static void
only_the_same_text_is_equal(void **state)
{
    world_t *world = *state;
    static const uint32_t lengths[] = {3, 7, 8, 9, 16, 62, 63, 64, 127, 128, 317, 318};
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        uint32_t length = lengths[i];
        char *given = text_of(length, 'x'), *longer = text_of(length + 1, 'x');
        name_t name = {0};
        assert_true(keep(world, &name, given, length));
        memcpy(longer, given, length);
        assert_true(equal(world, &name, given, length));
        assert_false(equal(world, &name, longer, length + 1));
        assert_false(equal(world, &name, given, length - 1));
        for (uint32_t at = 0; at < length; at++) {
            given[at] ^= 1;
            assert_false(equal(world, &name, given, length));
            given[at] ^= 1;
        }
        free(given);
        free(longer);
    }
}

static void
a_name_kept_again_holds_nothing_of_the_last_text(void **state)
{
    world_t *world = *state;
    char *given = text_of(100, 'x'), *other = text_of(70, 'y');
    name_t name = {0};
    assert_true(keep(world, &name, "ns/a-rather-long-name-of-a-pod", 30));
    assert_true(keep(world, &name, "ns/b", 4));
    assert_memory_equal(text(world, &name), "ns/b\0\0\0", 8);
    assert_false(equal(world, &name, "ns/a-rather-long-name-of-a-pod", 30));
    assert_true(keep(world, &name, given, 100));
    uint32_t cell = name.place;
    names_give(&world->names, &world->cache, cell);
    assert_true(keep(world, &name, other, 70));
    assert_int_equal(name.place, cell);
    assert_int_equal(strlen(text(world, &name)), 70);
    assert_true(equal(world, &name, other, 70));
    assert_false(equal(world, &name, given, 100));
    free(given);
    free(other);
}

static void
a_number_that_names_no_cell_equals_nothing(void **state)
{
    world_t *world = *state;
    char *given = text_of(100, 'x');
    name_t name = {0}, wrong = {0};
    assert_true(keep(world, &name, given, 100));
    wrong.record = name.record;
    const uint32_t numbers[] = {0, name.place + 100000, name.place + (UINT32_C(1) << 28),
                                name.place | UINT32_C(3) << 28, UINT32_MAX};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        wrong.place = numbers[i];
        assert_false(equal(world, &wrong, given, 100));
        assert_false(equal(world, &wrong, "ns/a", 4));
    }
    assert_true(equal(world, &name, given, 100));
    free(given);
}

static void
short_names_need_no_memory_and_others_answer_none(void **state)
{
    world_t *world = *state;
    char *longer = text_of(64, 'x'), *most = text_of(63, 'y');
    name_t name = {0};
    assert_true(keep(world, &name, "ns/a", 4)); /* it has a record */
    atomic_store(&world->ground.account.fail_all, true);
    assert_true(keep(world, &name, most, 63));
    assert_int_equal(memory_bytes(&world->ground.memory, MEMORY_NAMES), 0);
    assert_false(keep(world, &name, longer, 64));
    (void)account_heal(&world->ground.account);
    assert_true(keep(world, &name, longer, 64));
    free(longer);
    free(most);
}

static void
trim_gives_back_what_was_flushed(void **state)
{
    world_t *world = *state;
    enum { TEXTS = 2 };
    name_t names[TEXTS] = {{0}};
    char *texts[TEXTS] = {text_of(100, 'b'), text_of(300, 'c')};
    static const uint32_t lengths[TEXTS] = {100, 300};
    for (unsigned i = 0; i < TEXTS; i++)
        assert_true(keep(world, &names[i], texts[i], lengths[i]));
    uint64_t before = memory_bytes(&world->ground.memory, MEMORY_NAMES);
    for (unsigned i = 0; i < TEXTS; i++)
        names_give(&world->names, &world->cache, names[i].place);
    names_flush(&world->names, &world->cache);
    epoch_enter(world->ground.record);
    names_trim(&world->names, world->ground.record);
    epoch_leave(world->ground.record);
    epoch_poll(world->ground.record);
    assert_true(memory_bytes(&world->ground.memory, MEMORY_NAMES) < before / 2);
    for (unsigned i = 0; i < TEXTS; i++) {
        assert_false(equal(world, &names[i], texts[i], lengths[i]));
        assert_true(keep(world, &names[i], texts[i], lengths[i]));
        free(texts[i]);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 3, ROUNDS = 30000 };

typedef struct team {
    world_t *world;
    mailbox_t mailbox;
    uint32_t record[THREADS];
    atomic_u32 place[THREADS]; /* of its current name */
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
    world_t *world = team->world;
    name_t name = {.record = team->record[member->number]};
    char given[201];
    memset(given, 'a' + (int)member->number, sizeof given);
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint32_t length = 3 + round * 7 % 190;
        epoch_enter(record);
        name.place =
            entry_keep_name(names, &cache, entry_of(world, &name), name.record, given, length);
        mailbox_check(&team->mailbox, name.place != 0);
        u32_store_release(&team->place[member->number], name.place);
        for (unsigned i = 0; i < THREADS; i++) {
            name_t other = {team->record[i], u32_load_acquire(&team->place[i])};
            (void)equal(world, &other, given, length);
        }
        mailbox_check(&team->mailbox, equal(world, &name, given, length));
        mailbox_check(&team->mailbox, strlen(text(world, &name)) == length);
        names_give(names, &cache, name.place);
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
        team.record[i] = slab_take(&team.world->ground.entries.records, &team.world->records);
    }
    for (unsigned i = 0; i < THREADS; i++) {
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
        cmocka_unit_test_setup_teardown(a_name_kept_again_holds_nothing_of_the_last_text, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_number_that_names_no_cell_equals_nothing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(short_names_need_no_memory_and_others_answer_none, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(trim_gives_back_what_was_flushed, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_compare_names_that_change, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
