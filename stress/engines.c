/* What each engine has. */
#include "engines.h"

#include <stddef.h>
#include <string.h>

#include "schedq/schedq.h"
#include "support/arguments.h"

static const engine_t engines[] = {
    {"mutex", SCHEDQ_ENGINE_MUTEX, NEEDS_EVERYTHING},
    {"lockfree", SCHEDQ_ENGINE_LOCKFREE, NEEDS_EVERYTHING},
};

const engine_t *
engine_find(const char *name)
{
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        if (strcmp(name, engines[i].name) == 0)
            return &engines[i];
    }
    return NULL;
}

const engine_t *
engine_default(void)
{
    return engine_find(argument_engine_default()->name);
}

const engine_t *
engine_of_argument(struct argp_state *state, const char *name)
{
    const engine_t *engine = engine_find(name);
    if (engine == NULL)
        argument_bad_choice(state, "engine", name, argument_engines);
    return engine;
}
