#include "tools/websim/html.h"

#include "net/slice.h"

enum {
    DRAW_SIZE = 64,
    DRAW_TITLE,
    DRAW_TEXT,
    DRAW_CANONICAL,
    DRAW_NEAR,
};

/* The longest that these can become: sums of the literals below, with room. */
#define HEAD_BYTES_MAX  1536
#define TAIL_BYTES_MAX  1024
#define LINK_BYTES_MAX  (2 * WEBSIM_URL_BYTES + 160)
#define IMAGE_BYTES_MAX 256
/* Markup of one link with a path of usual length, taken off the page's size before prose is measured out. */
#define LINK_BYTES_USUAL 75
#define HEAD_BYTES_USUAL 340
#define BASE_DIRECTORY   "/base/deep/"

/* What writing one page needs to know. */
struct writer {
    const struct websim_page *page;
    const struct websim_text *text;
    char *at;
    char origin[WEBSIM_URL_BYTES];
    size_t origin_len;
    char own[WEBSIM_PATH_BYTES]; /* the path that relative links start from */
    size_t own_len;              /* to its last slash, included */
    unsigned own_depth;          /* directories in it */
};

static void put(struct writer *writer, struct slice text)
{
    memcpy(writer->at, text.ptr, text.len);
    writer->at += text.len;
}

#define PUT(writer, literal) put(writer, SLICE(literal))

/* In an attribute & is written as a reference. */
static void put_escaped(struct writer *writer, struct slice text)
{
    if (!memchr(text.ptr, '&', text.len)) {
        put(writer, text);
        return;
    }
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '&')
            PUT(writer, "&amp;");
        else
            *writer->at++ = text.ptr[i];
    }
}

static void put_upper(struct writer *writer, struct slice text)
{
    for (size_t i = 0; i < text.len; i++)
        *writer->at++ = text.ptr[i] >= 'a' && text.ptr[i] <= 'z' ? (char)(text.ptr[i] - 0x20) : text.ptr[i];
}

/* Relative to `own`: the rest of the path if it lies below, else up and down again. */
static void put_relative(struct writer *writer, struct slice path)
{
    struct slice directory = {writer->own, writer->own_len};
    char *begin = writer->at;
    if (slice_starts_with(path, directory)) {
        put_escaped(writer, slice_skip(path, directory.len));
    } else {
        for (unsigned i = 0; i < writer->own_depth; i++)
            PUT(writer, "../");
        put_escaped(writer, slice_skip(path, 1));
    }
    if (writer->at == begin)
        PUT(writer, "./");
}

static void put_origin(struct writer *writer, uint32_t host, unsigned form)
{
    char other[WEBSIM_URL_BYTES];
    struct slice origin = {writer->origin, writer->origin_len};
    if (host != writer->page->site.host)
        origin = (struct slice){other, websim_host_origin(writer->page->site.web, host, other)};
    if (form == 15)
        put_upper(writer, origin);
    else if (form == 13 && websim_host_is_https(writer->page->site.web, host) ==
                               websim_host_is_https(writer->page->site.web, writer->page->site.host))
        put(writer, slice_skip(origin, websim_host_is_https(writer->page->site.web, host) ? 6 : 5));
    else
        put(writer, origin);
}

static void put_href(struct writer *writer, const struct websim_link *link)
{
    char path[WEBSIM_PATH_BYTES];
    bool own = link->url.host == writer->page->site.host;
    struct websim_site site = own ? writer->page->site : websim_site(writer->page->site.web, link->url.host);
    struct slice target = {path, websim_path_write(&site, link->url, path)};
    unsigned form = link->bits & 15;
    if (own && !writer->page->portable && form < 4) {
        put_relative(writer, target);
        return;
    }
    if (!own || (form >= 10 && form != 14))
        put_origin(writer, link->url.host, form);
    put_escaped(writer, target);
    if (form == 14)
        PUT(writer, "#part");
}

