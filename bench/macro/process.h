/* Programs that a benchmark runs: pinned, with a time limit, their use of the machine measured from
 * outside. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PROCESS_ANY_CPU = -1, PROCESS_OUTPUT_BYTES = 65536 };

struct process_options {
    char *const *arguments; /* ends with NULL; the first is looked for in PATH */
    int cpu;                /* or PROCESS_ANY_CPU */
    double seconds_max;     /* then it gets SIGINT, and SIGKILL if that does not help; 0: no limit */
    const char *output;     /* file that gets its standard output; NULL: process_result.output */
    bool is_quiet;          /* its standard error goes nowhere */
    bool answers_by_code;   /* its exit code is for the caller to judge: no message about it */
    bool takes_errors;      /* its standard error goes where its output does */
    bool watches_memory;    /* process_result.anonymous_bytes, looked at every 20 ms */
};

struct process_result {
    int status;  /* of wait4; 0: it ended well */
    bool is_cut; /* it was ended at the limit */
    double seconds;
    double user_s, system_s;
    uint64_t peak_bytes;
    uint64_t anonymous_bytes; /* most that it was seen to have beside pages of files */
    char output[PROCESS_OUTPUT_BYTES]; /* the beginning of what it printed, terminated */
};

/* Runs a program to its end. False, with a message unless it was cut at the limit or answers by its code, if
 * it did not end with 0. */
bool process_run(const struct process_options *options, struct process_result *result);

/* True if a program of this name is in PATH. */
bool process_is_installed(const char *name);

/* Processor time so far of a process with all its threads, in steps of 10 ms; 0 if there is none. */
double process_cpu_s(pid_t pid);

/* For a child before exec. */
void process_pin(int cpu);
