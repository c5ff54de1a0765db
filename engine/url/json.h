/* JSON (RFC 8259), as far as it is written in several places. */
#pragma once

#include <stdio.h>

#include "net/slice.h"

/* The text in quotes, escaped; what is not UTF-8 becomes U+FFFD. */
void json_write_string(FILE *out, struct slice text);