static void put_words(struct writer *writer, uint64_t bits, uint64_t len)
{
    writer->at = websim_text_write(writer->text, bits, writer->at, len);
}

static void put_link(struct writer *writer, const struct websim_link *link)
{
    if (link->nofollow)
        PUT(writer, "<a rel=\"nofollow\" href=\"");
    else if ((link->bits >> 4 & 15) == 0)
        PUT(writer, "<a class=\"more\" title=\"a > b\" href='");
    else
        PUT(writer, "<a href=\"");
    put_href(writer, link);
    *writer->at++ = !link->nofollow && (link->bits >> 4 & 15) == 0 ? '\'' : '"';
    *writer->at++ = '>';
    put_words(writer, link->bits, 6 + (link->bits >> 8 & 15));
    PUT(writer, "</a> ");
}

/* Errors that the standard's tokenizer has an answer for: the link is the same as it would have been. */
static void put_malformed_link(struct writer *writer, const struct websim_link *link)
{
    PUT(writer, "<b><i></b>a < b & c &nosuch; </p></font>");
    if (link->nofollow)
        PUT(writer, "<A REL=nofollow HREF=");
    else if (link->bits & 16)
        PUT(writer, "<a\n\tx='y'href=");
    else
        PUT(writer, "<a / href = ");
    put_href(writer, link);
    PUT(writer, " href=\"/second\" =z>");
    put_words(writer, link->bits, 8);
    PUT(writer, "<a name=x></ a>");
}

static void put_bad_urls(struct writer *writer)
{
    PUT(writer, "<a href=\"http://\">a</a><a href=\"http://[::1/\">b</a><a href=\"http://a:99999/\">c</a>"
                "<a href=\"http://exa mple/\">d</a><a href=\"javascript:alert(1)\">e</a>"
                "<a href=\"mailto:who@example.example\">f</a><a href=\"data:text/html,x\">g</a>"
                "<a href=\"ftp://files.example/\">h</a><a href=\"http://%zz/\">i</a><a href=\"tel:123\">j</a>"
                "<a href=\"https://user:pass word@/x\">k</a><a>l</a>");
}

static void put_images(struct writer *writer)
{
    char path[WEBSIM_PATH_BYTES];
    for (uint32_t i = 0; i < websim_page_images(writer->page); i++) {
        struct websim_url url = websim_page_image(writer->page, i);
        struct slice image = {path, websim_path_write(&writer->page->site, url, path)};
        PUT(writer, "<img src=\"");
        put(writer, image);
        if (i == 0) {
            PUT(writer, "\" srcset=\"");
            put(writer, image);
            PUT(writer, " 1x, ");
            put(writer, image);
            PUT(writer, " 2x");
        }
        PUT(writer, "\" alt=\"\">\n");
    }
}

