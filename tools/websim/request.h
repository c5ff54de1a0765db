/* One HTTP request, as far as the simulated web cares. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/parse.h"
#include "net/slice.h"

/* A client that sends longer heads is answered 400. */
#define WEBSIM_REQUEST_BYTES_MAX  16384
#define WEBSIM_REQUEST_FIELDS_MAX 64

struct websim_request {
    struct slice method;
    struct slice target; /* path and query; the origin of an absolute form is cut off */
    struct slice host;   /* name without port */
    bool keep_alive;
    uint8_t accepts; /* 1 << enum websim_encoding of what Accept-Encoding allows */
};

/* The request at the beginning of `bytes`, pointing into them. `used` is its length when done. */
enum parse websim_request_parse(struct websim_request *request, struct slice bytes, size_t *used);
