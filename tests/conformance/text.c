/* Memory streams, see text.h. */
#include "text.h"

#include <errno.h>
#include <error.h>
#include <stdlib.h>

void
text_open(struct text *text)
{
    *text = (struct text){0};
    text->out = open_memstream(&text->text, &text->size);
    if (text->out == NULL) {
        error(EXIT_FAILURE, errno, "no memory for a text");
    }
}

void
text_close(struct text *text)
{
    if (fclose(text->out) != 0) {
        error(EXIT_FAILURE, errno, "no memory for a text");
    }
}
