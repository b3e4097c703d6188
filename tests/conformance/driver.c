/*
 * Requests and answers, see driver.h.
 *
 * Every answer ends with a line ".", so whatever the child writes too much or too little is noticed
 * at the request that it belongs to. A child that has ended answers every request with nothing,
 * which is reported. A child that does not answer is ended (support/patience.h), and so is one that
 * answers more than is due: it does not know the protocol, as `cat` does not, and would wait for
 * the next request, or answer this one, for ever.
 */
#define _GNU_SOURCE /* pipe2 */
#include "driver.h"

#include "report.h"
#include "state.h"
#include "support/interrupt.h"
#include "support/patience.h"

#include <errno.h>
#include <error.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Seconds of processor time, or of sleep, without a line. */
#define PATIENCE_SECONDS 10

static struct driver *
driver_of(struct subject *subject)
{
    return (struct driver *)subject;
}

/* The child inherits only what posix_spawn duplicates. */
static void
make_pipe(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0) {
        error(EXIT_FAILURE, errno, "no pipe for the driver");
    }
}

static FILE *
open_end(int end, const char *mode)
{
    FILE *file = fdopen(end, mode);

    if (file == NULL) {
        error(EXIT_FAILURE, errno, "no stream for the driver");
    }
    return file;
}

static void
end_driver(struct driver *driver)
{
    (void)kill(-driver->process, SIGKILL);
}

/* Why is said by the caller. */
static void
give_up(struct driver *driver)
{
    end_driver(driver);
    driver->given_up = true;
}

/* The thread that ends a driver which does not answer. */
static void *
watch(void *argument)
{
    struct driver *driver = argument;
    const struct timespec pause = {.tv_nsec = PATIENCE_LOOK_NS};
    patience_t patience;

    patience_begin_group(&patience, driver->process, PATIENCE_SECONDS,
                         PATIENCE_LOOKS(PATIENCE_SECONDS));
    while (!atomic_load(&driver->over)) {
        (void)nanosleep(&pause, NULL);
        unsigned long progress = atomic_load(&driver->lines) + !atomic_load(&driver->waits);
        patience_verdict_t verdict = patience_look(&patience, progress);

        if (!atomic_load(&driver->waits)) {
            patience.looks = 0;
        } else if (verdict != PATIENCE_LASTS) {
            atomic_store(&driver->verdict, verdict);
            end_driver(driver);
            break;
        }
    }
    return NULL;
}

static bool
ended(struct driver *driver, const char *request)
{
    patience_verdict_t verdict = atomic_load(&driver->verdict);

    if (interrupt_came()) {
        return false;
    }
    if (verdict != PATIENCE_LASTS) {
        report(driver->script->file, 1, "the driver \"%s\" does not answer \"%s\": %s",
               driver->command, request, patience_words(verdict));
        driver->given_up = true;
        return false;
    }
    if (!feof(driver->answers) && !ferror(driver->answers)) {
        report(driver->script->file, 1,
               "the driver \"%s\" answers \"%s\" with a line without an end: legal are lines of at "
               "most %d bytes",
               driver->command, request, DRIVER_LINE_BYTES - 2);
        give_up(driver);
        return false;
    }
    report(driver->script->file, 1,
           "the driver ended, or closed its output, before it answered \"%s\"", request);
    return false;
}

/* The next line of an answer; NULL if it is the last one, or none came (`*whole` is false then). */
static char *
next_line(struct driver *driver, bool *whole)
{
    atomic_store(&driver->waits, true);
    bool any = fgets(driver->line, DRIVER_LINE_BYTES, driver->answers) != NULL;
    size_t length = any ? strlen(driver->line) : 0;

    atomic_store(&driver->waits, false);
    atomic_fetch_add(&driver->lines, 1);

    *whole = length > 0 && driver->line[length - 1] == '\n';
    if (!*whole) {
        return NULL;
    }
    driver->line[length - 1] = '\0';
    return strcmp(driver->line, ".") == 0 ? NULL : driver->line;
}

/* A driver that does not read is waited for as one that does not answer. */
static void
request(struct driver *driver, const char *text)
{
    atomic_store(&driver->waits, true);
    fprintf(driver->requests, "%s\n", text);
    (void)fflush(driver->requests);
}

typedef bool (*read_fn)(struct driver *driver, char *line, void *ctx);

/* An answer that has no lines; one is a refusal in words. */
static bool
read_refusal(struct driver *driver, char *line, void *ctx)
{
    report(driver->script->file, 1, "the driver refuses \"%s\": %s", (const char *)ctx, line);
    return false;
}

/* "> RESULT" */
static bool
read_result(struct driver *driver, char *line, void *ctx)
{
    (void)driver;
    if (strncmp(line, "> ", 2) == 0) {
        fputs(line + 2, ctx);
    } else {
        fprintf(ctx, "error the driver answers \"%s\", expected \"> RESULT\"", line);
    }
    return true;
}

