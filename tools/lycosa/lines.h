/* Lines of standard input, one after another, for commands that answer each. */
#pragma once

#include "net/slice.h"

/* `command` is what messages begin with: "lycosa url". Returns an exit code: 0 if all was read and written. */
int lycosa_each_line(const char *command, void (*take)(void *owner, struct slice line), void *owner);
