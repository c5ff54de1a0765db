/* What a shell completes after the name of a program: commands, options, and files where an option or a command takes
 * them. From tables. */
#pragma once

#include "tools/manual/command.h"

void completion_bash(const struct command_program *program, FILE *out);
void completion_zsh(const struct command_program *program, FILE *out);
void completion_fish(const struct command_program *program, FILE *out);
