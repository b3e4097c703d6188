/*
 * schedq-conform: runs recorded vectors of kube-scheduler's queue against an engine, and of its
 * preemption. The format of the vectors is in docs/CONFORMANCE.md.
 */
#include "buffer.h"
#include "check.h"
#include "driver.h"
#include "local.h"
#include "preemption.h"
#include "script.h"
#include "source.h"

#include <stdlib.h>

#include "support/arguments.h"
#include "support/interrupt.h"

struct arguments {
    struct subject_options options;
    const char *driver; /* NULL: the library in this process */
    char **files;
    size_t file_count;
};

static void
choose_engine(struct subject_options *options, const argument_choice_t *engine)
{
    options->engine_name = engine->name;
    options->engine = (uint8_t)engine->value;
}

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'e':
        choose_engine(&arguments->options,
                      argument_choice(state, "engine", value, argument_engines));
        return 0;
    case 'w':
        arguments->options.workers = argument_number(state, "workers", value, 1, WORKERS_MAX);
        return 0;
    case 'd':
        arguments->driver = value;
        return 0;
    case ARGP_KEY_ARGS:
        arguments->files = state->argv + state->next;
        arguments->file_count = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no file is given: legal are vectors, at least one");
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
        passed =
            preemption_is(text) ? preemption_run(file, text) : run_queue_file(file, text, subject);
    }
    free(text);
    return passed;
}

struct verdicts {
    size_t passed, failed;
};

/* A file during which the program was interrupted has no verdict. */
static struct verdicts
run_files(const struct arguments *arguments, struct subject *subject)
{
    struct verdicts verdicts = {0, 0};

    for (size_t i = 0; i < arguments->file_count; i++) {
        bool passed = run_file(arguments->files[i], subject);

        if (interrupt_came()) {
            break;
        }
        verdicts.passed += passed;
        verdicts.failed += !passed;
    }
    return verdicts;
}

static bool
run_with_driver(const struct arguments *arguments, struct verdicts *verdicts)
{
    struct driver driver;

    driver_start(&driver, arguments->driver, &arguments->options);
    *verdicts = run_files(arguments, &driver.subject);
    return driver_stop(&driver);
}

static bool
run_locally(const struct arguments *arguments, struct verdicts *verdicts)
{
    struct local local;

    local_init(&local, &arguments->options);
    *verdicts = run_files(arguments, &local.subject);
    return true;
}

int
main(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"engine", 'e', "ENGINE", 0, "Engine under test: lockfree (default) or mutex", 0},
        {"workers", 'w', "N", 0,
         "Operations go round N workers, 1 (default) to 16, all on one thread", 0},
        {"driver", 'd', "CMD", 0,
         "The queue under test is the shell command CMD, which speaks docs/CONFORMANCE.md's lines",
         0},
        {0},
    };
    static const struct argp argp = {
        .options = options,
        .parser = parse_option,
        .args_doc = "FILE...",
        .doc = "Run recorded vectors of kube-scheduler's queue against an engine of schedq, and "
               "those of its preemption "
               "(files that begin with \"schedq-preemption 1\").\v"
               "The exit status is 0 if every file passed, 1 if one did not, or the driver failed, "
               "2 for bad usage, 130 if it was interrupted.",
    };
    struct arguments arguments = {
        .options = {.workers = 1},
    };
    struct verdicts verdicts;

    choose_engine(&arguments.options, argument_engine_default());
    arguments_parse(&argp, argc, argv, &arguments);
    interrupt_catch();
    bool ended = arguments.driver != NULL ? run_with_driver(&arguments, &verdicts)
                                          : run_locally(&arguments, &verdicts);

    printf("%zu passed, %zu failed\n", verdicts.passed, verdicts.failed);
    bool good = verdicts.failed == 0 && (ended || interrupt_came());

    return interrupt_end(good ? EXIT_SUCCESS : EXIT_FAILURE, "the other files were not run");
}
