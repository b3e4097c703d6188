/*
 * The metrics' text, of one queue, and of several.
 *
 * One text has to name each family once, and all its samples behind that. So the text of several
 * queues is put together family by family from the texts of each; a family is what begins with its
 * line "# HELP NAME". No sample contains one: label values have no line feeds.
 */
#include "api/call.h"
#include "api/sample.h"
#include "observe/text.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_BYTES 63

#define HELP "# HELP "

static schedq_status_t
collect(schedq_t *queue, struct text *text)
{
    schedq_status_t status = queue->ops->metrics(queue, text);

    sample_write(queue, text);
    return status == SCHEDQ_OK && text->failed ? SCHEDQ_NOMEM : status;
}

schedq_status_t
schedq_metrics_write(schedq_t *queue, int (*write)(void *ctx, const char *text, size_t length),
                     void *ctx)
{
    struct call call;
    struct text text;
    schedq_status_t status = call_begin(&call, queue);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (write == NULL) {
        status = SCHEDQ_INVALID;
    } else {
        text_open(&text);
        status = collect(queue, &text);
        if (status == SCHEDQ_OK) {
            inside_calls(CALLBACK_WRITER);
            (void)write(ctx, text.bytes, text.length);
            inside_calls(CALLBACK_NONE);
        }
        text_shut(&text);
    }
    call_end(&call);
    return status;
}

/* ---- several queues -------------------------------------------------------------------------- */

static bool
check_name(const char *name, size_t i, char *why, size_t why_size)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-_.:/";

    if (name == NULL) {
        say(why, why_size, "queues[%zu].name NULL: a pointer", i);
        return false;
    }
    size_t length = strnlen(name, NAME_MAX_BYTES + 1);

    if (length == 0 || length > NAME_MAX_BYTES || strspn(name, legal) < length) {
        say(why, why_size, "queues[%zu].name \"%.*s\": 1 to %d letters, digits and - _ . : /", i,
            NAME_MAX_BYTES + 1, name, NAME_MAX_BYTES);
        return false;
    }
    return true;
}

static bool
check_queues(const schedq_named_queue_t *queues, size_t count, char *why, size_t why_size)
{
    for (size_t i = 0; i < count; i++) {
        if (!check_name(queues[i].name, i, why, why_size)) {
            return false;
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(queues[j].name, queues[i].name) == 0) {
                say(why, why_size, "queues[%zu].name \"%s\": another than that of queues[%zu]", i,
                    queues[i].name, j);
                return false;
            }
        }
    }
    return true;
}

/* Inside of the call of each queue only while its text is made. */
static schedq_status_t
collect_all(const schedq_named_queue_t *queues, size_t count, struct text *texts, char *why,
            size_t why_size)
{
    for (size_t i = 0; i < count; i++) {
        struct call call;
        schedq_status_t status = call_begin_why(&call, queues[i].queue, why, why_size);

        if (status == SCHEDQ_OK) {
            status = collect(queues[i].queue, &texts[i]);
            call_end(&call);
        }
        if (status != SCHEDQ_OK) {
            return status;
        }
    }
    return SCHEDQ_OK;
}

/* NULL: there is none. */
static const char *
next_family(const char *family)
{
    const char *next = strstr(family, "\n" HELP);

    return next != NULL ? next + 1 : NULL;
}

/* The family of the same name in another text; NULL: it has none. */
static const char *
find_family(const struct text *text, const char *family)
{
    size_t length = sizeof HELP - 1 + strcspn(family + sizeof HELP - 1, " ");

    for (const char *other = text->bytes; other != NULL; other = next_family(other)) {
        if (strncmp(other, family, length + 1) == 0) {
            return other;
        }
    }
    return NULL;
}

static const char *
next_line(const char *line)
{
    return strchr(line, '\n') + 1;
}

/* Samples with the queue's label before their own. */
static void
add_samples(struct text *whole, const char *family, const char *name)
{
    for (const char *line = next_line(next_line(family)); *line != '\0' && *line != '#';
         line = next_line(line)) {
        int metric = (int)strcspn(line, "{ ");
        bool labelled = line[metric] == '{';
        const char *rest = labelled ? line + metric + 1 : line + metric;

        text_add(whole, "%.*s{schedq=\"%s\"%s%.*s", metric, line, name, labelled ? "," : "}",
                 (int)(next_line(line) - rest), rest);
    }
}

static void
add_family(struct text *whole, const char *family, const schedq_named_queue_t *queues, size_t count,
           const struct text *texts)
{
    text_add(whole, "%.*s", (int)(next_line(next_line(family)) - family), family);
    for (size_t i = 0; i < count; i++) {
        const char *same = find_family(&texts[i], family);

        if (same != NULL) {
            add_samples(whole, same, queues[i].name);
        }
    }
}

static bool
is_in_any(const struct text *texts, size_t count, const char *family)
{
    for (size_t i = 0; i < count; i++) {
        if (find_family(&texts[i], family) != NULL) {
            return true;
        }
    }
    return false;
}

static void
put_together(struct text *whole, const schedq_named_queue_t *queues, size_t count,
             const struct text *texts)
{
    for (size_t i = 0; i < count; i++) {
        for (const char *family = texts[i].bytes; family != NULL; family = next_family(family)) {
            if (!is_in_any(texts, i, family)) {
                add_family(whole, family, queues + i, count - i, texts + i);
            }
        }
    }
}

static schedq_status_t
write_all(const schedq_named_queue_t *queues, size_t count, struct text *texts,
          int (*write)(void *ctx, const char *text, size_t length), void *ctx, char *why,
          size_t why_size)
{
    struct text whole;
    schedq_status_t status = collect_all(queues, count, texts, why, why_size);

    if (status != SCHEDQ_OK) {
        return status;
    }
    text_open(&whole);
    put_together(&whole, queues, count, texts);
    if (whole.failed) {
        status = SCHEDQ_NOMEM;
    } else {
        (void)write(ctx, whole.bytes, whole.length);
    }
    text_shut(&whole);
    return status;
}

schedq_status_t
schedq_metrics_write_named(const schedq_named_queue_t *queues, size_t count,
                           int (*write)(void *ctx, const char *text, size_t length), void *ctx,
                           char *why, size_t why_size)
{
    say(why, why_size, "%s", "");
    if (queues == NULL || write == NULL) {
        say(why, why_size, "%s NULL: a pointer", queues == NULL ? "queues" : "write");
        return SCHEDQ_INVALID;
    }
    if (count == 0) {
        say(why, why_size, "count 0: at least 1");
        return SCHEDQ_INVALID;
    }
    if (!check_queues(queues, count, why, why_size)) {
        return SCHEDQ_INVALID;
    }
    struct text *texts = calloc(count, sizeof *texts); /* as text_open leaves them */

    if (texts == NULL) {
        return SCHEDQ_NOMEM;
    }
    schedq_status_t status = write_all(queues, count, texts, write, ctx, why, why_size);

    for (size_t i = 0; i < count; i++) {
        text_shut(&texts[i]);
    }
    free(texts);
    return status;
}
