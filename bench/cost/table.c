/* Figures of table.h. */
#include "table.h"

#include "output.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

/* What may rise without a word: rounding, and what depends on where things lie in memory. */
#define RISE_ALLOWED 0.03
#define RISE_ALLOWED_ABSOLUTE 0.05
/* Instructions, if the compiler is another one. */
#define RISE_ALLOWED_ELSEWHERE 0.15

const unsigned table_workers[TABLE_WORKERS] = {1, 2, 8, 32, 64};

static const char *
figure_name(unsigned figure, char *room, size_t size)
{
    static const char *const simple[] = {"instructions", "loads",  "stores",
                                         "rmws",         "fences", "lines"};
    static const char *const kinds[] = {"read misses", "write misses", "upgrades", "transfers"};

    if (figure < TRANSFERS) {
        return simple[figure];
    }
    snprintf(room, size, "%s, %u workers", kinds[(figure - TRANSFERS) % 4],
             table_workers[(figure - TRANSFERS) / 4]);
    return room;
}

const cost_t *
table_find(const table_t *table, const char *name)
{
    for (unsigned i = 0; i < table->count; i++) {
        if (strcmp(table->rows[i].name, name) == 0) {
            return &table->rows[i];
        }
    }
    return NULL;
}

cost_t *
table_row(table_t *table, const char *name)
{
    const cost_t *found = table_find(table, name);

    if (found != NULL) {
        return &table->rows[found - table->rows];
    }
    if (table->count == sizeof table->rows / sizeof table->rows[0]) {
        return NULL;
    }
    cost_t *row = &table->rows[table->count++];

    snprintf(row->name, sizeof row->name, "%s", name);
    for (unsigned i = 0; i < FIGURES; i++) {
        row->of[i] = NAN;
    }
    return row;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void
read_text(const json_t *root, const char *key, char *text, size_t size)
{
    const char *value = json_string_value(json_object_get(root, key));

    snprintf(text, size, "%s", value != NULL ? value : "");
}

static void
read_row(table_t *table, const char *name, const json_t *figures)
{
    cost_t *row = table_row(table, name);
    char room[64];

    for (unsigned i = 0; row != NULL && i < FIGURES; i++) {
        const json_t *value = json_object_get(figures, figure_name(i, room, sizeof room));

        row->of[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
}

bool
table_read(table_t *table, const char *path, char *why, size_t size)
{
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    json_t *rows = json_object_get(root, "rows");
    const char *name;
    json_t *figures;

    *table = (table_t){.count = 0};
    if (root == NULL) {
        snprintf(why, size, "%s", error.text);
    } else if (!json_is_object(rows)) {
        snprintf(why, size, "it has no object \"rows\"");
    } else {
        read_text(root, "compiler", table->compiler, sizeof table->compiler);
        read_text(root, "valgrind", table->valgrind, sizeof table->valgrind);
        json_object_foreach(rows, name, figures)
        {
            read_row(table, name, figures);
        }
    }
    bool read = json_is_object(rows);

    json_decref(root);
    return read;
}

static json_t *
row_json(const cost_t *row)
{
    json_t *figures = json_object();
    char room[64];

    for (unsigned i = 0; i < FIGURES; i++) {
        if (!isnan(row->of[i])) {
            json_object_set_new(figures, figure_name(i, room, sizeof room),
                                json_real(round(row->of[i] * 100) / 100));
        }
    }
    return figures;
}

/* A row a line, so that a change shows in a diff as what it is. */
static bool
write_rows(const table_t *table, FILE *file)
{
    bool written = true;

    for (unsigned i = 0; written && i < table->count; i++) {
        json_t *row = row_json(&table->rows[i]);

        written = fprintf(file, "%s  \"%s\": ", i > 0 ? ",\n" : "", table->rows[i].name) > 0 &&
                  json_dumpf(row, file, JSON_REAL_PRECISION(10)) == 0;
        json_decref(row);
    }
    return written;
}

bool
table_write(const table_t *table, const char *path, char *why, size_t size)
{
    output_t output;
    FILE *file = output_begin(&output, path) ? fdopen(output.descriptor, "w") : NULL;
    bool written =
        file != NULL &&
        fprintf(file, "{\n \"compiler\": \"%s\",\n \"valgrind\": \"%s\",\n \"rows\": {\n",
                table->compiler, table->valgrind) > 0 &&
        write_rows(table, file) && fputs("\n }\n}\n", file) >= 0;

    if (file != NULL) {
        output.descriptor = -1;
        written = fclose(file) == 0 && written;
        written = output_end(&output, written) && written;
    }
    if (!written) {
        snprintf(why, size, "%s", strerror(errno));
    }
    return written;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void
print_figure(FILE *out, int width, const cost_t *row, unsigned figure)
{
    double value = row != NULL ? row->of[figure] : NAN;

    if (isnan(value)) {
        fprintf(out, " %*s", width, "-");
    } else {
        fprintf(out, " %*.*f", width, value < 1000 && figure != INSTRUCTIONS ? 1 : 0, value);
    }
}

static const char *
operation_of(const cost_t *row)
{
    return strchr(row->name, '/') + 1;
}

static const cost_t *
of_subject(const table_t *table, const char *subject, const char *operation)
{
    char name[128];

    snprintf(name, sizeof name, "%s/%s", subject, operation);
    return table_find(table, name);
}

static void
print_row(const table_t *table, const char *operation, bool details, FILE *out)
{
    const cost_t *row = of_subject(table, "lockfree", operation);

    fprintf(out, "%-26s", operation);
    print_figure(out, 9, row, INSTRUCTIONS);
    print_figure(out, 8, of_subject(table, "mutex", operation), INSTRUCTIONS);
    print_figure(out, 6, of_subject(table, "bare", operation), INSTRUCTIONS);
    for (unsigned figure = LOADS; figure < TRANSFERS; figure++) {
        print_figure(out, 7, row, figure);
    }
    for (unsigned w = 0; w < TABLE_WORKERS; w++) {
        for (unsigned kind = details ? READ_MISSES : SUM; kind <= SUM; kind++) {
            print_figure(out, 7, row, TRANSFERS + 4 * w + kind);
        }
    }
    fputc('\n', out);
}

static void
print_heading(bool details, FILE *out)
{
    char text[32];

    fprintf(out, "%-26s %25s   %-39s transfers with .. workers\n", "", "instructions",
            "lock-free: shared");
    fprintf(out, "%-26s %9s %8s %6s %7s %7s %7s %7s %7s", "operation", "lock-free", "mutex", "bare",
            "loads", "stores", "RMWs", "fences", "lines");
    for (unsigned w = 0; w < TABLE_WORKERS; w++) {
        if (details) {
            snprintf(text, sizeof text, "reads %u", table_workers[w]);
            fprintf(out, " %7s %7s %7s", text, "writes", "upgrad.");
        }
        fprintf(out, " %7u", table_workers[w]);
    }
    fputc('\n', out);
}

static bool
printed_before(const table_t *table, unsigned row)
{
    for (unsigned i = 0; i < row; i++) {
        if (strcmp(operation_of(&table->rows[i]), operation_of(&table->rows[row])) == 0) {
            return true;
        }
    }
    return false;
}

void
table_print(const table_t *table, bool details, FILE *out)
{
    fprintf(out, "instructions: %s --tool=callgrind; %s\n\n", table->valgrind, table->compiler);
    print_heading(details, out);
    for (unsigned i = 0; i < table->count; i++) {
        if (!printed_before(table, i)) {
            print_row(table, operation_of(&table->rows[i]), details, out);
        }
    }
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool
is_part(unsigned figure)
{
    return figure >= TRANSFERS && (figure - TRANSFERS) % 4 != SUM;
}

/* Returns 1 if it rose. */
static unsigned
compare_figure(const cost_t *before, const cost_t *now, unsigned figure, double allowed, FILE *out)
{
    double from = before->of[figure];
    double to = now->of[figure];
    char room[64];

    if (is_part(figure) || isnan(from)) {
        return 0;
    }
    bool lost = isnan(to);
    bool rose = lost || to > from * (1 + allowed) + RISE_ALLOWED_ABSOLUTE;
    bool fell = !lost && to < from * (1 - RISE_ALLOWED) - RISE_ALLOWED_ABSOLUTE;

    if (rose || fell) {
        fprintf(out, "%s  %-32s %-22s %10.2f before, ", rose ? "ROSE" : "fell", before->name,
                figure_name(figure, room, sizeof room), from);
        fprintf(out, lost ? "not measured now\n" : "%10.2f now, %+.1f %%\n", to,
                from > 0 ? (to / from - 1) * 100 : 0);
    }
    return rose;
}

unsigned
table_compare(const table_t *before, const table_t *now, bool whole, FILE *out)
{
    bool elsewhere = strcmp(before->compiler, now->compiler) != 0;
    unsigned risen = 0;

    if (elsewhere) {
        fprintf(out,
                "note: the file is of %s, this build is %s: instructions may differ by %.0f %%\n",
                before->compiler, now->compiler, RISE_ALLOWED_ELSEWHERE * 100);
    }
    for (unsigned i = 0; i < before->count; i++) {
        const cost_t *row = table_find(now, before->rows[i].name);

        if (row == NULL && whole) {
            fprintf(out, "ROSE  %-32s is in the file, and was not measured\n",
                    before->rows[i].name);
            risen++;
        }
        for (unsigned figure = 0; row != NULL && figure < FIGURES; figure++) {
            double allowed =
                elsewhere && figure == INSTRUCTIONS ? RISE_ALLOWED_ELSEWHERE : RISE_ALLOWED;

            risen += compare_figure(&before->rows[i], row, figure, allowed, out);
        }
    }
    for (unsigned i = 0; i < now->count; i++) {
        if (table_find(before, now->rows[i].name) == NULL) {
            fprintf(out, "new   %-32s is not in the file\n", now->rows[i].name);
        }
    }
    return risen;
}
