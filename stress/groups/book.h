/*
 * Rounds of calls on groups, and the rules that they have to keep.
 *
 * Groups are numbers from 1 to GROUPS. The record of a pop of groups stands for one pod; those of
 * one pop have the same interval, and stand together.
 */
#ifndef SCHEDQ_GROUPS_BOOK_H
#define SCHEDQ_GROUPS_BOOK_H

#include "rounds/rounds.h"

enum { GROUPS = 16 };

/** The group that a pod names; 0: none. */
static inline uint32_t
group_of(uint32_t pod)
{
    return pod % (GROUPS + 1);
}

/** 2..5 */
static inline uint32_t
quorum_of(uint32_t group)
{
    return 2 + group % 4;
}

/** CALL_POP is of groups. A record's group is the call's; of a pod: its own. */
enum {
    CALL_DECLARE = CALL_OWN,
    CALL_PLAIN_POP, /* of pods */
    CALL_END        /* group_done: its token is the group's */
};

enum {
    RULE_ALONE,  /* no pop of pods returns a member, and a group comes with its own members */
    RULE_ONCE,   /* a member is in one cycle at a time, and ends once */
    RULE_CYCLES, /* so is a group */
    RULE_QUORUM, /* no group comes before its quorum is there: late, it is 1 */
    RULE_WHOLE,  /* a member that surely waits is popped with its group */
    RULE_LOST,   /* each pod ends */
};

void group_act(actor_t *actor);
void group_end_one(actor_t *actor);
/** Declares all groups, and ends all pods. */
void group_drain(actor_t *actor);

void rules_check(book_t *book, report_t *report);
void rules_print(const record_t *record);

extern const plant_t group_plants[];

#endif
