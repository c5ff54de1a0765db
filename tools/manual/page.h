/* Manual pages (man(7)), from tables. */
#pragma once

#include "tools/manual/command.h"

enum page_kind {
    PAGE_OVERVIEW, /* the commands have pages of their own */
    PAGE_WHOLE,    /* all of them are on this one */
};

void page_program(const struct command_program *program, enum page_kind kind, FILE *out);
void page_command(const struct command_program *program, const struct command *command, FILE *out);
/* lycosa.ini(5): every key of the tuning file. */
void page_tuning(FILE *out);
