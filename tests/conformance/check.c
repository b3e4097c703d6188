/*
 * The script runner: each operation, its result, the state after it, at the end the metrics. See
 * check.h.
 */
#include "check.h"

#include "buffer.h"
#include "metrics.h"
#include "report.h"
#include "state.h"

#include <stdlib.h>

struct check {
    struct script *script;
    struct subject *subject;
    uint64_t forgotten_pops; /* those before a close, see state.h */
};

static bool
compare(struct script *script, const struct operation *operation, unsigned line, const char *what,
        const char *expected, const char *got)
{
    char heading[512];

    if (fields_equal(&script->memory, expected, got)) {
        return true;
    }
    (void)snprintf(heading, sizeof heading, "the %s of \"%.400s\" differs", what, operation->text);
    report_difference(script->file, line, heading, expected, got);
    return false;
}

static bool
check_result(struct check *check, const struct operation *operation)
{
    struct buffer result;
    bool agrees;

    buffer_open(&result);
    check->subject->perform(check->subject, operation, result.out);
    buffer_close(&result);
    agrees = compare(check->script, operation, operation->line + 1, "result", operation->result,
                     result.text);
    free(result.text);
    return agrees;
}

static bool
check_state(struct check *check, const struct operation *operation)
{
    struct snapshot snapshot = {0};
    struct buffer state;
    bool agrees = check->subject->look(check->subject, &snapshot);

    buffer_open(&state);
    if (agrees) {
        if (operation->kind == OP_CLOSE) {
            check->forgotten_pops = state_newest_pop(&snapshot);
        }
        state_write(check->script, &snapshot, check->forgotten_pops, state.out);
    }
    buffer_close(&state);
    if (agrees) {
        state_strip(operation->state);
        agrees = compare(check->script, operation, operation->line + 2, "state", operation->state,
                         state.text);
    }
    free(state.text);
    snapshot_free(&snapshot);
    return agrees;
}

static bool
check_metrics(struct check *check)
{
    struct buffer text;
    bool agrees;

    buffer_open(&text);
    agrees = check->subject->write_metrics(check->subject, text.out);
    buffer_close(&text);
    agrees = agrees && metrics_agree(check->script, text.text);
    free(text.text);
    return agrees;
}

bool
check_script(struct script *script, struct subject *subject, size_t *count)
{
    struct check check = {.script = script, .subject = subject};
    bool passed = subject->open(subject, script);

    for (const struct step *step = script->steps; passed && step != NULL; step = step->next) {
        passed = check_result(&check, &step->operation) && check_state(&check, &step->operation);
        ++*count;
    }
    passed = passed && check_metrics(&check);
    return subject->close(subject) && passed;
}
