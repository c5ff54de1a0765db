/* Names of WARC files by a template (store.name), such as "{prefix}-{time}-{serial}-{loop}". Does no I/O.
 *
 *     {prefix}  store.prefix                 {serial}  number of the file within its loop, five digits
 *     {time}    17 digits, to milliseconds   {loop}    two digits
 *     {host}    of the machine               {pid}     of the process
 *
 * {time}, {serial} and {loop} must be there: together they make the names of a crawl different, over all its lives. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct warc_name {
    const char *format; /* one that warc_name_check has found good */
    const char *prefix;
    uint64_t date_us;
    unsigned serial, loop;
};

/* NULL if the template is good; else what is wrong with it. */
const char *warc_name_check(const char *format);
/* Writes the name, without ".warc". What is longer than `size` is cut, the prefix first. */
void warc_name_write(const struct warc_name *name, char *out, size_t size);
