/*
 * Verbs for groups, as those of fixture.h are for pods: they assert success. What was popped last
 * is in `group` and `taken`.
 */
#ifndef TESTS_UNIT_GANG_H
#define TESTS_UNIT_GANG_H

#include <schedq/group.h>
#include <string.h>

#include "fixture.h"

enum { GANG = 7, OTHER = 8, ROOT = 20, LEFT = 21, RIGHT = 22, ROOM = 64 };

static schedq_popped_group_t group;
static schedq_popped_t taken[ROOM];
static size_t taken_count;

static inline schedq_result_t
declare(fixture_t *fixture, uint64_t number, int32_t priority, uint32_t quorum, uint64_t parent)
{
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    schedq_result_t result;
    spec.priority = priority;
    spec.quorum = quorum;
    spec.parent = parent;
    spec.object = number * 100;
    assert_ok(schedq_group_add(fx_worker(fixture), number, &spec, &result));
    return result;
}

static inline schedq_result_t
join(fixture_t *fixture, const char *name, uint64_t number)
{
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_result_t result;
    static uint64_t objects = 1000;
    spec.group = number;
    spec.object = ++objects;
    assert_ok(schedq_add(fx_worker(fixture), name, strlen(name), &spec, &result));
    assert_place(result.place, SCHEDQ_ASIDE);
    return result;
}

/* The group GANG, and its members, each one letter. */
static inline void
form(fixture_t *fixture, uint32_t quorum, const char *members)
{
    char name[] = "ns/?";
    declare(fixture, GANG, 0, quorum, 0);
    for (; *members != '\0'; members++) {
        name[3] = *members;
        join(fixture, name, GANG);
    }
}

static inline schedq_group_info_t
look(fixture_t *fixture, uint64_t number)
{
    schedq_group_info_t info = SCHEDQ_GROUP_INFO_INIT;
    assert_ok(schedq_group_get(fx_worker(fixture), number, &info));
    return info;
}

static inline schedq_status_t
try_pop(fixture_t *fixture)
{
    return schedq_try_pop_group(fx_worker(fixture), &group, taken, ROOM, &taken_count);
}

/* Pops the group, and expects these members, in this order, each one letter. */
static inline void
pop(fixture_t *fixture, uint64_t number, const char *members)
{
    char names[ROOM + 1] = "";
    assert_ok(try_pop(fixture));
    assert_int_equal(group.group, number);
    for (size_t i = 0; i < taken_count; i++)
        names[i] = taken[i].name[3];
    assert_string_equal(names, members);
    assert_int_equal(group.object, number * 100);
}

static inline void
pop_none(fixture_t *fixture)
{
    taken_count = 99;
    assert_status(try_pop(fixture), SCHEDQ_EMPTY);
    assert_int_equal(taken_count, 0);
}

static inline void
fail_all(fixture_t *fixture, uint64_t unschedulable)
{
    for (size_t i = 0; i < taken_count; i++)
        assert_place(fx_fail(fixture, &taken[i], unschedulable, 0).place, SCHEDQ_ASIDE);
}

static inline schedq_result_t
end(fixture_t *fixture, schedq_group_outcome_t outcome)
{
    schedq_group_end_t how = SCHEDQ_GROUP_END_INIT;
    schedq_result_t result;
    how.outcome = (uint8_t)outcome;
    assert_ok(schedq_group_done(fx_worker(fixture), &group.token, &how, &result));
    return result;
}

static inline void
drop(fixture_t *fixture, const char *name)
{
    assert_ok(schedq_delete_name(fx_worker(fixture), name, strlen(name), NULL));
}

#endif
