/* JSON out of the tools: one object per line. */
#pragma once

#include <stdio.h>

#include "net/slice.h"

/* The text in quotes, escaped; what is not UTF-8 becomes U+FFFD. */
void lycosa_json_string(FILE *out, struct slice text);

/* ,"key":"text" - the comma is left out with the first key of an object, which opens it: {"key":"text". */
void lycosa_json_member(FILE *out, bool first, const char *key, struct slice text);
