/*
 * Cells for "namespace/name" texts: 64, 128 or 320 bytes, carved from blocks of a page, reused last
 * in, first out.
 *
 * A text never moves while its pod lives, so pop can hand out a pointer.
 */
#ifndef SCHEDQ_MUTEX_NAMES_H
#define SCHEDQ_MUTEX_NAMES_H

#include "platform/memory.h"

#define NAME_CLASSES 3

struct name_cell;
struct name_block;

struct name_class {
    struct name_cell *free_cells;
    struct name_block *blocks;
    uint64_t cells_made;
};

struct names {
    struct memory *memory;
    struct name_class classes[NAME_CLASSES];
};

void mutex_names_open(struct names *names, struct memory *memory);
void mutex_names_shut(struct names *names);

/** Makes `count` cells for names of at most 63 bytes exist. */
bool mutex_names_reserve(struct names *names, uint32_t count);

/** Copies `length` bytes and a NUL; NULL if there is no memory. */
char *mutex_names_take(struct names *names, const char *text, uint32_t length);
void mutex_names_give(struct names *names, const char *name, uint32_t length);

/** Gives the blocks back in which no cell is used. */
void mutex_names_trim(struct names *names);

#endif
