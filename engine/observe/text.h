/*
 * A text that grows: what metrics are written into before the caller's function gets them.
 *
 * Its memory is the C library's and does not outlive the call: the queue's byte counts need the
 * queue's lock.
 */
#ifndef SCHEDQ_OBSERVE_TEXT_H
#define SCHEDQ_OBSERVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
    char *bytes;
    size_t length, capacity;
    bool failed; /* there was no memory: what was added since is missing */
};

void text_open(struct text *text);
void text_shut(struct text *text);

__attribute__((format(printf, 2, 3))) void text_add(struct text *text, const char *format, ...);

/**
 * Adds a label value with \ " and newline escaped, as the Prometheus text format wants it, and a
 * byte that is no UTF-8 as \xHH: with one in it the whole text would be refused.
 */
void text_add_escaped(struct text *text, const char *value);

#endif
