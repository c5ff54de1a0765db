/* lycosa links: the links of one document, one per line: kind, a tab, the URL. HTML, style sheets, feeds and
 * sitemaps are told apart as the crawl does it. Links that are not http(s) are left out, except with --json,
 * which prints them as they are written, with the reason. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

#include "engine/css.h"
#include "engine/feed.h"
#include "engine/sitemap.h"
#include "engine/sniff.h"
#include "engine/url.h"
#include "tools/lycosa_commands.h"
#include "tools/lycosa_json.h"

#define LINKS_MAX  100000     /* a document with more names its first ones */
#define TEXT_BYTES (16 << 20) /* for decoded URLs */
#define READ_BYTES (1 << 20)

struct job {
    struct url page;
    struct url base; /* the page's own, or that of its base element */
    struct slice content_type;
    struct links_options options;
    bool json;
    char page_buffer[URL_BYTES_MAX];
    char base_buffer[URL_BYTES_MAX];
};

static int usage(void)
{
    fprintf(
        stderr,
        "usage: lycosa links --base URL [--content-type TYPE] [--forms] [--noscript] [--css] [--json] FILE\n"
        "FILE may be - for stdin\n");
    return LYCOSA_EXIT_USAGE;
}

/* The whole file, or NULL after a message. */
static char *read_file(const char *path, size_t *len)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char *bytes = NULL;
    size_t got;
    *len = 0;
    if (file) {
        do {
            bytes = realloc(bytes, *len + READ_BYTES);
            got = fread(bytes + *len, 1, READ_BYTES, file);
            *len += got;
        } while (got > 0);
    }
    if (!file || ferror(file)) {
        fprintf(stderr, "lycosa links: %s: %s\n", path, strerror(errno));
        free(bytes);
        bytes = NULL;
    }
    if (file && file != stdin)
        fclose(file);
    return bytes;
}

static void print_json(struct slice document, const struct link *link, enum url_error error,
                       const struct url *url)
{
    lycosa_json_member(stdout, true, "kind", slice_of(link_kind_name(link->kind)));
    lycosa_json_member(stdout, false, "url", error == URL_OK ? url_text(url) : link->url);
    if (error != URL_OK)
        lycosa_json_member(stdout, false, "error", slice_of(url_error_text(error)));
    if (link->flags & LINK_NOFOLLOW)
        fputs(",\"nofollow\":true", stdout);
    if (link->flags & LINK_UGC)
        fputs(",\"ugc\":true", stdout);
    if (link->flags & LINK_SPONSORED)
        fputs(",\"sponsored\":true", stdout);
    if (link->text_len)
        lycosa_json_member(stdout, false, "text",
                           (struct slice){document.ptr + link->text_at, link->text_len});
    fputs("}\n", stdout);
}

static void print_link(const struct job *job, struct slice document, const struct link *link)
{
    char buffer[URL_BYTES_MAX];
    struct url url;
    url_init(&url, buffer, sizeof(buffer));
    enum url_error error = url_parse(&url, &job->base, link->url);
    if (job->json)
        print_json(document, link, error, &url);
    else if (error == URL_OK)
        printf("%s\t%.*s\n", link_kind_name(link->kind), (int)url.len, url.text);
}

static void print_links(struct job *job, struct slice document, const struct links *links)
{
    if (links->base.ptr && url_parse(&job->base, &job->page, links->base) != URL_OK)
        url_copy(&job->base, &job->page);
    for (size_t i = 0; i < links->count; i++)
        print_link(job, document, &links->found[i]);
    if (links->dropped)
        fprintf(stderr, "lycosa links: %zu more links were dropped\n", links->dropped);
}

static void print_sitemap(const struct job *job, struct slice document, enum sitemap_form form)
{
    static struct sitemap map;
    struct sitemap_entry entry;
    sitemap_init(&map, form, document);
    while (sitemap_next(&map, &entry) == PARSE_DONE)
        print_link(job, document,
                   &(struct link){.url = entry.url, .kind = entry.is_sitemap ? LINK_SITEMAP : LINK_ENTRY});
}

