#include "tools/websim/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/websim/truth.h"
#include "tools/websim/zone.h"

#define SEEDS_DEFAULT     100
#define REDIRECTS_DEFAULT 10
#define UNLIMITED         UINT32_MAX

/* stdout may be a full disk or a closed pipe. */
static int finish_output(const char *command)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return WEBSIM_EXIT_DONE;
    fprintf(stderr, "websim %s: cannot write: %s\n", command, strerror(errno));
    return WEBSIM_EXIT_FAILED;
}

/* The n-th host that can be reached, for seeds; hosts in the order of their number. */
static bool is_sound(const struct websim_web *web, uint32_t host)
{
    enum websim_fault fault = websim_host_fault(web, host);
    return fault == WEBSIM_FAULT_NONE || fault == WEBSIM_FAULT_CALENDAR;
}

static struct websim_url root_of(uint32_t host)
{
    return (struct websim_url){.host = host, .kind = WEBSIM_KIND_PAGE};
}

static uint64_t seed_count = SEEDS_DEFAULT;
static const struct websim_option seed_rows[] = {{.name = "count",
                                                  .type = WEBSIM_OPTION_COUNT,
                                                  .target = &seed_count,
                                                  .min = 1,
                                                  .max = WEBSIM_HOSTS_MAX,
                                                  .help = "seeds, at most"}};

const struct websim_command websim_seeds = {
    .command = {.program = "websim",
                .name = "seeds",
                .run = websim_seeds_main,
                .synopsis = "[--count N] [WEB]",
                .summary = "seed URLs, one per line",
                .description =
                    "Prints the root pages of the first hosts that can be reached, one URL per line."},
    .rows = seed_rows,
    .count = 1,
    .has_web = true,
};

int websim_seeds_main(int argc, char **argv)
{
    struct websim_parameters parameters;
    struct websim_web web;
    if (websim_commands_parse(&websim_seeds, &parameters, argc, argv) != 0)
        return WEBSIM_EXIT_USAGE;
    websim_web_init(&web, &parameters);
    for (uint32_t host = 0; host < parameters.hosts && seed_count; host++) {
        char url[WEBSIM_URL_BYTES];
        if (!is_sound(&web, host))
            continue;
        websim_url_write(&web, root_of(host), url);
        puts(url);
        seed_count--;
    }
    return finish_output("seeds");
}

const struct websim_command websim_zone = {
    .command = {.program = "websim",
                .name = "zone",
                .run = websim_zone_main,
                .synopsis = "[WEB]",
                .summary = "the zone file, for a stock DNS server",
                .description =
                    "Prints the names and addresses of the web as a zone file, for a stock DNS server."},
    .has_web = true,
};

int websim_zone_main(int argc, char **argv)
{
    struct websim_parameters parameters;
    struct websim_web web;
    if (websim_commands_parse(&websim_zone, &parameters, argc, argv) != 0)
        return WEBSIM_EXIT_USAGE;
    websim_web_init(&web, &parameters);
    websim_zone_write(&web, stdout);
    return finish_output("zone");
}

const struct websim_command websim_faults = {
    .command = {.program = "websim",
                .name = "faults",
                .run = websim_faults_main,
                .synopsis = "",
                .summary = "the names of faults for --fault",
                .description =
                    "Prints the faults that --fault takes, each with what it concerns, a host or a page, and "
                    "what happens there."},
};

int websim_faults_main(int argc, char **argv)
{
    if (websim_commands_parse(&websim_faults, NULL, argc, argv) != 0)
        return WEBSIM_EXIT_USAGE;
    for (unsigned i = 1; i < WEBSIM_FAULT_COUNT; i++)
        printf("  %-12s %s: %s\n", websim_fault_word((enum websim_fault)i),
               i < WEBSIM_FAULT_PAGE_FIRST ? "host" : "page", websim_fault_meaning((enum websim_fault)i));
    return finish_output("faults");
}

static const char *read_digest(void *target, const char *text)
{
    static const char *const words[] = {"xxh3", "sha1", "none"};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) {
            *(enum websim_digest *)target = (enum websim_digest)i;
            return NULL;
        }
    return "expected xxh3, sha1 or none";
}

/* Seeds from a file, one URL per line; lines that begin with # are comments. */
static int read_seeds(const struct websim_web *web, struct websim_truth *truth, const char *path)
{
    char *line = NULL;
    size_t capacity = 0, number = 0;
    ssize_t len;
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (!file)
        return websim_options_error("truth", "cannot open %s: %s", path, strerror(errno));
    while ((len = getline(&line, &capacity, file)) >= 0) {
        struct slice text = slice_trim((struct slice){line, (size_t)len});
        struct websim_url url;
        number++;
        if (text.len == 0 || text.ptr[0] == '#')
            continue;
        if (!websim_url_read(web, text, &url)) {
            free(line);
            return websim_options_error("truth", "%s:%zu: not a URL of this web", path, number);
        }
        websim_truth_seed(truth, url);
    }
    free(line);
    if (file != stdin)
        fclose(file);
    return 0;
}

