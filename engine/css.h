/* The URLs of a style sheet: @import and url(), comments and strings told apart, escapes decoded. */
#pragma once

#include "engine/links.h"

/* Adds LINK_STYLESHEET for each @import and LINK_CSS for each other url(). `css` must stay unchanged as long
 * as the links are used; it is read as UTF-8. */
void css_scan(struct links *links, struct slice css);
