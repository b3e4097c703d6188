/* Numbers by strtoull, which would take -1 for the largest. */
#include "arguments.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint64_t
argument_number(struct argp_state *state, const char *option, const char *text, uint64_t low, uint64_t high)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    if (errno != 0 || end == text || *end != '\0' || strchr(text, '-') != NULL || value < low || value > high)
        argp_error(state, "--%s %s: legal are %llu..%llu", option, text, (unsigned long long)low,
                   (unsigned long long)high);
    return value;
}