static int run_truth(const struct websim_web *web, const struct websim_truth_options *options,
                     const char *seeds)
{
    struct websim_truth *truth = websim_truth_create(web, options);
    int wrong = 0;
    if (seeds)
        wrong = read_seeds(web, truth, seeds);
    else
        for (uint32_t host = 0, count = 0; host < web->parameters.hosts && count < SEEDS_DEFAULT; host++)
            if (is_sound(web, host)) {
                websim_truth_seed(truth, root_of(host));
                count++;
            }
    if (!wrong) {
        struct websim_truth_totals totals = websim_truth_walk(truth, stdout);
        wrong = finish_output("truth");
        fprintf(stderr,
                "websim truth: %" PRIu64 " URLs to fetch (%" PRIu64 " of status 200, %" PRIu64
                " bytes), %" PRIu64 " forbidden, %" PRIu64 " unreachable\n",
                totals.fetched, totals.ok, totals.bytes, totals.forbidden, totals.unreachable);
    }
    websim_truth_destroy(truth);
    return wrong;
}

static struct websim_truth_options truth_options = {.depth_max = UNLIMITED,
                                                    .redirects_max = REDIRECTS_DEFAULT};
static const char *truth_seeds;
static const struct websim_option truth_rows[] = {
    {.name = "seeds",
     .type = WEBSIM_OPTION_TEXT,
     .target = &truth_seeds,
     .argument = "FILE",
     .help = "of URLs, - for stdin; otherwise those of websim seeds"},
    {.name = "as",
     .type = WEBSIM_OPTION_TEXT,
     .target = &truth_options.agent,
     .argument = "NAME",
     .help = "product name of the crawler; otherwise that of --agent"},
    {.name = "max-depth",
     .type = WEBSIM_OPTION_COUNT,
     .target = &truth_options.depth_max,
     .max = UNLIMITED,
     .help = "links from a seed; redirects count nothing"},
    {.name = "max-redirects",
     .type = WEBSIM_OPTION_COUNT,
     .target = &truth_options.redirects_max,
     .max = UNLIMITED,
     .help = "redirects in a row"},
    {.name = "embeds",
     .type = WEBSIM_OPTION_FLAG,
     .target = &truth_options.embeds,
     .help = "images and styles, too"},
    {.name = "sitemaps",
     .type = WEBSIM_OPTION_FLAG,
     .target = &truth_options.sitemaps,
     .help = "sitemaps, too"},
    {.name = "accept-expired",
     .type = WEBSIM_OPTION_FLAG,
     .target = &truth_options.accept_expired,
     .help = "expired certificates are no obstacle"},
    {.name = "contents",
     .type = WEBSIM_OPTION_FLAG,
     .target = &truth_options.contents,
     .help = "one column more: pages with the same HOST/NUMBER show the same, but for a sentence if 'near' "
             "follows"},
    {.name = "all",
     .type = WEBSIM_OPTION_FLAG,
     .target = &truth_options.all,
     .help = "print also what is not to be fetched, status 0, and why"},
    {.name = "digest",
     .type = WEBSIM_OPTION_CALL,
     .target = &truth_options.digest,
     .call = read_digest,
     .argument = "KIND",
     .help = "xxh3, sha1 or none [xxh3]"},
};

const struct websim_command websim_truth = {
    .command =
        {.program = "websim",
         .name = "truth",
         .run = websim_truth_main,
         .synopsis = "[OPTIONS] [WEB]",
         .summary = "every URL that a correct crawl fetches: URL, status, size, digest, note",
         .description =
             "Prints every URL that a correct crawl fetches from the seeds on, a line each: URL, status, "
             "size, digest, note."},
    .rows = truth_rows,
    .count = sizeof truth_rows / sizeof *truth_rows,
    .has_web = true,
};

int websim_truth_main(int argc, char **argv)
{
    struct websim_parameters parameters;
    struct websim_web web;
    if (websim_commands_parse(&websim_truth, &parameters, argc, argv) != 0)
        return WEBSIM_EXIT_USAGE;
    if (parameters.faults[WEBSIM_FAULT_CALENDAR] && truth_options.depth_max == UNLIMITED)
        return websim_options_error("truth", "a calendar does not end: give --max-depth");
    if (!truth_options.agent)
        truth_options.agent = parameters.agent;
    websim_web_init(&web, &parameters);
    return run_truth(&web, &truth_options, truth_seeds);
}
