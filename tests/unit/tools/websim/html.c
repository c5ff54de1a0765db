#include "tools/websim/html.h"

#include <stdlib.h>

#include "tests/support/check.h"
#include "tools/websim/body.h"

/* Longer than any URL with its references. */
#define TEXT_BYTES 1024

static struct websim_web web;
static struct websim_text text;

static void begin(const char *faults)
{
    struct websim_parameters parameters;
    websim_parameters_default(&parameters, 0, NULL);
    parameters.hosts = 40;
    parameters.https = 300000;
    parameters.base = 200000;
    if (faults)
        CHECK(!websim_fault_read(parameters.faults, faults));
    CHECK_INT(websim_parameters_settle(&parameters, "test"), 0);
    websim_web_init(&web, &parameters);
    websim_text_init(&text, 1);
}

static char *render(const struct websim_page *page)
{
    struct websim_buffer out = {0};
    websim_html_write(page, &text, &out);
    websim_buffer_room(&out, 1)[0] = '\0';
    return out.data;
}

static void unescape(char *href)
{
    for (char *amp; (amp = strstr(href, "&amp;")); href = amp + 1)
        memmove(amp + 1, amp + 5, strlen(amp + 5) + 1);
}

/* Resolves what this file's writer can write, by the shortest of rules. */
static void resolve(char *out, const char *base, const char *href)
{
    const char *path = strchr(strstr(base, "//") + 2, '/');
    if (strncasecmp(href, "http", 4) == 0) {
        snprintf(out, TEXT_BYTES, "%s", href);
    } else if (strncmp(href, "//", 2) == 0) {
        snprintf(out, TEXT_BYTES, "%.*s%s", (int)(strchr(base, ':') - base + 1), base, href);
    } else if (href[0] == '/') {
        snprintf(out, TEXT_BYTES, "%.*s%s", (int)(path - base), base, href);
    } else {
        size_t end = strcspn(base, "?");
        while (base[end - 1] != '/')
            end--;
        for (; strncmp(href, "../", 3) == 0; href += 3)
            for (end--; base[end - 1] != '/';)
                end--;
        if (strncmp(href, "./", 2) == 0)
            href += 2;
        snprintf(out, TEXT_BYTES, "%.*s%s", (int)end, base, href);
    }
    *strchrnul(out, '#') = '\0';
    for (char *at = out; at < strstr(out, "//") + 2 + strcspn(strstr(out, "//") + 2, "/"); at++)
        *at = slice_lower(*at);
}

/* Every a element of the page names the graph's link of the same number, however it is written. */
static void check_links(const struct websim_page *page)
{
    char base[WEBSIM_URL_BYTES + 16], href[WEBSIM_URL_BYTES * 2], got[TEXT_BYTES], expected[WEBSIM_URL_BYTES];
    char *html = render(page), *at = html;
    websim_url_write(&web, page->url, base);
    CHECK_INT(strstr(html, "<base href=\"") != NULL, page->has_base);
    if (page->has_base) {
        size_t origin = websim_host_origin(&web, page->site.host, base);
        snprintf(base + origin, sizeof base - origin, "/base/deep/");
    }
    for (uint32_t i = 0; i < page->links; i++) {
        struct websim_link link = websim_page_link(page, i);
        at = strstr(at, "<a ");
        CHECK(at);
        char *end = strstr(at, "</a>"), *rel = strstr(at, "rel=\"nofollow\"");
        CHECK_INT(rel && rel < end, link.nofollow);
        at = strstr(at, "href=") + 5;
        snprintf(href, sizeof href, "%.*s", (int)strcspn(at + 1, *at == '"' ? "\"" : "'"), at + 1);
        unescape(href);
        resolve(got, base, href);
        websim_url_write(&web, link.url, expected);
        CHECK_STR(got, expected);
    }
    CHECK(!strstr(at + 1, "<a "));
    free(html);
}

