/* websim: a simulated web that knows the truth. Each subcommand is websim_NAME_main(). */
#include <stdio.h>
#include <string.h>

#include "tools/websim/commands.h"
#include "tools/websim/options.h"
#include "tools/websim/serve.h"

struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *usage;
};

/* clang-format off */
static const struct command commands[] = {
    {"serve", websim_serve_main, "serve [--journal FILE] [WEB]   serves the web and its DNS on loopback; first line: the ports"},
    {"truth", websim_truth_main, "truth [--seeds FILE] [WEB]     every URL that a correct crawl fetches: URL, status, size, digest, note"},
    {"seeds", websim_seeds_main, "seeds [--count N] [WEB]        seed URLs, one per line"},
    {"zone", websim_zone_main,   "zone [WEB]                     the zone file, for a stock DNS server"},
    {"audit", websim_audit_main, "audit FILE [RULES]             judges a client's manners; exit code 1 if a rule was broken"},
    {"journal", websim_journal_main, "journal dump FILE              time, connection, event, status, retry-after, URL"},
    {"faults", websim_faults_main, "faults                         the names of faults for --fault"},
    {NULL, NULL, NULL},
};
/* clang-format on */

static int usage(FILE *out)
{
    fprintf(out, "usage: websim COMMAND [OPTIONS]\n\n");
    for (const struct command *command = commands; command->name; command++)
        fprintf(out, "  websim %s\n", command->usage);
    fprintf(out,
            "\nWEB stands for the options that the web is a function of: websim truth --help lists them.\n");
    return out == stdout ? WEBSIM_EXIT_DONE : WEBSIM_EXIT_USAGE;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return usage(stderr);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0)
        return usage(stdout);
    for (const struct command *command = commands; command->name; command++)
        if (strcmp(argv[1], command->name) == 0)
            return command->run(argc - 1, argv + 1);
    fprintf(stderr, "websim: unknown command '%s': websim help lists them\n", argv[1]);
    return WEBSIM_EXIT_USAGE;
}
