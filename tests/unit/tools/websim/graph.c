#include "tools/websim/graph.h"

#include <stdlib.h>

#include "tests/support/check.h"
#include "tools/websim/html.h"

static void make_web(struct websim_web *web, const char *faults)
{
    struct websim_parameters parameters;
    websim_parameters_default(&parameters, 0, NULL);
    parameters.hosts = 50;
    if (faults)
        CHECK(!websim_fault_read(parameters.faults, faults));
    CHECK_INT(websim_parameters_settle(&parameters, "test"), 0);
    websim_web_init(web, &parameters);
}

static struct websim_page page_of(const struct websim_web *web, uint32_t host, enum websim_kind kind,
                                  uint32_t index)
{
    struct websim_page page;
    websim_page_init(&page, web, (struct websim_url){.host = host, .kind = (uint8_t)kind, .index = index});
    return page;
}

TEST(every_page_is_a_child_of_one_page_that_is_html)
{
    struct websim_web web;
    make_web(&web, "loop=0.1,chain=0.1,drip=0.1");
    for (uint32_t host = 0; host < 50; host++) {
        uint32_t next = 1, pages = websim_host_pages(&web, host);
        for (uint32_t i = 0; i < pages; i++) {
            struct websim_page page = page_of(&web, host, WEBSIM_KIND_PAGE, i);
            if (page.content != i || !page.children)
                continue;
            CHECK_INT(page.status, 200);
            CHECK_INT(page.fault, WEBSIM_FAULT_NONE);
            CHECK(page.links >= page.children);
            for (uint32_t child = 0; child < page.children; child++) {
                struct websim_link link = websim_page_link(&page, child);
                CHECK_INT(link.url.index, next++);
                CHECK(!link.nofollow);
            }
        }
        CHECK_INT(next, pages);
    }
}

TEST(roots_lead_to_all_hosts)
{
    struct websim_web web;
    bool reached[50] = {true};
    make_web(&web, NULL);
    for (uint32_t host = 0; host < 50; host++) {
        struct websim_page root = page_of(&web, host, WEBSIM_KIND_PAGE, 0);
        CHECK(reached[host]);
        for (uint32_t i = 0; i < root.host_links; i++)
            reached[websim_page_link(&root, root.children + i).url.host] = true;
    }
}

TEST(redirects_end)
{
    struct websim_web web;
    unsigned redirects = 0;
    make_web(&web, NULL);
    for (uint32_t i = 0; i < websim_host_pages(&web, 7); i++) {
        struct websim_page page = page_of(&web, 7, WEBSIM_KIND_PAGE, i);
        for (unsigned hops = 0; page.redirects; hops++, redirects++) {
            CHECK(hops < 5);
            CHECK(page.status >= 301 && page.status <= 308);
            websim_page_init(&page, &web, page.target);
        }
    }
    CHECK(redirects > 0 || websim_host_pages(&web, 7) < 100);
}

TEST(a_loop_loops_and_a_chain_is_as_long_as_promised)
{
    struct websim_web web;
    make_web(&web, "loop=0.5,chain=0.5");
    uint32_t leaf = websim_host_pages(&web, 3) - 1;
    unsigned loops = 0, chains = 0;
    for (; leaf > 20; leaf--) {
        struct websim_page page = page_of(&web, 3, WEBSIM_KIND_PAGE, leaf);
        if (!websim_site_is_leaf(&page.site, leaf))
            break;
        unsigned hops = 0;
        for (; page.redirects && hops < 100; hops++)
            websim_page_init(&page, &web, page.target);
        CHECK(hops == 100 || hops == WEBSIM_CHAIN_LENGTH);
        loops += hops == 100;
        chains += hops != 100;
    }
    CHECK(loops > 0 && chains > 0);
    struct websim_page wrong = page_of(&web, 3, WEBSIM_KIND_HOP, 1);
    CHECK_INT(wrong.status, 404);
}

