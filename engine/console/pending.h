/* What a request about hosts waits for: an answer of the loops, or an order that the housekeeper and the loops carry out. Nobody
 * waits in a call: the server asks the request again and again (console_wait), and each time it is looked at what has come. */
#pragma once

#include "engine/console/request.h"
#include "engine/crawl/inquiry.h"

struct console;

struct pending {
    struct console *console;
    uint64_t since_ns;       /* when what is waited for began */
    struct inquiry *inquiry; /* with the loops, or answered; NULL: none */
    bool is_known;           /* an order: its host was found */
    bool is_handed_over;     /* an order: handed to the housekeeper */
    uint32_t number;         /* an order: of the list that carries it out; 0: none yet */
    FILE *out;               /* the pieces of a queue so far; NULL: none */
    char *text;
    size_t len;
};

struct pending_question {
    enum inquiry_kind kind;
    enum inquiry_by by;
    struct holds_target target;
    struct slice path; /* of a URL whose place in the host's queue is to be told; empty: none */
};

/* What the request waits for, which goes with its answer. NULL: the response says why there is none. */
struct pending *pending_of(struct console *console, const struct console_request *request, struct console_response *response);
/* The answer of the loops, who are asked when that was not done yet. NULL: the response is pending, or says why there is none. */
struct inquiry *pending_ask(struct pending *pending, const struct pending_question *question, struct console_response *response);
/* Has the next piece of a queue written, and the response wait for it. */
void pending_ask_on(struct pending *pending, struct console_response *response);
/* The answer was read. */
void pending_end_question(struct pending *pending);
/* True: it has waited for long enough, or nobody will answer any more. False: the response is pending. */
bool pending_is_over(const struct pending *pending, struct console_response *response);
