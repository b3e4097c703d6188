/*
 * A text that grows while it is written. After buffer_close its characters are the caller's to
 * free. Without memory the program ends.
 */
#ifndef CONFORM_BUFFER_H
#define CONFORM_BUFFER_H

#include <stddef.h>
#include <stdio.h>

struct buffer {
    FILE *out;
    char *text;
    size_t size;
};

void buffer_open(struct buffer *buffer);
void buffer_close(struct buffer *buffer);

#endif
