/* The checks of verdict.h. */
#include "plugins/verdict.h"

#include <inttypes.h>
#include <stdio.h>

schedq_status_t
verdict_check_failure(const struct registry *registry, schedq_profile_t profile,
                      const schedq_failure_t *failure, char *why, size_t size)
{
    uint64_t known = registry_known(registry, profile);
    uint64_t unknown = (failure->unschedulable | failure->pending) & ~known;

    if (unknown != 0) {
        (void)snprintf(why, size,
                       "failure: rejector bits 0x%" PRIx64 ": bits of 0x%" PRIx64
                       ", those of profile %u",
                       unknown, known, profile);
        return SCHEDQ_INVALID;
    }
    return verdict_check_gate(registry, profile, "failure.gate", failure->gate, why, size);
}

schedq_status_t
verdict_check_gate(const struct registry *registry, schedq_profile_t profile, const char *argument,
                   uint8_t gate, char *why, size_t size)
{
    if (gate == 0 || (gate_bit(gate) & registry_gate_bits(registry, profile)) != 0) {
        return SCHEDQ_OK;
    }
    (void)snprintf(why, size, "%s %u: 1 + the number of a plugin of profile %u", argument, gate,
                   profile);
    return SCHEDQ_INVALID;
}
