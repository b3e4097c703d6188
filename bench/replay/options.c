/* Options of schedq-replay, their defaults and their legal ranges. */
#include "options.h"

#include "alloc.h"
#include "fields.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const argument_choice_t preemptions[] = {
    {"none", SIMULATE_NO_PREEMPTION},
    {"kube-1.34", SCHEDQ_PRESET_KUBE_1_34},
    {"kube-1.12", SCHEDQ_PRESET_KUBE_1_12},
    {0},
};
static const argument_choice_t hints[] = {
    {"fit", HINTS_FIT},
    {"kube", HINTS_KUBE},
    {0},
};
static const argument_choice_t formats[] = {
    {"text", REPORT_TEXT},
    {"json", REPORT_JSON},
    {0},
};

enum {
    KEY_ENGINE = 0x100,
    KEY_PRESET,
    KEY_PREEMPTION,
    KEY_HINTS,
    KEY_CLASSES,
    KEY_COPIES,
    KEY_JITTER,
    KEY_NODES_FRACTION,
    KEY_LATE_NODES,
    KEY_PACE,
    KEY_WORKERS,
    KEY_SERVICE,
    KEY_PRIORITY,
    KEY_MAX_PARKED,
    KEY_SEED,
    KEY_FORMAT,
    KEY_OUTPUT,
    KEY_JSON,
    KEY_REPORT,
};

#define COPIES_MAX 10000
#define JITTER_SECONDS_MAX 1000000000
#define SERVICE_US_MAX 3600000000
#define PACE_MAX 1e12

static const struct argp_option option_list[] = {
    {"engine", KEY_ENGINE, "NAME", 0, "Engine of the queue: lockfree (default), mutex", 2},
    {"preset", KEY_PRESET, "NAME", 0,
     "Behaviour of the queue: default, kube-1.37, kube-1.34, kube-1.26, kube-1.12", 2},
    {"preemption", KEY_PREEMPTION, "NAME", 0,
     "Who evicts others when he fits nowhere, and how: none (default), kube-1.34, kube-1.12; with "
     "one of these the "
     "same\n"
     "replay runs without it too, to compare",
     2},
    {"hints", KEY_HINTS, "fit|kube", 0,
     "What sends a parked pod back: fit (default): it fits on the node of the event; kube: any pod "
     "ended, as kube-scheduler's NodeResourcesFit does",
     2},
    {"classes", KEY_CLASSES, NULL, 0,
     "Pods that ask for the same processors, memory and GPUs are of one class: while one of them "
     "is parked, the others are kept back untried, for as long as a pod stays parked at most",
     2},
    {"max-parked", KEY_MAX_PARKED, "SECONDS", 0,
     "How long a pod stays parked without an event; default: the preset's", 2},
    {"copies", KEY_COPIES, "K", 0, "Superposed copies of the pods; default 1", 3},
    {"jitter", KEY_JITTER, "SECONDS", 0,
     "Pods of later copies arrive up to this much later; default 600", 3},
    {"nodes-fraction", KEY_NODES_FRACTION, "F", 0, "Share of the nodes that is kept; default 1", 3},
    {"late-nodes", KEY_LATE_NODES, "F", 0,
     "Share of the kept nodes that joins during the run; default 0", 3},
    {"priority", KEY_PRIORITY, "CLASS=N,...", 0,
     "Priorities of classes; default Guaranteed=3000,LS=2000,Burstable=1000, all others 0", 3},
    {"seed", KEY_SEED, "N", 0, "What jitter and the choice of nodes depend on; default 1", 3},
    {"workers", KEY_WORKERS, "N", 0, "Threads that schedule; default 1, which is deterministic", 4},
    {"service-us", KEY_SERVICE, "N", 0, "Virtual microseconds that one attempt takes; default 1000",
     4},
    {"pace", KEY_PACE, "asap|real|scaled=X", 0,
     "asap (default): as fast as possible; real: as recorded; scaled=X: X times faster than "
     "recorded",
     4},
    {"format", KEY_FORMAT, "text|json", 0, "Form of the result; default text", 5},
    {"output", KEY_OUTPUT, "FILE", 0, "Where the result goes; default standard output", 5},
    {"json", KEY_JSON, "FILE", 0, "Write the result to FILE as JSON too", 5},
    {"report", KEY_REPORT, "FILE.html", 0,
     "Write a page with plots to FILE.html too; the same replays with the other engine, to "
     "compare. "
     "Needs python3 and gnuplot",
     5},
    {0},
};

