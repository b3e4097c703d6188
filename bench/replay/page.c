/*
 * Runs the script that makes the page. An installed program has it in share/schedq/report, beside
 * the bin that the program is in; one that was not installed has PAGE_SCRIPT, of the build.
 */
#include "page.h"

#include "output.h"
#include "support/interrupt.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *
script(void)
{
    static const char beside[] = "/../share/schedq/report/page";
    static char path[PATH_MAX + sizeof beside];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);

    if (length > 0 && length < PATH_MAX) {
        path[length] = '\0';
        *strrchr(path, '/') = '\0';
        strcat(path, beside);
        if (access(path, X_OK) == 0) {
            return path;
        }
    }
    return PAGE_SCRIPT;
}

/* Runs it with these standard streams; a negative one stays as it is. */
static bool
run_script(char *const arguments[], int input, int output)
{
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    int status = -1;

    if (posix_spawn_file_actions_init(&actions) != 0) {
        return false;
    }
    if (input >= 0) {
        (void)posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    }
    if (output >= 0) {
        (void)posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    }
    int error = posix_spawn(&child, script(), &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        fprintf(stderr, "schedq-replay: cannot start %s: %s\n", script(), strerror(error));
        return false;
    }
    interrupt_take(child);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    interrupt_drop(child);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool
page_check(void)
{
    char *const arguments[] = {"page", "--check", NULL};

    if (access(script(), X_OK) != 0) {
        fprintf(stderr, "schedq-replay: --report needs a script that is not installed: %s\n",
                script());
        return false;
    }
    if (run_script(arguments, -1, -1)) {
        return true;
    }
    fputs("schedq-replay: --report needs python3 and gnuplot, and one is missing: apt-get install "
          "python3 gnuplot-nox\n",
          stderr);
    return false;
}

/* Both results as a JSON array, from its beginning. NULL: that failed, errno says why. */
static FILE *
collect(const report_t *report, const report_t *other)
{
    FILE *replays = tmpfile();

    if (replays == NULL) {
        return NULL;
    }
    bool written = fputc('[', replays) != EOF && report_json(replays, report) &&
                   fputc(',', replays) != EOF && report_json(replays, other) &&
                   fputc(']', replays) != EOF && fflush(replays) == 0;
    if (!written || lseek(fileno(replays), 0, SEEK_SET) != 0) {
        (void)fclose(replays);
        return NULL;
    }
    return replays;
}

bool
page_write(const char *path, const report_t *report, const report_t *other)
{
    char *const arguments[] = {"page", "--replays", "-", NULL};
    output_t output;
    FILE *replays = collect(report, other);

    if (replays == NULL || !output_begin(&output, path)) {
        fprintf(stderr, "schedq-replay: %s cannot be written: %s\n", path, strerror(errno));
        if (replays != NULL) {
            (void)fclose(replays);
        }
        return false;
    }
    bool made = run_script(arguments, fileno(replays), output.descriptor);
    (void)fclose(replays);
    if (!output_end(&output, made)) {
        fprintf(stderr, "schedq-replay: %s cannot be written: %s\n", path, strerror(errno));
        return false;
    }
    return made;
}
