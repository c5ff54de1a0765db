/* The subcommands of websim: each takes its own argument vector and returns an exit code. */
#pragma once

#include "tools/websim/parameters.h"

int websim_truth_main(int argc, char **argv);
int websim_seeds_main(int argc, char **argv);
int websim_zone_main(int argc, char **argv);
int websim_faults_main(int argc, char **argv);
int websim_audit_main(int argc, char **argv);   /* in websim_audit.c */
int websim_journal_main(int argc, char **argv); /* in websim_audit.c */

/* Reads the parameters of the web and the command's own rows. The number of operands, or -1 after one line on
 * stderr. With --help: prints the rows, ends the program. */
int websim_commands_options(struct websim_parameters *parameters, struct websim_options *own, int argc,
                            char **argv);
