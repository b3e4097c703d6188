/* Measuring, measure.h. */
#include "measure.h"

#include "calls.h"
#include "support/interrupt.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of one bracket and nothing between, see probe.h. */
#define NOTHING "lockfree/nothing"

/* A directory and a file in it. */
enum { PATH_ROOM = PATH_MAX + 512 };

_Noreturn static void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void
fail(const char *format, ...)
{
    va_list arguments;

    fputs("schedq-cost: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(1);
}

/* ---- programs -------------------------------------------------------------------------------- */

struct program {
    FILE *out;
    pid_t id;
    const char *name;
};

static struct program
program_start(const char *name, char *const arguments[])
{
    struct program program = {.name = name};
    int ends[2];

    if (pipe(ends) != 0 || (program.id = fork()) < 0) {
        fail("cannot start %s: %s", name, strerror(errno));
    }
    if (program.id == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)execvp(arguments[0], arguments);
        fprintf(stderr, "schedq-cost: cannot start %s: %s\n", arguments[0], strerror(errno));
        _exit(127);
    }
    interrupt_take(program.id);
    (void)close(ends[1]);
    program.out = fdopen(ends[0], "r");
    return program;
}

static void
program_end(struct program *program)
{
    int status = 0;

    (void)fclose(program->out);
    bool good =
        waitpid(program->id, &status, 0) >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;

    interrupt_drop(program->id);
    if (!good && !interrupt_came()) {
        fail("%s failed", program->name);
    }
}

static void
first_line(struct program *program, char *text, size_t size)
{
    if (fgets(text, (int)size, program->out) == NULL) {
        text[0] = '\0';
    }
    text[strcspn(text, "\n")] = '\0';
}

/* ---- instructions ---------------------------------------------------------------------------- */

/* False: the program was interrupted before callgrind had written it. */
static bool
dump_total(const char *directory, unsigned number, double *sum)
{
    char path[PATH_ROOM];
    char line[256];
    uint64_t total = 0;
    bool found = false;

    snprintf(path, sizeof path, "%s/out.%u", directory, number);
    FILE *file = fopen(path, "r");

    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        found = sscanf(line, "totals: %" SCNu64, &total) == 1;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!found && !interrupt_came()) {
        fail("callgrind left no total in %s", path);
    }
    *sum = (double)total;
    return found;
}

static void
read_instructions(table_t *table, struct program *program, const char *directory)
{
    char name[64];
    unsigned workers, dump;
    uint64_t units, brackets;
    double total, bracket = 0;

    first_line(program, table->compiler, sizeof table->compiler);
    while (fscanf(program->out, "%63s %u %" SCNu64 " %" SCNu64 " %u", name, &workers, &units,
                  &brackets, &dump) == 5 &&
           dump_total(directory, dump, &total)) {
        if (strcmp(name, NOTHING) == 0) {
            bracket = total / (double)brackets;
        } else {
            table_row(table, name)->of[INSTRUCTIONS] =
                (total - bracket * (double)brackets) / (double)units;
        }
    }
}

static void
remove_directory(const char *path)
{
    char file[PATH_ROOM];
    DIR *directory = opendir(path);
    const struct dirent *entry;

    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] != '.') {
            snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
            (void)unlink(file);
        }
    }
    if (directory != NULL) {
        (void)closedir(directory);
    }
    (void)rmdir(path);
}

static void
ask_version(table_t *table)
{
    char *const arguments[] = {"valgrind", "--version", NULL};
    struct program program = program_start("valgrind", arguments);

    first_line(&program, table->valgrind, sizeof table->valgrind);
    program_end(&program);
}

/* ---- accesses -------------------------------------------------------------------------------- */

static unsigned
place_of(unsigned workers)
{
    unsigned place = 0;

    while (place < TABLE_WORKERS && table_workers[place] != workers) {
        place++;
    }
    if (place == TABLE_WORKERS) {
        fail("schedq-cost-accesses is of another version: figures of %u workers", workers);
    }
    return place;
}

/*
 * Loads to lines are those of one worker: with more of them each has its own, which says nothing
 * else.
 */
