/* The cells of names.h. */
#include "mutex/names.h"

#include <string.h>

/* Blocks are aligned to their size, so a cell knows its block by its address. */
#define BLOCK_BYTES 4096

struct name_cell {
    struct name_cell *next;
};

struct name_block {
    struct name_block *next;
    uint32_t cells_used;
    char padding[CACHE_LINE - sizeof(struct name_block *) - sizeof(uint32_t)];
};

static const uint32_t cell_bytes[NAME_CLASSES] = {64, 128, 320};

static uint32_t
class_of(uint32_t length)
{
    return length < cell_bytes[0] ? 0 : length < cell_bytes[1] ? 1 : 2;
}

void
mutex_names_open(struct names *names, struct memory *memory)
{
    *names = (struct names){.memory = memory};
}

static struct name_block *
block_of(const void *cell)
{
    return (struct name_block *)((uintptr_t)cell & ~(uintptr_t)(BLOCK_BYTES - 1));
}

static uint32_t
cells_in_block(uint32_t number)
{
    return (BLOCK_BYTES - (uint32_t)sizeof(struct name_block)) / cell_bytes[number];
}

void
mutex_names_shut(struct names *names)
{
    for (uint32_t i = 0; i < NAME_CLASSES; i++) {
        struct name_class *class = &names->classes[i];

        while (class->blocks != NULL) {
            struct name_block *block = class->blocks;

            class->blocks = block->next;
            memory_free(names->memory, MEMORY_NAMES, block, BLOCK_BYTES);
        }
    }
}

static void
class_trim(struct names *names, uint32_t number)
{
    struct name_class *class = &names->classes[number];
    struct name_cell **cell = &class->free_cells;
    struct name_block **block = &class->blocks;

    /* The cells of unused blocks leave the free list before their memory goes. */
    while (*cell != NULL) {
        if (block_of(*cell)->cells_used == 0) {
            *cell = (*cell)->next;
        } else {
            cell = &(*cell)->next;
        }
    }
    while (*block != NULL) {
        struct name_block *unused = *block;

        if (unused->cells_used > 0) {
            block = &unused->next;
            continue;
        }
        *block = unused->next;
        class->cells_made -= cells_in_block(number);
        memory_free(names->memory, MEMORY_NAMES, unused, BLOCK_BYTES);
    }
}

void
mutex_names_trim(struct names *names)
{
    for (uint32_t i = 0; i < NAME_CLASSES; i++) {
        class_trim(names, i);
    }
}

static bool
block_make(struct names *names, uint32_t number)
{
    struct name_class *class = &names->classes[number];
    struct name_block *block = memory_alloc(names->memory, MEMORY_NAMES, BLOCK_BYTES, BLOCK_BYTES);
    uint32_t count = cells_in_block(number);

    if (block == NULL) {
        return false;
    }
    block->next = class->blocks;
    class->blocks = block;
    for (uint32_t i = count; i-- > 0;) {
        struct name_cell *cell =
            (struct name_cell *)((char *)(block + 1) + (size_t)i * cell_bytes[number]);

        cell->next = class->free_cells;
        class->free_cells = cell;
    }
    class->cells_made += count;
    return true;
}

bool
mutex_names_reserve(struct names *names, uint32_t count)
{
    while (names->classes[0].cells_made < count) {
        if (!block_make(names, 0)) {
            return false;
        }
    }
    return true;
}

char *
mutex_names_take(struct names *names, const char *text, uint32_t length)
{
    uint32_t number = class_of(length);
    struct name_class *class = &names->classes[number];

    if (class->free_cells == NULL && !block_make(names, number)) {
        return NULL;
    }
    struct name_cell *cell = class->free_cells;
    char *name = (char *)cell;

    class->free_cells = cell->next;
    block_of(cell)->cells_used++;
    memcpy(name, text, length);
    name[length] = '\0';
    return name;
}

void
mutex_names_give(struct names *names, const char *name, uint32_t length)
{
    struct name_class *class = &names->classes[class_of(length)];
    struct name_cell *cell = (struct name_cell *)(uintptr_t)name;

    cell->next = class->free_cells;
    class->free_cells = cell;
    block_of(cell)->cells_used--;
}
