/* The HTML of a page: its links, written in all the ways that authors write them, among prose. */
#pragma once

#include "tools/websim/buffer.h"
#include "tools/websim/graph.h"
#include "tools/websim/text.h"

/* Appends the HTML of a page with WEBSIM_BODY_HTML. */
void websim_html_write(const struct websim_page *page, const struct websim_text *text,
                       struct websim_buffer *out);
