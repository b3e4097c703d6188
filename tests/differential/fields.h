/* Tables of the fields that are compared. */
#ifndef DIFFERENTIAL_FIELDS_H
#define DIFFERENTIAL_FIELDS_H

#include "plant.h"

typedef struct table {
    const field_t *fields;
    size_t count;
} table_t;

/** Fields are of 1, 4 or 8 bytes. */
extern const table_t result_table, sum_table, popped_table, candidate_table, info_table,
    stats_table, words_table, explanation_table, group_table, gang_table;

#endif
