/* lycosa crawl: a crawl from the command line. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/crawl.h"
#include "lockfree/clock.h"
#include "tools/lycosa_commands.h"

enum { OPTION_PAGES = 1000, OPTION_TIME, OPTION_THREADS, OPTION_PRINT };

static const struct option long_options[] = {
    {"config", required_argument, NULL, 'c'},
    {"output", required_argument, NULL, 'o'},
    {"max-pages", required_argument, NULL, OPTION_PAGES},
    {"max-time", required_argument, NULL, OPTION_TIME},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"print-tuning", no_argument, NULL, OPTION_PRINT},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int usage(FILE *out)
{
    fprintf(out,
            "usage: lycosa crawl [OPTIONS] SEED...\n\n"
            "Fetches the web from the seeds on, which are URLs or files of URLs.\n\n"
            "  -c, --config FILE    the tuning file\n"
            "  -o, --output DIR     where the crawl goes; must not exist or be empty (default crawl-TIME)\n"
            "      --max-pages N    end after N pages\n"
            "      --max-time S     end after S seconds\n"
            "      --threads N      event loops, each on a core of its own\n"
            "      --print-tuning   print every key of the tuning file with its default and meaning\n");
    return out == stdout ? LYCOSA_EXIT_DONE : LYCOSA_EXIT_USAGE;
}

static int complain(const char *message, int code)
{
    fprintf(stderr, "lycosa: %s\n", message);
    return code;
}

static bool read_number(const char *text, uint64_t min, uint64_t max, uint64_t *number)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-' || value < min || value > max)
        return false;
    *number = value;
    return true;
}

static int exit_code(const struct crawl *crawl)
{
    switch (crawl->end) {
    case CRAWL_END_NONE:
    case CRAWL_END_COMPLETE:
    case CRAWL_END_PAGES:
    case CRAWL_END_TIME:
        return LYCOSA_EXIT_DONE;
    case CRAWL_END_SIGNAL:
        return LYCOSA_EXIT_STOPPED;
    case CRAWL_END_DISK_FULL:
        fprintf(stderr, "lycosa: the disk is full: %s\n", strerror(-crawl->error));
        return LYCOSA_EXIT_DISK_FULL;
    case CRAWL_END_FAILED:
        fprintf(stderr, "lycosa: cannot write to %s: %s\n", crawl->directory, strerror(-crawl->error));
        return LYCOSA_EXIT_FAILED;
    case CRAWL_END_BAD_TUNING:
        return LYCOSA_EXIT_BAD_TUNING;
    }
    return LYCOSA_EXIT_FAILED;
}

static int run(struct crawl_options *options)
{
    static struct crawl crawl;
    struct tuning_error error;
    char name[64];
    time_t now = time(NULL);
    strftime(name, sizeof name, "crawl-%Y%m%d-%H%M%S", localtime(&now));
    options->directory = options->directory ? options->directory : name;
    options->is_live = isatty(STDERR_FILENO);
    if (!crawl_run(&crawl, options, &error))
        return complain(error.message,
                        crawl.end == CRAWL_END_BAD_TUNING ? LYCOSA_EXIT_BAD_TUNING : LYCOSA_EXIT_FAILED);
    int code = exit_code(&crawl);
    printf("%s (%s)\n", options->directory, crawl_end_name(crawl.end));
    return code;
}

int lycosa_crawl_main(int argc, char **argv)
{
    static struct tuning tuning;
    struct tuning_error error;
    struct crawl_options options = {.tuning = &tuning};
    struct crawl_overrides *overrides = &options.overrides;
    uint64_t seconds = 0;
    for (int option; (option = getopt_long(argc, argv, "c:o:h", long_options, NULL)) != -1;)
        switch (option) {
        case 'c':
            options.tuning_path = optarg;
            break;
        case 'o':
            options.directory = optarg;
            break;
        case OPTION_PAGES:
            if (!read_number(optarg, 1, UINT64_MAX / 2, &overrides->max_pages))
                return complain("--max-pages: a number from 1", LYCOSA_EXIT_USAGE);
            break;
        case OPTION_TIME:
            if (!read_number(optarg, 1, UINT64_MAX / 2 / CLOCK_NS_PER_S, &seconds))
                return complain("--max-time: seconds, a number from 1", LYCOSA_EXIT_USAGE);
            break;
        case OPTION_THREADS:
            if (!read_number(optarg, 1, 64, &overrides->threads))
                return complain("--threads: a number from 1 to 64", LYCOSA_EXIT_USAGE);
            break;
        case OPTION_PRINT:
            tuning_print(stdout);
            return LYCOSA_EXIT_DONE;
        case 'h':
            return usage(stdout);
        default:
            return usage(stderr);
        }
    if (optind == argc)
        return complain("crawl: no seeds; give URLs or files of URLs", LYCOSA_EXIT_USAGE);
    tuning_init(&tuning);
    if (options.tuning_path && !tuning_load(&tuning, options.tuning_path, &error))
        return complain(error.message, LYCOSA_EXIT_BAD_TUNING);
    overrides->max_time_ns = seconds * CLOCK_NS_PER_S;
    if ((long)(overrides->threads ? overrides->threads : tuning.threads) > sysconf(_SC_NPROCESSORS_ONLN))
        return complain("more threads than this machine has cores", LYCOSA_EXIT_USAGE);
    options.seeds = argv + optind;
    options.seed_count = (unsigned)(argc - optind);
    return run(&options);
}
