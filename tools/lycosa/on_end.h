/* The program of control.on-end: run when the crawl has ended. */
#pragma once

#include <stdbool.h>

enum { ON_END_WHY_BYTES = 256 };

/* Runs the command with the directory and the reason as its last arguments, without a shell, and waits for it, up to a minute;
 * then it goes on alone. True also if there is no command. False: `why` says what failed. */
bool on_end_run(const char *command, const char *directory, const char *reason, char why[ON_END_WHY_BYTES]);
