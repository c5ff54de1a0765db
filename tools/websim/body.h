/* The body of whatever a URL answers with, before any content encoding. */
#pragma once

#include "tools/websim/buffer.h"
#include "tools/websim/graph.h"
#include "tools/websim/text.h"

/* Appends it. */
void websim_body_write(const struct websim_page *page, const struct websim_text *text,
                       struct websim_buffer *out);
/* Its media type. */
const char *websim_body_type(const struct websim_page *page);
