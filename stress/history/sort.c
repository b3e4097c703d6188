/* Digits of 11 bits from the lowest up; short arrays by insertion. */
#include "sort.h"

#include <string.h>

#define DIGIT_BITS 11
#define DIGITS ((size_t)1 << DIGIT_BITS)

static void
sort_by_insertion(sortable_t *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        sortable_t item = items[i];
        size_t j = i;
        for (; j > 0 && items[j - 1].key > item.key; j--)
            items[j] = items[j - 1];
        items[j] = item;
    }
}

static void
sort_by_digit(const sortable_t *from, sortable_t *to, size_t count, unsigned shift)
{
    size_t places[DIGITS] = {0};
    size_t place = 0;
    for (size_t i = 0; i < count; i++)
        places[from[i].key >> shift & (DIGITS - 1)]++;
    for (size_t digit = 0; digit < DIGITS; digit++) {
        size_t here = places[digit];
        places[digit] = place;
        place += here;
    }
    for (size_t i = 0; i < count; i++)
        to[places[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
}

void
sort_by_key(sortable_t *items, sortable_t *scratch, size_t count)
{
    uint64_t differing = 0;
    sortable_t *from = items, *to = scratch;
    if (count < 64) {
        sort_by_insertion(items, count);
        return;
    }
    for (size_t i = 1; i < count; i++)
        differing |= items[i].key ^ items[0].key;
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        if ((differing >> shift & (DIGITS - 1)) == 0)
            continue;
        sort_by_digit(from, to, count, shift);
        sortable_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != items)
        memcpy(items, from, count * sizeof *items);
}
