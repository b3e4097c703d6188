/* A set of names on the C library's binary tree. */
#define _GNU_SOURCE /* tdestroy */
#include "names.h"

#include "alloc.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

typedef struct name_line {
    const char *name;
    size_t line;
} name_line_t;

static int
compare_names(const void *left, const void *right)
{
    const name_line_t *a = left;
    const name_line_t *b = right;

    return strcmp(a->name, b->name);
}

bool
names_note(names_seen_t *seen, input_row_t *row, size_t column, const char *name)
{
    name_line_t *mine = alloc_array(1, sizeof *mine);

    *mine = (name_line_t){.name = name, .line = row->line};
    name_line_t *const *found = tsearch(mine, &seen->tree, compare_names);
    if (found == NULL || *found == mine) {
        return true;
    }
    input_fault(row, column, name, "a name that no other line has; line %zu has it",
                (*found)->line);
    free(mine);
    return false;
}

void
names_free(names_seen_t *seen)
{
    tdestroy(seen->tree, free);
    seen->tree = NULL;
}