/* More than is due. False: the driver is ended. */
static bool
check_length(struct driver *driver, const char *text, const char *line, unsigned lines,
             read_fn read)
{
    unsigned due = read == read_refusal || read == read_result ? 1 : DRIVER_LINES;

    if (lines <= due) {
        return true;
    }
    report(
        driver->script->file, 1,
        "the driver \"%s\" answers \"%s\" with \"%s\" too: legal are lines before \".\", at most "
        "%u",
        driver->command, text, line, due);
    give_up(driver);
    return false;
}

/*
 * Asks, and gives each line of the answer to `read` until that returns false; what follows is read
 * all the same.
 */
static bool
ask(struct driver *driver, const char *text, read_fn read, void *ctx)
{
    bool good = true;
    bool whole;
    unsigned lines = 0;
    char *line;

    if (driver->given_up) {
        return false;
    }
    request(driver, text);
    while ((line = next_line(driver, &whole)) != NULL) {
        if (!check_length(driver, text, line, ++lines, read)) {
            return false;
        }
        good = good && read(driver, line, ctx);
    }
    return whole ? good : ended(driver, text);
}

static bool
is_new_profile(const struct script *script, const struct step *step)
{
    for (const struct step *before = script->steps; before != step; before = before->next) {
        const char *profile = before->operation.pod.profile;
        if (profile != NULL && strcmp(profile, step->operation.pod.profile) == 0) {
            return false;
        }
    }
    return true;
}

static bool
open_vector(struct subject *subject, struct script *script)
{
    struct driver *driver = driver_of(subject);
    char open[] = "open";

    driver->script = script;
    if (driver->given_up) {
        report(script->file, 1, "the driver \"%s\" was ended", driver->command);
        return false;
    }
    atomic_store(&driver->waits, true);
    fprintf(driver->requests, "vector engine=%s workers=%zu\n", driver->options.engine_name,
            driver->options.workers);
    for (const struct head_line *line = script->head; line != NULL; line = line->next) {
        fprintf(driver->requests, "%s\n", line->text);
    }
    for (const struct step *step = script->steps; step != NULL; step = step->next) {
        if (step->operation.pod.profile != NULL && is_new_profile(script, step)) {
            fprintf(driver->requests, "profile %s\n", step->operation.pod.profile);
        }
    }
    return ask(driver, open, read_refusal, open);
}

static void
perform(struct subject *subject, const struct operation *operation, FILE *result)
{
    if (!ask(driver_of(subject), operation->text, read_result, result)) {
        fputs("error no answer", result);
    }
}

static bool
parse_place(const char *name, schedq_place_t *place)
{
    for (int i = SCHEDQ_ACTIVE; i <= SCHEDQ_ASIDE; i++) {
        if (i != SCHEDQ_HELD && strcmp(state_place_name((schedq_place_t)i), name) == 0) {
            *place = (schedq_place_t)i;
            return true;
        }
    }
    return false;
}

static bool
malformed(const struct driver *driver, const char *line)
{
    bool groups = driver->script->config.groups.value == 1;

    report(driver->script->file, 1,
           "the driver answers \"state\" with \"%s\", expected "
           "\"pod NAME UID PLACE PRIORITY TIMESTAMP EXPIRY POP%s or \"nominated NODE NAME\"",
           line,
           groups
               ? " GROUP ROOT ATTEMPTS POSITION\", \"record GROUP PLACE PRIORITY TIMESTAMP EXPIRY\""
               : "\"");
    return false;
}

/* PLACE PRIORITY TIMESTAMP EXPIRY, from the item `at` on. */
static bool
read_where(const struct fields *fields, size_t at, struct seen *seen)
{
    struct number priority, timestamp, expiry;

    if (!parse_place(fields->item[at], &seen->place) ||
        !parse_number(fields, "priority", fields->item[at + 1], INT32_MIN, INT32_MAX, &priority) ||
        !parse_number(fields, "timestamp", fields->item[at + 2], INT64_MIN, INT64_MAX,
                      &timestamp) ||
        !parse_number(fields, "expiry", fields->item[at + 3], INT64_MIN, INT64_MAX, &expiry)) {
        return false;
    }
    seen->priority = priority.value;
    seen->timestamp_ns = timestamp.value;
    seen->expiry_ns = expiry.value;
    return true;
}

static const char *
text_or_none(const char *text)
{
    return strcmp(text, "-") == 0 ? NULL : text;
}

