/* The format of page.h. */
#include "page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t";

/* Replaces the escapes of a label's value, up to its quotation mark. What follows that; NULL: there
   is none. */
static char *
unescape(char *from)
{
    char *to = from;

    for (; *from != '"'; from++) {
        if (*from == '\0') {
            return NULL;
        }
        if (*from == '\\' && from[1] != '\0') {
            from++;
            *to++ = (char)(*from == 'n' ? '\n' : *from);
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    return from + 1;
}

/* Reads from behind '{'. What follows '}'; NULL: it is not of the format. */
static char *
read_labels(char *text, page_sample_t *sample)
{
    for (size_t i = 0; *text != '}'; i++) {
        char *equals = strchr(text, '=');

        if (i == PAGE_LABELS || equals == NULL || equals[1] != '"') {
            return NULL;
        }
        *equals = '\0';
        sample->labels[i] = (page_label_t){.name = text, .value = equals + 2};
        text = unescape(equals + 2);
        if (text == NULL) {
            return NULL;
        }
        text += *text == ',' ? 1 : 0;
    }
    return text + 1;
}

static bool
read_sample(char *line, page_sample_t *sample)
{
    char *rest = line + strcspn(line, "{ \t"), *end;
    bool labelled = *rest == '{';

    if (rest == line || *rest == '\0') {
        return false;
    }
    *sample = (page_sample_t){.name = line};
    *rest++ = '\0';
    if (labelled) {
        rest = read_labels(rest, sample);
        if (rest == NULL) {
            return false;
        }
    }
    rest += strspn(rest, blanks);
    sample->value = strtod(rest, &end);
    return end != rest && strchr(" \t", *end) != NULL; /* a time may follow */
}

static size_t
count_lines(const char *text)
{
    size_t lines = 1;

    for (; *text != '\0'; text++) {
        lines += *text == '\n' ? 1 : 0;
    }
    return lines;
}

bool
page_read(page_t *page, char *text, char *why, size_t why_size)
{
    size_t number = 1;

    *page = (page_t){.text = text};
    page->samples = malloc(count_lines(text) * sizeof *page->samples);
    if (page->samples == NULL) {
        (void)snprintf(why, why_size, "no memory for the page");
        page_free(page);
        return false;
    }
    for (char *line = text, *next; line != NULL; line = next, number++) {
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        line[strcspn(line, "\r")] = '\0';
        if (*line == '#' || line[strspn(line, blanks)] == '\0') {
            continue;
        }
        if (!read_sample(line, &page->samples[page->count])) {
            (void)snprintf(why, why_size, "line %zu is no sample of Prometheus' text format",
                           number);
            page_free(page);
            return false;
        }
        page->count++;
    }
    return true;
}

void
page_free(page_t *page)
{
    free(page->text);
    free(page->samples);
    *page = (page_t){0};
}

/* ---- questions ------------------------------------------------------------------------------- */

const char *
page_label_of(const page_sample_t *sample, const char *label)
{
    for (size_t i = 0; i < PAGE_LABELS && sample->labels[i].name != NULL; i++) {
        if (strcmp(sample->labels[i].name, label) == 0) {
            return sample->labels[i].value;
        }
    }
    return NULL;
}

static bool
same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool
page_is(const page_sample_t *sample, const char *name, const char *queue, const char *label,
        const char *value)
{
    return strcmp(sample->name, name) == 0 && same(page_label_of(sample, "schedq"), queue) &&
           (label == NULL || same(page_label_of(sample, label), value));
}

const page_sample_t *
page_find(const page_t *page, const char *name, const char *queue, const char *label,
          const char *value)
{
    for (size_t i = 0; i < page->count; i++) {
        if (page_is(&page->samples[i], name, queue, label, value)) {
            return &page->samples[i];
        }
    }
    return NULL;
}

double
page_value(const page_t *page, const char *name, const char *queue, const char *label,
           const char *value)
{
    const page_sample_t *sample = page_find(page, name, queue, label, value);

    return sample != NULL ? sample->value : 0;
}

/* Buckets stand in the order of their bounds, and each counts those before it, too. */
const char *
page_quantile(const page_t *page, const char *histogram, const char *queue, const char *label,
              const char *value, double quantile)
{
    char buckets[80], all[80];

    (void)snprintf(buckets, sizeof buckets, "%s_bucket", histogram);
    (void)snprintf(all, sizeof all, "%s_count", histogram);
    double count = page_value(page, all, queue, label, value);

    for (size_t i = 0; count > 0 && i < page->count; i++) {
        const page_sample_t *bucket = &page->samples[i];

        if (page_is(bucket, buckets, queue, label, value) && bucket->value >= quantile * count) {
            return page_label_of(bucket, "le");
        }
    }
    return NULL;
}

const char *
page_greatest(const page_t *page, const char *histogram, const char *queue, const char *label,
              const char *value)
{
    char buckets[80];
    const char *greatest = NULL;

    (void)snprintf(buckets, sizeof buckets, "%s_bucket", histogram);
    for (size_t i = 0; i < page->count; i++) {
        const char *bound = page_label_of(&page->samples[i], "le");

        if (page_is(&page->samples[i], buckets, queue, label, value) && bound != NULL &&
            strcmp(bound, "+Inf") != 0) {
            greatest = bound; /* they are in order */
        }
    }
    return greatest;
}

const char *
page_queue(const page_t *page, size_t i)
{
    for (size_t at = 0; at < page->count; at++) {
        const page_sample_t *sample = &page->samples[at];

        if (strcmp(sample->name, "schedq_workers") == 0 && i-- == 0) {
            return page_label_of(sample, "schedq");
        }
    }
    return NULL;
}
