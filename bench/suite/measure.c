/* Runs one row. */
#include "measure.h"

#include "support/interrupt.h"

#include <stdlib.h>
#include <string.h>

/* Of a workload that is `once`, at most. */
enum { ONCE_REPETITIONS = 3 };

/* A contestant while its row is measured. */
typedef struct entrant {
    const contestant_t *contestant;
    void *run;
    sample_t (*samples)[VALUES_MAX]; /* one for each repetition */
} entrant_t;

unsigned
row_values(const row_t *row)
{
    unsigned count = 0;

    while (count < VALUES_MAX && row->workload->values[count].ratio != NO_VALUE) {
        count++;
    }
    return count;
}

void
row_value_name(const row_t *row, unsigned value, char *name, size_t size)
{
    const char *end = row->workload->values[value].name;

    snprintf(name, size, "%s%s%s", row->name, *end != '\0' ? "/" : "", end);
}

static bool
enters(const contestant_t *contestant, const workload_t *workload)
{
    return (contestant->groups & workload->groups) != 0 &&
           (contestant->able >= workload->needs || (contestant->groups & GROUP_BASE) != 0) &&
           !(workload->batches && contestant->ops->add_many == NULL) &&
           !(workload->engines_alike && contestant->engine == SCHEDQ_ENGINE_MUTEX);
}

static unsigned
enter(const row_t *row, unsigned repetitions, uint64_t seed, entrant_t *entrants)
{
    unsigned count = 0;

    gbench_clear();
    for (unsigned i = 0; i < contestant_count; i++) {
        if (!enters(&contestants[i], row->workload)) {
            continue;
        }
        entrant_t *entrant = &entrants[count++];
        entrant->contestant = &contestants[i];
        entrant->run = row->workload->open(&(subject_t){row, &contestants[i], seed});
        entrant->samples = bench_alloc(repetitions, sizeof *entrant->samples);
        gbench_register(contestants[i].name, row->workload->body, entrant->run, row->threads,
                        row->rounds);
    }
    return count;
}

static void
repeat(const row_t *row, entrant_t *entrant, sample_t *samples)
{
    double seconds = 0;

    if (row->workload->prepare != NULL) {
        row->workload->prepare(entrant->run);
    }
    if (!gbench_run(entrant->contestant->name, 1, &seconds)) {
        bench_fail("google-benchmark gave no result for %s of %s", row->name,
                   entrant->contestant->name);
    }
    row->workload->settle(entrant->run, seconds, samples);
}

static int
compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double
median_of_sorted(const double *values, unsigned count)
{
    return count % 2 != 0 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void
drop_distributions(sample_t *samples)
{
    for (unsigned value = 0; value < VALUES_MAX; value++) {
        histogram_free(samples[value].distribution);
        samples[value].distribution = NULL;
    }
}

/* The first repetition's takes in the others'. NULL: they have none. */
static histogram_t *
merge_distributions(const entrant_t *entrant, unsigned value, unsigned repetitions)
{
    histogram_t *all = entrant->samples[0][value].distribution;

    entrant->samples[0][value].distribution = NULL;
    for (unsigned i = 1; all != NULL && i < repetitions; i++) {
        histogram_merge(all, entrant->samples[i][value].distribution);
    }
    return all;
}

static figures_t
summarize(const entrant_t *entrant, unsigned value, unsigned repetitions)
{
    double *ns = bench_alloc(repetitions, sizeof *ns);
    double *control_ns = bench_alloc(repetitions, sizeof *control_ns);

    for (unsigned i = 0; i < repetitions; i++) {
        ns[i] = entrant->samples[i][value].ns;
        control_ns[i] = entrant->samples[i][value].control_ns;
    }
    qsort(ns, repetitions, sizeof *ns, compare);
    qsort(control_ns, repetitions, sizeof *control_ns, compare);
    figures_t figures = {
        .present = true,
        .median = median_of_sorted(ns, repetitions),
        .min = ns[0],
        .max = ns[repetitions - 1],
        .control = median_of_sorted(control_ns, repetitions),
        .distribution = merge_distributions(entrant, value, repetitions),
    };
    free(ns);
    free(control_ns);
    return figures;
}

static void
leave(const row_t *row, entrant_t *entrant, unsigned repetitions, FILE *notes)
{
    for (unsigned i = 0; i < repetitions; i++) {
        drop_distributions(entrant->samples[i]);
    }
    if (row->workload->note != NULL && notes != NULL) {
        row->workload->note(entrant->run, notes);
    }
    row->workload->close(entrant->run);
    free(entrant->samples);
}

/* False: the program was interrupted. */
static bool
repeat_all(const row_t *row, unsigned repetitions, entrant_t *entrants, unsigned count)
{
    sample_t discarded[VALUES_MAX] = {0};

    for (unsigned i = 0; i < count && !row->workload->once && !interrupt_came(); i++) {
        repeat(row, &entrants[i], discarded);
        drop_distributions(discarded);
    }
    for (unsigned repetition = 0; repetition < repetitions; repetition++) {
        for (unsigned turn = 0; turn < count && !interrupt_came(); turn++) {
            entrant_t *entrant = &entrants[(turn + repetition) % count];
            memset(entrant->samples[repetition], 0, sizeof entrant->samples[repetition]);
            repeat(row, entrant, entrant->samples[repetition]);
        }
    }
    return !interrupt_came();
}

bool
measure_row(const row_t *row, unsigned repetitions, uint64_t seed, result_t *results, FILE *notes)
{
    entrant_t entrants[CONTESTANTS_MAX];

    if (row->workload->once && repetitions > ONCE_REPETITIONS) {
        repetitions = ONCE_REPETITIONS;
    }
    unsigned count = enter(row, repetitions, seed, entrants);

    bool all = repeat_all(row, repetitions, entrants, count);

    for (unsigned value = 0; all && value < row_values(row); value++) {
        result_t *result = &results[value];
        memset(result, 0, sizeof *result);
        row_value_name(row, value, result->name, sizeof result->name);
        result->value = &row->workload->values[value];
        result->repetitions = repetitions;
        for (unsigned i = 0; i < count; i++) {
            result->of[entrants[i].contestant - contestants] =
                summarize(&entrants[i], value, repetitions);
        }
    }
    for (unsigned i = 0; i < count; i++) {
        leave(row, &entrants[i], repetitions, all ? notes : NULL);
    }
    gbench_clear();
    return all;
}

void
result_clear(result_t *result)
{
    for (unsigned i = 0; i < contestant_count; i++) {
        histogram_free(result->of[i].distribution);
        result->of[i].distribution = NULL;
    }
}
