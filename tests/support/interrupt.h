/**
 * What a signal from the keyboard does to a tool: it ends between two pieces of its work, says what
 * there is so far, and its children end with it.
 *
 * SIGINT and SIGTERM are alike. A second one ends the tool at once.
 */
#ifndef SCHEDQ_TESTS_SUPPORT_INTERRUPT_H
#define SCHEDQ_TESTS_SUPPORT_INTERRUPT_H

#include <stdbool.h>
#include <sys/types.h>

/** From here on such a signal is only noted. Calls that sleep return early. */
void interrupt_catch(void);

/** Has one come? Ask between two pieces of work. */
bool interrupt_came(void);

/** 128 + its number, as a shell says it; 0: none has come. */
int interrupt_status(void);

/**
 * Prints "TOOL: interrupted, WORDS" to standard error if one has come, and returns its status; else
 * returns `status`. What was found until then is worth more: a `status` of failure (1) stays.
 */
int interrupt_end(int status, const char *words);

/**
 * This process, or with a negative number this group, gets SIGKILL when such a signal comes. At
 * most 8 at a time.
 */
void interrupt_take(pid_t child);
/** It has ended, and was waited for. */
void interrupt_drop(pid_t child);

#endif
