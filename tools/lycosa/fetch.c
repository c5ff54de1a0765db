/* lycosa fetch: fetches URLs through the whole of net/, one line of JSON or one body each. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "engine/tuning/tuning_value.h"
#include "tools/lycosa/commands.h"
#include "tools/lycosa/fetch_run.h"

enum {
    OPTION_CONNECTIONS = COMMAND_LONG,
    OPTION_REPEAT,
    OPTION_DNS,
    OPTION_CACERT,
    OPTION_INSECURE,
    OPTION_TIME,
    OPTION_CONTACT,
    OPTION_JSON
};

static const struct command_option known[] = {
    {'o', "output", "DIR", "write the bodies to DIR/1, DIR/2, ... instead of stdout"},
    {'v', "verbose", NULL, "show address, TLS, request, response head and times on stderr"},
    {'I', "head", NULL, "ask for the head alone, and print it"},
    {OPTION_CONNECTIONS, "connections", "N", "at most N at once (1)"},
    {OPTION_REPEAT, "repeat", "N", "fetch each URL N times (1)"},
    {OPTION_DNS, "dns", "SERVER", "ask ADDRESS[:PORT][,...] instead of the system's name servers"},
    {OPTION_CACERT, "cacert", "FILE", "trust the certificates in FILE instead of the system's"},
    {OPTION_INSECURE, "insecure", NULL, "accept any certificate, and say what is wrong with it"},
    {OPTION_TIME, "max-time", "TIME", "give a fetch up after this time (10s, 500ms, 2m)"},
    {OPTION_CONTACT, "contact", "URL", "name in the User-Agent; needed for any address but loopback"},
    {OPTION_JSON, "json", NULL, "one line per fetch; bodies are dropped unless -o keeps them"},
    {0},
};

const struct command lycosa_fetch = {
    .program = "lycosa",
    .name = "fetch",
    .run = lycosa_fetch_main,
    .synopsis = "[OPTIONS] URL...",
    .summary = "URLs through the crawl's own network code: bodies to stdout or files, and times",
    .description = "Fetches each URL once as the crawl would: names, TLS and HTTP by lycosa's own stack.",
    .options = known,
};

/* A number from 1 to `max`, or 0 with a message. */
static unsigned read_count(const char *option, const char *text, unsigned max)
{
    char *end;
    errno = 0;
    const unsigned long value = strtoul(text, &end, 10);
    if (errno || end == text || *end || text[0] == '-' || value < 1 || value > max) {
        fprintf(stderr, "lycosa fetch: --%s %s: a number from 1 to %u is expected\n", option, text, max);
        return 0;
    }
    return (unsigned)value;
}

/* A time with its unit; a bare number is seconds. */
static bool read_time(uint32_t *ms, const char *text)
{
    double ns;
    char *end;
    const double seconds = strtod(text, &end);
    if (end != text && *end == '\0')
        ns = seconds * 1e9;
    else if (!tuning_value_read(TUNING_DURATION, slice_of(text), &ns))
        ns = 0;
    if (!(ns >= 1e6 && ns <= 1e15)) {
        fprintf(stderr, "lycosa fetch: --max-time %s: a time from 1ms to 11d is expected\n", text);
        return false;
    }
    *ms = (uint32_t)(ns / 1e6);
    return true;
}

static bool read_option(struct lycosa_fetch_options *options, int option)
{
    switch (option) {
    case 'o':
        options->directory = optarg;
        return true;
    case OPTION_CONNECTIONS:
        return (options->connections = read_count("connections", optarg, 1u << 20));
    case OPTION_REPEAT:
        return (options->repeat = read_count("repeat", optarg, 1u << 30));
    case OPTION_DNS:
        options->dns = optarg;
        return true;
    case OPTION_CACERT:
        options->cacert = optarg;
        return true;
    case OPTION_INSECURE:
        return (options->insecure = true);
    case OPTION_TIME:
        return read_time(&options->max_time_ms, optarg);
    case OPTION_CONTACT:
        options->contact = optarg;
        return true;
    case OPTION_JSON:
        return (options->json = true);
    case 'v':
        return (options->verbose = true);
    case 'I':
        return (options->head_only = true);
    default:
        command_help(&lycosa_fetch, stderr);
        return false;
    }
}

static bool make_directory(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    fprintf(stderr, "lycosa fetch: cannot make the directory %s: %s\n", path, strerror(errno));
    return false;
}

static bool read_urls(struct lycosa_fetch_url *urls, char **arguments, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *buffer = malloc(URL_BYTES_MAX);
        if (!buffer)
            return false;
        url_init(&urls[i].url, buffer, URL_BYTES_MAX);
        const enum url_error error = url_parse(&urls[i].url, NULL, slice_of(arguments[i]));
        if (error != URL_OK) {
            fprintf(stderr, "lycosa fetch: %s: %s\n", arguments[i], url_error_text(error));
            return false;
        }
    }
    return true;
}

static void free_urls(struct lycosa_fetch_url *urls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(urls[i].url.text);
    free(urls);
}

int lycosa_fetch_main(int argc, char **argv)
{
    struct lycosa_fetch_options options = {.connections = 1, .repeat = 1};
    optind = 1;
    for (int option; (option = command_getopt(&lycosa_fetch, argc, argv)) != -1;) {
        if (option == 'h')
            return command_help(&lycosa_fetch, stdout);
        if (!read_option(&options, option))
            return LYCOSA_EXIT_USAGE;
    }
    if (optind == argc)
        return command_help(&lycosa_fetch, stderr);
    if (options.directory && !make_directory(options.directory))
        return LYCOSA_EXIT_FAILED;
    const size_t count = (size_t)(argc - optind);
    struct lycosa_fetch_url *urls = calloc(count, sizeof *urls);
    if (!urls) {
        fprintf(stderr, "lycosa fetch: no memory for %zu URLs\n", count);
        return LYCOSA_EXIT_FAILED;
    }
    const int result =
        read_urls(urls, argv + optind, count) ? lycosa_fetch_run(&options, urls, count) : LYCOSA_EXIT_USAGE;
    free_urls(urls, count);
    return result;
}
