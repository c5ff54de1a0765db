/* The links of a JSON feed (jsonfeed.org): the strings of the members that are URLs, wherever they stand. */
#pragma once

#include "engine/content/links.h"

struct feed_json {
    struct links *links;
    const char *at;
    const char *end;
    bool is_amid; /* within a string that is too long */
};

/* Adds links of the kinds that feed_scan gives. feed_json_step reads about `bytes` further and is true at the
 * end. `json` is UTF-8 and must stay unchanged as long as the links are used. */
void feed_json_begin(struct feed_json *feed, struct links *links, struct slice json);
bool feed_json_step(struct feed_json *feed, size_t bytes);
