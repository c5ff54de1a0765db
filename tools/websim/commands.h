/* The subcommands of websim: each takes its own argument vector and returns an exit code. A new one has a place here and
 * in the list in described.c. */
#pragma once

#include "tools/websim/parameters.h"

/* A subcommand and its own options; those of the web come after them. */
struct websim_command {
    struct command command;
    const struct websim_option *rows;
    size_t count;
    int operands_max;
    bool has_web; /* takes the options that the web is a function of */
};

extern const struct websim_command websim_serve, websim_truth, websim_seeds, websim_zone, websim_audit,
    websim_journal, websim_faults;

int websim_serve_main(int argc, char **argv);
int websim_truth_main(int argc, char **argv);
int websim_seeds_main(int argc, char **argv);
int websim_zone_main(int argc, char **argv);
int websim_faults_main(int argc, char **argv);
int websim_audit_main(int argc, char **argv);
int websim_journal_main(int argc, char **argv);

/* Reads the parameters of the web, if it takes them, and the command's own rows. The number of operands, or
 * -1 after one line on stderr. With --help: prints it, ends the program. */
int websim_commands_parse(const struct websim_command *command, struct websim_parameters *parameters,
                          int argc, char **argv);

/* All of them, described. */
const struct command_program *websim_commands_program(void);
