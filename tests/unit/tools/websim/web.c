#include "tools/websim/web.h"

#include <stdlib.h>

#include "tests/support/check.h"

static void make_web(struct websim_web *web, uint64_t hosts, uint64_t pages)
{
    struct websim_parameters parameters;
    websim_parameters_default(&parameters, 0, NULL);
    parameters.hosts = hosts;
    parameters.pages = pages;
    parameters.https = 300000;
    CHECK_INT(websim_parameters_settle(&parameters, "test"), 0);
    websim_web_init(web, &parameters);
}

TEST(names_are_found_again)
{
    struct websim_web web;
    char name[WEBSIM_NAME_BYTES];
    make_web(&web, 1000000, 100);
    for (uint32_t host = 0; host < 1000000; host += 997) {
        uint32_t found;
        size_t len = websim_host_name(&web, host, name);
        CHECK_INT(len, strlen(name));
        CHECK(websim_host_find(&web, (struct slice){name, len}, &found) && found == host);
        name[0] = 'H';
        CHECK(websim_host_find(&web, (struct slice){name, len}, &found) && found == host);
        CHECK(!websim_host_find(&web, (struct slice){name, len - 1}, &found));
    }
}

TEST(foreign_names_are_not_found)
{
    static const char *const foreign[] = {"",
                                          "h",
                                          "x",
                                          "h1000000.d1.sim",
                                          "h1",
                                          "h1.",
                                          "hh1.d1.sim",
                                          "h-1.d1.sim",
                                          "h99999999999999999999999.d1.sim",
                                          "www.example.com",
                                          "localhost"};
    struct websim_web web;
    uint32_t host;
    make_web(&web, 1000, 10);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        CHECK(!websim_host_find(&web, slice_of(foreign[i]), &host));
}

TEST(several_hosts_share_a_domain_and_domains_vary_in_tld)
{
    struct websim_web web;
    char name[WEBSIM_NAME_BYTES];
    unsigned tlds[3] = {0}, domain_zero = 0;
    make_web(&web, 4000, 10);
    for (uint32_t host = 0; host < 4000; host++) {
        websim_host_name(&web, host, name);
        tlds[0] += strstr(name, ".sim") != NULL;
        tlds[1] += strstr(name, ".example") != NULL;
        tlds[2] += strstr(name, ".test") != NULL;
        domain_zero += strstr(name, ".d1.") != NULL;
    }
    CHECK_INT(tlds[0] + tlds[1] + tlds[2], 4000);
    CHECK(tlds[0] > 1000 && tlds[1] > 1000 && tlds[2] > 1000);
    CHECK(domain_zero > 0);
}

TEST(pages_follow_a_power_law_whose_sum_is_known)
{
    static const uint64_t hosts[] = {1, 7, 100, 2000, 100000};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        struct websim_web web;
        uint64_t sum = 0, most = 0;
        make_web(&web, hosts[i], 100);
        for (uint32_t host = 0; host < hosts[i]; host++) {
            uint64_t pages = websim_host_pages(&web, host);
            CHECK(pages >= 1);
            sum += pages;
            most = pages > most ? pages : most;
        }
        CHECK(sum > hosts[i] * 97 && sum < hosts[i] * 103);
        if (hosts[i] == 2000)
            CHECK(most > 3000 && most < 30000);
    }
}

TEST(addresses_are_in_range_shared_and_uneven)
{
    struct websim_web web;
    static unsigned counts[1000];
    unsigned used = 0;
    make_web(&web, 10000, 10);
    for (uint32_t host = 0; host < 10000; host++) {
        uint32_t address = websim_host_address(&web, host);
        CHECK(address >= WEBSIM_ADDRESS_FIRST && address < WEBSIM_ADDRESS_FIRST + 1000);
        counts[address - WEBSIM_ADDRESS_FIRST]++;
    }
    for (unsigned i = 0; i < 1000; i++)
        used += counts[i] > 0;
    CHECK(used > 900);
    CHECK(counts[0] > 200); /* a whale: 10000 / sqrt(1000) */
    CHECK(counts[999] < 30);
}

/* Each URL of every kind is read back as what it was written from. */
static void check_round_trip(const struct websim_web *web, struct websim_url url)
{
    char text[WEBSIM_URL_BYTES];
    struct websim_url back;
    size_t len = websim_url_write(web, url, text);
    CHECK_INT(len, strlen(text));
    CHECK(len < WEBSIM_URL_BYTES);
    char *copy = check_guard_copy(text, len);
    if (!websim_url_read(web, (struct slice){copy, len}, &back) ||
        websim_url_pack(back) != websim_url_pack(url))
        check_failed(__FILE__, __LINE__, "%s is not read back", text);
    check_guard_free(copy, len);
    back = websim_url_unpack(websim_url_pack(url));
    CHECK_INT(back.host, url.host);
    CHECK_INT(back.kind, url.kind);
    CHECK_INT(back.variant, url.variant);
    CHECK_INT(back.index, url.index);
}

