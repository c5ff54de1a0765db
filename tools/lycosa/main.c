/* lycosa SUBCOMMAND ...: each subcommand is lycosa_NAME_main() in tools/lycosa/NAME.c. */
#include <stdio.h>
#include <string.h>

#include "tools/lycosa/commands.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *usage;
};

/* clang-format off */
static const struct command commands[] = {
    {"robots", lycosa_robots_main, "robots --agent NAME [--json] FILE [URL...]     may it be fetched, and which rule says so"},
    {"url", lycosa_url_main, "url [--base URL] [--canonical RULE,...] [--surt] [--json]     URLs on stdin, normalised"},
    {"links", lycosa_links_main, "links --base URL [--content-type TYPE] [--forms] [--noscript] [--css] [--json] FILE     its links"},
    {"fingerprint", lycosa_fingerprint_main, "fingerprint FILE...     SimHash, SHA-1, words of pages, and how near they are to each other"},
    {"fetch", lycosa_fetch_main, "fetch [-o DIR] [--connections N] [--repeat N] [--json] ... URL...       bodies to stdout or files"},
    {"crawl", lycosa_crawl_main, "crawl [-c tuning.ini] [-o DIR] [--max-pages N] [--max-time S] [--threads N] SEED... | --resume DIR     fetch a web"},
    {"state", lycosa_state_main, "state DIR     what a crawl has done, and whether it can be resumed"},
    {"why", lycosa_why_main, "why DIR URL     what became of a URL in a crawl"},
    {"index", lycosa_index_main, "index [-o OUT.cdxj] [--force] [--memory SIZE] WARC|CDXJ|DIR...     an index of WARC files"},
    {"archive", lycosa_archive_main, "archive get DIR|CDXJ... URL | check PATH... | cat FILE... | list FILE...     reads WARC files"},
    {NULL, NULL, NULL},
};
/* clang-format on */

static int usage(FILE *out)
{
    fprintf(out, "usage: lycosa COMMAND [OPTIONS] ...\n\n");
    for (const struct command *command = commands; command->name; command++)
        fprintf(out, "  lycosa %s\n", command->usage);
    return out == stdout ? 0 : LYCOSA_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return usage(stderr);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)
        return usage(stdout);
    if (strcmp(argv[1], "--version") == 0) {
        printf("lycosa %s\n", LYCOSA_VERSION);
        return 0;
    }
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(argv[1], command->name) == 0)
            return command->run(argc - 1, argv + 1);
    fprintf(stderr, "lycosa: unknown command '%s'\n", argv[1]);
    return usage(stderr);
}
