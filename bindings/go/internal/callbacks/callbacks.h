#ifndef CALLBACKS_H
#define CALLBACKS_H

#include <schedq/schedq.h>

extern uint64_t limit;

int is_odd(void *ctx, uint64_t pod);
int is_at_most(void *limit_of, uint64_t pod);
schedq_hint_t is_enough(void *ctx, uint64_t pod, uint64_t before, uint64_t after);

#endif
