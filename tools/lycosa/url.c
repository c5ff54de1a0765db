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

static int usage(FILE *out)
{
    fprintf(out, "usage: lycosa url [OPTIONS] < URLS\n\n"
                 "Normalises the URLs on stdin by the URL standard, one result or 'error: why' per line.\n\n"
                 "  -b, --base URL            resolve relative URLs against this one\n"
                 "      --canonical RULE,...  apply these rules beyond the standard:\n"
                 "                           ");
    for (unsigned i = 0; canonical_name(i); i++)
        fprintf(out, " %s", canonical_name(i));
    fprintf(out, " default all none\n"
                 "      --surt                print the sort-friendly form too\n"
                 "      --json                one object per URL, with its parts\n"
                 "  -h, --help                print this\n");
    return out == stdout ? LYCOSA_EXIT_DONE : LYCOSA_EXIT_USAGE;
}

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
    static const struct option options[] = {
        {"base", required_argument, NULL, 'b'}, {"canonical", required_argument, NULL, 'c'},
        {"surt", no_argument, NULL, 's'},       {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},       {NULL, 0, NULL, 0}};
    static char base_buffer[URL_BYTES_MAX];
    struct url base;
    struct job job = {.rules = CANONICAL_NONE};
    url_init(&base, base_buffer, sizeof base_buffer);
    optind = 1;
    for (int option; (option = getopt_long(argc, argv, "b:h", options, NULL)) != -1;) {
        switch (option) {
        case 'b':
            job.base = &base;
            if (!read_base(&base, optarg))
                return LYCOSA_EXIT_USAGE;
            break;
        case 'c':
            if (!read_rules(&job.rules, optarg))
                return usage(stderr);
            break;
        case 's':
            job.surt = true;
            break;
        case 'j':
            job.json = true;
            break;
        default:
            return usage(option == 'h' ? stdout : stderr);
        }
    }
    return optind < argc ? usage(stderr) : lycosa_each_line("lycosa url", normalise, &job);
}
