/*
 * Names that must be unique in a file: which line had this one first?
 */
#ifndef SCHEDQ_REPLAY_NAMES_H
#define SCHEDQ_REPLAY_NAMES_H

#include "input.h"

typedef struct names_seen {
    void *tree;
} names_seen_t;

/*
 * Notes the name; false, and a fault of the row, if an earlier line has it. `name` must outlive the
 * set.
 */
bool names_note(names_seen_t *seen, input_row_t *row, size_t column, const char *name);
void names_free(names_seen_t *seen);

#endif
