/*
 * The ring of trace.h, and source lines by addr2line of binutils, which every compiler brings
 * along.
 */
#define _GNU_SOURCE /* dl_iterate_phdr */
#include "trace.h"

#include "arena.h"

#include <inttypes.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RING (1u << 16)
#define PLACE_BYTES 160

struct step {
    const void *where; /* a return address; TRACE_CALL, TRACE_PHASE: the text */
    const void *word;
    uint64_t value;
    uint8_t kind, thread;
};

bool trace_is_on;

static struct step ring[RING];
static uint64_t added;

static const char *const kinds[] = {
    [TRACE_LOAD] = "load",      [TRACE_STORE] = "store",     [TRACE_FLUSH] = "flush",
    [TRACE_RMW] = "rmw",        [TRACE_FENCE] = "fence",     [TRACE_SLEEP] = "sleeps",
    [TRACE_AWAKE] = "is awake", [TRACE_TIMEOUT] = "timeout", [TRACE_WAKE] = "futex_wake",
    [TRACE_FROZEN] = "FROZEN",  [TRACE_ENDED] = "ended",     [TRACE_CALL] = "",
    [TRACE_PHASE] = "",
};

void
trace_reset(void)
{
    added = 0;
}

void
trace_keep(enum trace_kind kind, unsigned thread, const void *word, uint64_t value,
           const void *where)
{
    ring[added++ % RING] = (struct step){.where = where,
                                         .word = word,
                                         .value = value,
                                         .kind = (uint8_t)kind,
                                         .thread = (uint8_t)thread};
}

void
trace_note(unsigned thread, const char *text, int64_t value)
{
    trace_add(TRACE_CALL, thread, NULL, (uint64_t)value, text);
}

/* ---- source lines ---------------------------------------------------------------------------- */

struct place {
    const void *where;
    char text[PLACE_BYTES];
};

struct places {
    struct place *all;
    unsigned count;
};

static bool
has_address(const struct step *step)
{
    return step->kind != TRACE_CALL && step->kind != TRACE_PHASE && step->where != NULL;
}

static struct place *
place_of(const struct places *places, const void *where)
{
    for (unsigned i = 0; i < places->count; i++) {
        if (places->all[i].where == where) {
            return &places->all[i];
        }
    }
    return NULL;
}

static int
first_object(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(uintptr_t *)bias = (uintptr_t)info->dlpi_addr;
    return 1; /* the program itself comes first */
}

static FILE *
ask_addr2line(const struct places *places)
{
    uintptr_t bias = 0;
    char program[1024];
    size_t room = 2048 + 20 * (size_t)places->count;
    char *command = malloc(room);
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    if (length <= 0 || command == NULL) {
        free(command);
        return NULL;
    }
    program[length] = '\0';
    (void)dl_iterate_phdr(first_object, &bias);
    size_t used = (size_t)snprintf(command, room, "addr2line -a -f -i -s -e '%s'", program);
    for (unsigned i = 0; i < places->count; i++) {
        /* The instruction before the return address is the call. */
        used += (size_t)snprintf(command + used, room - used, " 0x%" PRIxPTR,
                                 (uintptr_t)places->all[i].where - 1 - bias);
    }
    (void)snprintf(command + used, room - used, " 2>/dev/null");
    FILE *answer = popen(command, "r");
    free(command);
    return answer;
}

/* One frame "function file:line"; the facade's own are left out, and two are enough. */
static void
add_frame(struct place *place, const char *function, const char *line)
{
    size_t used = strlen(place->text);

    if (strncmp(line, "atomic", strlen("atomic")) == 0 || strchr(place->text, '<') != NULL) {
        return;
    }
    (void)snprintf(place->text + used, sizeof place->text - used, "%s%s %s", used > 0 ? " < " : "",
                   function, line);
}

static void
read_answer(FILE *answer, const struct places *places)
{
    char function[256], line[256];
    struct place *place = NULL;
    unsigned next = 0;

    while (fgets(function, sizeof function, answer) != NULL) {
        function[strcspn(function, "\n")] = '\0';
        if (strncmp(function, "0x", 2) == 0) {
            place = next < places->count ? &places->all[next++] : NULL;
            continue;
        }
        if (fgets(line, sizeof line, answer) == NULL) {
            break;
        }
        line[strcspn(line, " \n")] = '\0';
        if (place != NULL) {
            add_frame(place, function, line);
        }
    }
}

static void
find_places(struct places *places, uint64_t first)
{
    for (uint64_t i = first; i < added; i++) {
        const struct step *step = &ring[i % RING];

        if (has_address(step) && place_of(places, step->where) == NULL) {
            places->all[places->count++] = (struct place){.where = step->where};
        }
    }
    FILE *answer = ask_addr2line(places);
    if (answer != NULL) {
        read_answer(answer, places);
        (void)pclose(answer);
    }
}

/* ---- printing -------------------------------------------------------------------------------- */

static void
print_word(FILE *out, const struct step *step)
{
    uint64_t offset = arena_offset(step->word);

    if (offset != UINT64_MAX) {
        (void)fprintf(out, " arena+0x%05" PRIx64, offset);
    } else {
        (void)fprintf(out, " %p", step->word);
    }
}

static void
print_step(FILE *out, const struct step *step, const struct places *places)
{
    const struct place *place =
        has_address(step) && places->all != NULL ? place_of(places, step->where) : NULL;

    (void)fprintf(out, "T%u %-10s", step->thread, kinds[step->kind]);
    switch ((enum trace_kind)step->kind) {
    case TRACE_LOAD:
    case TRACE_STORE:
    case TRACE_FLUSH:
    case TRACE_RMW:
        print_word(out, step);
        (void)fprintf(out, " %s 0x%" PRIx64, step->kind == TRACE_STORE ? ":=" : "==", step->value);
        break;
    case TRACE_SLEEP:
    case TRACE_WAKE:
        print_word(out, step);
        (void)fprintf(out, " %" PRIu64, step->value);
        break;
    case TRACE_CALL:
    case TRACE_PHASE:
        (void)fprintf(out, "---- %s %" PRId64, (const char *)step->where, (int64_t)step->value);
        break;
    default:
        break;
    }
    (void)fprintf(out, "%s%s\n", place != NULL ? "   " : "", place != NULL ? place->text : "");
}

void
trace_print(FILE *out, unsigned steps)
{
    uint64_t kept = added < RING ? added : RING;
    uint64_t first = added - (kept < steps ? kept : steps);
    struct places places = {.all = calloc((size_t)(added - first) + 1, sizeof(struct place))};

    if (places.all != NULL) {
        find_places(&places, first);
    }
    for (uint64_t i = first; i < added; i++) {
        (void)fprintf(out, "%6" PRIu64 " ", i);
        print_step(out, &ring[i % RING], &places);
    }
    free(places.all);
}
