/*
 * schedq-patience [--cpu SECONDS] [--asleep SECONDS] COMMAND...: runs a test, and ends it if it is
 * stuck.
 *
 * Stuck is what support/patience.h calls so, about all processes that the command starts: SECONDS
 * of processor time in all, or so many looks at which everything slept. Time that the test waits
 * for a processor does not count, so the limits mean the same on a machine that others keep busy.
 * Exit status: the command's, 128 + the signal that ended it, or 124.
 */
#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/patience.h"

#define STATUS_STUCK 124

static volatile sig_atomic_t test;

static void
pass_on(int signal)
{
    (void)kill(-(pid_t)test, signal);
}

static unsigned
seconds_of(const char *option, const char *text)
{
    char *end;
    unsigned long seconds = strtoul(text, &end, 10);

    if (end == text || *end != '\0' || seconds == 0 || seconds > 1000000) {
        errx(2, "%s \"%s\": legal are 1..1000000", option, text);
    }
    return (unsigned)seconds;
}

static pid_t
start(char **command)
{
    pid_t process = patience_fork();

    if (process < 0) {
        err(1, "fork");
    }
    if (process == 0) {
        (void)setpgid(0, 0);
        (void)execvp(command[0], command);
        err(127, "%s", command[0]);
    }
    (void)setpgid(process, process);
    return process;
}

int
main(int argc, char **argv)
{
    unsigned cpu = 1200, asleep = 120;
    patience_t patience;
    int status = 0, i = 1;

    for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
        if (strcmp(argv[i], "--cpu") == 0) {
            cpu = seconds_of("--cpu", argv[i + 1]);
        } else if (strcmp(argv[i], "--asleep") == 0) {
            asleep = seconds_of("--asleep", argv[i + 1]);
        } else {
            errx(2, "\"%s\": legal are --cpu SECONDS and --asleep SECONDS", argv[i]);
        }
    }
    if (i >= argc) {
        errx(2, "no command: schedq-patience [--cpu SECONDS] [--asleep SECONDS] COMMAND...");
    }
    test = start(argv + i);
    (void)signal(SIGINT, pass_on);
    (void)signal(SIGTERM, pass_on);
    patience_begin_group(&patience, (pid_t)test, cpu, PATIENCE_LOOKS(asleep));
    while (!patience_ended((pid_t)test, &status)) {
        patience_verdict_t verdict = patience_look(&patience, 0);

        if (verdict != PATIENCE_LASTS) {
            (void)kill(-(pid_t)test, SIGKILL);
            errx(STATUS_STUCK, "%s is stuck: %s (limits: %u s of processor time, %u s of sleep)",
                 argv[i], patience_words(verdict), cpu, asleep);
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
