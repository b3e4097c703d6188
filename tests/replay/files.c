/* Files in a temporary directory. */
#define _GNU_SOURCE
#include "files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static char directory[64];

const char *
file_path(const char *name)
{
    static char paths[8][128];
    static unsigned next;
    char *path = paths[next++ % 8];

    if (directory[0] == '\0') {
        strcpy(directory, "/tmp/schedq-replay-test-XXXXXX");
        assert_non_null(mkdtemp(directory));
    }
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}

const char *
file_write(const char *name, const char *text)
{
    const char *path = file_path(name);
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    assert_int_equal(fwrite(text, 1, strlen(text), out), strlen(text));
    assert_int_equal(fclose(out), 0);
    return path;
}

const char *
file_write_gzip(const char *name, const char *text)
{
    const char *path = file_path(name);
    gzFile out = gzopen(path, "wb");

    assert_non_null(out);
    assert_int_equal(gzputs(out, text), strlen(text));
    assert_int_equal(gzclose(out), Z_OK);
    return path;
}

void
files_remove(void)
{
    DIR *entries = directory[0] == '\0' ? NULL : opendir(directory);

    if (entries == NULL) {
        return;
    }
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        if (entry->d_name[0] != '.') {
            unlink(file_path(entry->d_name));
        }
    }
    closedir(entries);
    rmdir(directory);
}

void
load_files(loaded_t *loaded, const load_files_t *files, bool skip_bad)
{
    FILE *out = fmemopen(loaded->complaints, sizeof loaded->complaints, "w");

    assert_non_null(out);
    memset(loaded->complaints, 0, sizeof loaded->complaints);
    input_problems_t problems = {.out = out, .skip_bad = skip_bad};
    workload_init(&loaded->workload);
    loaded->ok = workload_load(&loaded->workload, files, &problems);
    loaded->bad_lines = problems.bad_lines;
    fclose(out);
}

void
loaded_free(loaded_t *loaded)
{
    workload_clear(&loaded->workload);
}
