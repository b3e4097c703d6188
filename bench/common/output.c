/*
 * A symbolic link is followed: its target is replaced, not the link. Devices and pipes are written
 * themselves.
 */
#define _GNU_SOURCE /* asprintf */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool
begin_special(output_t *output)
{
    output->descriptor = open(output->path, O_WRONLY | O_CLOEXEC);
    return output->descriptor >= 0;
}

static bool
begin_beside(output_t *output)
{
    mode_t mask = umask(0);

    (void)umask(mask);
    if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0) {
        output->temporary = NULL;
        return false;
    }
    output->descriptor = mkostemp(output->temporary, O_CLOEXEC);
    return output->descriptor >= 0 && fchmod(output->descriptor, 0666 & ~mask) == 0;
}

static void
forget(output_t *output)
{
    int error = errno;

    free(output->temporary);
    free(output->path);
    *output = (output_t){.descriptor = -1};
    errno = error;
}

bool
output_begin(output_t *output, const char *path)
{
    struct stat status;
    bool exists = stat(path, &status) == 0;

    *output = (output_t){.descriptor = -1};
    output->path = exists ? realpath(path, NULL) : strdup(path);
    if (output->path == NULL) {
        return false;
    }
    if (exists && access(output->path, W_OK) != 0) {
        forget(output);
        return false;
    }
    bool begun = exists && !S_ISREG(status.st_mode) ? begin_special(output) : begin_beside(output);

    if (!begun) {
        forget(output);
    }
    return begun;
}

bool
output_end(output_t *output, bool written)
{
    bool good = output->descriptor < 0 || close(output->descriptor) == 0;

    if (output->temporary != NULL) {
        good = good && (!written || rename(output->temporary, output->path) == 0);
        if (!good || !written) {
            int error = errno;

            (void)unlink(output->temporary);
            errno = error;
        }
    }
    forget(output);
    return good;
}

bool
output_check(const char *path)
{
    output_t output;

    return output_begin(&output, path) && output_end(&output, false);
}
