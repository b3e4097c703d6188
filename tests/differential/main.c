/* Runs rounds until one shows a difference, then says how to see it again and shrinks it. */
#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "options.h"
#include "round.h"
#include "shrink.h"
#include "support/interrupt.h"

static double
seconds_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Of the processes that ran rounds. Others may keep the machine busy. */
static double
cpu_seconds(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static record_t *
record_make(void)
{
    record_t *record =
        mmap(NULL, sizeof *record, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (record == MAP_FAILED) {
        err(1, "mmap of %zu bytes", sizeof *record);
    }
    return record;
}

/*
 * Every round has its number and its length whatever was found before, so that one of them can be
 * run alone.
 */
static bool
run_rounds(world_t *world, record_t *record, const options_t *options)
{
    uint64_t left = options->operations;

    for (uint64_t round = 0; left > 0; round++) {
        settings_draw(&record->settings, options, round, left);
        left -= record->settings.length;
        if (options->round >= 0 && (uint64_t)options->round != round) {
            continue;
        }
        if (!round_run(world, record, options)) {
            return false;
        }
        record->operations_done += record->count;
        record->rounds_done++;
    }
    return true;
}

/* Returns 0 if nothing was found; else record->difference says what. */
static int
search(world_t *world, record_t *record, const options_t *options)
{
    char words[sizeof record->difference];

    record->difference[0] = '\0';
    fflush(stdout);
    pid_t process = shrink_fork();

    if (process == 0) {
        bool same = run_rounds(world, record, options);

        if (same) {
            exit(0);
        }
        _exit(SHRINK_DIFFERENT);
    }
    int found = shrink_wait(process, record, SHRINK_CPU_FOR_AN_OPERATION, words, sizeof words);

    if (found < 0) {
        memcpy(record->difference, words, sizeof words);
    }
    return found;
}

static void
show_repeat(const record_t *record, const options_t *options)
{
    printf("again: schedq-fuzz --engine %s --features %s --preset %s --operations %" PRIu64
           " --seed %" PRIu64 " --round %" PRIu64,
           options->engine->name, options->features_name, preset_names[options->preset],
           options->operations, options->seed, record->settings.number);
    if (options->workers != 0) {
        printf(" --workers %" PRIu32, options->workers);
    }
    if (options->plant != NULL) {
        printf(" --plant %s", options->plant);
    }
    printf("\n");
}

static void
show_finding(const record_t *record, const options_t *options)
{
    bool at_end = record->at == record->settings.length;

    printf("seed %" PRIu64 ", round %" PRIu64 " (preset %s), operation %" PRIu32 " (%s): %s\n",
           options->seed, record->settings.number, record->settings.preset, record->at,
           at_end ? "end of the round" : operation_kinds[record->at_kind].name, record->difference);
    show_repeat(record, options);
}

static void
show_success(const record_t *record, const options_t *options, double seconds)
{
    printf("%" PRIu64 " operations in %" PRIu64
           " rounds, no difference; %.1f s, %.1f s of CPU, %.2f million operations per "
           "second of CPU\n",
           record->operations_done, record->rounds_done, seconds, cpu_seconds(),
           (double)record->operations_done / cpu_seconds() / 1e6);
    printf("most pods at a time: %" PRIu32 "\nanswers:", record->most_pods);
    for (unsigned i = 0; i < STATUSES; i++) {
        if (record->met[i] > 0) {
            printf(" %s %" PRIu64, schedq_status_name((schedq_status_t)i) + strlen("SCHEDQ_"),
                   record->met[i]);
        }
    }
    printf("\nreferences that %s held beyond those it owes, at the end of a round before "
           "schedq_destroy: at most %" PRIu64 "\n",
           options->engine->name, record->references_late);
}

static int
compare_engines(world_t *world, record_t *record, const options_t *options)
{
    double start = seconds_now();

    if (search(world, record, options) == 0) {
        show_success(record, options, seconds_now() - start);
        unsigned missing =
            options->coverage ? coverage_show(&record->coverage, options->features) : 0;

        return !interrupt_came() && (options->plant != NULL || missing > 0) ? 1 : 0;
    }
    show_finding(record, options);
    shrink(world, record, options);
    return options->plant != NULL ? 0 : 1;
}

/* Every plant has to be found. */
static int
try_plants(world_t *world, record_t *record, const options_t *options)
{
    int missed = 0;
    const field_t *plant;

    for (size_t i = 0; !interrupt_came() && (plant = plant_at(i)) != NULL; i++) {
        options_t planted = *options;

        planted.plant = plant->name;
        if (search(world, record, &planted) == SHRINK_DIFFERENT) {
            printf("plant %-28s found in round %" PRIu64 ", operation %" PRIu32 ": %s\n",
                   plant->name, record->settings.number, record->at, record->difference);
        } else if (!interrupt_came()) {
            printf("plant %-28s NOT FOUND\n", plant->name);
            missed++;
        }
    }
    printf("%d plants were not found\n", missed);
    return missed > 0;
}

/* The round is run as a whole first, elsewhere, since what it draws depends on what it holds. */
static int
run_kept(world_t *world, record_t *record, const options_t *options)
{
    (void)search(world, record, options);
    if (interrupt_came()) {
        return 0;
    }
    for (uint32_t i = 0; i < options->keep_count; i++) {
        if (options->keep[i] >= record->count) {
            errx(2, "--keep is \"%" PRIu32 "\": legal are 0..%" PRIu32, options->keep[i],
                 record->count - 1);
        }
    }
    return round_replay(world, record, options, options->keep, options->keep_count, stdout, 0) ? 0
                                                                                               : 1;
}

static int
run(world_t *world, record_t *record, const options_t *options)
{
    if (options->keep_count > 0) {
        return run_kept(world, record, options);
    }
    if (options->plant != NULL && strcmp(options->plant, "all") == 0) {
        return try_plants(world, record, options);
    }
    return compare_engines(world, record, options);
}

int
main(int argc, char **argv)
{
    static world_t world;
    options_t options;

    options_parse(&options, argc, argv);
    if (options.list_plants) {
        const field_t *plant;

        for (size_t i = 0; (plant = plant_at(i)) != NULL; i++) {
            puts(plant->name);
        }
        return 0;
    }
    record_t *record = record_make();

    printf("seed %" PRIu64 ": mutex and %s, %" PRIu64 " operations\n", options.seed,
           options.engine->name, options.operations);
    world_make(&world);
    interrupt_catch();
    return interrupt_end(run(&world, record, &options), "what is above was found until then");
}
