/* JSON out of the tools: one object per line. */
#pragma once

#include <stdio.h>

#include "net/slice.h"

/* ,"key":"text" - the comma is left out with the first key of an object, which opens it: {"key":"text". */
void lycosa_json_member(FILE *out, bool first, const char *key, struct slice text);
