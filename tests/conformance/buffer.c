/* Memory streams, see buffer.h. */
#include "buffer.h"

#include <errno.h>
#include <error.h>
#include <stdlib.h>

void
buffer_open(struct buffer *buffer)
{
    *buffer = (struct buffer){0};
    buffer->out = open_memstream(&buffer->text, &buffer->size);
    if (buffer->out == NULL) {
        error(EXIT_FAILURE, errno, "no memory for a text");
    }
}

void
buffer_close(struct buffer *buffer)
{
    if (fclose(buffer->out) != 0) {
        error(EXIT_FAILURE, errno, "no memory for a text");
    }
}
