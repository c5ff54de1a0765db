/* The subcommands of lycosa, each with a table that describes it, and the exit codes that all of them share. A new one
 * has a place here and in the list in commands.c. */
#pragma once

#include "tools/manual/command.h"

enum lycosa_exit {
    LYCOSA_EXIT_DONE = 0,
    LYCOSA_EXIT_FAILED = 1,
    LYCOSA_EXIT_USAGE = 2,
    LYCOSA_EXIT_DISK_FULL = 3,
    LYCOSA_EXIT_BAD_TUNING = 4,
    LYCOSA_EXIT_NOTHING = 5, /* not one page could be fetched */
    LYCOSA_EXIT_STOPPED = 11,
};

/* What they mean: for --help. */
extern const struct command_term lycosa_exits[];

extern const struct command lycosa_crawl;
extern const struct command lycosa_state;
extern const struct command lycosa_ctl;
extern const struct command lycosa_why;
extern const struct command lycosa_report;
extern const struct command lycosa_fetch;
extern const struct command lycosa_index;
extern const struct command lycosa_archive;
extern const struct command lycosa_url;
extern const struct command lycosa_links;
extern const struct command lycosa_robots;
extern const struct command lycosa_fingerprint;

int lycosa_crawl_main(int argc, char **argv);
int lycosa_state_main(int argc, char **argv);
int lycosa_ctl_main(int argc, char **argv);
int lycosa_why_main(int argc, char **argv);
int lycosa_report_main(int argc, char **argv);
int lycosa_fetch_main(int argc, char **argv);
int lycosa_index_main(int argc, char **argv);
int lycosa_archive_main(int argc, char **argv);
int lycosa_url_main(int argc, char **argv);
int lycosa_links_main(int argc, char **argv);
int lycosa_robots_main(int argc, char **argv);
int lycosa_fingerprint_main(int argc, char **argv);

/* All of them. */
extern const struct command_program lycosa_program;
