/* The lines that a vector has for a decision, and whether two answers say the same. */
#ifndef CONFORM_PREEMPTION_ANSWER_H
#define CONFORM_PREEMPTION_ANSWER_H

#include "preemption_world.h"

#include <stdio.h>

/** Everything but the actions, one line each, without "> ". */
void answer_write(struct preemption_world *world, FILE *out);
/** "actions ..." or "actions-sync ..."; nothing without a chosen node. */
void answer_write_actions(struct preemption_world *world, const char *word, FILE *out);

/** Does the recorded answer agree? `got` is cut. */
bool answer_agrees(struct preemption_case *of, const struct case_answer *expected, char *got);

#endif
