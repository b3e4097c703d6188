/*
 * Names "h<i % 7>/<i>", padded with "-aaa" to 100 bytes (every 13th) or to the longest legal length
 * (every 97th).
 */
#include "names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedq/schedq.h"

typedef struct name {
    uint32_t length;
    char text[SCHEDQ_NAME_MAX + 1];
} name_t;

static name_t *table;
static uint32_t table_count;

void
names_make(uint32_t count)
{
    table = calloc(count, sizeof *table);
    if (table == NULL) {
        fprintf(stderr, "schedq-history: no memory for %u names\n", count);
        exit(1);
    }
    table_count = count;
    for (uint32_t i = 0; i < count; i++) {
        name_t *name = &table[i];
        uint32_t length = (uint32_t)snprintf(name->text, sizeof name->text, "h%u/%u", i % 7, i);
        uint32_t wanted = i % 97 == 96 ? SCHEDQ_NAME_MAX : i % 13 == 12 ? 100 : length;
        if (wanted > length) {
            memset(name->text + length, 'a', wanted - length);
            name->text[length] = '-';
        }
        name->length = wanted;
    }
}

void
names_free(void)
{
    free(table);
}

const char *
names_text(uint32_t index)
{
    return table[index].text;
}

uint32_t
names_length(uint32_t index)
{
    return table[index].length;
}

uint32_t
names_index(const char *text, uint32_t length)
{
    uint32_t index = 0;
    if (length < 4 || length > SCHEDQ_NAME_MAX)
        return NO_NAME;
    for (uint32_t i = 3; i < length && isdigit((unsigned char)text[i]) && index < table_count; i++)
        index = index * 10 + (uint32_t)(text[i] - '0');
    if (index >= table_count || table[index].length != length ||
        memcmp(table[index].text, text, length + 1) != 0)
        return NO_NAME;
    return index;
}
