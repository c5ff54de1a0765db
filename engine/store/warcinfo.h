/* The block of a warcinfo record: who made the file, and with which tuning. Does no I/O. */
#pragma once

#include "engine/tuning/tuning.h"
#include "net/slice.h"

/* The longest block. A tuning file is some hundred bytes long; of a longer one the beginning is kept. */
enum { WARCINFO_BYTES_MAX = 12 << 10 };

/* Writes the block to `buffer` of WARCINFO_BYTES_MAX bytes and returns its length. Each line of the tuning file that
 * says something becomes a field of its own, "tuning". */
size_t warcinfo_write(char *buffer, const struct tuning *tuning, struct slice tuning_text);
