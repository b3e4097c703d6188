/* schedq-class-history: rounds of calls on pods of classes, by several threads. */
#include "book.h"

static void
configure(round_t *round, schedq_config_t *config)
{
    atomic_store(&round->now, BACKOFF_NS);
    config->initial_backoff_ns = config->max_backoff_ns = BACKOFF_NS;
    config->class_patience_ns = PATIENCE_NS;
    config->pop_from_backoff = 0; /* a pod that backs off is popped whatever its class */
    config->external_clock = 1;
    config->start_ns = BACKOFF_NS;
}

int
main(int argc, char **argv)
{
    static const char *const rules[] = {
        [RULE_ONE] = "one-at-a-time",
        [RULE_SCOUT] = "scout",
        [RULE_PATIENCE] = "patience",
        [RULE_LOST] = "lost",
        NULL,
    };
    static const subject_t classes = {
        .command = "schedq-class-history",
        .doc =
            "Lets threads add, pop, end and fail pods of a few classes at random, records each "
            "call with its interval, and checks afterwards that of a class that is shut one pod "
            "was tried, that each pod that its class kept back had a scout, was tried behind its "
            "patience, and that none was lost. " ROUNDS_DOC,
        .rules = rules,
        .plants = class_plants,
        .configure = configure,
        .act = class_act,
        .end_one = class_end_one,
        .drain = class_drain,
        .check = rules_check,
        .print = rules_print,
    };
    return rounds_main(&classes, argc, argv);
}
