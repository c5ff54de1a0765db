/* Processes that are killed in the middle of a batch, with all kinds of sieves. A program of its own: RocksDB keeps threads
 * for as long as a process lives, and a child of such a process would wait for them for ever. */
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/unit/engine/sieve/sieve_frame.h"

static struct frame frame;

/* A process that asks from where the sieve stands, the last answered batch again at first, and writes a byte for every
 * answer. */
static void run_child(enum sieve_disk_kind kind, int to)
{
    struct sieve_disk *sieve = frame_open(&frame, kind);
    unsigned stands = (unsigned)sieve_disk_version(sieve), written = stands;
    struct frame_caller caller = {&frame, sieve, stands};
    CHECK_INT(sieve_disk_count(sieve), frame.known[stands]);
    if (stands)
        CHECK_INT(frame_ask(&caller, stands), SIEVE_DISK_NOW);
    for (unsigned version = stands + 1; version <= frame.count; version++) {
        CHECK(frame_ask(&caller, version) >= 0);
        if (sieve_disk_pending(sieve) == 3 || version == frame.count)
            CHECK_INT(frame_merge(&caller), 0);
        for (; written < caller.answered; written++)
            CHECK_INT(write(to, &(char){(char)(written + 1)}, 1), 1);
    }
    CHECK_INT(sieve_disk_count(sieve), frame.known[frame.count]);
    sieve_disk_close(sieve);
}

/* Kills it after its first answer, and up to `later_ms` into what comes next. Returns the last version that it said was
 * answered; `done` tells if it came to its end before. */
static unsigned run_and_kill(enum sieve_disk_kind kind, int later_ms, bool *done)
{
    int pipes[2], status;
    char version = 0, next;
    CHECK_INT(pipe(pipes), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        close(pipes[0]);
        run_child(kind, pipes[1]);
        _exit(0);
    }
    close(pipes[1]);
    if (read(pipes[0], &next, 1) == 1)
        version = next;
    poll(&(struct pollfd){.fd = pipes[0], .events = POLLIN}, 1, later_ms);
    kill(child, SIGKILL);
    while (read(pipes[0], &next, 1) == 1)
        version = next;
    close(pipes[0]);
    CHECK_INT(waitpid(child, &status, 0), child);
    *done = WIFEXITED(status);
    CHECK(*done ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL); /* or it has found something */
    return (unsigned)version;
}

/* Every child begins by asking again about what the one before had answered, and checks all that it is told. */
TEST(killed_processes_lose_nothing)
{
    FRAME_EACH_KIND(kind)
    {
        frame_begin(&frame, 23);
        for (unsigned i = 0; i < FRAME_BATCHES_MAX; i++)
            frame_add(&frame, 20000, 70, 5);
        frame_answer(&frame);
        bool done = false;
        unsigned last = 0;
        for (unsigned round = 0; !done; round++) {
            CHECK(round < 200);
            unsigned version = run_and_kill(kind, (int)(round * 7 % 30), &done);
            CHECK(version == 0 || version > last);
            last = version ? version : last;
        }
        frame_finish(&frame);
    }
}
