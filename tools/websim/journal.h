/* What the server saw, when: the evidence of the audit.
 *
 * A file is a head with the parameters of the web, then records of 24 bytes in blocks, one thread's after
 * another's, unordered between threads. Times are nanoseconds of the monotonic clock. */
#pragma once

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "lockfree/clock.h"
#include "tools/websim/parameters.h"

enum websim_event {
    WEBSIM_EVENT_CONNECT, /* a connection was accepted, or its first bytes came if that was earlier */
    WEBSIM_EVENT_REQUEST, /* url: which one; its last byte has arrived, by the kernel's clock */
    WEBSIM_EVENT_END,     /* the earliest that the answer's last byte can have left: status, url */
    WEBSIM_EVENT_ABORT,   /* the answer was cut short or broken, by a fault or by the client */
    WEBSIM_EVENT_CLOSE,   /* the earliest that the connection can have ended, from either side */
};

struct websim_record {
    uint64_t time_event; /* time << 3 | event */
    uint32_t connection; /* unique within a journal */
    uint16_t status;
    uint16_t retry_after_s;
    uint64_t url; /* packed; UINT64_MAX: none */
};

#define WEBSIM_JOURNAL_MAGIC "websim journal 1"

struct websim_journal_head {
    char magic[16];
    uint64_t bytes; /* of this head */
    struct websim_parameters parameters;
};

/* Shared by the threads. */
struct websim_journal {
    int fd;
    atomic_uint_least64_t offset; /* where the next block goes */
};

/* 0 or a negative errno. */
int websim_journal_create(struct websim_journal *journal, const char *path,
                          const struct websim_parameters *parameters);
int websim_journal_close(struct websim_journal *journal);

/* Reads a whole file: the records in the order of time. 0, or -1 after one line on stderr. */
struct websim_journal_contents {
    struct websim_parameters parameters;
    struct websim_record *records;
    size_t count;
};
int websim_journal_read(struct websim_journal_contents *contents, const char *path);
void websim_journal_free(struct websim_journal_contents *contents);

static inline uint64_t websim_record_time(const struct websim_record *record)
{
    return record->time_event >> 3;
}

static inline enum websim_event websim_record_event(const struct websim_record *record)
{
    return (enum websim_event)(record->time_event & 7);
}

const char *websim_event_word(enum websim_event event);
/* One line per record. */
void websim_journal_dump(const struct websim_journal_contents *contents, FILE *out);
