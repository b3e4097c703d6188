/**
 * cmocka with what this project asserts all the time: statuses and places, by name.
 *
 * cmocka's header needs four others before it; they are here once. Only the main thread may assert:
 * a failed assertion is a longjmp. Other threads leave their complaints in a mailbox (mailbox.h).
 */
#ifndef SCHEDQ_TESTS_SUPPORT_EXPECT_H
#define SCHEDQ_TESTS_SUPPORT_EXPECT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "schedq/schedq.h"

/** Fails the test unless `got` is `expected`; names both and the call. */
void expect_status_at(schedq_status_t got, schedq_status_t expected, const char *call,
                      const char *file, int line);
/** Fails the test unless `got` is `expected`; names both. */
void expect_place_at(unsigned got, schedq_place_t expected, const char *what, const char *file,
                     int line);
/** Fails the test unless `text` contains `part`; prints both. */
void expect_contains_at(const char *text, const char *part, const char *file, int line);

#define assert_status(call, expected) \
    expect_status_at((call), (expected), #call, __FILE__, __LINE__)
#define assert_ok(call) expect_status_at((call), SCHEDQ_OK, #call, __FILE__, __LINE__)
#define assert_place(place, expected) \
    expect_place_at((unsigned)(place), (expected), #place, __FILE__, __LINE__)
#define assert_contains(text, part) expect_contains_at((text), (part), __FILE__, __LINE__)

/** Signed 64-bit numbers; cmocka's own comparison prints them as unsigned. */
#define assert_ns_equal(got, expected) expect_ns_at((got), (expected), #got, __FILE__, __LINE__)
void expect_ns_at(int64_t got, int64_t expected, const char *what, const char *file, int line);

#endif
