/*
 * schedq-preemption-fuzz: random small clusters, changed step by step, and after each step a
 * question to the library and to a plain implementation. Every cluster has its number, and is drawn
 * from the seed and that number alone.
 */
#include "question.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "support/arguments.h"
#include "support/interrupt.h"

enum { STEPS_MAX = 4, KEY_CLUSTER = 0x100 };

struct options {
    uint64_t clusters, seed;
    int64_t only; /* NONE: all */
};

/* Returns false if a question was answered differently. */
static bool
run_cluster(struct world *world, const struct options *options, uint64_t cluster)
{
    chance_t chance = {.state = chance_mix(options->seed ^ chance_mix(cluster))};
    char difference[300];

    world_draw(world, &chance);
    for (uint32_t step = 0, steps = 1 + chance_below(&chance, STEPS_MAX); step < steps; step++) {
        if (step > 0) {
            world_change(world, &chance);
        }
        if (!question_agrees(world, &chance, difference, sizeof difference)) {
            printf("seed %" PRIu64 ", cluster %" PRIu64 ", question %" PRIu32 ": %s\n",
                   options->seed, cluster, step, difference);
            printf("again: schedq-preemption-fuzz --seed %" PRIu64 " --cluster %" PRIu64 "\n",
                   options->seed, cluster);
            return false;
        }
    }
    return true;
}

int
main(int argc, char **argv)
{
    static const argument_t table[] = {
        ARGUMENT_NUMBER(struct options, clusters, "clusters", 'n', 1, UINT64_C(1000000000000),
                        "how many; 1..10^12, default 1000000"),
        ARGUMENT_NUMBER(struct options, seed, "seed", 's', 0, UINT64_MAX,
                        "of all random choices; default: the time"),
        ARGUMENT_NUMBER(struct options, only, "cluster", KEY_CLUSTER, 0, UINT64_C(1000000000000),
                        "only the one with this number, from 0"),
        ARGUMENTS_END};
    static const command_line_t line = {
        .table = table,
        .doc = "Compares preemption decisions of the library, and what it says about where a pod "
               "fits, "
               "with those of a plain implementation, over random clusters.\v"
               "Exit status: 0 no difference; 1 a difference, which is printed with the line that "
               "repeats it; 2 bad usage; 130 interrupted.",
    };
    static struct world world;
    struct options options = {.clusters = 1000000, .seed = (uint64_t)time(NULL), .only = NONE};

    arguments_read(&line, argc, argv, &options);
    printf("seed %" PRIu64 "\n", options.seed);
    (void)fflush(stdout);
    world_make(&world);

    uint64_t first = options.only == NONE ? 0 : (uint64_t)options.only;
    uint64_t end = options.only == NONE ? options.clusters : first + 1;
    uint64_t cluster = first;
    bool agrees = true;

    interrupt_catch();
    for (; agrees && cluster < end && !interrupt_came(); cluster++) {
        agrees = run_cluster(&world, &options, cluster);
    }
    if (agrees) {
        printf("%" PRIu64 " clusters, %" PRIu64 " decisions, no difference: success %" PRIu64
               ", unschedulable %" PRIu64 ", no nodes %" PRIu64 ", node errors %" PRIu64
               ", extender %" PRIu64 "; ineligible %" PRIu64 ", candidates %" PRIu64
               ", violations %" PRIu64 ", cleared nominations %" PRIu64
               ", nodes asked whether it fits %" PRIu64 "\n",
               cluster - first, tally.decisions, tally.outcomes[SCHEDQ_PREEMPT_SUCCESS],
               tally.outcomes[SCHEDQ_PREEMPT_UNSCHEDULABLE],
               tally.outcomes[SCHEDQ_PREEMPT_NO_NODES], tally.outcomes[SCHEDQ_PREEMPT_NODE_ERRORS],
               tally.outcomes[SCHEDQ_PREEMPT_EXTENDER], tally.ineligible, tally.candidates,
               tally.violations, tally.clears, tally.fits);
    }
    world_free(&world);
    return interrupt_end(agrees ? 0 : 1, "the figures above are of the clusters until then");
}
