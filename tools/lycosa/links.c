/* lycosa links: the links of one document, one per line: kind, a tab, the URL. It is read as the crawl reads
 * it: HTML, style sheets, feeds and sitemaps are told apart by type and content. Links that are not http(s)
 * are left out, except with --json, which prints them as they are written, with the reason. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

#include "engine/content/limits.h"
#include "engine/content/scan.h"
#include "engine/content/unpack.h"
#include "engine/url/url.h"
#include "tools/lycosa/commands.h"
#include "tools/lycosa/json.h"

#define LINKS_MAX          100000     /* a document with more names its first ones */
#define TEXT_BYTES         (16 << 20) /* for decoded URLs */
#define READ_BYTES         (1 << 20)
#define DOCUMENT_BYTES_MAX (1u << 30) /* of what was packed */
#define LINK_FIELDS_MAX    16         /* on one command line */

struct job {
    struct url page;
    struct url base; /* the page's own, or that of its base element */
    struct slice content_type;
    struct slice refresh;
    struct slice link_fields[LINK_FIELDS_MAX];
    size_t link_field_count;
    struct scan_options options;
    bool json;
    char page_buffer[URL_BYTES_MAX];
    char base_buffer[URL_BYTES_MAX];
};

enum { OPTION_TYPE = COMMAND_LONG, OPTION_LINK, OPTION_REFRESH, OPTION_FORMS, OPTION_NOSCRIPT, OPTION_CSS, OPTION_JSON };

static const struct command_option known[] = {
    {'b', "base", "URL", "where the document is from; must be given"},
    {OPTION_TYPE, "content-type", "TYPE", "as in the response's head; otherwise the content tells"},
    {OPTION_LINK, "link", "FIELD", "a Link field of the response's head; may be given several times"},
    {OPTION_REFRESH, "refresh", "FIELD", "the Refresh field of the response's head"},
    {OPTION_FORMS, "forms", NULL, "where forms lead to as well"},
    {OPTION_NOSCRIPT, "noscript", NULL, "links within noscript elements as well"},
    {OPTION_CSS, "css", NULL, "links of style elements and attributes as well"},
    {OPTION_JSON, "json", NULL, "one object per link, also of those that are not http(s), with the reason"},
    {0},
};

const struct command lycosa_links = {
    .program = "lycosa",
    .name = "links",
    .run = lycosa_links_main,
    .synopsis = "--base URL [OPTIONS] FILE",
    .summary = "the links of a page",
    .description = "Prints the links of a document as the crawl finds them, one per line: kind, a tab, the URL. HTML, "
                   "style sheets, feeds and sitemaps are told apart by type and content. FILE may be '-' for stdin, "
                   "and in gzip.",
    .options = known,
};

