#include "tools/websim/body.h"

#include "tools/websim/html.h"
#include "tools/websim/robots.h"

#define IMAGE_BYTES_MIN  200
#define IMAGE_BYTES_MORE 1800
#define SITEMAP_URLS_MAX 1000

static void append(struct websim_buffer *out, struct slice text)
{
    memcpy(websim_buffer_room(out, text.len), text.ptr, text.len);
    out->len += text.len;
}

/* A PNG signature and noise: nobody looks at it. */
static void write_image(const struct websim_page *page, struct websim_buffer *out)
{
    uint64_t bits = websim_mix(page->bits);
    size_t len = (IMAGE_BYTES_MIN + websim_below(bits, IMAGE_BYTES_MORE)) & ~(size_t)7;
    char *at = websim_buffer_room(out, len);
    memcpy(at, "\x89PNG\r\n\x1a\n", 8);
    for (size_t i = 8; i < len; i += 8) {
        bits = websim_mix(bits + i);
        for (unsigned byte = 0; byte < 8; byte++)
            at[i + byte] = (char)(bits >> 8 * byte);
    }
    out->len += len;
}

static void write_sitemap(const struct websim_page *page, struct websim_buffer *out)
{
    char url[WEBSIM_URL_BYTES];
    uint32_t count = page->site.pages < SITEMAP_URLS_MAX ? page->site.pages : SITEMAP_URLS_MAX;
    append(out, SLICE("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                      "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"));
    for (uint32_t i = 0; i < count; i++) {
        struct websim_url of = {.host = page->site.host, .kind = WEBSIM_KIND_PAGE, .index = i};
        size_t len = websim_url_write(page->site.web, of, url), done = 0;
        append(out, SLICE("<url><loc>"));
        for (size_t at = 0; at < len; at++)
            if (url[at] == '&') {
                append(out, (struct slice){url + done, at - done});
                append(out, SLICE("&amp;"));
                done = at + 1;
            }
        append(out, (struct slice){url + done, len - done});
        append(out, SLICE("</loc></url>\n"));
    }
    append(out, SLICE("</urlset>\n"));
}

void websim_body_write(const struct websim_page *page, const struct websim_text *text,
                       struct websim_buffer *out)
{
    switch (page->body) {
    case WEBSIM_BODY_HTML:
        websim_html_write(page, text, out);
        return;
    case WEBSIM_BODY_NONE:
        append(out, SLICE("moved\n"));
        return;
    case WEBSIM_BODY_GONE:
        append(out, SLICE("<!DOCTYPE html>\n<title>Not here</title>\n<p>There is nothing here.</p>\n"));
        return;
    case WEBSIM_BODY_IMAGE:
        write_image(page, out);
        return;
    case WEBSIM_BODY_STYLE:
        append(out, SLICE("body { margin: 1em auto; max-width: 40em; }\n"));
        return;
    case WEBSIM_BODY_ROBOTS:
        out->len += websim_robots_write(page->site.web, page->site.host,
                                        websim_buffer_room(out, WEBSIM_ROBOTS_BYTES));
        return;
    case WEBSIM_BODY_SITEMAP:
        write_sitemap(page, out);
        return;
    }
}

const char *websim_body_type(const struct websim_page *page)
{
    switch (page->body) {
    case WEBSIM_BODY_HTML:
    case WEBSIM_BODY_GONE:
        return "text/html; charset=utf-8";
    case WEBSIM_BODY_NONE:
    case WEBSIM_BODY_ROBOTS:
        return "text/plain";
    case WEBSIM_BODY_IMAGE:
        return "image/png";
    case WEBSIM_BODY_STYLE:
        return "text/css";
    case WEBSIM_BODY_SITEMAP:
        break;
    }
    return "application/xml";
}
