/**
 * Where a page of metrics comes from: a file, or a server that speaks HTTP.
 */
#ifndef SCHEDQ_TOOLS_TOP_FETCH_H
#define SCHEDQ_TOOLS_TOP_FETCH_H

#include <stdbool.h>
#include <stddef.h>

/** Is it an address of HTTP? Else it is a file's name. */
bool fetch_is_http(const char *address);

/**
 * The page at "http://HOST[:PORT][/PATH]" (default: port 80, path /metrics), or in a file; the
 * caller frees it. NULL: `why` says what is wrong. A server that is silent for 5 s is an error.
 */
char *fetch(const char *address, char *why, size_t why_size);

#endif
