#include "tools/websim/truth.h"

#include <stdlib.h>

#include "tests/support/check.h"
#include "tools/websim/robots.h"

static void make_web(struct websim_web *web, uint64_t hosts, const char *faults)
{
    struct websim_parameters parameters;
    websim_parameters_default(&parameters, 0, NULL);
    parameters.hosts = hosts;
    parameters.pages = 40;
    if (faults)
        CHECK(!websim_fault_read(parameters.faults, faults));
    CHECK_INT(websim_parameters_settle(&parameters, "test"), 0);
    websim_web_init(web, &parameters);
}

static const struct websim_truth_options usual = {
    .agent = "lycosa", .depth_max = UINT32_MAX, .redirects_max = 10, .digest = WEBSIM_DIGEST_NONE};

static struct websim_truth_totals walk(const struct websim_web *web,
                                       const struct websim_truth_options *options, struct websim_truth **out)
{
    struct websim_truth *truth = websim_truth_create(web, options);
    websim_truth_seed(truth, (struct websim_url){.host = 0});
    struct websim_truth_totals totals = websim_truth_walk(truth, NULL);
    if (out)
        *out = truth;
    else
        websim_truth_destroy(truth);
    return totals;
}

TEST(from_one_seed_all_allowed_pages_are_reached)
{
    struct websim_web web;
    struct websim_truth *truth;
    char path[WEBSIM_PATH_BYTES];
    make_web(&web, 100, NULL);
    CHECK(websim_robots_allows(&web, 0, "lycosa", SLICE("/")));
    walk(&web, &usual, &truth);
    for (uint32_t host = 0; host < 100; host++) {
        struct websim_site site = websim_site(&web, host);
        for (uint32_t i = 0; i < site.pages; i++) {
            struct websim_url url = {.host = host, .index = i};
            struct slice text = {path, websim_path_write(&site, url, path)};
            CHECK_INT(websim_truth_has(truth, url), websim_robots_allows(&web, host, "lycosa", text));
        }
    }
    websim_truth_destroy(truth);
}

TEST(unreachable_hosts_are_not_fetched)
{
    struct websim_web web;
    struct websim_truth *truth;
    make_web(&web, 200, "nxdomain=0.1,silent=0.1,expired=0.1");
    uint32_t seed = 0;
    while (websim_host_fault(&web, seed) != WEBSIM_FAULT_NONE)
        seed++;
    struct websim_truth_options options = usual;
    for (unsigned accept = 0; accept < 2; accept++) {
        options.accept_expired = accept;
        truth = websim_truth_create(&web, &options);
        websim_truth_seed(truth, (struct websim_url){.host = seed});
        CHECK(websim_truth_walk(truth, NULL).unreachable > 20);
        for (uint32_t host = 0; host < 200; host++) {
            enum websim_fault fault = websim_host_fault(&web, host);
            if (fault != WEBSIM_FAULT_NONE && !(fault == WEBSIM_FAULT_EXPIRED && accept))
                CHECK(!websim_truth_has(truth, (struct websim_url){.host = host}));
        }
        websim_truth_destroy(truth);
    }
}

TEST(depth_cuts_a_trap)
{
    struct websim_web web;
    struct websim_truth *truth;
    make_web(&web, 1, "calendar=1");
    struct websim_truth_options options = usual;
    options.depth_max = 10;
    walk(&web, &options, &truth);
    CHECK(websim_truth_has(truth, (struct websim_url){.kind = WEBSIM_KIND_CALENDAR, .index = 9}));
    CHECK(!websim_truth_has(truth, (struct websim_url){.kind = WEBSIM_KIND_CALENDAR, .index = 10}));
    websim_truth_destroy(truth);
}

TEST(redirects_are_followed_up_to_their_limit)
{
    struct websim_web web;
    struct websim_truth *truth;
    make_web(&web, 1, "chain=1");
    uint32_t leaf = websim_host_pages(&web, 0) - 1;
    walk(&web, &usual, &truth);
    CHECK(websim_truth_has(truth, (struct websim_url){.kind = WEBSIM_KIND_HOP, .index = leaf, .variant = 9}));
    CHECK(
        !websim_truth_has(truth, (struct websim_url){.kind = WEBSIM_KIND_HOP, .index = leaf, .variant = 10}));
    websim_truth_destroy(truth);
}

TEST(options_add_embeds_and_sitemaps)
{
    struct websim_web web;
    make_web(&web, 50, NULL);
    struct websim_truth_options options = usual;
    uint64_t plain = walk(&web, &options, NULL).fetched;
    options.sitemaps = true;
    uint64_t with_sitemaps = walk(&web, &options, NULL).fetched;
    CHECK(with_sitemaps > plain && with_sitemaps <= plain + 50);
    options.embeds = true;
    CHECK(walk(&web, &options, NULL).fetched > with_sitemaps + 50);
}

TEST(another_agent_sees_another_web)
{
    struct websim_web web;
    make_web(&web, 200, NULL);
    struct websim_truth_options options = usual;
    uint64_t ours = walk(&web, &options, NULL).fetched;
    options.agent = "stranger";
    CHECK(walk(&web, &options, NULL).fetched < ours);
}

/* Golden: the same seed gives the same web on any machine, to the last byte. */
TEST(the_web_is_the_same_everywhere)
{
    struct websim_web web;
    char *text = NULL;
    size_t len;
    make_web(&web, 3, NULL);
    struct websim_truth_options options = usual;
    options.digest = WEBSIM_DIGEST_SHA1;
    struct websim_truth *truth = websim_truth_create(&web, &options);
    websim_truth_seed(truth, (struct websim_url){.host = 0});
    FILE *file = open_memstream(&text, &len);
    websim_truth_walk(truth, file);
    fclose(file);
    char first[160];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(text, "\n"), text);
    CHECK_STR(first, "http://h0.d0.sim:8080/\t200\t17731\tQSFL4UKPDVMOWJPUIGGLEWTQN376EHHE\t-");
    free(text);
    websim_truth_destroy(truth);
}