/* GROUP ROOT ATTEMPTS POSITION, "-" for none */
static bool
read_membership(const struct fields *fields, struct seen *seen)
{
    struct number attempts, position;

    if (!parse_number(fields, "attempts", fields->item[10], 0, INT32_MAX, &attempts) ||
        !parse_number(fields, "position", fields->item[11], 0, INT32_MAX, &position)) {
        return false;
    }
    seen->group = text_or_none(fields->item[8]);
    seen->root = text_or_none(fields->item[9]);
    seen->attempts = attempts.value;
    seen->position = (size_t)position.value;
    return true;
}

static bool
read_pod(const struct fields *fields, bool groups, struct seen *seen)
{
    struct number pop;

    if (fields->count != (groups ? 12 : 8) || strcmp(fields->item[0], "pod") != 0 ||
        !read_where(fields, 3, seen) ||
        !parse_number(fields, "pop", fields->item[7], 0, INT64_MAX, &pop)) {
        return false;
    }
    seen->name = fields->item[1];
    seen->uid = fields->item[2];
    seen->pop_order = (uint64_t)pop.value;
    return !groups || read_membership(fields, seen);
}

static bool
read_record(const struct fields *fields, struct seen *seen)
{
    if (fields->count != 6 || strcmp(fields->item[0], "record") != 0 ||
        !read_where(fields, 2, seen)) {
        return false;
    }
    seen->name = seen->uid = seen->group = fields->item[1];
    seen->expiry_ns = snapshot_cut_to_ms(seen->expiry_ns);
    seen->is_record = true;
    return true;
}

/* A pod, a group's record, or nominated NODE NAME */
static bool
read_state(struct driver *driver, char *line, void *ctx)
{
    struct obstack *memory = &driver->script->memory;
    struct fields fields = {.file = driver->script->file, .line = 1, .memory = memory};
    bool groups = driver->script->config.groups.value == 1;
    struct seen seen = {0};
    const char *whole = keep_text(memory, line);

    if (!fields_split(&fields, keep_text(memory, line))) {
        return malformed(driver, whole);
    }
    if (fields.count == 3 && strcmp(fields.item[0], "nominated") == 0) {
        snapshot_nominate(ctx, fields.item[1], fields.item[2]);
        return true;
    }
    if (!read_pod(&fields, groups, &seen) && !(groups && read_record(&fields, &seen))) {
        return malformed(driver, whole);
    }
    snapshot_add(ctx, &seen);
    return true;
}

static bool
look(struct subject *subject, struct snapshot *snapshot)
{
    return ask(driver_of(subject), "state", read_state, snapshot);
}

static bool
copy_line(struct driver *driver, char *line, void *ctx)
{
    (void)driver;
    fprintf(ctx, "%s\n", line);
    return true;
}

static bool
write_metrics(struct subject *subject, FILE *text)
{
    return ask(driver_of(subject), "metrics", copy_line, text);
}

static bool
close_vector(struct subject *subject)
{
    char end[] = "end";

    return ask(driver_of(subject), end, read_refusal, end);
}

void
driver_start(struct driver *driver, const char *command, const struct subject_options *options)
{
    char *const argv[] = {"sh", "-c", (char *)command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int input[2];
    int output[2];

    *driver = (struct driver){
        .subject = {open_vector, perform, look, write_metrics, close_vector},
        .options = *options,
        .command = command,
        .line = malloc(DRIVER_LINE_BYTES),
    };
    if (driver->line == NULL) {
        error(EXIT_FAILURE, ENOMEM, "no memory for the driver's lines");
    }
    make_pipe(input);
    make_pipe(output);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    (void)posix_spawnattr_init(&attributes);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    errno = posix_spawn(&driver->process, "/bin/sh", &actions, &attributes, argv, environ);
    if (errno != 0) {
        error(EXIT_FAILURE, errno, "cannot start the driver \"%s\"", command);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    interrupt_take(-driver->process);
    (void)close(input[0]);
    (void)close(output[1]);
    driver->requests = open_end(input[1], "w");
    driver->answers = open_end(output[0], "r");
    /* A request to a child that has ended is noticed by the answer that does not come. */
    (void)signal(SIGPIPE, SIG_IGN);
    errno = pthread_create(&driver->watch, NULL, watch, driver);
    if (errno != 0) {
        error(EXIT_FAILURE, errno, "no thread that watches the driver");
    }
}

bool
driver_stop(struct driver *driver)
{
    int status;

    atomic_store(&driver->waits, true);
    (void)fclose(driver->requests);
    (void)fclose(driver->answers);
    free(driver->line);
    bool good = waitpid(driver->process, &status, 0) == driver->process && WIFEXITED(status) &&
                WEXITSTATUS(status) == 0;

    atomic_store(&driver->over, true);
    (void)pthread_join(driver->watch, NULL);
    interrupt_drop(-driver->process);
    if (!good && !interrupt_came()) {
        printf("the driver \"%s\" did not end with exit status 0\n", driver->command);
    }
    return good;
}
