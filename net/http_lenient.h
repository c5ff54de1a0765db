/* The second look at a head that picohttpparser refused. Only http_head.c calls it. */
#pragma once

#include "net/http_head.h"

/* Whether more bytes could make `text` the head of a response. */
bool http_lenient_may_begin(struct slice text);

/* Fills raw, version, status, reason, fields and `tolerated` (at least 1). PARSE_PARTIAL until the empty line
 * is there, unless the beginning cannot be a response's. */
enum parse http_lenient_parse(struct http_head *head, struct slice text, size_t seen, enum http_error *error);
