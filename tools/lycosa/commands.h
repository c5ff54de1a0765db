/* The subcommands of lycosa, and the exit codes that all of them share. */
#pragma once

enum lycosa_exit {
    LYCOSA_EXIT_DONE = 0,
    LYCOSA_EXIT_FAILED = 1,
    LYCOSA_EXIT_USAGE = 2,
    LYCOSA_EXIT_DISK_FULL = 3,
    LYCOSA_EXIT_BAD_TUNING = 4,
    LYCOSA_EXIT_NOTHING = 5, /* not one page could be fetched */
    LYCOSA_EXIT_STOPPED = 11,
};

int lycosa_robots_main(int argc, char **argv);
int lycosa_url_main(int argc, char **argv);
int lycosa_links_main(int argc, char **argv);
int lycosa_fingerprint_main(int argc, char **argv);
int lycosa_fetch_main(int argc, char **argv);
int lycosa_crawl_main(int argc, char **argv);
int lycosa_state_main(int argc, char **argv);
int lycosa_why_main(int argc, char **argv);
int lycosa_index_main(int argc, char **argv);
int lycosa_archive_main(int argc, char **argv);
