/*
 * schedq-conform: runs recorded vectors of kube-scheduler's queue against an engine, and of its preemption. The format of the vectors is in
 * docs/CONFORMANCE.md.
 */
#include "buffer.h"
#include "check.h"
#include "driver.h"
#include "local.h"
#include "preemption.h"
#include "script.h"
#include "source.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

/* The first one is the default. */
static const struct engine {
    const char *name;
    uint8_t value;
} engines[] = {
    {"mutex", SCHEDQ_ENGINE_MUTEX},
    {"lockfree", SCHEDQ_ENGINE_LOCKFREE},
};

#define ENGINE_COUNT (sizeof engines / sizeof engines[0])

struct arguments {
    struct subject_options options;
    const char *driver; /* NULL: the library in this process */
    char **files;
    size_t file_count;
};

static void
parse_engine(const char *name, struct argp_state *state, struct subject_options *options)
{
    struct buffer legal;

    for (size_t i = 0; i < ENGINE_COUNT; i++) {
        if (strcmp(engines[i].name, name) == 0) {
            options->engine_name = engines[i].name;
            options->engine = engines[i].value;
            return;
        }
    }
    buffer_open(&legal);
    for (size_t i = 0; i < ENGINE_COUNT; i++) {
        fprintf(legal.out, "%s%s", i == 0 ? "" : ", ", engines[i].name);
    }
    buffer_close(&legal);
    argp_failure(state, 2, 0, "--engine %s: this build has no such engine; legal: %s", name, legal.text);
    exit(2);
}

static size_t
parse_workers(const char *text, struct argp_state *state)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || *end != '\0' || value < 1 || value > WORKERS_MAX) {
        argp_failure(state, 2, 0, "--workers %s: legal: a whole number from 1 to %d", text, WORKERS_MAX);
        exit(2);
    }
    return value;
}

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'e':
        parse_engine(value, state, &arguments->options);
        return 0;
    case 'w':
        arguments->options.workers = parse_workers(value, state);
        return 0;
    case 'd':
        arguments->driver = value;
        return 0;
    case ARGP_KEY_ARGS:
        arguments->files = state->argv + state->next;
        arguments->file_count = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no vector: expected at least one FILE");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool
run_queue_file(const char *file, char *text, struct subject *subject)
{
    struct script script;
    size_t count = 0;
    bool passed = script_read(&script, file, text) && check_script(&script, subject, &count);

    if (passed) {
        printf("%s: ok (%zu operations)\n", file, count);
    }
    script_free(&script);
    return passed;
}

/* What kind of vector it is stands in its first line. Preemption is decided without a queue. */
static bool
run_file(const char *file, struct subject *subject)
{
    char *text = source_read(file);
    bool passed = false;

    if (text != NULL) {
        passed = preemption_is(text) ? preemption_run(file, text) : run_queue_file(file, text, subject);
    }
    free(text);
    return passed;
}

static size_t
run_files(const struct arguments *arguments, struct subject *subject)
{
    size_t passed = 0;

    for (size_t i = 0; i < arguments->file_count; i++) {
        passed += run_file(arguments->files[i], subject);
    }
    return passed;
}

static bool
run_with_driver(const struct arguments *arguments, size_t *passed)
{
    struct driver driver;

    driver_start(&driver, arguments->driver, &arguments->options);
    *passed = run_files(arguments, &driver.subject);
    return driver_stop(&driver);
}

static bool
run_locally(const struct arguments *arguments, size_t *passed)
{
    struct local local;

    local_init(&local, &arguments->options);
    *passed = run_files(arguments, &local.subject);
    return true;
}

int
main(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"engine", 'e', "ENGINE", 0, "Engine under test: mutex (default), lockfree", 0},
        {"workers", 'w', "N", 0, "Operations go round N workers, 1 (default) to 16, all on one thread", 0},
        {"driver", 'd', "CMD", 0,
         "The queue under test is the shell command CMD, which speaks docs/CONFORMANCE.md's lines", 0},
        {0},
    };
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .args_doc = "FILE...",
        .doc =
            "Run recorded vectors of kube-scheduler's queue against an engine of schedq, and those of its preemption "
            "(files that begin with \"schedq-preemption 1\").\v"
            "The exit status is 0 if every file passed, 1 if one did not, or the driver failed, 2 for bad usage.",
    };
    struct arguments arguments = {
        .options = {.engine_name = engines[0].name, .engine = engines[0].value, .workers = 1},
    };
    size_t passed;
    bool ended;

    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    ended = arguments.driver != NULL ? run_with_driver(&arguments, &passed) : run_locally(&arguments, &passed);
    printf("%zu passed, %zu failed\n", passed, arguments.file_count - passed);
    return ended && passed == arguments.file_count ? EXIT_SUCCESS : EXIT_FAILURE;
}
