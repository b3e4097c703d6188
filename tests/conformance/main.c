/*
 * schedq-conform: runs recorded vectors of kube-scheduler's queue against an engine, and of its preemption. The format of the vectors is in
 * docs/CONFORMANCE.md.
 */
#include "buffer.h"
#include "metrics.h"
#include "preemption.h"
#include "report.h"
#include "run.h"
#include "script.h"
#include "source.h"
#include "state.h"
#include "world.h"

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
    uint8_t engine;
    size_t workers;
    char **files;
    size_t file_count;
};

static uint8_t
parse_engine(const char *name, struct argp_state *state)
{
    struct buffer legal;

    for (size_t i = 0; i < ENGINE_COUNT; i++) {
        if (strcmp(engines[i].name, name) == 0) {
            return engines[i].value;
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
        arguments->engine = parse_engine(value, state);
        return 0;
    case 'w':
        arguments->workers = parse_workers(value, state);
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
compare(struct script *script, const struct operation *operation, unsigned line, const char *what, const char *expected,
        const char *got)
{
    char heading[512];

    if (fields_equal(&script->memory, expected, got)) {
        return true;
    }
    (void)snprintf(heading, sizeof heading, "the %s of \"%.400s\" differs", what, operation->text);
    report_difference(script->file, line, heading, expected, got);
    return false;
}

/* Performs an operation and compares its result and the state after it. */
static bool
run_step(struct world *world, struct step *step)
{
    struct operation *operation = &step->operation;
    struct buffer result;
    struct buffer state;
    bool agrees;

    buffer_open(&result);
    run_operation(world, operation, result.out);
    buffer_close(&result);
    buffer_open(&state);
    state_write(world, state.out);
    buffer_close(&state);
    state_strip(operation->state);
    agrees = compare(world->script, operation, operation->line + 1, "result", operation->result, result.text) &&
             compare(world->script, operation, operation->line + 2, "state", operation->state, state.text);
    free(result.text);
    free(state.text);
    return agrees;
}

static bool
run_script(struct script *script, const struct arguments *arguments, size_t *count)
{
    struct world world;
    bool passed = world_open(&world, script, arguments->engine, arguments->workers);

    if (world.queue == NULL) {
        return false;
    }
    for (struct step *step = script->steps; passed && step != NULL; step = step->next) {
        passed = run_step(&world, step);
        ++*count;
    }
    passed = passed && metrics_agree(&world);
    return world_close(&world) && passed;
}

static bool
run_queue_file(const char *file, char *text, const struct arguments *arguments)
{
    struct script script;
    size_t count = 0;
    bool passed = script_read(&script, file, text) && run_script(&script, arguments, &count);

    if (passed) {
        printf("%s: ok (%zu operations)\n", file, count);
    }
    script_free(&script);
    return passed;
}

/* What kind of vector it is stands in its first line. */
static bool
run_file(const char *file, const struct arguments *arguments)
{
    char *text = source_read(file);
    bool passed = false;

    if (text != NULL) {
        passed = preemption_is(text) ? preemption_run(file, text) : run_queue_file(file, text, arguments);
    }
    free(text);
    return passed;
}

int
main(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"engine", 'e', "ENGINE", 0, "Engine under test: mutex (default), lockfree", 0},
        {"workers", 'w', "N", 0, "Operations go round N workers, 1 (default) to 16, all on one thread", 0},
        {0},
    };
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .args_doc = "FILE...",
        .doc =
            "Run recorded vectors of kube-scheduler's queue against an engine of schedq, and those of its preemption "
            "(files that begin with \"schedq-preemption 1\").\v"
            "The exit status is 0 if every file passed, 1 if one did not, 2 for bad usage.",
    };
    struct arguments arguments = {.engine = engines[0].value, .workers = 1};
    size_t passed = 0;

    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    for (size_t i = 0; i < arguments.file_count; i++) {
        passed += run_file(arguments.files[i], &arguments);
    }
    printf("%zu passed, %zu failed\n", passed, arguments.file_count - passed);
    return passed == arguments.file_count ? EXIT_SUCCESS : EXIT_FAILURE;
}
