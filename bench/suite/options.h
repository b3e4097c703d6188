/*
 * The command line of schedq-bench.
 */
#ifndef SCHEDQ_BENCH_OPTIONS_H
#define SCHEDQ_BENCH_OPTIONS_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct options {
    bool full;
    bool list;
    bool quick;    /* rows are made small */
    bool headline; /* the rows of headline.h */
    bool filtered;
    regex_t filter;    /* if `filtered` */
    const char *suite; /* NULL: all, or `headline` */
    const char *json;  /* NULL: none */
    unsigned repetitions;
    uint64_t seed;
} options_t;

/* Reads the command line. Ends the program with status 2 and a message where it is wrong. */
void options_parse(options_t *options, int argc, char **argv);
void options_free(options_t *options);

#endif
