/* The URLs of a style sheet: @import and url(), but not in comments and strings; escapes are decoded. */
#pragma once

#include <stdbool.h>

#include "net/slice.h"

struct links;

/* Adds LINK_STYLESHEET for each @import and LINK_CSS for each other url(). `css` must stay unchanged as long
 * as the links are used; it is read as UTF-8. */
void css_scan(struct links *links, struct slice css);

/* The same in parts: css_step reads about `bytes` further and is true at the end. */
struct css_walk {
    struct links *links;
    const char *at;
    const char *end;
    bool in_name;
    char inside; /* a string, URL or comment that is too long: the byte that ends it; 0: nothing */
};
void css_begin(struct css_walk *walk, struct links *links, struct slice css);
bool css_step(struct css_walk *walk, size_t bytes);
