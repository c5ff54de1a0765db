/* What went wrong with a sieve's files, for the operator. */
#pragma once

#include <stdint.h>

enum { SIEVE_ERROR_TEXT_BYTES = 1400 };

struct sieve_error {
    int code;                          /* a negative errno; -EBADMSG: a file is damaged; 0: nothing */
    char text[SIEVE_ERROR_TEXT_BYTES]; /* names the file, and the place in it where that matters */
};

/* Only the first error is kept; the others follow from it. Returns the code of the one that is kept. */
int sieve_error_set(struct sieve_error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "PATH: cannot VERB: what the system says". */
int sieve_error_of_call(struct sieve_error *error, int code, const char *verb, const char *path);
