/*
 * Small input files for the tests, and what loading them says.
 */
#ifndef SCHEDQ_TESTS_REPLAY_FILES_H
#define SCHEDQ_TESTS_REPLAY_FILES_H

#include "expect.h"
#include "load.h"

/*
 * A path in a directory of this process; the same name gives the same path. Valid until the next
 * eight calls.
 */
const char *file_path(const char *name);
/* Writes a file there and returns its path. */
const char *file_write(const char *name, const char *text);
/* As file_write, compressed. */
const char *file_write_gzip(const char *name, const char *text);
/* Removes the directory and what is in it. */
void files_remove(void);

/* A workload and the complaints of loading it. */
typedef struct loaded {
    workload_t workload;
    bool ok;
    uint64_t bad_lines;
    char complaints[4096];
} loaded_t;

void load_files(loaded_t *loaded, const load_files_t *files, bool skip_bad);
void loaded_free(loaded_t *loaded);

#endif
