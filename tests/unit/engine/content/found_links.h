/* For tests of what finds links: a list of them, and its text. */
#pragma once

#include "engine/content/links.h"
#include "tests/support/check.h"

static struct links links;
static struct link links_found[64];

static inline void found_begin(void)
{
    static char text[1024];
    links_init(&links, links_found, 64);
    links_set_text(&links, text, sizeof text);
}

/* A line for each link: its kind, its URL and, if it is not to be followed, "nofollow". */
static inline const char *found_text(void)
{
    static char out[4096];
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < links.count; i++)
        used +=
            (size_t)snprintf(out + used, sizeof out - used, "%s%s %.*s%s", i ? "\n" : "",
                             link_kind_name(links_found[i].kind), (int)links_found[i].url.len,
                             links_found[i].url.ptr, links_found[i].flags & LINK_NOFOLLOW ? " nofollow" : "");
    return out;
}

/* What `scan` finds in a copy of `text` that ends where memory does. */
static inline const char *found_in(const char *text, void (*scan)(struct links *, struct slice))
{
    size_t len = strlen(text);
    char *copy = check_guard_copy(text, len);
    found_begin();
    scan(&links, (struct slice){copy, len});
    const char *out = found_text();
    check_guard_free(copy, len);
    return out;
}
