/* A program as a user runs it, for tests: what it prints, both streams together, and its status. */
#ifndef SCHEDQ_TESTS_SUPPORT_COMMAND_H
#define SCHEDQ_TESTS_SUPPORT_COMMAND_H

/** What the last one printed. */
extern char command_output[1 << 16];

/** Runs it with these arguments, as the shell reads them. Returns its exit status. */
int command_run(const char *program, const char *arguments);

/** Fails the test unless the output has that text. */
void command_expect(const char *text);

#endif
