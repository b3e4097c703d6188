/*
 * Numbers by strtoull, which would take -1 for the largest, and blanks: so a number begins with a
 * digit.
 */
#include "arguments.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <schedq/schedq.h>

#define TEXT_MAX 2048

const argument_choice_t argument_engines[] = {
    {"lockfree", SCHEDQ_ENGINE_LOCKFREE},
    {"mutex", SCHEDQ_ENGINE_MUTEX},
    {0},
};

const argument_choice_t argument_presets[] = {
    {"default", SCHEDQ_PRESET_DEFAULT},     {"kube-1.37", SCHEDQ_PRESET_KUBE_1_37},
    {"kube-1.34", SCHEDQ_PRESET_KUBE_1_34}, {"kube-1.26", SCHEDQ_PRESET_KUBE_1_26},
    {"kube-1.12", SCHEDQ_PRESET_KUBE_1_12}, {0},
};

const argument_choice_t *
argument_find(const argument_choice_t *choices, const char *name)
{
    for (; choices->name != NULL; choices++) {
        if (strcmp(choices->name, name) == 0) {
            return choices;
        }
    }
    return NULL;
}

const argument_choice_t *
argument_engine_default(void)
{
    const argument_choice_t *engine = argument_engines;
    schedq_config_t config = SCHEDQ_CONFIG_INIT;

    while (engine->name != NULL && engine->value != config.engine) {
        engine++;
    }
    return engine;
}

void
argument_bad(const struct argp_state *state, const char *option, const char *value,
             const char *legal, ...)
{
    char text[TEXT_MAX];
    va_list arguments;

    va_start(arguments, legal);
    (void)vsnprintf(text, sizeof text, legal, arguments);
    va_end(arguments);
    argp_error(state, "--%s is \"%s\": legal are %s", option, value, text);
}

void
argument_unexpected(const struct argp_state *state, const char *value)
{
    argp_error(state, "an argument is \"%s\": legal are options", value);
}

void
argument_bad_choice(const struct argp_state *state, const char *option, const char *value,
                    const argument_choice_t *choices)
{
    char text[TEXT_MAX] = "";

    for (const argument_choice_t *choice = choices; choice->name != NULL; choice++) {
        size_t length = strlen(text);

        (void)snprintf(text + length, sizeof text - length, "%s%s", length > 0 ? ", " : "",
                       choice->name);
    }
    argument_bad(state, option, value, "%s", text);
}

const argument_choice_t *
argument_choice(const struct argp_state *state, const char *option, const char *value,
                const argument_choice_t *choices)
{
    const argument_choice_t *choice = argument_find(choices, value);

    if (choice == NULL) {
        argument_bad_choice(state, option, value, choices);
    }
    return choice;
}

uint64_t
argument_number(const struct argp_state *state, const char *option, const char *text, uint64_t low,
                uint64_t high)
{
    char *end;

    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);

    if (errno != 0 || text[0] < '0' || text[0] > '9' || *end != '\0' || value < low ||
        value > high) {
        argument_bad(state, option, text, "%llu..%llu", (unsigned long long)low,
                     (unsigned long long)high);
    }
    return value;
}

static void
print_version(FILE *stream, struct argp_state *state)
{
    uint32_t version = schedq_version();

    fprintf(stream, "%s %u.%u.%u\n", state->name, (unsigned)(version >> 16),
            (unsigned)(version >> 8 & 255), (unsigned)(version & 255));
}

static void
parse(const struct argp *parser, int argc, char **argv, unsigned flags, void *input)
{
    argp_program_version_hook = print_version;
    argp_err_exit_status = ARGUMENTS_BAD;
    if (argp_parse(parser, argc, argv, flags, NULL, input) != 0) {
        exit(ARGUMENTS_BAD);
    }
}

void
arguments_parse(const struct argp *parser, int argc, char **argv, void *input)
{
    parse(parser, argc, argv, 0, input);
}

void
arguments_parse_in_order(const struct argp *parser, int argc, char **argv, void *input)
{
    parse(parser, argc, argv, ARGP_IN_ORDER, input);
}

/* ---- by a table ------------------------------------------------------------------------------ */

#define OPTIONS_MAX 32

struct reading {
    const command_line_t *line;
    void *options;
};

static void
put_number(const argument_t *argument, char *member, uint64_t number)
{
    const uint32_t narrow = (uint32_t)number;

    if (argument->size == sizeof narrow) {
        memcpy(member, &narrow, sizeof narrow);
    } else {
        memcpy(member, &number, sizeof number);
    }
}

static void
put(const struct argp_state *state, const argument_t *argument, void *options, char *value)
{
    char *member = (char *)options + argument->offset;

    switch (argument->kind) {
    case ARGUMENT_IS_FLAG:
        *(bool *)(void *)member = true;
        break;
    case ARGUMENT_IS_NUMBER:
        put_number(argument, member,
                   argument_number(state, argument->name, value, argument->low, argument->high));
        break;
    case ARGUMENT_IS_TEXT:
        memcpy(member, &value, sizeof value);
        break;
    case ARGUMENT_IS_CHOICE:
        *(const argument_choice_t **)(void *)member =
            argument_choice(state, argument->name, value, argument->choices);
        break;
    default:
        argument->take(state, options, value);
    }
}

static error_t
read_option(int key, char *value, struct argp_state *state)
{
    const struct reading *reading = state->input;
    const command_line_t *line = reading->line;

    if (key == ARGP_KEY_ARG) {
        argument_unexpected(state, value);
        return 0;
    }
    if (key == ARGP_KEY_END && line->finish != NULL) {
        line->finish(state, reading->options);
        return 0;
    }
    for (const argument_t *argument = line->table; argument->name != NULL; argument++) {
        if (argument->key == key) {
            put(state, argument, reading->options, value);
            return 0;
        }
    }
    return ARGP_ERR_UNKNOWN;
}

void
arguments_read(const command_line_t *line, int argc, char **argv, void *options)
{
    struct argp_option known[OPTIONS_MAX + 1] = {{0}};
    const struct argp parser = {
        .options = known, .parser = read_option, .doc = line->doc, .help_filter = line->filter};
    struct reading reading = {line, options};

    for (size_t i = 0; i < OPTIONS_MAX && line->table[i].name != NULL; i++) {
        const argument_t *argument = &line->table[i];

        known[i] = (struct argp_option){
            argument->name, argument->key, argument->value, 0, argument->help, 0};
    }
    arguments_parse(&parser, argc, argv, &reading);
}
