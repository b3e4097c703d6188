/*
 * schedq-patience [--cpu SECONDS] [--asleep SECONDS] COMMAND...: runs a test, and ends it if it is
 * stuck.
 *
 * Stuck is what support/patience.h calls so, about all processes that the command starts: SECONDS
 * of processor time in all, or so many looks at which everything slept. Time that the test waits
 * for a processor does not count, so the limits mean the same on a machine that others keep busy.
 * Exit status: the command's, 128 + the signal that ended it, or 124.
 */
#include <argp.h>
#include <ctype.h>
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <schedq/base.h>

#include "support/patience.h"

#define STATUS_BAD_USAGE 2
#define STATUS_STUCK 124
#define SECONDS_MAX 1000000
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

static volatile sig_atomic_t test;

static void
pass_on(int signal)
{
    (void)kill(-(pid_t)test, signal);
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

/* ---- the command line ------------------------------------------------------------------------ */

struct options {
    unsigned cpu, asleep;
    char **command;
};

static unsigned
seconds_of(const struct argp_state *state, const char *option, const char *text)
{
    char *end;
    unsigned long seconds = strtoul(text, &end, 10);

    if (!isdigit((unsigned char)text[0]) || *end != '\0' || seconds < 1 || seconds > SECONDS_MAX) {
        argp_error(state, "--%s is \"%s\": legal are 1..%d", option, text, SECONDS_MAX);
    }
    return (unsigned)seconds;
}

/* The first argument is the command, and what follows is its own. */
static error_t
read_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'c':
        options->cpu = seconds_of(state, "cpu", value);
        return 0;
    case 'a':
        options->asleep = seconds_of(state, "asleep", value);
        return 0;
    case ARGP_KEY_ARGS:
        options->command = state->argv + state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no command is given: legal are programs with their arguments");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void
read_options(struct options *options, int argc, char **argv)
{
    static const struct argp_option known[] = {
        {"cpu", 'c', "SECONDS", 0, "of processor time, 1..1000000, default 1200", 0},
        {"asleep", 'a', "SECONDS", 0, "in which everything sleeps, 1..1000000, default 120", 0},
        {0},
    };
    static const struct argp parser = {
        .options = known,
        .parser = read_option,
        .args_doc = "COMMAND...",
        .doc =
            "Runs a test, and ends it if it is stuck.\v"
            "Exit status: the command's; 128 + the signal that ended it; 124 it was stuck; 2 bad "
            "usage.",
    };

    argp_program_version = "schedq-patience " TEXT(SCHEDQ_VERSION_MAJOR) "." TEXT(
        SCHEDQ_VERSION_MINOR) "." TEXT(SCHEDQ_VERSION_PATCH);
    argp_err_exit_status = STATUS_BAD_USAGE;
    *options = (struct options){.cpu = 1200, .asleep = 120};
    (void)argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, options);
}

int
main(int argc, char **argv)
{
    struct options options;
    patience_t patience;
    int status = 0;

    read_options(&options, argc, argv);
    test = start(options.command);
    (void)signal(SIGINT, pass_on);
    (void)signal(SIGTERM, pass_on);
    patience_begin_group(&patience, (pid_t)test, options.cpu, PATIENCE_LOOKS(options.asleep));
    while (!patience_ended((pid_t)test, &status)) {
        patience_verdict_t verdict = patience_look(&patience, 0);

        if (verdict != PATIENCE_LASTS) {
            (void)kill(-(pid_t)test, SIGKILL);
            errx(STATUS_STUCK, "%s is stuck: %s (limits: %u s of processor time, %u s of sleep)",
                 options.command[0], patience_words(verdict), options.cpu, options.asleep);
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