TEST(urls_of_every_kind_are_read_back)
{
    struct websim_web web;
    make_web(&web, 50, 100);
    for (uint32_t host = 0; host < 50; host += 7) {
        struct websim_site site = websim_site(&web, host);
        for (uint32_t page = 0; page < site.pages; page++) {
            check_round_trip(&web, (struct websim_url){host, page, WEBSIM_KIND_PAGE, 0});
            check_round_trip(&web, (struct websim_url){host, page, WEBSIM_KIND_SESSION, page & 3});
        }
        for (uint32_t i = 0; i < 12; i++) {
            check_round_trip(&web, (struct websim_url){host, i, WEBSIM_KIND_GONE, 0});
            check_round_trip(&web, (struct websim_url){host, i, WEBSIM_KIND_IMAGE, 0});
            check_round_trip(&web, (struct websim_url){host, i * 1000000, WEBSIM_KIND_CALENDAR, 0});
            check_round_trip(&web, (struct websim_url){host, i, WEBSIM_KIND_HOP, (uint8_t)i});
            check_round_trip(&web, (struct websim_url){host, i, WEBSIM_KIND_LOOP, i & 1});
        }
        check_round_trip(&web, (struct websim_url){host, 0, WEBSIM_KIND_STYLE, 0});
        check_round_trip(&web, (struct websim_url){host, 0, WEBSIM_KIND_SITEMAP, 0});
        check_round_trip(&web, (struct websim_url){host, 0, WEBSIM_KIND_ROBOTS, 0});
        check_round_trip(&web, (struct websim_url){host, 0, WEBSIM_KIND_ROBOTS, 1});
    }
}

TEST(unknown_paths_are_other)
{
    static const char *const unknown[] = {"",
                                          "x",
                                          "/x",
                                          "/gone/",
                                          "/gone/1.htm",
                                          "/gone/01.html",
                                          "/img/5",
                                          "/robots.txt?",
                                          "/news/river-999999999.html",
                                          "/style.css2",
                                          "/?sid=",
                                          "/?sid=00000000",
                                          "*",
                                          "/hop/3",
                                          "/gone/99999999999999999999.html"};
    struct websim_web web;
    make_web(&web, 50, 100);
    struct websim_site site = websim_site(&web, 3);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        char *copy = check_guard_copy(unknown[i], strlen(unknown[i]));
        struct websim_url url = websim_path_read(&site, (struct slice){copy, strlen(unknown[i])});
        if (url.kind != WEBSIM_KIND_OTHER)
            check_failed(__FILE__, __LINE__, "%s is of kind %d", unknown[i], url.kind);
        check_guard_free(copy, strlen(unknown[i]));
    }
}

TEST(urls_of_other_origins_are_refused)
{
    struct websim_web web;
    struct websim_url url;
    char text[WEBSIM_URL_BYTES], wrong[WEBSIM_URL_BYTES + 8];
    make_web(&web, 50, 100);
    size_t origin = websim_host_origin(&web, 1, text);
    CHECK(websim_url_read(&web, (struct slice){text, origin}, &url) && url.index == 0);
    snprintf(wrong, sizeof wrong, "%s0/", text); /* another port */
    CHECK(!websim_url_read(&web, slice_of(wrong), &url));
    snprintf(wrong, sizeof wrong, "ftp%s/", strchr(text, ':'));
    CHECK(!websim_url_read(&web, slice_of(wrong), &url));
    CHECK(!websim_url_read(&web, SLICE("http://h1.d1.nowhere/"), &url));
    CHECK(!websim_url_read(&web, SLICE(""), &url));
}

TEST(depth_is_bounded_by_the_branching)
{
    struct websim_parameters parameters;
    struct websim_web web;
    websim_parameters_default(&parameters, 0, NULL);
    parameters.hosts = 10;
    parameters.pages = 100000;
    for (parameters.depth = 1; parameters.depth < 9; parameters.depth++) {
        CHECK_INT(websim_parameters_settle(&parameters, "test"), 0);
        websim_web_init(&web, &parameters);
        for (uint32_t host = 0; host < 10; host++) {
            struct websim_site site = websim_site(&web, host);
            uint32_t page = site.pages - 1, depth = 0;
            for (; page; page = (page - 1) / site.branch)
                depth++;
            CHECK(depth <= parameters.depth);
        }
    }
}

TEST(a_million_hosts_cost_no_more_than_a_thousand)
{
    CHECK(sizeof(struct websim_web) < 4096);
}
