/* Words for what was wrong. */
#include "api/call.h"

#include <stdarg.h>
#include <stdio.h>

void
say(char *why, size_t size, const char *format, ...)
{
    va_list arguments;

    if (why == NULL || size == 0) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(why, size, format, arguments);
    va_end(arguments);
}

void
worker_say(schedq_worker_t *worker, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(worker->words, sizeof worker->words, format, arguments);
    va_end(arguments);
}
