#include "command.h"

#include "expect.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

char command_output[1 << 16];

int
command_run(const char *program, const char *arguments)
{
    char line[1024];

    snprintf(line, sizeof line, "%s %s 2>&1", program, arguments);
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    size_t size = fread(command_output, 1, sizeof command_output - 1, pipe);
    command_output[size] = '\0';
    int status = pclose(pipe);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

void
command_expect(const char *text)
{
    if (strstr(command_output, text) == NULL) {
        fail_msg("\"%s\" is not in the output:\n%s", text, command_output);
    }
}
