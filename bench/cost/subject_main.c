/*
 * schedq-cost-calls and schedq-cost-accesses: play rows and print a line for each. For schedq-cost,
 * which knows what the numbers of a line are.
 *
 * Arguments: "life", "lockfree" or "mutex", "short" or "long": one pod's life (life.h). Or: an
 * extended regular expression that names of rows must match; "slow" for the slow rows too.
 */
#include "life.h"
#include "play.h"
#include "probe.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

static void
play_all(const struct row *row)
{
    unsigned subjects = row->subjects & (probe_all ? ALL : LOCKFREE);

    for (unsigned subject = LOCKFREE; subject <= BARE; subject *= 2) {
        for (unsigned i = 0; (subjects & subject) != 0 && probe_workers[i] != 0; i++) {
            if (i == 0 || !row->alone) {
                play_row(row, subject, probe_workers[i]);
                fflush(stdout);
            }
        }
    }
}

int
main(int argc, char **argv)
{
    regex_t filter;

    if (argc == 4 && strcmp(argv[1], "life") == 0) {
        play_life(strcmp(argv[2], "mutex") == 0, strcmp(argv[3], "short") == 0);
        return 0;
    }
    bool slow = argc == 3 && strcmp(argv[2], "slow") == 0;

    if (argc != 2 + slow || regcomp(&filter, argv[1], REG_EXTENDED | REG_NOSUB) != 0) {
        fprintf(stderr, "usage: %s REGEX [slow]: rows to play; schedq-cost starts this\n", argv[0]);
        return 2;
    }
    printf("%s\n", COST_BUILD);
    for (unsigned i = 0; i < row_count; i++) {
        if ((slow || !rows[i].slow) && regexec(&filter, rows[i].name, 0, NULL, 0) == 0) {
            play_all(&rows[i]);
        }
    }
    regfree(&filter);
    return 0;
}