/* Converts a document whose markup is not ASCII; what was there is freed. */
static struct slice widen(struct slice document, const struct encoding *encoding)
{
    char *text = malloc(encoding_utf8_bytes_max(document.len));
    struct slice result = {text,
                           encoding_to_utf8(encoding, slice_skip(document, encoding_bom(document)), text)};
    free((char *)(uintptr_t)document.ptr);
    encoding_fini();
    return result;
}

static void scan(struct job *job, struct slice document)
{
    struct links links;
    links_init(&links, malloc(LINKS_MAX * sizeof(struct link)), LINKS_MAX);
    links_set_text(&links, malloc(TEXT_BYTES), TEXT_BYTES);
    switch (sniff_body(job->content_type, document)) {
    case SNIFF_CSS:
        css_scan(&links, document);
        break;
    case SNIFF_FEED:
        feed_scan(&links, document);
        break;
    case SNIFF_SITEMAP:
        print_sitemap(job, document, SITEMAP_XML);
        break;
    case SNIFF_TEXT:
        print_sitemap(job, document, SITEMAP_TEXT);
        break;
    case SNIFF_HTML:
    case SNIFF_XML:
    case SNIFF_SCRIPT:
    case SNIFF_JSON:
    case SNIFF_IMAGE:
    case SNIFF_MEDIA:
    case SNIFF_FONT:
    case SNIFF_PDF:
    case SNIFF_ARCHIVE:
    case SNIFF_BINARY:
    case SNIFF_EMPTY:
    case SNIFF_TYPES:
        links_scan(&links, document, &job->options);
        break;
    }
    print_links(job, document, &links);
    free(links.found);
    free(links.text);
}

static int run(struct job *job, const char *path)
{
    struct slice document;
    document.ptr = read_file(path, &document.len);
    if (!document.ptr)
        return LYCOSA_EXIT_FAILED;
    job->options.encoding = encoding_detect(job->content_type, document);
    if (job->options.encoding->is_wide) {
        document = widen(document, job->options.encoding);
        job->options.encoding = NULL;
    }
    scan(job, document);
    encoding_fini();
    free((char *)(uintptr_t)document.ptr);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("lycosa links: stdout");
        return LYCOSA_EXIT_FAILED;
    }
    return LYCOSA_EXIT_DONE;
}

static bool read_base(struct job *job, const char *text)
{
    enum url_error error = url_parse(&job->page, NULL, slice_of(text));
    if (error != URL_OK) {
        fprintf(stderr, "lycosa links: --base %s: %s\n", text, url_error_text(error));
        return false;
    }
    return url_copy(&job->base, &job->page);
}

int lycosa_links_main(int argc, char **argv)
{
    static const struct option options[] = {{"base", required_argument, NULL, 'b'},
                                            {"content-type", required_argument, NULL, 't'},
                                            {"forms", no_argument, NULL, 'f'},
                                            {"noscript", no_argument, NULL, 'n'},
                                            {"css", no_argument, NULL, 'c'},
                                            {"json", no_argument, NULL, 'j'},
                                            {NULL, 0, NULL, 0}};
    static struct job job;
    bool has_base = false;
    job.content_type = SLICE("");
    url_init(&job.page, job.page_buffer, sizeof(job.page_buffer));
    url_init(&job.base, job.base_buffer, sizeof(job.base_buffer));
    optind = 1;
    for (int option; (option = getopt_long(argc, argv, "b:", options, NULL)) != -1;) {
        switch (option) {
        case 'b':
            has_base = read_base(&job, optarg);
            if (!has_base)
                return LYCOSA_EXIT_USAGE;
            break;
        case 't':
            job.content_type = slice_of(optarg);
            break;
        case 'f':
            job.options.forms = true;
            break;
        case 'n':
            job.options.noscript = true;
            break;
        case 'c':
            job.options.css = true;
            break;
        case 'j':
            job.json = true;
            break;
        default:
            return usage();
        }
    }
    return has_base && optind + 1 == argc ? run(&job, argv[optind]) : usage();
}
