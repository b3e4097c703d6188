/* The text of a vector file. */
#ifndef CONFORM_SOURCE_H
#define CONFORM_SOURCE_H

/** The caller's to free; NULL: it is unreadable, empty or no text, which has been reported. */
char *source_read(const char *file);

#endif