TEST(links_are_distributed_as_asked)
{
    struct websim_web web;
    uint64_t pages = 0, links = 0, external = 0, gone = 0, sessions = 0, nofollow = 0;
    make_web(&web, NULL);
    for (uint32_t host = 0; host < 50; host++)
        for (uint32_t i = 1; i < websim_host_pages(&web, host); i++) {
            struct websim_page page = page_of(&web, host, WEBSIM_KIND_PAGE, i);
            if (page.redirects || page.children)
                continue;
            pages++;
            links += page.links;
            for (uint32_t k = 0; k < page.links; k++) {
                struct websim_link link = websim_page_link(&page, k);
                external += link.url.host != host;
                gone += link.url.kind == WEBSIM_KIND_GONE;
                sessions += link.url.kind == WEBSIM_KIND_SESSION;
                nofollow += link.nofollow;
                CHECK(link.url.kind == WEBSIM_KIND_GONE ||
                      link.url.index < websim_host_pages(&web, link.url.host));
            }
        }
    CHECK(links > pages * 19 && links < pages * 21);
    CHECK(external > links * 16 / 100 && external < links * 20 / 100); /* some meet their own host */
    CHECK(gone > links * 8 / 1000 && gone < links * 12 / 1000);
    CHECK(sessions > links * 8 / 1000 && sessions < links * 12 / 1000);
    CHECK(nofollow > links * 17 / 1000 && nofollow < links * 23 / 1000);
}

TEST(duplicates_are_equal_and_near_duplicates_nearly)
{
    struct websim_web web;
    static struct websim_text text;
    unsigned exact = 0, near = 0, leaves = 0;
    make_web(&web, NULL);
    websim_text_init(&text, 1);
    for (uint32_t host = 0; host < 50; host++)
        for (uint32_t i = 1; i < websim_host_pages(&web, host); i++) {
            struct websim_page page = page_of(&web, host, WEBSIM_KIND_PAGE, i);
            struct websim_buffer a = {0}, b = {0};
            leaves += websim_site_is_leaf(&page.site, i);
            if (page.redirects || page.content == i)
                continue;
            struct websim_page source = page_of(&web, host, WEBSIM_KIND_PAGE, page.content);
            CHECK(source.portable && source.content == page.content);
            websim_html_write(&page, &text, &a);
            websim_html_write(&source, &text, &b);
            if (page.near) {
                CHECK(a.len > b.len && a.len < b.len + 120);
                CHECK(memcmp(a.data, b.data, b.len - 20) == 0);
            } else {
                CHECK(a.len == b.len && memcmp(a.data, b.data, a.len) == 0);
            }
            exact += !page.near;
            near += page.near;
            websim_buffer_fini(&a);
            websim_buffer_fini(&b);
        }
    CHECK(exact > leaves * 2 / 100 && exact < leaves * 4 / 100);
    CHECK(near > leaves * 2 / 100 && near < leaves * 4 / 100);
}

TEST(faulty_transfers_hide_nothing)
{
    struct websim_web web;
    make_web(&web, "drip=1");
    uint32_t leaf = websim_host_pages(&web, 3) - 1;
    struct websim_page page = page_of(&web, 3, WEBSIM_KIND_PAGE, leaf);
    CHECK_INT(page.fault, WEBSIM_FAULT_DRIP);
    CHECK_INT(page.links, 1);
    CHECK_INT(websim_page_link(&page, 0).url.index, 0);
}

TEST(a_calendar_does_not_end_and_is_only_where_it_was_asked_for)
{
    struct websim_web web;
    make_web(&web, "calendar=1");
    struct websim_page page = page_of(&web, 3, WEBSIM_KIND_CALENDAR, 4000000000u);
    CHECK_INT(page.status, 200);
    CHECK_INT(websim_page_link(&page, 0).url.index, 4000000001u);
    struct websim_page root = page_of(&web, 30, WEBSIM_KIND_PAGE, 0);
    CHECK_INT(websim_page_link(&root, root.children + root.host_links - 1).url.kind, WEBSIM_KIND_CALENDAR);
    make_web(&web, NULL);
    page = page_of(&web, 3, WEBSIM_KIND_CALENDAR, 0);
    CHECK_INT(page.status, 404);
}
