/* Texts of results, see result.h. */
#include "result.h"

#include <stdlib.h>
#include <string.h>

void
write_status(const struct world *world, schedq_status_t status, FILE *result)
{
    if (status == SCHEDQ_OK) {
        fputs("ok", result);
    } else {
        fprintf(result, "error %s: %s", schedq_status_name(status),
                schedq_worker_error(world->worker));
    }
}

void
write_identity(const char *name, const char *uid, FILE *result)
{
    fputs(name, result);
    if (strcmp(name, uid) != 0) {
        fprintf(result, " uid=%s", uid);
    }
}

void
write_history(const schedq_history_t *history, FILE *result)
{
    fprintf(result, " attempts=%u unschedulable=%u errors=%u timestamp=", history->attempts,
            history->rejections, history->errors);
    write_time(result, world_since(history->timestamp_ns));
    fputs(" initial-attempt=", result);
    if (history->initial_attempt_ns == 0) {
        fputc('-', result);
    } else {
        write_time(result, world_since(history->initial_attempt_ns));
    }
}

static int
compare_names(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

void
write_rejectors(const struct profile *profile, uint64_t set, FILE *result)
{
    const char *names[64];
    size_t count = 0;

    for (size_t bit = 0; bit < 64; bit++) {
        if ((set >> bit & 1) != 0) {
            names[count++] =
                bit < PLUGINS_MAX && profile->plugins[bit] != NULL ? profile->plugins[bit] : "?";
        }
    }
    qsort(names, count, sizeof names[0], compare_names);
    for (size_t i = 0; i < count; i++) {
        fprintf(result, "%s%s", i == 0 ? "" : ",", names[i]);
    }
}
