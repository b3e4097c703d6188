/*
 * The counter of cache lines that change owner (bench/cost/lines.h): sequences of reads and writes
 * made by hand, whose transfers are known.
 */
#include "lines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct line line;
static struct transfers transfers;

static int
forget(void **state)
{
    (void)state;
    memset(&line, 0, sizeof line);
    memset(&transfers, 0, sizeof transfers);
    return 0;
}

/* "r0 w1 ...": worker 0 reads, worker 1 writes, ... */
static void
play(const char *sequence)
{
    for (; *sequence != '\0'; sequence += sequence[2] == ' ' ? 3 : 2) {
        unsigned worker = (unsigned)(sequence[1] - '0');

        if (sequence[0] == 'r') {
            line_read(&line, worker, &transfers);
        } else {
            line_write(&line, worker, &transfers);
        }
    }
}

static void
expect(uint64_t reads, uint64_t writes, uint64_t upgrades)
{
    assert_int_equal(transfers.reads, reads);
    assert_int_equal(transfers.writes, writes);
    assert_int_equal(transfers.upgrades, upgrades);
}

static void
the_first_touch_comes_from_memory(void **state)
{
    (void)state;
    play("r0");
    expect(0, 0, 0);
    forget(NULL);
    play("w3");
    expect(0, 0, 0);
}

static void
a_worker_that_is_alone_moves_nothing(void **state)
{
    (void)state;
    play("r0 w0 r0 w0 w0 r0");
    expect(0, 0, 0);
}

static void
reading_what_another_has_is_a_read_miss_once(void **state)
{
    (void)state;
    play("w0 r1 r1 r1");
    expect(1, 0, 0);
    play("r2 r1 r0");
    expect(2, 0, 0);
}

static void
writing_what_another_has_is_a_write_miss(void **state)
{
    (void)state;
    play("w0 w1");
    expect(0, 1, 0);
    play("w1");
    expect(0, 1, 0);
    play("w0 w1 w0");
    expect(0, 4, 0);
}

static void
writing_what_is_shared_is_an_upgrade_for_a_reader(void **state)
{
    (void)state;
    play("w0 r1 w1");
    expect(1, 0, 1);
}

static void
writing_what_is_shared_is_a_write_miss_for_a_stranger(void **state)
{
    (void)state;
    play("w0 r1 w2");
    expect(1, 1, 0);
}

static void
the_owner_pays_too_when_others_have_read(void **state)
{
    (void)state;
    play("w0 r1 w0");
    expect(1, 0, 1);
}

static void
a_write_takes_every_copy_away(void **state)
{
    (void)state;
    play("w0 r1 r2 r3 w0");
    expect(3, 0, 1);
    play("r1 r2 r3");
    expect(6, 0, 1);
}

/* A record that is read and then claimed costs two; one that is claimed at once, one. */
static void
looking_before_taking_costs_two(void **state)
{
    (void)state;
    play("w0 r1 w1 r0 w0");
    expect(2, 0, 2);
    forget(NULL);
    play("w0 w1 w0");
    expect(0, 2, 0);
}

static void
what_is_not_counted_moves_the_line_all_the_same(void **state)
{
    (void)state;
    line_write(&line, 0, NULL);
    line_read(&line, 1, NULL);
    expect(0, 0, 0);
    play("w1");
    expect(0, 0, 1);
}

static void
the_last_worker_has_a_cache_too(void **state)
{
    (void)state;
    line_write(&line, LINE_WORKERS_MAX - 1, &transfers);
    line_read(&line, 0, &transfers);
    line_write(&line, LINE_WORKERS_MAX - 1, &transfers);
    expect(1, 0, 1);
}

static void
an_address_has_the_line_it_lies_in(void **state)
{
    struct line some[2] = {{0, 0}, {0, 0}};
    struct lines lines = {.begin = 4096, .count = 2, .of = some, .round = 1};
    (void)state;

    assert_ptr_equal(lines_at(&lines, (const void *)(uintptr_t)4096), &some[0]);
    assert_ptr_equal(lines_at(&lines, (const void *)(uintptr_t)(4096 + 63)), &some[0]);
    assert_ptr_equal(lines_at(&lines, (const void *)(uintptr_t)(4096 + 64)), &some[1]);
    assert_null(lines_at(&lines, (const void *)(uintptr_t)(4096 + 128)));
    assert_null(lines_at(&lines, (const void *)(uintptr_t)4095));
}

static void
a_line_counts_once_a_round(void **state)
{
    struct lines lines = {.begin = 4096, .count = 1, .of = &line, .round = 1};
    (void)state;

    assert_true(line_first(&lines, &line));
    assert_false(line_first(&lines, &line));
    lines_next_round(&lines);
    assert_true(line_first(&lines, &line));
    assert_false(line_first(&lines, &line));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_first_touch_comes_from_memory, forget),
        cmocka_unit_test_setup(a_worker_that_is_alone_moves_nothing, forget),
        cmocka_unit_test_setup(reading_what_another_has_is_a_read_miss_once, forget),
        cmocka_unit_test_setup(writing_what_another_has_is_a_write_miss, forget),
        cmocka_unit_test_setup(writing_what_is_shared_is_an_upgrade_for_a_reader, forget),
        cmocka_unit_test_setup(writing_what_is_shared_is_a_write_miss_for_a_stranger, forget),
        cmocka_unit_test_setup(the_owner_pays_too_when_others_have_read, forget),
        cmocka_unit_test_setup(a_write_takes_every_copy_away, forget),
        cmocka_unit_test_setup(looking_before_taking_costs_two, forget),
        cmocka_unit_test_setup(what_is_not_counted_moves_the_line_all_the_same, forget),
        cmocka_unit_test_setup(the_last_worker_has_a_cache_too, forget),
        cmocka_unit_test_setup(an_address_has_the_line_it_lies_in, forget),
        cmocka_unit_test_setup(a_line_counts_once_a_round, forget),
    };
    return cmocka_run_group_tests_name("cache lines that change owner", tests, NULL, NULL);
}
