/*
 * Figures of rows: read from and written to a file, printed, compared.
 *
 * The file is JSON: {"compiler": ..., "valgrind": ..., "rows": {"lockfree/add": {"instructions":
 * 1891.0, ...}, ...}}, a row a line. A figure that a row does not have is not there.
 */
#ifndef SCHEDQ_COST_TABLE_H
#define SCHEDQ_COST_TABLE_H

#include <stdbool.h>
#include <stdio.h>

enum { TABLE_WORKERS = 5 };

enum figure {
    INSTRUCTIONS,
    LOADS,
    STORES,
    RMWS,
    FENCES,
    LINES,
    /* Of the first number of workers: read misses, write misses, upgrades, sum; then the next. */
    TRANSFERS,
    FIGURES = TRANSFERS + 4 * TABLE_WORKERS
};
enum { READ_MISSES, WRITE_MISSES, UPGRADES, SUM };

extern const unsigned table_workers[TABLE_WORKERS];

typedef struct cost {
    char name[64];      /* subject/row */
    double of[FIGURES]; /* NAN: not there */
} cost_t;

typedef struct table {
    cost_t rows[256];
    unsigned count;
    char compiler[64]; /* and the kind of build */
    char valgrind[64];
} table_t;

/* The row of this name; a new one if there is none. */
cost_t *table_row(table_t *table, const char *name);
const cost_t *table_find(const table_t *table, const char *name);

/* False: it cannot be; `why` says why. */
bool table_read(table_t *table, const char *path, char *why, size_t size);
bool table_write(const table_t *table, const char *path, char *why, size_t size);

/* `details`: the transfers by their kind too. */
void table_print(const table_t *table, bool details, FILE *out);

/*
 * Says what rose and what fell, row by row; returns how many figures rose too far. `whole`: rows
 * that `before` has, and `now` has not, count too.
 */
unsigned table_compare(const table_t *before, const table_t *now, bool whole, FILE *out);

#endif
