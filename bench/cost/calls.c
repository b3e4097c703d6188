/*
 * The format of callgrind.out, as far as it is needed here: "fl=" and "fn=" say which function the
 * lines that follow are of, "fi=" and "fe=" in which file these lines are, where the compiler put
 * another function inline. "cfl=" (or "cfi=") and "cfn=" say which function the next "calls=" is
 * of; without "cfl=" it is in the file of the line before. A name is "(number) name" the first
 * time, "(number)" afterwards.
 */
#include "calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 4096, PAIRS_MAX = 8192, TEXT_MAX = 512 };

struct names {
    char *of[NAMES_MAX];
};

struct pair {
    unsigned first, second;
};

struct pairs {
    struct pair of[PAIRS_MAX];
    unsigned count;
};

struct reading {
    struct names files, functions;
    struct pairs ran;  /* file, function */
    struct pairs hops; /* caller, callee: places in `ran` */
    bool full;
};

/* The number of a name, which is noted down when it is there. */
static unsigned
name_number(struct reading *reading, struct names *names, const char *text)
{
    char *end;
    unsigned long number = text[0] == '(' ? strtoul(text + 1, &end, 10) : NAMES_MAX;

    if (number >= NAMES_MAX || *end != ')') {
        reading->full = true;
        return 0;
    }
    if (end[1] == ' ' && names->of[number] == NULL) {
        names->of[number] = strdup(end + 2);
    }
    return (unsigned)number;
}

static unsigned
put(struct reading *reading, struct pairs *pairs, unsigned first, unsigned second)
{
    for (unsigned i = 0; i < pairs->count; i++) {
        if (pairs->of[i].first == first && pairs->of[i].second == second) {
            return i;
        }
    }
    if (pairs->count == PAIRS_MAX) {
        reading->full = true;
        return 0;
    }
    pairs->of[pairs->count] = (struct pair){first, second};
    return pairs->count++;
}

static bool
is_engine(const struct reading *reading, unsigned file)
{
    const char *name = reading->files.of[file];

    return name != NULL && strstr(name, "/engine/") != NULL &&
           strstr(name, "/engine/platform/") == NULL;
}

static bool
is_source(const struct reading *reading, unsigned file)
{
    const char *name = reading->files.of[file];

    return strcmp(name + strlen(name) - 2, ".c") == 0;
}

static const char *
after(const char *line, const char *start)
{
    size_t length = strlen(start);

    return strncmp(line, start, length) == 0 ? line + length : NULL;
}

/* "calls=": control passes from one function to another. */
static void
note_call(struct reading *reading, const struct pair *caller, const struct pair *callee)
{
    if (!is_engine(reading, callee->first)) {
        return;
    }
    unsigned to = put(reading, &reading->ran, callee->first, callee->second);

    if (is_engine(reading, caller->first) && caller->first != callee->first &&
        is_source(reading, callee->first)) {
        put(reading, &reading->hops, put(reading, &reading->ran, caller->first, caller->second),
            to);
    }
}

static void
read_lines(struct reading *reading, FILE *file)
{
    struct pair here = {0, 0};
    struct pair called = {0, 0};
    unsigned file_of_line = 0;
    char line[TEXT_MAX];
    const char *text;

    while (fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if ((text = after(line, "fl=")) != NULL) {
            here.first = name_number(reading, &reading->files, text);
        } else if ((text = after(line, "fi=")) != NULL || (text = after(line, "fe=")) != NULL) {
            file_of_line = called.first = name_number(reading, &reading->files, text);
        } else if ((text = after(line, "fn=")) != NULL) {
            here.second = name_number(reading, &reading->functions, text);
            file_of_line = called.first = here.first;
        } else if ((text = after(line, "cfl=")) != NULL || (text = after(line, "cfi=")) != NULL) {
            called.first = name_number(reading, &reading->files, text);
        } else if ((text = after(line, "cfn=")) != NULL) {
            called.second = name_number(reading, &reading->functions, text);
        } else if (after(line, "calls=") != NULL) {
            note_call(reading, &here, &called);
            called.first = file_of_line;
        }
    }
}

static void
count(const struct reading *reading, struct calls *calls)
{
    static bool seen[NAMES_MAX];

    memset(seen, 0, sizeof seen);
    *calls = (struct calls){.functions = reading->ran.count, .hops = reading->hops.count};
    for (unsigned i = 0; i < reading->ran.count; i++) {
        unsigned file = reading->ran.of[i].first;

        calls->files += !seen[file] && is_source(reading, file);
        seen[file] = true;
    }
}

bool
calls_read(struct calls *calls, const char *path)
{
    static struct reading reading;
    FILE *file = fopen(path, "r");

    if (file == NULL) {
        return false;
    }
    memset(&reading, 0, sizeof reading);
    read_lines(&reading, file);
    (void)fclose(file);
    count(&reading, calls);
    for (unsigned i = 0; i < NAMES_MAX; i++) {
        free(reading.files.of[i]);
        free(reading.functions.of[i]);
    }
    return !reading.full && calls->functions > 0;
}
