/* Where a freeze can hit a thread, as the distribution prints it: a call of ops/op.h, or these. */
#ifndef SCHEDQ_FREEZE_CALL_H
#define SCHEDQ_FREEZE_CALL_H

#include "ops/op.h"

enum {
    CALL_TIMER = OPS, /* all that the timer thread does */
    CALLS
};

/** "add", "try_pop", "timer"; "outside" for OP_NONE: the thread is in the tool's own code. */
const char *call_name(unsigned call);

#endif