static const char documentation[] =
    "Replays the pods of a recorded cluster through a schedq queue: pop, fit, bind or park, in "
    "virtual time.\v"
    "Exit status: 0 done; 1 the queue failed or lost a pod, the engines decided differently, or "
    "what --report needs is missing; 2 bad usage or input; 130 interrupted.";

static int64_t
parse_whole(const struct argp_state *state, const char *option, const char *value, int64_t min,
            int64_t max)
{
    int64_t number = min;

    if (!number_whole(value, min, max, &number)) {
        argument_bad(state, option, value, "%" PRId64 "..%" PRId64, min, max);
    }
    return number;
}

static int64_t
parse_seconds(const struct argp_state *state, const char *option, const char *value, int64_t min_ns,
              int64_t max_seconds)
{
    int64_t number = 0;

    if (!number_seconds(value, &number) || number < min_ns ||
        number > max_seconds * NS_PER_SECOND) {
        argument_bad(state, option, value, "seconds from %.9g to %" PRId64 ", at most 9 decimals",
                     (double)min_ns / (double)NS_PER_SECOND, max_seconds);
    }
    return number;
}

static double
parse_fraction(const struct argp_state *state, const char *option, const char *value, bool zero)
{
    double number = 0;

    if (!number_real(value, 0, 1, &number) || (!zero && number <= 0)) {
        argument_bad(state, option, value, "numbers %s 0, at most 1", zero ? "from" : "above");
    }
    return number;
}

static void
parse_pace(const struct argp_state *state, options_t *options, char *value)
{
    static const char scaled[] = "scaled=";
    size_t length = sizeof scaled - 1;
    double pace = 0;

    if (strcmp(value, "real") == 0) {
        pace = 1;
    } else if (strncmp(value, scaled, length) == 0) {
        if (!number_real(value + length, 1e-6, PACE_MAX, &pace)) {
            argument_bad(state, "pace", value, "scaled=X with X from 0.000001 to 1e12");
        }
    } else if (strcmp(value, "asap") != 0) {
        argument_bad(state, "pace", value, "asap, real, scaled=X");
    }
    options->simulate.pace = pace;
    options->pace = value;
}

/* One "CLASS=N" of the list. */
static void
parse_priority(const struct argp_state *state, options_t *options, const char *text)
{
    const char *equals = strrchr(text, '=');
    int64_t priority = 0;

    if (equals == NULL || equals == text ||
        !number_whole(equals + 1, INT32_MIN, INT32_MAX, &priority)) {
        argument_bad(state, "priority", text, "CLASS=N with N from -2147483648 to 2147483647");
        return;
    }
    if (options->priority_count == PRIORITY_CHOICES_MAX) {
        argument_bad(state, "priority", text, "at most 64 classes");
        return;
    }
    options->priorities[options->priority_count++] = (priority_choice_t){
        .name = alloc_text(text, (size_t)(equals - text)),
        .priority = (int32_t)priority,
    };
}

