/* The console's page for browsers: page.html, which is part of the program. */
#pragma once

#include "net/slice.h"

enum { PAGE_POLICY_BYTES = 400 };

struct page {
    struct slice text;
    char policy[PAGE_POLICY_BYTES]; /* Content-Security-Policy: its own script and style, named by their hashes */
};

void page_init(struct page *page);
/* The policy for a document with one script and one style at most. */
void page_write_policy(struct slice text, char policy[PAGE_POLICY_BYTES]);
