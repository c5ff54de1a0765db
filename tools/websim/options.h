/* Command-line options from tables: every option is one row with its bounds and its line of help. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdbool.h>

#include "tools/manual/command.h"

enum websim_exit {
    WEBSIM_EXIT_DONE = 0,
    WEBSIM_EXIT_FAILED = 1, /* also: the audit found a violation */
    WEBSIM_EXIT_USAGE = 2,
};

enum websim_option_type {
    WEBSIM_OPTION_COUNT, /* uint64_t: a number */
    WEBSIM_OPTION_BYTES, /* uint64_t: a number, K, M or G may follow */
    WEBSIM_OPTION_SHARE, /* uint64_t: millionths; written as a number between 0 and 1 */
    WEBSIM_OPTION_RATIO, /* the same, between 0 and 1000 */
    WEBSIM_OPTION_FLAG,  /* bool: takes no value */
    WEBSIM_OPTION_TEXT,  /* const char * */
    WEBSIM_OPTION_CALL,  /* `call` reads the value */
};

struct websim_option {
    const char *name;
    enum websim_option_type type;
    void *target;
    uint64_t min, max;
    const char *help;
    const char *argument; /* its name, for TEXT and CALL */
    /* NULL, or what is wrong with the value; static storage. */
    const char *(*call)(void *target, const char *value);
};

struct websim_options {
    const char *command; /* for messages */
    const struct websim_option *rows;
    size_t count;
};

/* Room for the meaning of an option with its default. */
enum { WEBSIM_OPTIONS_MEANING_BYTES = 160 };

/* Stores what argv[1...] says and moves the operands to the front: argv[1...result]. On a wrong option:
 * one line on stderr, -1. */
int websim_options_parse(const struct websim_options *options, int argc, char **argv);
/* A row as --help and the manual page have it, with its present value as default. `meaning` has
 * WEBSIM_OPTIONS_MEANING_BYTES. */
struct command_option websim_options_describe(const struct websim_option *row, char *meaning);
/* One line on stderr; WEBSIM_EXIT_USAGE. */
int websim_options_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "0.25" to 250000. False if it is no number with at most six decimals, or above `most`. */
bool websim_options_decimal(const char *text, uint64_t most, uint64_t *ppm);

static inline bool websim_options_share(const char *text, uint64_t *ppm)
{
    return websim_options_decimal(text, 1, ppm);
}
