/* For tests of rings: set-up, and system calls that fail. */
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "net/ring.h"
#include "tests/support/check.h"

static inline void start(struct ring *ring, struct ring_options options)
{
    if (options.cpu == 0)
        options.cpu = -1;
    if (ring_init(ring, &options) < 0)
        check_failed(__FILE__, __LINE__, "%s", ring->error);
}

/* From now on the system call fails with `error` in this process. */
static inline bool deny(uint32_t number, int error)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* Runs `try` in a child, where system calls can be denied: 0 good, 2 cannot be tried. */
static inline void in_child(int (*try)(int error, const char *expected), int error, const char *expected)
{
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        _exit(try(error, expected));
    int status;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    if (WEXITSTATUS(status) == 2)
        SKIP("no seccomp filters here");
    CHECK_INT(WEXITSTATUS(status), 0);
}
