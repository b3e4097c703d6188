/* Reads a file up to the first NUL, of which a vector has none. */
#include "source.h"

#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_BYTES_MAX (16 << 20)

static char *
read_stream(const char *file, FILE *stream)
{
    char *text = NULL;
    size_t size = 0;
    ssize_t length = getdelim(&text, &size, '\0', stream);

    if (ferror(stream) != 0) {
        printf("%s: cannot read: %s\n", file, strerror(errno));
    } else if (length == -1) {
        report(file, 1,
               "the file is empty, expected \"schedq-vector 1\" or \"schedq-preemption 1\"");
    } else if (length > 0 && text[length - 1] == '\0') {
        printf("%s: byte %zd is NUL, expected text\n", file, length - 1);
    } else if (length > FILE_BYTES_MAX) {
        printf("%s: more than %d bytes, expected a vector\n", file, FILE_BYTES_MAX);
    } else if (length > 0) {
        return text;
    }
    free(text);
    return NULL;
}

char *
source_read(const char *file)
{
    FILE *stream = fopen(file, "r");

    if (stream == NULL) {
        printf("%s: cannot open: %s\n", file, strerror(errno));
        return NULL;
    }
    char *text = read_stream(file, stream);

    (void)fclose(stream);
    return text;
}
