/* What text and JSON have in common. */
#include "report.h"

double
report_seconds(int64_t ns)
{
    return (double)ns / (double)NS_PER_SECOND;
}

double
report_first_failed_share(const simulate_result_t *result)
{
    return (double)result->first_failed / (double)result->pods_total;
}

double
report_attempts_mean(const simulate_result_t *result)
{
    return (double)result->attempts / (double)result->pods_total;
}

uint64_t
report_bucket_from(int bucket)
{
    return bucket == 0 ? 0 : UINT64_C(1) << (bucket - 1);
}

uint64_t
report_bucket_to(int bucket)
{
    return bucket == 0 ? 0 : (UINT64_C(1) << bucket) - 1;
}
