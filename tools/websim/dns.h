/* The authoritative DNS of the web's names: a query in, an answer out. No I/O here. */
#pragma once

#include "net/parse.h"
#include "tools/websim/answer.h"
#include "tools/websim/web.h"

/* Enough for a question, an address or a SOA record, and an OPT record. */
#define WEBSIM_DNS_BYTES_MAX 512

/* Writes the answer, at most WEBSIM_DNS_BYTES_MAX: its length. 0: the query is to be left unanswered, because
 * it is none or because its host's fault is a time-out. */
size_t websim_dns_answer(const struct websim_web *web, struct slice query, char *out);

/* Over TCP each message has its length before it. The length of the frame at the beginning of `bytes`. */
enum parse websim_dns_frame(struct slice bytes, size_t *used);
/* The answer to a framed query; false if it is to be left unanswered. */
bool websim_dns_answer_frame(const struct websim_web *web, struct slice frame, struct websim_answer *answer);
