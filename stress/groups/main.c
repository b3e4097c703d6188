/* schedq-group-history: rounds of calls on groups, by several threads. */
#include "book.h"

static void
configure(round_t *round, schedq_config_t *config)
{
    (void)round;
    config->initial_backoff_ns = config->max_backoff_ns = 1000000;
}

int
main(int argc, char **argv)
{
    static const char *const rules[] = {
        [RULE_ALONE] = "never-alone",
        [RULE_ONCE] = "never-twice",
        [RULE_CYCLES] = "one-cycle",
        [RULE_QUORUM] = "quorum",
        [RULE_WHOLE] = "whole",
        [RULE_LOST] = "lost",
        NULL,
    };
    static const subject_t groups = {
        .command = "schedq-group-history",
        .doc =
            "Lets threads add, pop, end and fail pods in groups at random, records each call with "
            "its interval, and checks afterwards that no member came alone, twice or before the "
            "quorum of its group, that none was left behind or lost, and that a group was in one "
            "cycle at a time. " ROUNDS_DOC,
        .rules = rules,
        .plants = group_plants,
        .configure = configure,
        .act = group_act,
        .end_one = group_end_one,
        .drain = group_drain,
        .check = rules_check,
        .print = rules_print,
    };
    return rounds_main(&groups, argc, argv);
}
