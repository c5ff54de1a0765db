/* The Location field of a redirect. */
#pragma once

#include <stddef.h>

#include "net/slice.h"

/* As browsers read it: the field has no encoding, so bytes beyond ASCII are percent-encoded one by one.
 * Without such bytes it is returned as it is; empty if the result does not fit `room`. */
struct slice location_read(struct slice value, char *room, size_t room_bytes);
