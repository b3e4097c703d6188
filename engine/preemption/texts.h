/*
 * Texts as numbers: names, label keys and values. Equal texts have equal numbers, so that matching
 * labels and budgets compares numbers only.
 *
 * Each use of a text counts; a text that is not used any more gives its number back. Number 0 is no
 * text.
 */
#ifndef SCHEDQ_PREEMPTION_TEXTS_H
#define SCHEDQ_PREEMPTION_TEXTS_H

#include "platform/memory.h"

struct text_entry {
    char *bytes; /* with a NUL; NULL: the number is free */
    uint32_t length;
    uint32_t uses;
    uint32_t hash;
    uint32_t next; /* in its bucket, or among the free numbers */
};

struct texts {
    struct memory *memory;
    struct text_entry *entries;
    uint32_t *buckets;
    uint32_t capacity; /* of both; a power of two, or 0 */
    uint32_t end;      /* numbers below it were used */
    uint32_t first_free;
    uint64_t seed;
};

void texts_open(struct texts *texts, struct memory *memory);
void texts_clear(struct texts *texts);
void texts_close(struct texts *texts);

/** The number of a text, which is used once more; 0: no memory. */
uint32_t texts_use(struct texts *texts, const char *text, uint32_t length);

/** The number of a text, or 0 if it is not used. */
uint32_t texts_find(const struct texts *texts, const char *text, uint32_t length);

/** One use less. 0 is allowed. */
void texts_drop(struct texts *texts, uint32_t number);

const char *texts_get(const struct texts *texts, uint32_t number);

#endif
