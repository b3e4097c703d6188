/* The calls that a freeze can hit, as the distribution prints them. */
#ifndef SCHEDQ_FREEZE_CALL_H
#define SCHEDQ_FREEZE_CALL_H

typedef enum call {
    CALL_NONE, /* the thread is in the tool's own code */
    CALL_ADD,
    CALL_ADD_MANY,
    CALL_TRY_POP,
    CALL_POP,
    CALL_POP_MANY,
    CALL_DELETE,
    CALL_UPDATE,
    CALL_FIND,
    CALL_GET,
    CALL_TICK,
    CALL_MOVE_ALL,
    CALL_ACTIVATE,
    CALL_CHOSEN, /* calls below are chosen by weight, those from here on follow a pop */
    CALL_DONE = CALL_CHOSEN,
    CALL_DONE_MANY,
    CALL_ADD_UNSCHEDULABLE,
    CALL_READD, /* of the settler only */
    CALL_TIMER, /* all that the timer thread does */
    CALLS
} call_t;

/** "add", "try_pop"; "outside" for CALL_NONE. */
const char *call_name(unsigned call);

#endif
