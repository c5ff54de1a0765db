#include "engine/sieve/sieve_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int sieve_error_set(struct sieve_error *error, int code, const char *format, ...)
{
    va_list arguments;
    if (error->code)
        return error->code;
    error->code = code;
    va_start(arguments, format);
    vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
    return code;
}

int sieve_error_of_call(struct sieve_error *error, int code, const char *verb, const char *path)
{
    return sieve_error_set(error, code, "%s: cannot %s: %s", path, verb, strerror(-code));
}
