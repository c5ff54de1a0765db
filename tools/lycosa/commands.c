#include "tools/lycosa/commands.h"

const struct command_term lycosa_exits[] = {
    {"0", "done"},
    {"1", "failed"},
    {"2", "wrong usage"},
    {"3", "disk full"},
    {"4", "bad tuning file"},
    {"5", "nothing was fetched"},
    {"11", "ended in order by a signal"},
    {0},
};

/* In the order of --help. */
static const struct command *const commands[] = {
    &lycosa_crawl,   &lycosa_state, &lycosa_ctl, &lycosa_why,   &lycosa_report, &lycosa_fetch,       &lycosa_index,
    &lycosa_archive, &lycosa_url,   &lycosa_links, &lycosa_robots, &lycosa_fingerprint, NULL,
};

static const struct command_section sections[] = {{"Exit codes", lycosa_exits}, {0}};

const struct command_program lycosa_program = {
    .name = "lycosa",
    .summary = "a web crawler",
    .description = "Crawls the web politely, each URL exactly once, and keeps its pages in WARC files.",
    .commands = commands,
    .sections = sections,
};
