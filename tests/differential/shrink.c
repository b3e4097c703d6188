/*
 * Delta debugging: leaves out ever smaller pieces of the sequence as long as something is still
 * found. Any difference counts, also another one than the first.
 */
#include "shrink.h"

#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/interrupt.h"
#include "support/patience.h"

/*
 * Limits by processor time and by looks (support/patience.h): what others do to the machine does
 * not count.
 */
#define CPU_FOR_AN_OPERATION_AGAIN 5
#define SLEEP_LOOKS(cpu_limit) PATIENCE_LOOKS(cpu_limit)
#define SECONDS_FOR_SHRINKING 60
#define OPERATIONS_SHOWN 100
#define PAIRS_TRIED_UP_TO 48

typedef struct shrinking {
    world_t *world;
    record_t *record;
    const options_t *options;
    uint32_t *kept, *trial;
    uint32_t count;
    uint32_t replays;
    double cpu_before; /* of all processes that ended before, in seconds */
    double seconds;    /* of sleep, in replays that did not end */
} shrinking_t;

pid_t
shrink_fork(void)
{
    pid_t process = patience_fork();

    if (process < 0) {
        err(1, "fork");
    }
    if (process > 0) {
        interrupt_take(process);
    }
    return process;
}

static int
how_it_ended(int status, char *words, size_t size)
{
    if (WIFEXITED(status) &&
        (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == SHRINK_DIFFERENT)) {
        return WEXITSTATUS(status);
    }
    if (WIFEXITED(status)) {
        (void)snprintf(words, size, "the process ended with status %d", WEXITSTATUS(status));
    } else {
        (void)snprintf(words, size, "crash: %s", strsignal(WTERMSIG(status)));
    }
    return -1;
}

/* The other process writes it. */
static uint64_t
progress_of(const record_t *record)
{
    return *(const volatile uint64_t *)&record->operations_done +
           *(const volatile uint32_t *)&record->at;
}

static int
wait_for(pid_t process, const record_t *record, unsigned cpu_limit, char *words, size_t size)
{
    patience_t patience;
    int status;

    patience_begin(&patience, process, cpu_limit, SLEEP_LOOKS(cpu_limit));
    while (!patience_ended(process, &status)) {
        patience_verdict_t verdict = patience_look(&patience, progress_of(record));

        if (verdict != PATIENCE_LASTS) {
            (void)kill(process, SIGKILL);
            (void)waitpid(process, &status, 0);
            (void)snprintf(words, size, "a call did not return: %s", patience_words(verdict));
            return verdict == PATIENCE_SLEEPS ? SHRINK_ASLEEP : -1;
        }
    }
    return how_it_ended(status, words, size);
}

int
shrink_wait(pid_t process, const record_t *record, unsigned cpu_limit, char *words, size_t size)
{
    int found = wait_for(process, record, cpu_limit, words, size);

    interrupt_drop(process);
    return found < 0 && interrupt_came() ? 0 : found;
}

static void
be_silent(void)
{
    int nowhere = open("/dev/null", O_WRONLY);

    if (nowhere >= 0) {
        (void)dup2(nowhere, STDERR_FILENO);
    }
}

static bool
still_found(shrinking_t *shrinking, const uint32_t *kept, uint32_t count)
{
    char words[128];

    if (interrupt_came()) {
        return false;
    }
    shrinking->replays++;
    pid_t process = shrink_fork();

    if (process == 0) {
        be_silent();
        bool same = round_replay(shrinking->world, shrinking->record, shrinking->options, kept,
                                 count, NULL, 0);
        _exit(same ? 0 : SHRINK_DIFFERENT);
    }
    int found =
        shrink_wait(process, shrinking->record, CPU_FOR_AN_OPERATION_AGAIN, words, sizeof words);

    shrinking->seconds += found == SHRINK_ASLEEP ? CPU_FOR_AN_OPERATION_AGAIN : 0;
    return found != 0;
}

/* It is good enough after so much work of the replays. */
static bool
has_time(const shrinking_t *shrinking)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) - shrinking->cpu_before +
                   shrinking->seconds <
               SECONDS_FOR_SHRINKING &&
           !interrupt_came();
}

/* The last replay ended at record->at. */
static void
drop_what_did_not_run(shrinking_t *shrinking)
{
    while (shrinking->count > 0 && shrinking->kept[shrinking->count - 1] > shrinking->record->at) {
        shrinking->count--;
    }
}

/* Takes the trial over if something is still found with its `count` operations. */
static bool
try_trial(shrinking_t *shrinking, uint32_t count)
{
    if (!still_found(shrinking, shrinking->trial, count)) {
        return false;
    }
    uint32_t *old = shrinking->kept;

    shrinking->kept = shrinking->trial;
    shrinking->trial = old;
    shrinking->count = count;
    drop_what_did_not_run(shrinking);
    return true;
}

/*
 * Tries the sequence without each piece of `size` operations; returns whether one could be left
 * out.
 */
