/* A page as the program that runs a crawl gets it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/slice.h"

/* A fetched page. Valid during the call only. */
struct crawl_page {
    struct slice url;
    int status;
    struct slice head; /* as it was sent */
    struct slice body; /* content coding removed; empty if that failed */
    struct slice mime; /* the field Content-Type */
    bool is_truncated;
    uint64_t fetched_us; /* since 1970: when the request was sent */
};
