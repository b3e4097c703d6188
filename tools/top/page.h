/**
 * A page of metrics, in Prometheus' text format: its samples, to be asked for by name and labels.
 */
#ifndef SCHEDQ_TOOLS_TOP_PAGE_H
#define SCHEDQ_TOOLS_TOP_PAGE_H

#include <stdbool.h>
#include <stddef.h>

enum { PAGE_LABELS = 4 }; /* of a sample; schedq's have three at most */

typedef struct page_label {
    const char *name, *value;
} page_label_t;

typedef struct page_sample {
    const char *name;
    page_label_t labels[PAGE_LABELS]; /* the rest is NULL */
    double value;
} page_sample_t;

/** All zero: an empty one. */
typedef struct page {
    char *text; /* what the samples' strings are in */
    page_sample_t *samples;
    size_t count;
} page_t;

/**
 * Reads `text`, which is the page's from then on, whatever this returns. False: `why` says which
 * line is not of the format, or that there is no memory; the page is empty.
 */
bool page_read(page_t *page, char *text, char *why, size_t why_size);
void page_free(page_t *page);

/** The value of a label; NULL: the sample has no such label. */
const char *page_label_of(const page_sample_t *sample, const char *label);

/**
 * Is it of this name and queue (label `schedq`; NULL: the page has one queue, and no such label),
 * with this value of a label? label NULL: whatever its other labels are.
 */
bool page_is(const page_sample_t *sample, const char *name, const char *queue, const char *label,
             const char *value);

/** The first such sample; NULL: there is none. */
const page_sample_t *page_find(const page_t *page, const char *name, const char *queue,
                               const char *label, const char *value);

/** Its value, or 0. */
double page_value(const page_t *page, const char *name, const char *queue, const char *label,
                  const char *value);

/**
 * The upper bound of the bucket in which the part `quantile` of a histogram's values ends, as the
 * text says it ("+Inf" too); NULL: it counts nothing, or there is none.
 */
const char *page_quantile(const page_t *page, const char *histogram, const char *queue,
                          const char *label, const char *value, double quantile);

/** The greatest bound that a histogram has, +Inf apart, as the text says it; NULL: it has none. */
const char *page_greatest(const page_t *page, const char *histogram, const char *queue,
                          const char *label, const char *value);

/** The name of the queue number `i`; NULL: there are not so many. A page without names has none. */
const char *page_queue(const page_t *page, size_t i);

#endif
