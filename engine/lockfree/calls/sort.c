/* The heap sort of sort.h. */
#include "lockfree/calls/sort.h"

struct sorting {
    uint32_t *numbers;
    bool (*before)(const void *ctx, uint32_t a, uint32_t b);
    const void *ctx;
};

static bool
before(const struct sorting *sorting, size_t i, size_t j)
{
    return sorting->before(sorting->ctx, sorting->numbers[i], sorting->numbers[j]);
}

/*
 * Moves numbers[root] down in the heap numbers[0, count), until none below it comes after it.
 */
static void
sift(const struct sorting *sorting, size_t root, size_t count)
{
    uint32_t moved = sorting->numbers[root];
    size_t child;

    while ((child = 2 * root + 1) < count) {
        if (child + 1 < count && before(sorting, child, child + 1)) {
            child++;
        }
        if (!sorting->before(sorting->ctx, moved, sorting->numbers[child])) {
            break;
        }
        sorting->numbers[root] = sorting->numbers[child];
        root = child;
    }
    sorting->numbers[root] = moved;
}

static bool
is_sorted(const struct sorting *sorting, size_t count)
{
    size_t i = 1;

    while (i < count && !before(sorting, i, i - 1)) {
        i++;
    }
    return i >= count;
}

void
sort_numbers(uint32_t *numbers, size_t count,
             bool (*before_fn)(const void *ctx, uint32_t a, uint32_t b), const void *ctx)
{
    const struct sorting sorting = {.numbers = numbers, .before = before_fn, .ctx = ctx};

    if (is_sorted(&sorting, count)) {
        return;
    }
    for (size_t root = count / 2; root-- > 0;) {
        sift(&sorting, root, count);
    }
    for (; count > 1; count--) {
        uint32_t last = numbers[0];

        numbers[0] = numbers[count - 1];
        numbers[count - 1] = last;
        sift(&sorting, 0, count - 1);
    }
}
