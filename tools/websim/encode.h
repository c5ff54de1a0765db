/* Content encodings of a body. */
#pragma once

#include "tools/websim/buffer.h"
#include "tools/websim/personality.h"
#include "net/slice.h"

/* One per thread. */
struct websim_encoder;

struct websim_encoder *websim_encoder_create(void);
void websim_encoder_destroy(struct websim_encoder *encoder);

/* Appends `body` in this encoding, not NONE. */
void websim_encode(struct websim_encoder *encoder, enum websim_encoding encoding, struct slice body,
                   struct websim_buffer *out);
/* Appends a gzip member that unpacks to `size` zeroes. */
void websim_encode_bomb(struct websim_buffer *out, uint64_t size);
/* The token of Content-Encoding. */
const char *websim_encoding_name(enum websim_encoding encoding);
