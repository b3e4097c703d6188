/*
 * The pods' names, numbered. Most are short, some are longer than what a queue keeps in its smaller
 * cells.
 */
#ifndef SCHEDQ_HISTORY_NAMES_H
#define SCHEDQ_HISTORY_NAMES_H

#include <stdint.h>

#define NO_NAME UINT32_MAX

/** Makes `count` names; ends the process if there is no memory. */
void names_make(uint32_t count);
void names_free(void);
const char *names_text(uint32_t index);
uint32_t names_length(uint32_t index);
/** The number of this name, NO_NAME if these bytes are none of them. */
uint32_t names_index(const char *text, uint32_t length);

/* So many names in a row are one thread's to hold and release; some of them share a label. */
#define LABEL_NAMES 16
#define LABEL_SHARERS 10

static inline uint32_t
names_group(uint32_t index)
{
    return index / LABEL_NAMES;
}

/** The label of pods of this name; 0: none. */
static inline uint32_t
names_label(uint32_t index)
{
    return index % LABEL_NAMES < LABEL_SHARERS ? 1 + names_group(index) : 0;
}

#endif
