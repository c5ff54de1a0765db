#include "tools/lycosa/on_end.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_MAX = 64, LOOK_MS = 20, WAIT_MS = 60000 };

/* The words of the command, then directory and reason; false: they are too many. `text` is cut up. */
static bool split(char *text, char *words[WORDS_MAX + 3], const char *directory, const char *reason)
{
    unsigned count = 0;
    for (char *save, *word = strtok_r(text, " \t", &save); word; word = strtok_r(NULL, " \t", &save)) {
        if (count == WORDS_MAX)
            return false;
        words[count++] = word;
    }
    words[count++] = (char *)directory; /* posix_spawn does not change them */
    words[count++] = (char *)reason;
    words[count] = NULL;
    return true;
}

/* As if it was started from a shell: the crawl blocks signals. 0 or an errno. */
static int start(char *const words[], pid_t *pid)
{
    posix_spawnattr_t attributes;
    sigset_t none;
    int error = posix_spawnattr_init(&attributes);
    if (error)
        return error;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    error = posix_spawnp(pid, words[0], NULL, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    return error;
}

static bool wait_for(pid_t pid, const char *name, char why[ON_END_WHY_BYTES])
{
    int status;
    for (int waited = 0; waitpid(pid, &status, WNOHANG) == 0; waited += LOOK_MS) {
        if (waited >= WAIT_MS) {
            snprintf(why, ON_END_WHY_BYTES, "control.on-end: %.100s still runs after a minute, and goes on alone", name);
            return false;
        }
        poll(NULL, 0, LOOK_MS);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    snprintf(why, ON_END_WHY_BYTES, "control.on-end: %.100s %s %d", name, WIFEXITED(status) ? "ended with" : "was ended by signal",
             WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    return false;
}

bool on_end_run(const char *command, const char *directory, const char *reason, char why[ON_END_WHY_BYTES])
{
    char *words[WORDS_MAX + 3], *text = strdup(command);
    pid_t pid;
    bool good = text && split(text, words, directory, reason);
    if (!good) {
        snprintf(why, ON_END_WHY_BYTES, "control.on-end: more than %d words", WORDS_MAX);
    } else if (words[0] != directory) { /* there is a command */
        setenv("LYCOSA_DIRECTORY", directory, 1);
        setenv("LYCOSA_END", reason, 1);
        int error = start(words, &pid);
        if (error)
            snprintf(why, ON_END_WHY_BYTES, "control.on-end: %.100s: %s", words[0], strerror(error));
        good = !error && wait_for(pid, words[0], why);
    }
    free(text);
    return good;
}
