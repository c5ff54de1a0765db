/* What every incremental parser answers. */
#pragma once

enum parse {
    PARSE_DONE,    /* the thing is complete */
    PARSE_PARTIAL, /* a good beginning; more bytes are needed */
    PARSE_BAD,     /* no continuation can make it good */
};
