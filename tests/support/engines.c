/* Which engine a test program runs on, and which of its groups that engine can do. */
#include "engines.h"

#include "arguments.h"

/* FX_ bits, by SCHEDQ_ENGINE_ number. */
static const unsigned abilities[] = {
    [SCHEDQ_ENGINE_MUTEX] = FX_EXACT_CAPS | FX_FULL_RESERVE | FX_FULL_TRIM | FX_MOVES_IN_PLACE,
    [SCHEDQ_ENGINE_LOCKFREE] = FX_ANY_ENGINE,
};

/* Of a program that does not say it: the first. */
static struct options {
    const argument_choice_t *engine;
} options = {.engine = argument_engines};

uint8_t
fx_engine(void)
{
    return (uint8_t)options.engine->value;
}

const char *
fx_engine_name(void)
{
    return options.engine->name;
}

int
fx_run(int argc, char **argv, const fx_group_t *groups, size_t count)
{
    static const argument_t table[] = {ARGUMENT_CHOICE(struct options, engine, "engine", 'e',
                                                       argument_engines,
                                                       "lockfree (default) or mutex"),
                                       ARGUMENTS_END};
    static const command_line_t line = {.table = table, .doc = "A program of unit tests."};
    int failed = 0;

    options.engine = argument_engine_default();
    arguments_read(&line, argc, argv, &options);
    for (size_t i = 0; i < count; i++) {
        const fx_group_t *group = &groups[i];
        if ((group->needs & ~abilities[options.engine->value]) != 0) {
            print_message("engine %s cannot do what the %zu tests of group %s need: left out\n",
                          options.engine->name, group->count, group->name);
            continue;
        }
        failed += _cmocka_run_group_tests(group->name, group->tests, group->count, NULL, NULL);
    }
    return failed;
}
