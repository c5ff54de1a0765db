#include "tools/lycosa/lines.h"

#include <stdio.h>
#include <stdlib.h>

#include "tools/lycosa/commands.h"

/* Of buffer on either side: a system call per ten thousand lines. */
enum { PIPE_BYTES = 1 << 20 };

static int fail(const char *command, const char *stream)
{
    fprintf(stderr, "%s: ", command);
    perror(stream);
    return LYCOSA_EXIT_FAILED;
}

int lycosa_each_line(const char *command, void (*take)(void *owner, struct slice line), void *owner)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    setvbuf(stdin, NULL, _IOFBF, PIPE_BYTES);
    setvbuf(stdout, NULL, _IOFBF, PIPE_BYTES);
    while ((len = getline(&line, &size, stdin)) > 0) {
        if (line[len - 1] == '\n')
            len--;
        take(owner, (struct slice){line, (size_t)len});
    }
    free(line);
    if (ferror(stdin))
        return fail(command, "stdin");
    if (fflush(stdout) != 0 || ferror(stdout))
        return fail(command, "stdout");
    return LYCOSA_EXIT_DONE;
}
