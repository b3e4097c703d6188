/* Where and what was measured. */
#include "machine.h"

#include "commit.h" /* made by the build: SCHEDQ_COMMIT */

#include <stdbool.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* The value of "model name" in /proc/cpuinfo; "unknown" where there is none (as on ARM). */
static void
processor(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");

    snprintf(name, size, "unknown");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && value != NULL) {
            value[strcspn(value, "\n")] = '\0';
            snprintf(name, size, "%s", value + 2);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

static const char *
compiler(void)
{
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

static const char *
build_kind(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return ", SANITIZED: these figures mean nothing";
#elif !defined(__OPTIMIZE__)
    return ", NOT OPTIMIZED: these figures mean nothing";
#elif !defined(NDEBUG)
    return ", with assertions: these figures mean little";
#else
    return "";
#endif
}

/*
 * Ticks of all cores since the start of the system; `busy` includes what a hypervisor took. False:
 * not known here.
 */
static bool
read_ticks(double *busy, double *total)
{
    double user, nice, system, idle, waiting, interrupt, soft, stolen;
    FILE *file = fopen("/proc/stat", "r");

    if (file == NULL) {
        return false;
    }
    int fields = fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle,
                        &waiting, &interrupt, &soft, &stolen);
    fclose(file);
    *busy = user + nice + system + interrupt + soft + stolen;
    *total = *busy + idle + waiting;
    return fields == 8;
}

/*
 * How many cores others keep busy while this program sleeps for half a second; negative: not known.
 */
static double
others_cores(void)
{
    const struct timespec half_a_second = {.tv_nsec = 500000000};
    double busy_before, total_before, busy_after, total_after;

    if (!read_ticks(&busy_before, &total_before)) {
        return -1;
    }
    nanosleep(&half_a_second, NULL);
    if (!read_ticks(&busy_after, &total_after) || total_after <= total_before) {
        return -1;
    }
    double share = (busy_after - busy_before) / (total_after - total_before);
    return share * (double)sysconf(_SC_NPROCESSORS_ONLN);
}

void
machine_print(FILE *out)
{
    char name[128];
    char date[64] = "";
    struct utsname system = {0};
    time_t now = time(NULL);
    struct tm utc;
    double others = others_cores();

    processor(name, sizeof name);
    uname(&system);
    if (gmtime_r(&now, &utc) != NULL) {
        strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &utc);
    }
    fprintf(out, "machine   %s, %ld cores, %s %s\n", name, sysconf(_SC_NPROCESSORS_ONLN),
            system.sysname, system.release);
    fprintf(out, "commit    %s\n", SCHEDQ_COMMIT);
    fprintf(out, "compiler  %s%s\n", compiler(), build_kind());
    fprintf(out, "date      %s\n", date);
    if (others >= 0) {
        fprintf(out, "others    %.1f cores busy before the run%s\n", others,
                others >= 0.15 ? ": OTHER PROGRAMS DISTURB THESE FIGURES" : "");
    }
}