TEST(links_are_written_as_the_graph_has_them)
{
    begin(NULL);
    for (uint32_t host = 0; host < 40; host++)
        for (uint32_t i = 0; i < websim_host_pages(&web, host); i += 3) {
            struct websim_page page;
            websim_page_init(&page, &web, (struct websim_url){.host = host, .index = i});
            if (page.body == WEBSIM_BODY_HTML)
                check_links(&page);
            websim_page_init(
                &page, &web,
                (struct websim_url){.host = host, .index = i, .kind = WEBSIM_KIND_SESSION, .variant = 1});
            if (page.body == WEBSIM_BODY_HTML)
                check_links(&page);
        }
}

TEST(sizes_have_the_mean_that_was_asked_for)
{
    uint64_t sum = 0, count = 0, largest = 0;
    struct websim_buffer out = {0};
    begin(NULL);
    struct websim_parameters parameters = web.parameters;
    parameters.hosts = 400;
    websim_web_init(&web, &parameters);
    for (uint32_t host = 0; host < 400; host++)
        for (uint32_t i = 0; i < websim_host_pages(&web, host); i++) {
            struct websim_page page;
            websim_page_init(&page, &web, (struct websim_url){.host = host, .index = i});
            if (page.body != WEBSIM_BODY_HTML)
                continue;
            out.len = 0;
            websim_html_write(&page, &text, &out);
            sum += out.len;
            count++;
            largest = out.len > largest ? out.len : largest;
        }
    CHECK(sum > count * 9300 && sum < count * 11500); /* a few large ones make it uneven */
    CHECK(largest > 500000);
    websim_buffer_fini(&out);
}

TEST(a_session_names_the_page_it_is_of)
{
    struct websim_page page;
    char url[WEBSIM_URL_BYTES], element[WEBSIM_URL_BYTES + 64];
    begin(NULL);
    websim_page_init(&page, &web,
                     (struct websim_url){.host = 3, .index = 0, .kind = WEBSIM_KIND_SESSION, .variant = 2});
    websim_url_write(&web, (struct websim_url){.host = 3}, url);
    snprintf(element, sizeof element, "<link rel=\"canonical\" href=\"%s\">", url);
    char *html = render(&page);
    CHECK(strstr(html, element));
    free(html);
}

TEST(what_is_not_a_page_has_a_body_too)
{
    static const struct {
        enum websim_kind kind;
        const char *type, *begins;
    } cases[] = {
        {WEBSIM_KIND_IMAGE, "image/png", "\x89PNG"},
        {WEBSIM_KIND_STYLE, "text/css", "body {"},
        {WEBSIM_KIND_GONE, "text/html; charset=utf-8", "<!DOCTYPE html>"},
        {WEBSIM_KIND_OTHER, "text/html; charset=utf-8", "<!DOCTYPE html>"},
    };
    begin(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct websim_buffer out = {0};
        struct websim_page page;
        websim_page_init(&page, &web, (struct websim_url){.host = 3, .kind = (uint8_t)cases[i].kind});
        websim_body_write(&page, &text, &out);
        CHECK_STR(websim_body_type(&page), cases[i].type);
        CHECK(memcmp(out.data, cases[i].begins, strlen(cases[i].begins)) == 0);
        websim_buffer_fini(&out);
    }
}

TEST(prose_is_whole_words)
{
    char out[5000];
    websim_text_init(&text, 9);
    for (uint64_t bits = 0; bits < 2000; bits++)
        for (uint64_t len = 1; len < 4000; len = len * 3 + 1) {
            char *end = websim_text_write(&text, websim_mix(bits), out, len);
            CHECK((uint64_t)(end - out) >= len && (uint64_t)(end - out) < len + WEBSIM_TEXT_SLACK);
            CHECK(end[-1] == ' ');
            CHECK(len > 16 || memchr(out, '<', len) == NULL);
        }
}
