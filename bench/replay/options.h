/*
 * The command line of schedq-replay. Names of engines and presets stand in tables, one line each.
 */
#ifndef SCHEDQ_REPLAY_OPTIONS_H
#define SCHEDQ_REPLAY_OPTIONS_H

#include "input_options.h"
#include "scenario.h"
#include "simulate.h"
#include "support/arguments.h"

typedef enum report_format { REPORT_TEXT, REPORT_JSON } report_format_t;

enum { PRIORITY_CHOICES_MAX = 64 };

/* "CLASS=PRIORITY", as given. */
typedef struct priority_choice {
    char *name;
    int32_t priority;
} priority_choice_t;

typedef struct options {
    input_options_t input;
    scenario_options_t scenario;
    simulate_options_t simulate; /* without `priority` and `progress` */
    const argument_choice_t *engine;
    const argument_choice_t *preset;
    const argument_choice_t *preemption;
    const argument_choice_t *hints;
    const char *pace; /* as given */
    priority_choice_t priorities[PRIORITY_CHOICES_MAX];
    size_t priority_count;
    report_format_t format;
    const char *output; /* NULL: standard output */
    const char *json;   /* NULL: no such file */
    const char *page;   /* NULL: no such file */
} options_t;

/* Exit status of bad usage and bad input. */
enum { EXIT_USAGE = ARGUMENTS_BAD };

/* Fills the options, or says what is wrong on stderr and exits with EXIT_USAGE. */
void options_parse(options_t *options, int argc, char **argv);
/*
 * Priorities of the workload's classes: --priority, else the default map, else 0. An array as long
 * as there are classes. NULL: --priority names a class that the workload does not have; stderr says
 * which.
 */
int32_t *options_priorities(const options_t *options, const workload_t *workload);

#endif
