/*
 * Runs the cases of a preemption vector: each is asked with threads and without, asynchronously and
 * not.
 */
#include "preemption.h"

#include "buffer.h"
#include "preemption_answer.h"
#include "preemption_read.h"
#include "preemption_world.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

bool
preemption_is(const char *text)
{
    return strncmp(text, "schedq-preemption ", strlen("schedq-preemption ")) == 0;
}

/* The last line of an answer is its result; the actions stand before it. */
static char *
join(const char *answer, const char *actions)
{
    const char *result = strstr(answer, "result ");
    struct buffer whole;

    buffer_open(&whole);
    fprintf(whole.out, "%.*s%s%s", (int)(result - answer), answer, actions, result);
    buffer_close(&whole);
    return whole.text;
}

static char *
write_answer(struct preemption_world *world)
{
    struct buffer buffer;

    buffer_open(&buffer);
    answer_write(world, buffer.out);
    buffer_close(&buffer);
    return buffer.text;
}

static char *
write_actions(struct preemption_world *world)
{
    struct buffer buffer;

    buffer_open(&buffer);
    answer_write_actions(world, "actions", buffer.out);
    buffer_close(&buffer);
    return buffer.text;
}

/* "actions ..." of the preset's form, and "actions-sync ..." if that differs. */
static char *
both_actions(const char *actions, const char *synchronous)
{
    struct buffer both;

    buffer_open(&both);
    fputs(actions, both.out);
    if (strcmp(actions, synchronous) != 0) {
        fprintf(both.out, "actions-sync%s", synchronous + strlen("actions"));
    }
    buffer_close(&both);
    return both.text;
}

/* All that the library says about a case; NULL: it refused, or said something else with threads. */
static char *
ask(struct preemption_world *world)
{
    static const struct preemption_way ways[] = {{true, false}, {true, true}, {false, false}};
    char *answers[3] = {NULL, NULL, NULL};
    char *actions[3] = {NULL, NULL, NULL};
    char *whole = NULL;
    size_t asked = 0;

    while (asked < 3 && preemption_world_decide(world, &ways[asked])) {
        answers[asked] = write_answer(world);
        actions[asked] = write_actions(world);
        asked++;
    }
    if (asked == 3) {
        if (strcmp(answers[0], answers[1]) != 0 || strcmp(actions[0], actions[1]) != 0) {
            report_difference(world->of->file, world->of->line,
                              "with an executor the answer is another", answers[0], answers[1]);
        } else {
            char *both = both_actions(actions[0], actions[2]);

            whole = join(answers[0], both);
            free(both);
        }
    }
    for (size_t i = 0; i < 3; i++) {
        free(answers[i]);
        free(actions[i]);
    }
    return whole;
}

static bool
agrees_with_any(struct preemption_case *of, const char *got)
{
    for (const struct case_answer *answer = of->answers; answer != NULL; answer = answer->next) {
        if (answer_agrees(of, answer, keep_text(&of->memory, got))) {
            return true;
        }
    }
    return false;
}

static void
show_difference(const struct preemption_case *of, const char *got)
{
    struct buffer expected;

    buffer_open(&expected);
    for (const struct case_answer *answer = of->answers; answer != NULL; answer = answer->next) {
        for (size_t i = 0; i < answer->lines.count; i++) {
            fprintf(expected.out, "\n      > %s", answer->lines.item[i]);
        }
        fputs(answer->next == NULL ? "" : "\n      or", expected.out);
    }
    buffer_close(&expected);

    struct buffer shown;

    buffer_open(&shown);
    for (const char *line = got; *line != '\0'; line = strchr(line, '\n') + 1) {
        fprintf(shown.out, "\n      > %.*s", (int)strcspn(line, "\n"), line);
    }
    buffer_close(&shown);
    report(of->file, of->line, "the answer of case %s (%s) differs", of->id, of->class_name);
    printf("    expected: %s\n    got:      %s\n", expected.text, shown.text);
    free(expected.text);
    free(shown.text);
}

static bool
run_case(struct preemption_case *of)
{
    struct preemption_world world;
    char *got = preemption_world_open(&world, of) ? ask(&world) : NULL;
    bool passed = got != NULL && agrees_with_any(of, got);

    if (got != NULL && !passed) {
        show_difference(of, got);
    }
    free(got);
    preemption_world_close(&world);
    return passed;
}

bool
preemption_run(const char *file, char *text)
{
    struct preemption_reader reader;
    size_t count = 0;
    bool passed = preemption_begin(&reader, file, text);

    while (passed) {
        struct preemption_case of;
        enum preemption_next next = preemption_next_case(&reader, &of);

        passed = next != NEXT_MALFORMED && (next == NEXT_END || run_case(&of));
        preemption_case_free(&of);
        if (next != NEXT_CASE) {
            break;
        }
        count++;
    }
    if (passed && count == 0) {
        report(file, reader.line, "expected \"case ID CLASS\"");
        return false;
    }
    if (passed) {
        printf("%s: ok (%zu cases)\n", file, count);
    }
    return passed;
}
