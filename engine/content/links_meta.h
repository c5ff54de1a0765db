/* What meta elements say: refresh and robots. */
#pragma once

#include <stdbool.h>

#include "net/slice.h"

/* The URL in the content of a meta refresh, by the HTML standard's steps. False if it names none. */
bool links_meta_refresh(struct slice content, struct slice *url);

/* Bits of enum robots_tag for the directives in the content of a meta robots. */
unsigned links_meta_robots(struct slice content);
