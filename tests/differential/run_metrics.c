/*
 * The metrics: the same lines, in any order, but for those of memory and of threads, which are each
 * engine's own.
 */
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "operation.h"

#define LINES_MAX 4096

struct metrics {
    char *text;
    size_t length, room;
    size_t pieces_left; /* then it stops */
    char *lines[LINES_MAX];
    size_t line_count;
};

static int
take_piece(void *ctx, const char *text, size_t length)
{
    struct metrics *metrics = ctx;

    if (metrics->length + length + 1 > metrics->room) {
        size_t room = 2 * (metrics->length + length + 1);
        char *larger = realloc(metrics->text, room);

        if (larger == NULL) {
            return 0;
        }
        metrics->text = larger;
        metrics->room = room;
    }
    memcpy(metrics->text + metrics->length, text, length);
    metrics->length += length;
    metrics->text[metrics->length] = '\0';
    return --metrics->pieces_left > 0;
}

static int
order_lines(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static bool
is_engines_own(const char *line)
{
    static const char *const names[] = {"schedq_memory_", "schedq_wakeups_total ",
                                        "schedq_membarriers_total ", "schedq_standing_calls "};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strncmp(line, names[i], strlen(names[i])) == 0) {
            return true;
        }
    }
    return false;
}

static void
cut(struct metrics *metrics)
{
    char *rest = metrics->text;

    for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
        if (metrics->line_count < LINES_MAX && !is_engines_own(line)) {
            metrics->lines[metrics->line_count++] = line;
        }
    }
    qsort(metrics->lines, metrics->line_count, sizeof *metrics->lines, order_lines);
}

static void
compare_metrics(world_t *world, struct metrics *metrics)
{
    size_t counts[SIDES];

    for (unsigned side = 0; side < SIDES; side++) {
        if (metrics[side].text != NULL) {
            cut(&metrics[side]);
        }
        counts[side] = metrics[side].line_count;
    }
    if (counts[0] > 0 && plant_due(world, OTHER_METRICS)) {
        metrics[1].lines[0][0] ^= 1;
    }
    for (size_t i = 0; i < counts[0] || i < counts[1]; i++) {
        const char *mutex = i < counts[0] ? metrics[0].lines[i] : "";
        const char *other = i < counts[1] ? metrics[1].lines[i] : "";

        if (strcmp(mutex, other) != 0) {
            (void)differ(world, "metrics: mutex \"%s\", %s \"%s\"", mutex, world->sides[1].engine,
                         other);
            return;
        }
    }
}

/* A writer that stops has seen as much as the engine gave it at once. */
void
run_metrics(world_t *world, const operation_t *operation)
{
    struct metrics *metrics = calloc(SIDES, sizeof *metrics);
    bool stops = operation->random % 4 == 0;
    schedq_status_t statuses[SIDES];

    if (metrics == NULL) {
        (void)differ(world, "no memory for metrics");
        return;
    }
    SHOW(world, "schedq_metrics_write%s\n", stops ? ", stopped" : "");
    for (unsigned side = 0; side < SIDES; side++) {
        metrics[side].pieces_left = stops ? 1 : SIZE_MAX;
        statuses[side] = schedq_metrics_write(world->sides[side].queue, take_piece, &metrics[side]);
    }
    if (compare_status(world, statuses) && !stops) {
        compare_metrics(world, metrics);
    }
    world->worker_said = false;
    free(metrics[0].text);
    free(metrics[1].text);
    free(metrics);
}
