/*
 * Where and what was measured: processor, cores, system, compiler, commit, date, and what else ran.
 * Figures without these mean nothing.
 */
#ifndef SCHEDQ_BENCH_MACHINE_H
#define SCHEDQ_BENCH_MACHINE_H

#include <stdio.h>

void machine_print(FILE *out);

#endif