static void put_head(struct writer *writer)
{
    const struct websim_page *page = writer->page;
    uint64_t bits = websim_hash(page->bits, DRAW_TITLE);
    PUT(writer, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
    put_words(writer, bits, 16 + (bits >> 32 & 31));
    PUT(writer, "</title>\n");
    if (page->meta_nofollow)
        PUT(writer, "<meta name=\"robots\" content=\"nofollow\">\n");
    if (page->has_base) {
        PUT(writer, "<base href=\"");
        put(writer, (struct slice){writer->origin, writer->origin_len});
        PUT(writer, BASE_DIRECTORY "\">\n");
    }
    PUT(writer, "<link rel=\"stylesheet\" href=\"/style.css\">\n");
    if (page->url.kind == WEBSIM_KIND_SESSION || (websim_hash(page->bits, DRAW_CANONICAL) & 7) == 0) {
        char url[WEBSIM_URL_BYTES];
        struct websim_url canonical = page->url;
        if (canonical.kind == WEBSIM_KIND_SESSION)
            canonical.kind = WEBSIM_KIND_PAGE;
        if (canonical.kind == WEBSIM_KIND_PAGE)
            canonical.index = page->content;
        PUT(writer, "<link rel=\"canonical\" href=\"");
        put_escaped(writer, (struct slice){url, websim_url_write(page->site.web, canonical, url)});
        PUT(writer, "\">\n");
    }
    PUT(writer, "</head>\n<body>\n<h1>");
    put_words(writer, bits, 16 + (bits >> 32 & 31));
    PUT(writer, "</h1>\n");
}

static void put_tail(struct writer *writer)
{
    const struct websim_page *page = writer->page;
    if (page->fault == WEBSIM_FAULT_BADURL)
        put_bad_urls(writer);
    if (page->near) {
        PUT(writer, "<p>");
        put_words(writer, websim_hash(page->bits, DRAW_NEAR + page->url.index), 60);
        PUT(writer, "</p>\n");
    }
    if (page->fault == WEBSIM_FAULT_BADHTML)
        PUT(writer, "<table><tr></body><!-- no end");
    else
        PUT(writer, "</body>\n</html>\n");
}

static void begin(struct writer *writer, const struct websim_page *page)
{
    struct slice own = SLICE(BASE_DIRECTORY);
    writer->page = page;
    writer->origin_len = websim_host_origin(page->site.web, page->site.host, writer->origin);
    if (!page->has_base) {
        own = (struct slice){writer->own, websim_path_write(&page->site, page->url, writer->own)};
        const char *query = memchr(own.ptr, '?', own.len);
        if (query)
            own.len = (size_t)(query - own.ptr);
        while (own.ptr[own.len - 1] != '/')
            own.len--;
    } else {
        memcpy(writer->own, own.ptr, own.len);
    }
    writer->own_len = own.len;
    writer->own_depth = 0;
    for (size_t i = 1; i < own.len; i++)
        writer->own_depth += own.ptr[i] == '/';
}

/* Bytes of prose in all. */
static uint64_t prose_bytes(const struct websim_page *page)
{
    const struct websim_web *web = page->site.web;
    uint64_t bits = websim_hash(page->bits, DRAW_SIZE), size = websim_lognormal_draw(&web->size_law, bits);
    if (web->parameters.size_spread && websim_mix(bits) % WEBSIM_LARGE_ONE_IN == 0)
        size *= WEBSIM_LARGE_TIMES_MIN + websim_below(bits, WEBSIM_LARGE_TIMES_MORE);
    if (size > web->parameters.size_max)
        size = web->parameters.size_max;
    uint64_t taken = HEAD_BYTES_USUAL + (uint64_t)page->links * LINK_BYTES_USUAL;
    return size > taken ? size - taken : 0;
}

void websim_html_write(const struct websim_page *page, const struct websim_text *text,
                       struct websim_buffer *out)
{
    struct writer writer = {.text = text};
    uint64_t prose = prose_bytes(page), bits = websim_hash(page->bits, DRAW_TEXT);
    uint64_t per_link = page->links ? prose / page->links : prose;
    size_t bound = HEAD_BYTES_MAX + TAIL_BYTES_MAX + IMAGE_BYTES_MAX * 4 + prose +
                   (size_t)page->links * (LINK_BYTES_MAX + WEBSIM_TEXT_SLACK + 8);
    writer.at = websim_buffer_room(out, bound);
    begin(&writer, page);
    put_head(&writer);
    put_images(&writer);
    for (uint32_t i = 0; i < page->links; i++) {
        struct websim_link link = websim_page_link(page, i);
        PUT(&writer, "<p>");
        bits = websim_mix(bits + i);
        put_words(&writer, bits, per_link);
        if (page->fault == WEBSIM_FAULT_BADHTML)
            put_malformed_link(&writer, &link);
        else
            put_link(&writer, &link);
        PUT(&writer, "</p>\n");
    }
    put_tail(&writer);
    out->len = (size_t)(writer.at - out->data);
}