/* The whole file, or NULL after a message. */
static char *read_file(const char *path, size_t *len)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char *bytes = NULL, *more = NULL;
    size_t got = 1;
    *len = 0;
    while (file && got > 0 && (more = realloc(bytes, *len + READ_BYTES)) != NULL) {
        bytes = more;
        got = fread(bytes + *len, 1, READ_BYTES, file);
        *len += got;
    }
    if (!file || !more || ferror(file)) {
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
    const struct url *base = link->flags & LINK_OF_HEAD ? &job->page : &job->base;
    enum url_error error = url_parse(&url, base, link->url);
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

/* Scans the document, piece by piece where it is a sitemap. False: no memory. */
static bool scan_document(struct job *job, struct scan *scan, struct links *links, struct slice document)
{
    struct scan_page page = {.url = &job->page,
                             .content_type = job->content_type,
                             .refresh = job->refresh,
                             .link_fields = job->link_fields,
                             .link_field_count = job->link_field_count,
                             .body = document,
                             .is_sitemap = true};
    scan_begin(scan, links, &page, &job->options);
    scan->room = scan->room_bytes ? malloc(scan->room_bytes) : NULL;
    if (scan->room_bytes && !scan->room)
        return false;
    enum scan_progress progress;
    do {
        progress = scan_next(scan, SCAN_STEP_BYTES);
        if (progress != SCAN_MORE)
            print_links(job, scan->document, links);
    } while (progress != SCAN_DONE);
    free(scan->room);
    return true;
}

static bool scan_in_memory(struct job *job, struct slice document)
{
    struct links links;
    struct scan *scan = malloc(sizeof(*scan));
    struct link *found = malloc(LINKS_MAX * sizeof(*found));
    char *text = malloc(TEXT_BYTES);
    bool is_good = scan && found && text;
    if (is_good) {
        links_init(&links, found, LINKS_MAX);
        links_set_text(&links, text, TEXT_BYTES);
        is_good = scan_document(job, scan, &links, document);
    }
    free(scan);
    free(found);
    free(text);
    encoding_fini();
    if (!is_good)
        fprintf(stderr, "lycosa links: no memory for a document of %zu bytes\n", document.len);
    return is_good;
}

static bool grow(struct unpack_room *room, size_t size, size_t used)
{
    (void)used;
    char *bytes = realloc(room->bytes, size);
    if (bytes)
        *room = (struct unpack_room){bytes, size, grow};
    return bytes;
}

/* A file that was saved as it came, in gzip, is unpacked as in the crawl. */
static bool scan_unpacked(struct job *job, struct slice file)
{
    struct decode *decode = decode_create(&(struct decode_options){.bytes_max = DOCUMENT_BYTES_MAX});
    struct unpack_room room = {NULL, 0, grow};
    struct unpack_body body = {
        .codings = SLICE(""), .content_type = job->content_type, .bytes = file, .is_sitemap = true};
    struct unpack unpack;
    if (!decode) {
        fprintf(stderr, "lycosa links: no memory\n");
        return false;
    }
    unpack_begin(&unpack, &body, decode, &room);
    while (unpack_step(&unpack) == UNPACK_MORE)
        ;
    bool is_good = scan_in_memory(job, unpack.document);
    free(room.bytes);
    decode_destroy(decode);
    return is_good;
}

static int run(struct job *job, const char *path)
{
    struct slice file;
    file.ptr = read_file(path, &file.len);
    if (!file.ptr)
        return LYCOSA_EXIT_FAILED;
    bool is_good = scan_unpacked(job, file);
    free((char *)(uintptr_t)file.ptr);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        perror("lycosa links: stdout");
        return LYCOSA_EXIT_FAILED;
    }
    return is_good ? LYCOSA_EXIT_DONE : LYCOSA_EXIT_FAILED;
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
    static struct job job;
    bool has_base = false;
    job.content_type = job.refresh = SLICE("");
    job.options.sheets = true;
    url_init(&job.page, job.page_buffer, sizeof(job.page_buffer));
    url_init(&job.base, job.base_buffer, sizeof(job.base_buffer));
    optind = 1;
    for (int option; (option = command_getopt(&lycosa_links, argc, argv)) != -1;) {
        switch (option) {
        case 'b':
            has_base = read_base(&job, optarg);
            if (!has_base)
                return LYCOSA_EXIT_USAGE;
            break;
        case OPTION_TYPE:
            job.content_type = slice_of(optarg);
            break;
        case OPTION_LINK:
            if (job.link_field_count == LINK_FIELDS_MAX)
                return command_help(&lycosa_links, stderr);
            job.link_fields[job.link_field_count++] = slice_of(optarg);
            break;
        case OPTION_REFRESH:
            job.refresh = slice_of(optarg);
            break;
        case OPTION_FORMS:
            job.options.forms = true;
            break;
        case OPTION_NOSCRIPT:
            job.options.noscript = true;
            break;
        case OPTION_CSS:
            job.options.css = true;
            break;
        case OPTION_JSON:
            job.json = true;
            break;
        default:
            return command_help(&lycosa_links, option == 'h' ? stdout : stderr);
        }
    }
    return has_base && optind + 1 == argc ? run(&job, argv[optind]) : command_help(&lycosa_links, stderr);
}