static bool
leave_out(shrinking_t *shrinking, uint32_t size)
{
    bool shorter = false;

    for (uint32_t start = 0; start < shrinking->count && has_time(shrinking);) {
        uint32_t end = start + size < shrinking->count ? start + size : shrinking->count;

        memcpy(shrinking->trial, shrinking->kept, start * sizeof *shrinking->trial);
        memcpy(shrinking->trial + start, shrinking->kept + end,
               (shrinking->count - end) * sizeof *shrinking->trial);
        if (try_trial(shrinking, shrinking->count - (end - start))) {
            shorter = true;
        } else {
            start = end;
        }
    }
    return shorter;
}

/* What only together can be left out: an add and the delete that undoes it. */
static bool
leave_out_a_pair(shrinking_t *shrinking)
{
    for (uint32_t i = 0; i < shrinking->count && shrinking->count <= PAIRS_TRIED_UP_TO; i++) {
        for (uint32_t j = i + 1; j < shrinking->count && has_time(shrinking); j++) {
            uint32_t count = 0;

            for (uint32_t k = 0; k < shrinking->count; k++) {
                if (k != i && k != j) {
                    shrinking->trial[count++] = shrinking->kept[k];
                }
            }
            if (try_trial(shrinking, count)) {
                return true;
            }
        }
    }
    return false;
}

static void
leave_out_all(shrinking_t *shrinking)
{
    for (uint32_t size = shrinking->count; size > 1; size /= 2) {
        (void)leave_out(shrinking, size);
    }
    do {
        while (leave_out(shrinking, 1)) {
        }
    } while (leave_out_a_pair(shrinking));
}

/* One worker, and no drain, make a sequence easier to read. */
static void
simplify_settings(shrinking_t *shrinking)
{
    settings_t *settings = &shrinking->record->settings;
    settings_t before = *settings;

    settings->workers = 1;
    if (!still_found(shrinking, shrinking->kept, shrinking->count)) {
        *settings = before;
    }
    before = *settings;
    settings->drains = false;
    if (!still_found(shrinking, shrinking->kept, shrinking->count)) {
        *settings = before;
    }
}

static void
show_settings(const settings_t *settings)
{
    const schedq_config_t *config = &settings->config;

    printf("preset %s, objects %u, fifo %u, external_clock %u, count_cycles %u, max_pods %" PRIu32
           ", max_bands %" PRIu32 ", max_workers %" PRIu32 ", %" PRIu32 " worker(s)%s\n",
           settings->preset, config->objects, config->fifo, config->external_clock,
           config->count_cycles, config->max_pods, config->max_bands, config->max_workers,
           settings->workers, settings->drains ? ", drained at the end" : "");
}

/* In a process of its own, which prints them. */
static void
show_answers(shrinking_t *shrinking, uint32_t first_shown)
{
    char words[128];
    pid_t process = shrink_fork();

    if (process == 0) {
        setvbuf(stdout, NULL, _IOLBF, 0);
        bool same = round_replay(shrinking->world, shrinking->record, shrinking->options,
                                 shrinking->kept, shrinking->count, stdout, first_shown);
        fflush(stdout);
        _exit(same ? 0 : SHRINK_DIFFERENT);
    }
    if (shrink_wait(process, shrinking->record, CPU_FOR_AN_OPERATION_AGAIN, words, sizeof words) <
        0) {
        printf("    BROKE DOWN: %s\n", words);
    }
}

static void
show(shrinking_t *shrinking)
{
    uint32_t first_shown =
        shrinking->count > OPERATIONS_SHOWN ? shrinking->count - OPERATIONS_SHOWN : 0;

    printf("minimal sequence: %" PRIu32 " operations (of %" PRIu32 ", after %" PRIu32
           " replays); answers of mutex, %s\n",
           shrinking->count, shrinking->record->count, shrinking->replays,
           shrinking->options->engine->name);
    show_settings(&shrinking->record->settings);
    if (first_shown > 0) {
        printf("the first %" PRIu32 " are not shown\n", first_shown);
    }
    fflush(stdout);
    show_answers(shrinking, first_shown);
    if (shrinking->count > 0 && shrinking->count <= OPERATIONS_SHOWN) {
        printf("only these, in one process: the line above with --keep ");
        for (uint32_t i = 0; i < shrinking->count; i++) {
            printf("%s%" PRIu32, i > 0 ? "," : "", shrinking->kept[i]);
        }
        printf("\n");
    }
}

void
shrink(world_t *world, record_t *record, const options_t *options)
{
    shrinking_t shrinking = {
        .world = world, .record = record, .options = options, .count = record->count};
    struct rusage usage;

    (void)getrusage(RUSAGE_CHILDREN, &usage);
    shrinking.cpu_before = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec);

    shrinking.kept = malloc((record->count + 1) * sizeof *shrinking.kept);
    shrinking.trial = malloc((record->count + 1) * sizeof *shrinking.trial);
    if (shrinking.kept == NULL || shrinking.trial == NULL) {
        errx(1, "no memory for shrinking");
    }
    for (uint32_t i = 0; i < record->count; i++) {
        shrinking.kept[i] = i;
    }
    if (still_found(&shrinking, shrinking.kept, shrinking.count)) {
        simplify_settings(&shrinking);
        leave_out_all(&shrinking);
        simplify_settings(&shrinking);
        show(&shrinking);
    } else if (!interrupt_came()) {
        printf("the same %" PRIu32
               " operations, run again with every comparison after each, show nothing\n",
               record->count);
    }
    free(shrinking.kept);
    free(shrinking.trial);
}
