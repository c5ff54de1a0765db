/* The content of a record: the body of a response, without chunks and content codings, or the block of any other
 * record. */
#pragma once

#include <stdbool.h>

#include "engine/archive/message.h"
#include "engine/archive/warc_read.h"
#include "net/slice.h"

struct decode;

struct payload_options {
    bool is_raw;                                   /* the body as it is stored */
    bool has_head;                                 /* the HTTP head comes first */
    bool (*take)(void *owner, struct slice bytes); /* false: no more is wanted */
    void *owner;
};

struct payload {
    struct message message;
    struct decode *decode;
    char *room; /* MEMBERS_PIECE_BYTES, for what is decoded */
};

/* False: no memory. */
bool payload_init(struct payload *payload);
void payload_fini(struct payload *payload);

/* Hands out the payload of the record at hand and reads it to its end. False: the reader's error is set, or no more was
 * wanted. */
bool payload_read(struct payload *payload, struct warc_read *reader, const struct payload_options *options);
