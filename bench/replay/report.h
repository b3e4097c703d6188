/*
 * The result of a replay, as text for people and as JSON for programs (docs/REPLAY.md lists the
 * fields).
 */
#ifndef SCHEDQ_REPLAY_REPORT_H
#define SCHEDQ_REPLAY_REPORT_H

#include "options.h"

typedef struct report {
    const options_t *options;
    const workload_t *workload;
    const scenario_t *scenario;
    const int32_t *priority; /* of each class */
    const simulate_result_t *result;
    const simulate_result_t *without; /* the same without preemption; NULL: that is `result` */
    uint64_t bad_lines;
} report_t;

/* False: writing failed, and errno says why. */
bool report_text(FILE *out, const report_t *report);
bool report_json(FILE *out, const report_t *report);

/* Figures that both forms show. */
double report_seconds(int64_t ns);
double report_first_failed_share(const simulate_result_t *result);
double report_attempts_mean(const simulate_result_t *result);
/* Smallest and largest number of attempts in a bucket. */
uint64_t report_bucket_from(int bucket);
uint64_t report_bucket_to(int bucket);

#endif
