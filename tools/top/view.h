/**
 * What a person sees of a queue: a text made of one page of its metrics. Rates are the difference
 * to the page before.
 */
#ifndef SCHEDQ_TOOLS_TOP_VIEW_H
#define SCHEDQ_TOOLS_TOP_VIEW_H

#include "page.h"

typedef struct view {
    const page_t *now, *before; /* before NULL: there are no rates so far */
    double seconds;             /* between them */
    const char *queue;          /* as of page_find */
    const char *where;          /* what the first line says of the page's origin */
} view_t;

/**
 * Lines that end in a line feed; a headline begins with a capital. The caller frees it. NULL: no
 * memory.
 */
char *view_text(const view_t *view);

#endif
