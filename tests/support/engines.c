/* Which engine a test program runs on, and which of its groups that engine can do. */
#include "engines.h"

#include <argp.h>
#include <string.h>

typedef struct engine {
    const char *name;
    uint8_t number;
    unsigned has; /* FX_ bits */
} engine_t;

static const engine_t engines[] = {
    {"mutex", SCHEDQ_ENGINE_MUTEX,
     FX_EXACT_CAPS | FX_FULL_RESERVE | FX_FULL_TRIM | FX_MOVES_IN_PLACE},
    {"lockfree", SCHEDQ_ENGINE_LOCKFREE, FX_ANY_ENGINE},
};

static const engine_t *engine = &engines[0];

uint8_t
fx_engine(void)
{
    return engine->number;
}

const char *
fx_engine_name(void)
{
    return engine->name;
}

static error_t
parse_option(int key, char *argument, struct argp_state *state)
{
    if (key != 'e')
        return ARGP_ERR_UNKNOWN;
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        if (strcmp(argument, engines[i].name) == 0) {
            engine = &engines[i];
            return 0;
        }
    }
    argp_error(state, "engine \"%s\": mutex or lockfree", argument);
    return EINVAL;
}

static const struct argp_option options[] = {
    {.name = "engine", .key = 'e', .arg = "NAME", .doc = "mutex (default) or lockfree"},
    {.name = NULL}};
static const struct argp parser = {
    .options = options, .parser = parse_option, .doc = "A program of unit tests."};

int
fx_run(int argc, char **argv, const fx_group_t *groups, size_t count)
{
    int failed = 0;
    argp_err_exit_status = 2;
    argp_parse(&parser, argc, argv, 0, NULL, NULL);
    for (size_t i = 0; i < count; i++) {
        const fx_group_t *group = &groups[i];
        if ((group->needs & ~engine->has) != 0) {
            print_message("engine %s cannot do what the %zu tests of group %s need: left out\n",
                          engine->name, group->count, group->name);
            continue;
        }
        failed += _cmocka_run_group_tests(group->name, group->tests, group->count, NULL, NULL);
    }
    return failed;
}
