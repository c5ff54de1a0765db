/* The HTTP response in a block, as its pieces come: its head is collected and parsed, what follows is the body. Pure, but
 * for memory that is taken once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "net/http_head.h"
#include "net/slice.h"

struct message {
    char *bytes; /* MESSAGE_HEAD_BYTES_MAX */
    size_t len;
    struct http_head *head;
    bool is_open;  /* the head is not complete */
    bool has_head; /* `head` counts */
};

/* False: no memory. */
bool message_init(struct message *message);
void message_fini(struct message *message);

/* A block begins. */
void message_begin(struct message *message);
/* Takes from the front of `piece` what belongs to the head. What is left then is part of the body. If it turns out that there is
 * no head, the bytes that were taken for one are the beginning of the body: message_kept. */
void message_push(struct message *message, struct slice *piece);
/* Ends the block. A head that is not complete by now is none. */
void message_finish(struct message *message);

/* The bytes that were taken for a head by mistake; empty if there is a head, or if that is not known yet. */
struct slice message_kept(const struct message *message);
