/*
 * Chooses the clock: the time stamp counter where the kernel itself keeps time by it.
 *
 * Then it ticks at one rate, also while a core sleeps, and the kernel has found it equal on all
 * cores. Anywhere else the kernel's own clock is taken, which costs a little more.
 */
#include "stamp.h"

#include <stdio.h>
#include <string.h>

bool stamp_is_counter;

void
stamp_choose(void)
{
    char name[32] = "";
    FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    if (file != NULL) {
        if (fgets(name, sizeof name, file) == NULL)
            name[0] = '\0';
        fclose(file);
    }
#if defined(__x86_64__)
    stamp_is_counter = strcmp(name, "tsc\n") == 0;
#endif
}
