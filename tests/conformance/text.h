/*
 * A text that grows while it is written. After text_close its characters are the caller's to free. Without memory the
 * program ends.
 */
#ifndef CONFORM_TEXT_H
#define CONFORM_TEXT_H

#include <stddef.h>
#include <stdio.h>

struct text {
    FILE *out;
    char *text;
    size_t size;
};

void text_open(struct text *text);
void text_close(struct text *text);

#endif
