/*
 * Requests and answers, see driver.h.
 *
 * Every answer ends with a line ".", so whatever the child writes too much or too little is noticed at the request that it
 * belongs to. A child that has ended answers every request with nothing, which is reported.
 */
#define _GNU_SOURCE /* pipe2 */
#include "driver.h"

#include "report.h"

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

static bool
ended(const struct driver *driver, const char *request)
{
    report(driver->script->file, 1, "the driver ended, or closed its output, before it answered \"%s\"", request);
    return false;
}

/* The next line of an answer; NULL if it is the last one, or none came (`*whole` is false then). */
static char *
next_line(struct driver *driver, bool *whole)
{
    ssize_t length = getline(&driver->line, &driver->line_size, driver->answers);

    *whole = length > 0 && driver->line[length - 1] == '\n';
    if (!*whole) {
        return NULL;
    }
    driver->line[length - 1] = '\0';
    return strcmp(driver->line, ".") == 0 ? NULL : driver->line;
}

static void
request(struct driver *driver, const char *text)
{
    fprintf(driver->requests, "%s\n", text);
    (void)fflush(driver->requests);
}

typedef bool (*read_fn)(struct driver *driver, char *line, void *ctx);

/* Asks, and gives each line of the answer to `read` until that returns false; what follows is read all the same. */
static bool
ask(struct driver *driver, const char *text, read_fn read, void *ctx)
{
    bool good = true;
    bool whole;
    char *line;

    request(driver, text);
    while ((line = next_line(driver, &whole)) != NULL) {
        good = good && read(driver, line, ctx);
    }
    return whole ? good : ended(driver, text);
}

/* An answer that has no lines; one is a refusal in words. */
static bool
read_refusal(struct driver *driver, char *line, void *ctx)
{
    report(driver->script->file, 1, "the driver refuses \"%s\": %s", (const char *)ctx, line);
    return false;
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
    fprintf(driver->requests, "vector engine=%s workers=%zu\n", driver->options.engine_name, driver->options.workers);
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
    for (int i = SCHEDQ_ACTIVE; i <= SCHEDQ_INFLIGHT; i++) {
        if (strcmp(schedq_place_name((schedq_place_t)i), name) == 0) {
            *place = (schedq_place_t)i;
            return true;
        }
    }
    return false;
}

static bool
malformed(const struct driver *driver, const char *line)
{
    report(driver->script->file, 1,
           "the driver answers \"state\" with \"%s\", expected "
           "\"pod NAME UID PLACE PRIORITY TIMESTAMP EXPIRY POP\" or \"nominated NODE NAME\"",
           line);
    return false;
}

/* pod NAME UID PLACE PRIORITY TIMESTAMP EXPIRY POP, or nominated NODE NAME */
static bool
read_state(struct driver *driver, char *line, void *ctx)
{
    struct obstack *memory = &driver->script->memory;
    struct fields fields = {.file = driver->script->file, .line = 1, .memory = memory};
    struct number priority, timestamp, expiry, pop;
    struct seen seen = {0};
    const char *whole = keep_text(memory, line);

    if (!fields_split(&fields, keep_text(memory, line))) {
        return malformed(driver, whole);
    }
    if (fields.count == 3 && strcmp(fields.item[0], "nominated") == 0) {
        snapshot_nominate(ctx, fields.item[1], fields.item[2]);
        return true;
    }
    if (fields.count != 8 || strcmp(fields.item[0], "pod") != 0 || !parse_place(fields.item[3], &seen.place) ||
        !parse_number(&fields, "priority", fields.item[4], INT32_MIN, INT32_MAX, &priority) ||
        !parse_number(&fields, "timestamp", fields.item[5], INT64_MIN, INT64_MAX, &timestamp) ||
        !parse_number(&fields, "expiry", fields.item[6], INT64_MIN, INT64_MAX, &expiry) ||
        !parse_number(&fields, "pop", fields.item[7], 0, INT64_MAX, &pop)) {
        return malformed(driver, whole);
    }
    seen.name = fields.item[1];
    seen.uid = fields.item[2];
    seen.priority = priority.value;
    seen.timestamp_ns = timestamp.value;
    seen.expiry_ns = expiry.value;
    seen.pop_order = (uint64_t)pop.value;
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
    int input[2];
    int output[2];

    *driver = (struct driver){
        .subject = {open_vector, perform, look, write_metrics, close_vector},
        .options = *options,
        .command = command,
    };
    make_pipe(input);
    make_pipe(output);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
    (void)posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    errno = posix_spawn(&driver->process, "/bin/sh", &actions, NULL, argv, environ);
    if (errno != 0) {
        error(EXIT_FAILURE, errno, "cannot start the driver \"%s\"", command);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(input[0]);
    (void)close(output[1]);
    driver->requests = open_end(input[1], "w");
    driver->answers = open_end(output[0], "r");
    /* A request to a child that has ended is noticed by the answer that does not come. */
    (void)signal(SIGPIPE, SIG_IGN);
}

bool
driver_stop(struct driver *driver)
{
    int status;

    (void)fclose(driver->requests);
    (void)fclose(driver->answers);
    free(driver->line);
    if (waitpid(driver->process, &status, 0) == driver->process && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return true;
    }
    printf("the driver \"%s\" did not end with exit status 0\n", driver->command);
    return false;
}
