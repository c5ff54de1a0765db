/* From a request to the bytes of its answer, and how they are to be sent. No I/O here. */
#pragma once

#include "tools/websim/body.h"
#include "tools/websim/encode.h"
#include "tools/websim/request.h"

/* What follows the last byte. */
enum websim_ending {
    WEBSIM_ENDING_KEEP,   /* the next request */
    WEBSIM_ENDING_CLOSE,  /* an orderly end */
    WEBSIM_ENDING_RESET,  /* a connection reset */
    WEBSIM_ENDING_HOLD,   /* nothing, for as long as the client has patience */
    WEBSIM_ENDING_REPEAT, /* the bytes from `repeat_from` again, without end */
};

struct websim_answer {
    /* From the beginning. */
    uint64_t packed; /* the URL; WEBSIM_ANSWER_NO_URL if the host is unknown */
    uint64_t delay_ns;
    enum websim_ending ending;
    uint32_t retry_after_s;
    uint16_t status; /* 0: that of the page, once it is written */
    uint8_t encoding;
    bool chunked, close, head_only;
    /* When written. */
    struct websim_buffer bytes;
    size_t begin;    /* where the head starts; what is before it is unused room */
    size_t first;    /* bytes to send at once... */
    size_t slice;    /* ...then this many... */
    uint64_t gap_ns; /* ...each time this has passed */
    size_t repeat_from;
    bool flawed; /* sent to its end, and still no answer: a client may ask again */
};

#define WEBSIM_ANSWER_NO_URL UINT64_MAX

/* What answers are made with: one per thread. */
struct websim_answerer {
    const struct websim_web *web;
    const struct websim_text *text;
    struct websim_encoder *encoder;
    struct slice bomb;                  /* packed; empty unless that fault has a share */
    struct websim_buffer plain, packed; /* a body on its way */
};

/* What the connection knows. */
struct websim_answer_context {
    uint32_t host; /* that the request names; valid if has_host */
    bool has_host;
    bool tls;
    bool over_limit;   /* the host has more connections than it allows */
    uint32_t requests; /* answered on this connection so far */
    uint64_t now_s;
};

/* Decides what the answer is to be; no byte of it is written yet, so that one that waits costs little. The
 * memory of `bytes` is kept for later. */
void websim_answer_prepare(struct websim_answerer *answerer, struct websim_answer *answer,
                           const struct websim_request *request, const struct websim_answer_context *context);
/* The same for what is no request: 400, then the end. */
void websim_answer_refuse(struct websim_answer *answer);
/* Writes the bytes, and how they are to be sent. */
void websim_answer_write(struct websim_answerer *answerer, struct websim_answer *answer);
