/* The buffer of text.h. */
#include "observe/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void
text_open(struct text *text)
{
    *text = (struct text){0};
}

void
text_shut(struct text *text)
{
    free(text->bytes);
}

static bool
make_room(struct text *text, size_t more)
{
    size_t capacity = text->capacity == 0 ? 4096 : text->capacity;

    while (capacity - text->length <= more) {
        capacity *= 2;
    }
    if (capacity == text->capacity) {
        return true;
    }
    char *bytes = realloc(text->bytes, capacity);
    if (bytes == NULL) {
        text->failed = true;
        return false;
    }
    text->bytes = bytes;
    text->capacity = capacity;
    return true;
}

void
text_add(struct text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length < 0 || !make_room(text, (size_t)length)) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(text->bytes + text->length, text->capacity - text->length, format, arguments);
    va_end(arguments);
    text->length += (size_t)length;
}

void
text_add_escaped(struct text *text, const char *value)
{
    for (; *value != '\0'; value++) {
        if (*value == '\n') {
            text_add(text, "\\n");
        } else if (*value == '\\' || *value == '"') {
            text_add(text, "\\%c", *value);
        } else {
            text_add(text, "%c", *value);
        }
    }
}
