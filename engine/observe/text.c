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

/* Bytes of the character that begins there, as UTF-8 (RFC 3629) has it; 0: none does. */
static int
character_bytes(const unsigned char *at)
{
    int bytes = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    bool wrong = at[0] > 0xf4 || (at[0] == 0xe0 && at[1] < 0xa0) ||
                 (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf0 && at[1] < 0x90) ||
                 (at[0] == 0xf4 && at[1] > 0x8f);

    for (int i = 1; i < bytes && !wrong; i++) {
        wrong = (at[i] & 0xc0) != 0x80; /* a NUL too, so nothing behind it is read */
    }
    return wrong ? 0 : bytes;
}

void
text_add_escaped(struct text *text, const char *value)
{
    while (*value != '\0') {
        int bytes = character_bytes((const unsigned char *)value);

        if (bytes == 0) {
            text_add(text, "\\\\x%02x", (unsigned)(unsigned char)*value);
            bytes = 1;
        } else if (*value == '\n') {
            text_add(text, "\\n");
        } else if (*value == '\\' || *value == '"') {
            text_add(text, "\\%c", *value);
        } else {
            text_add(text, "%.*s", bytes, value);
        }
        value += bytes;
    }
}
