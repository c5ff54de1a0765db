#include "tools/websim/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/websim/truth.h"
#include "tools/websim/zone.h"

#define COMMAND_ROWS_MAX  16
#define SEEDS_DEFAULT     100
#define REDIRECTS_DEFAULT 10
#define UNLIMITED         UINT32_MAX

int websim_commands_options(struct websim_parameters *parameters, struct websim_options *own, int argc,
                            char **argv)
{
    struct websim_option rows[WEBSIM_PARAMETERS_ROWS_MAX + COMMAND_ROWS_MAX];
    struct websim_options all = {.command = own->command, .rows = rows};
    websim_parameters_default(parameters, argc, argv);
    all.count = websim_parameters_rows(parameters, rows);
    for (size_t i = 0; i < own->count; i++)
        rows[all.count++] = own->rows[i];
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        websim_options_help(&all, stdout);
        exit(WEBSIM_EXIT_DONE);
    }
    int operands = websim_options_parse(&all, argc, argv);
    return operands < 0 || websim_parameters_settle(parameters, own->command) ? -1 : operands;
}

static int no_operands(const char *command, int operands, char **argv)
{
    if (operands > 0)
        return websim_options_error(command, "unexpected argument %s", argv[1]);
    return operands < 0 ? WEBSIM_EXIT_USAGE : 0;
}

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

int websim_seeds_main(int argc, char **argv)
{
    struct websim_parameters parameters;
    struct websim_web web;
    uint64_t count = SEEDS_DEFAULT;
    const struct websim_option rows[] = {{.name = "count",
                                          .type = WEBSIM_OPTION_COUNT,
                                          .target = &count,
                                          .min = 1,
                                          .max = WEBSIM_HOSTS_MAX,
                                          .help = "seeds, at most"}};
    struct websim_options own = {.command = "seeds", .rows = rows, .count = 1};
    if (no_operands("seeds", websim_commands_options(&parameters, &own, argc, argv), argv))
        return WEBSIM_EXIT_USAGE;
    websim_web_init(&web, &parameters);
    for (uint32_t host = 0; host < parameters.hosts && count; host++) {
        char url[WEBSIM_URL_BYTES];
        if (!is_sound(&web, host))
            continue;
        websim_url_write(&web, root_of(host), url);
        puts(url);
        count--;
    }
    return finish_output("seeds");
}

int websim_zone_main(int argc, char **argv)
{
    struct websim_parameters parameters;
    struct websim_web web;
    struct websim_options own = {.command = "zone"};
    if (no_operands("zone", websim_commands_options(&parameters, &own, argc, argv), argv))
        return WEBSIM_EXIT_USAGE;
    websim_web_init(&web, &parameters);
    websim_zone_write(&web, stdout);
    return finish_output("zone");
}

int websim_faults_main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return websim_options_error("faults", "takes no arguments");
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

int websim_truth_main(int argc, char **argv)
{
    struct websim_parameters parameters;
    struct websim_web web;
    struct websim_truth_options options = {.depth_max = UNLIMITED, .redirects_max = REDIRECTS_DEFAULT};
    const char *seeds = NULL;
    const struct websim_option rows[] = {
        {.name = "seeds",
         .type = WEBSIM_OPTION_TEXT,
         .target = &seeds,
         .help = "FILE of URLs, - for stdin; otherwise those of websim seeds"},
        {.name = "as",
         .type = WEBSIM_OPTION_TEXT,
         .target = &options.agent,
         .help = "product name of the crawler; otherwise that of --agent"},
        {.name = "max-depth",
         .type = WEBSIM_OPTION_COUNT,
         .target = &options.depth_max,
         .max = UNLIMITED,
         .help = "links from a seed; redirects count nothing"},
        {.name = "max-redirects",
         .type = WEBSIM_OPTION_COUNT,
         .target = &options.redirects_max,
         .max = UNLIMITED,
         .help = "redirects in a row"},
        {.name = "embeds",
         .type = WEBSIM_OPTION_FLAG,
         .target = &options.embeds,
         .help = "images and styles, too"},
        {.name = "sitemaps",
         .type = WEBSIM_OPTION_FLAG,
         .target = &options.sitemaps,
         .help = "sitemaps, too"},
        {.name = "accept-expired",
         .type = WEBSIM_OPTION_FLAG,
         .target = &options.accept_expired,
         .help = "expired certificates are no obstacle"},
        {.name = "contents",
         .type = WEBSIM_OPTION_FLAG,
         .target = &options.contents,
         .help = "one column more: pages with the same HOST/NUMBER show the same, but for a sentence if 'near' follows"},
        {.name = "all",
         .type = WEBSIM_OPTION_FLAG,
         .target = &options.all,
         .help = "print also what is not to be fetched, status 0, and why"},
        {.name = "digest",
         .type = WEBSIM_OPTION_CALL,
         .target = &options.digest,
         .call = read_digest,
         .help = "xxh3, sha1 or none [xxh3]"},
    };
    struct websim_options own = {.command = "truth", .rows = rows, .count = sizeof rows / sizeof *rows};
    if (no_operands("truth", websim_commands_options(&parameters, &own, argc, argv), argv))
        return WEBSIM_EXIT_USAGE;
    if (parameters.faults[WEBSIM_FAULT_CALENDAR] && options.depth_max == UNLIMITED)
        return websim_options_error("truth", "a calendar does not end: give --max-depth");
    if (!options.agent)
        options.agent = parameters.agent;
    websim_web_init(&web, &parameters);
    return run_truth(&web, &options, seeds);
}
