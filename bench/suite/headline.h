/*
 * The suite `headline`: rows of the other suites by name.
 */
#ifndef SCHEDQ_BENCH_HEADLINE_H
#define SCHEDQ_BENCH_HEADLINE_H

#include <stdbool.h>

#define HEADLINE "headline"

/* Up to a NULL. */
extern const char *const headline_rows[];

bool is_headline(const char *name);

#endif
