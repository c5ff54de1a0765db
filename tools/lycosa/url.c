/* lycosa url: normalises the URLs on stdin, one per line. Each line gives one line: the result, or
 * "error: why". Without --canonical the result is the URL standard's serialisation, fragment included. */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>

#include "engine/url/canonical.h"
#include "engine/url/domain.h"
#include "engine/url/surt.h"
#include "tools/lycosa/commands.h"
#include "tools/lycosa/json.h"
#include "tools/lycosa/lines.h"

struct job {
    const struct url *base; /* or NULL */
    unsigned rules;
    bool surt, json;
};

enum { OPTION_CANONICAL = COMMAND_LONG, OPTION_SURT, OPTION_JSON };

static const struct command_option known[] = {
    {'b', "base", "URL", "resolve relative URLs against this one"},
    {OPTION_CANONICAL, "canonical", "RULE,...", "apply these rules beyond the standard; they are listed below"},
    {OPTION_SURT, "surt", NULL, "print the sort-friendly form in place of the URL; with --json beside it"},
    {OPTION_JSON, "json", NULL, "one object per URL, with its parts"},
    {0},
};

/* What each leaves out. */
static const struct command_term canonical_rules[] = {
    {"fragment", "what follows #"},
    {"userinfo", "name and password before the host"},
    {"case", "capital letters of path and query, for small ones"},
    {"www", "www., www1. and so on at the beginning of the host, but not of a site's root page"},
    {"session-ids", "jsessionid, phpsessid, sid, ASPSESSIONID, cfid and cftoken"},
    {"empty-query", "? or ?& with nothing behind it, & at the beginning or end of a query"},
    {"index-page", "index.html and the like at the end of the path"},
    {"default, all, none", "the first two; each of them; nothing beyond the standard"},
    {0},
};

static const struct command_section sections[] = {{"Rules of --canonical, by what they leave out", canonical_rules}, {0}};

const struct command lycosa_url = {
    .program = "lycosa",
    .name = "url",
    .run = lycosa_url_main,
    .synopsis = "[OPTIONS] < URLS",
    .summary = "URLs on stdin, normalised",
    .description = "Normalises the URLs on stdin by the URL standard, one result or 'error: why' per line.",
    .options = known,
    .sections = sections,
};

static void print_json(const struct job *job, struct slice input, enum url_error error, const struct url *url)
{
    char surt[SURT_BYTES_MAX];
    lycosa_json_member(stdout, true, "input", input);
    if (error != URL_OK) {
        lycosa_json_member(stdout, false, "error", slice_of(url_error_text(error)));
    } else {
        lycosa_json_member(stdout, false, "url", url_text(url));
        lycosa_json_member(stdout, false, "scheme", url_scheme(url));
        lycosa_json_member(stdout, false, "userinfo", url_userinfo(url));
        lycosa_json_member(stdout, false, "host", url_host(url));
        printf(",\"port\":%u", url->port);
        lycosa_json_member(stdout, false, "path", url_path(url));
        lycosa_json_member(stdout, false, "query", url_query(url));
        lycosa_json_member(stdout, false, "fragment", url_fragment(url));
        lycosa_json_member(stdout, false, "domain", domain_registrable(url_host(url)));
        if (job->surt)
            lycosa_json_member(stdout, false, "surt", surt_write(surt, url, SURT_KEEP_SCHEME));
        printf(",\"hash\":\"%016" PRIx64 "\"", url_hash(url));
    }
    fputs("}\n", stdout);
}

static void print_plain(const struct job *job, enum url_error error, const struct url *url)
{
    char surt[SURT_BYTES_MAX];
    if (error != URL_OK) {
        fputs_unlocked("error: ", stdout);
        fputs_unlocked(url_error_text(error), stdout);
    } else {
        struct slice text = job->surt ? surt_write(surt, url, SURT_KEEP_SCHEME) : url_text(url);
        fwrite_unlocked(text.ptr, 1, text.len, stdout);
    }
    putc_unlocked('\n', stdout);
}

static void normalise(void *owner, struct slice line)
{
    const struct job *job = owner;
    char buffer[URL_BYTES_MAX];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    enum url_error error = url_parse(&url, job->base, line);
    if (error == URL_OK)
        canonical_apply(&url, job->rules);
    if (job->json)
        print_json(job, line, error, &url);
    else
        print_plain(job, error, &url);
}

static bool read_base(struct url *base, const char *text)
{
    enum url_error error = url_parse(base, NULL, slice_of(text));
    if (error != URL_OK)
        fprintf(stderr, "lycosa url: --base %s: %s\n", text, url_error_text(error));
    return error == URL_OK;
}

static bool read_rules(unsigned *rules, const char *names)
{
    struct slice bad;
    if (canonical_parse(rules, slice_of(names), &bad))
        return true;
    fprintf(stderr, "lycosa url: --canonical: no rule '%.*s'\n", (int)bad.len, bad.ptr);
    return false;
}

int lycosa_url_main(int argc, char **argv)
{
    static char base_buffer[URL_BYTES_MAX];
    struct url base;
    struct job job = {.rules = CANONICAL_NONE};
    url_init(&base, base_buffer, sizeof base_buffer);
    optind = 1;
    for (int option; (option = command_getopt(&lycosa_url, argc, argv)) != -1;) {
        switch (option) {
        case 'b':
            job.base = &base;
            if (!read_base(&base, optarg))
                return LYCOSA_EXIT_USAGE;
            break;
        case OPTION_CANONICAL:
            if (!read_rules(&job.rules, optarg))
                return command_help(&lycosa_url, stderr);
            break;
        case OPTION_SURT:
            job.surt = true;
            break;
        case OPTION_JSON:
            job.json = true;
            break;
        default:
            return command_help(&lycosa_url, option == 'h' ? stdout : stderr);
        }
    }
    return optind < argc ? command_help(&lycosa_url, stderr) : lycosa_each_line("lycosa url", normalise, &job);
}