static void
parse_priorities(const struct argp_state *state, options_t *options, char *list)
{
    char *rest = NULL;

    if (*list == '\0') {
        argument_bad(state, "priority", list, "CLASS=N,...");
    }
    for (char *text = strtok_r(list, ",", &rest); text != NULL; text = strtok_r(NULL, ",", &rest)) {
        parse_priority(state, options, text);
    }
}

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    options_t *options = state->input;

    switch (key) {
    case KEY_ENGINE:
        options->engine = argument_choice(state, "engine", value, argument_engines);
        break;
    case KEY_PRESET:
        options->preset = argument_choice(state, "preset", value, argument_presets);
        break;
    case KEY_PREEMPTION:
        options->preemption = argument_choice(state, "preemption", value, preemptions);
        break;
    case KEY_HINTS:
        options->hints = argument_choice(state, "hints", value, hints);
        break;
    case KEY_CLASSES:
        options->simulate.classes = true;
        break;
    case KEY_MAX_PARKED:
        options->simulate.max_parked_ns =
            parse_seconds(state, "max-parked", value, NS_PER_SECOND / 1000, 365 * 86400);
        break;
    case KEY_COPIES:
        options->scenario.copies = (uint32_t)parse_whole(state, "copies", value, 1, COPIES_MAX);
        break;
    case KEY_JITTER:
        options->scenario.jitter_ns = parse_seconds(state, "jitter", value, 0, JITTER_SECONDS_MAX);
        break;
    case KEY_NODES_FRACTION:
        options->scenario.nodes_fraction = parse_fraction(state, "nodes-fraction", value, false);
        break;
    case KEY_LATE_NODES:
        options->scenario.late_nodes = parse_fraction(state, "late-nodes", value, true);
        break;
    case KEY_PRIORITY:
        parse_priorities(state, options, value);
        break;
    case KEY_SEED:
        options->scenario.seed = (uint64_t)parse_whole(state, "seed", value, 0, INT64_MAX);
        break;
    case KEY_WORKERS:
        options->simulate.workers =
            (unsigned)parse_whole(state, "workers", value, 1, SIMULATE_WORKERS_MAX);
        break;
    case KEY_SERVICE:
        options->simulate.service_ns =
            1000 * parse_whole(state, "service-us", value, 1, SERVICE_US_MAX);
        break;
    case KEY_PACE:
        parse_pace(state, options, value);
        break;
    case KEY_FORMAT:
        options->format = (report_format_t)argument_choice(state, "format", value, formats)->value;
        break;
    case KEY_OUTPUT:
        options->output = value;
        break;
    case KEY_JSON:
        options->json = value;
        break;
    case KEY_REPORT:
        options->page = value;
        break;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->input;
        break;
    case ARGP_KEY_ARG:
        argument_unexpected(state, value);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

void
options_parse(options_t *options, int argc, char **argv)
{
    static const struct argp_child children[] = {{&input_argp_any, 0, NULL, 0}, {0}};
    static const struct argp parser = {
        .options = option_list, .parser = parse_option, .doc = documentation, .children = children};

    *options = (options_t){
        .input = {.takes_trace = true},
        .scenario = {.seed = 1, .copies = 1, .jitter_ns = 600 * NS_PER_SECOND, .nodes_fraction = 1},
        .simulate = {.workers = 1, .service_ns = 1000000},
        .engine = argument_engine_default(),
        .preset = argument_presets,
        .preemption = &preemptions[0],
        .hints = &hints[0],
        .pace = "asap",
    };
    arguments_parse(&parser, argc, argv, options);
    options->simulate.engine = (uint8_t)options->engine->value;
    options->simulate.preset = (schedq_preset_t)options->preset->value;
    options->simulate.preemption = (int)options->preemption->value;
    options->simulate.hints = (hints_t)options->hints->value;
}

/* Number of a class; SIZE_MAX, and a message, if the workload does not have it. */
static size_t
find_class(const workload_labels_t *classes, const char *name)
{
    for (size_t i = 0; i < classes->count; i++) {
        if (strcmp(classes->names[i], name) == 0) {
            return i;
        }
    }
    fprintf(stderr,
            "schedq-replay: --priority is \"%s\": legal are the classes of this input:", name);
    for (size_t i = 0; i < classes->count; i++) {
        fprintf(stderr, " %s", classes->names[i]);
    }
    fputc('\n', stderr);
    return SIZE_MAX;
}

int32_t *
options_priorities(const options_t *options, const workload_t *workload)
{
    const workload_labels_t *classes = &workload->classes;
    int32_t *priorities = alloc_array(classes->count, sizeof *priorities);

    for (size_t i = 0; i < classes->count; i++) {
        priorities[i] = workload_default_priority(classes->names[i]);
    }
    for (size_t i = 0; i < options->priority_count; i++) {
        size_t class = find_class(classes, options->priorities[i].name);
        if (class == SIZE_MAX) {
            free(priorities);
            return NULL;
        }
        priorities[class] = options->priorities[i].priority;
    }
    return priorities;
}
