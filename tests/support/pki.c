#include "tests/support/pki.h"

#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/check.h"

extern char **environ;

static char directory[64];
static pid_t maker;

static int run(const char *const arguments[])
{
    pid_t pid;
    int status;
    if (posix_spawnp(&pid, arguments[0], NULL, NULL, (char *const *)arguments, environ) != 0)
        return -1;
    CHECK(waitpid(pid, &status, 0) == pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void remove_directory(void)
{
    if (getpid() == maker)
        run((const char *const[]){"rm", "-rf", directory, NULL});
}

void pki_create(void)
{
    if (directory[0])
        return;
    if (run((const char *const[]){"sh", "-c", "command -v openssl >/dev/null", NULL}) != 0)
        SKIP("no openssl to make certificates with");
    snprintf(directory, sizeof directory, "/tmp/pki.XXXXXX");
    CHECK(mkdtemp(directory));
    maker = getpid();
    atexit(remove_directory);
    CHECK_INT(run((const char *const[]){"tests/support/pki", directory, NULL}), 0);
}

const char *pki_path(const char *name)
{
    static char paths[2][128];
    static unsigned turn;
    char *path = paths[turn++ % 2];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    return path;
}