static void
read_accesses(table_t *table, struct program *program)
{
    char build[64];
    char name[64];
    unsigned workers;
    uint64_t units, of[8];

    first_line(program, build, sizeof build);
    while (fscanf(program->out,
                  "%63s %u %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                  " %" SCNu64 " %" SCNu64 " %" SCNu64,
                  name, &workers, &units, &of[0], &of[1], &of[2], &of[3], &of[4], &of[5], &of[6],
                  &of[7]) == 11) {
        if (strcmp(name, NOTHING) == 0) {
            continue;
        }
        double *row = table_row(table, name)->of;
        double *transfers = row + TRANSFERS + 4 * place_of(workers);

        for (unsigned i = 0; workers == 1 && i < 5; i++) {
            row[LOADS + i] = (double)of[i] / (double)units;
        }
        transfers[SUM] = 0;
        for (unsigned kind = READ_MISSES; kind < SUM; kind++) {
            transfers[kind] = (double)of[5 + kind] / (double)units;
            transfers[SUM] += transfers[kind];
        }
    }
}

/* ---- both ------------------------------------------------------------------------------------ */

static void
make_temporary(char *path, size_t size)
{
    const char *base = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";

    snprintf(path, size, "%s/schedq-cost-XXXXXX", base);
    if (mkdtemp(path) == NULL) {
        fail("cannot make a directory in %s: %s", base, strerror(errno));
    }
}

static void
find_accesses(const char *directory, char *path, size_t size)
{
    snprintf(path, size, "%s/../../counting/bin/schedq-cost-accesses", directory);
    if (access(path, X_OK) != 0) {
        fail("there is no %s: cmake --preset counting && cmake --build --preset counting", path);
    }
}

void
measure(table_t *table, const char *directory, const char *rows, bool slow)
{
    char calls[PATH_ROOM], accesses[PATH_ROOM], out[PATH_ROOM], filter[1024], temporary[PATH_MAX];

    snprintf(calls, sizeof calls, "%s/schedq-cost-calls", directory);
    find_accesses(directory, accesses, sizeof accesses);
    make_temporary(temporary, sizeof temporary);
    snprintf(out, sizeof out, "--callgrind-out-file=%s/out", temporary);
    snprintf(filter, sizeof filter, "^nothing$|%s", rows);
    ask_version(table);
    char *speed = slow ? "slow" : NULL;
    char *const counting[] = {accesses, filter, speed, NULL};
    char *const callgrind[] = {"valgrind",
                               "-q",
                               "--tool=callgrind",
                               "--collect-atstart=no",
                               "--instr-atstart=no",
                               out,
                               calls,
                               filter,
                               speed,
                               NULL};
    struct program shared = program_start("schedq-cost-accesses", counting);
    struct program instructions = program_start("schedq-cost-calls under valgrind", callgrind);

    read_instructions(table, &instructions, temporary);
    program_end(&instructions);
    remove_directory(temporary);
    read_accesses(table, &shared);
    program_end(&shared);
}

static void
one_life(char *accesses, char *engine, char *length, struct calls *calls)
{
    char out[PATH_ROOM], file[PATH_ROOM], temporary[PATH_MAX];

    make_temporary(temporary, sizeof temporary);
    snprintf(file, sizeof file, "%s/out", temporary);
    snprintf(out, sizeof out, "--callgrind-out-file=%s/out", temporary);
    char *const arguments[] = {"valgrind",
                               "-q",
                               "--tool=callgrind",
                               "--toggle-collect=life_watched",
                               out,
                               accesses,
                               "life",
                               engine,
                               length,
                               NULL};
    struct program program = program_start("schedq-cost-accesses under valgrind", arguments);

    program_end(&program);
    bool read = calls_read(calls, file);

    remove_directory(temporary);
    if (!read && !interrupt_came()) {
        fail("callgrind left nothing in %s that can be counted", file);
    }
}

void
measure_life(const char *directory, FILE *out)
{
    static const struct {
        char *length, *text;
    } lives[] = {{"long", "add, pop, fail, event, pop, done"}, {"short", "add, pop, done"}};
    char accesses[PATH_ROOM];

    find_accesses(directory, accesses, sizeof accesses);
    fprintf(out, "%-34s %-10s %6s %10s %6s\n", "one pod's life", "engine", "files", "functions",
            "hops");
    for (unsigned i = 0; i < 4; i++) {
        char *engine = i % 2 == 0 ? "lockfree" : "mutex";
        struct calls calls;

        one_life(accesses, engine, lives[i / 2].length, &calls);
        if (interrupt_came()) {
            break;
        }
        fprintf(out, "%-34s %-10s %6u %10u %6u\n", lives[i / 2].text, engine, calls.files,
                calls.functions, calls.hops);
    }
}
