#include "tools/websim/robots.h"

#include "tests/support/check.h"

static bool matches(const char *pattern, const char *path)
{
    return websim_robots_matches(pattern, slice_of(path));
}

/* The examples of RFC 9309, 2.2.2 and 2.2.3, and of Google's page on robots.txt. */
TEST(patterns)
{
    CHECK(matches("/", "/anything"));
    CHECK(matches("/fish", "/fishheads/yummy.html"));
    CHECK(!matches("/fish", "/catfish"));
    CHECK(matches("/fish*", "/fish"));
    CHECK(matches("/*.php", "/folder/filename.php?parameters"));
    CHECK(!matches("/*.php", "/windows.PHP"));
    CHECK(matches("/*.php$", "/folder/filename.php"));
    CHECK(!matches("/*.php$", "/filename.php?parameters"));
    CHECK(!matches("/*.php$", "/filename.php5"));
    CHECK(matches("/*.php$", "/a.php.php"));
    CHECK(matches("/fish*.php", "/fishheads/catfish.php?parameters"));
    CHECK(!matches("/fish*.php", "/Fish.PHP"));
    CHECK(matches("*", ""));
    CHECK(matches("/a$b", "/a$b"));
    CHECK(!matches("/a*b*c$", "/aXbXcX"));
    CHECK(matches("/a*b*c$", "/aXbXcXc"));
}

static void make_web(struct websim_web *web, uint64_t *share)
{
    struct websim_parameters *p = &web->parameters, copy;
    size_t offset = (size_t)((char *)share - (char *)p);
    char *plain[] = {NULL, (char[]){"--plain"}};
    websim_parameters_default(&copy, 2, plain);
    copy.sitemaps = 500000;
    if (share)
        *(uint64_t *)((char *)&copy + offset) = WEBSIM_PPM;
    CHECK_INT(websim_parameters_settle(&copy, "test"), 0);
    websim_web_init(web, &copy);
}

static bool allows(const struct websim_web *web, uint32_t host, const char *agent, const char *path)
{
    return websim_robots_allows(web, host, agent, slice_of(path));
}

TEST(absent_and_allowing_forbid_nothing)
{
    struct websim_web web;
    make_web(&web, &web.parameters.robots_absent);
    CHECK_INT(websim_robots_of(&web, 1), WEBSIM_ROBOTS_ABSENT);
    CHECK(allows(&web, 1, "lycosa", "/private/x"));
    web.parameters.robots_absent = 0;
    CHECK_INT(websim_robots_of(&web, 1), WEBSIM_ROBOTS_ALLOWING);
    CHECK(allows(&web, 1, "lycosa", "/private/x"));
}

TEST(closed_and_failing_forbid_everything_but_themselves)
{
    struct websim_web web;
    make_web(&web, &web.parameters.robots_closed);
    CHECK(!allows(&web, 1, "lycosa", "/"));
    CHECK(allows(&web, 1, "lycosa", "/robots.txt"));
    make_web(&web, &web.parameters.robots_error);
    CHECK(!allows(&web, 1, "lycosa", "/"));
}

TEST(rules_and_exceptions)
{
    struct websim_web web;
    unsigned excepted = 0;
    make_web(&web, &web.parameters.robots_rules);
    for (uint32_t host = 0; host < 200; host++) {
        CHECK(!allows(&web, host, "anybody", "/private/x.html"));
        CHECK(allows(&web, host, "anybody", "/news/x.html"));
        excepted += allows(&web, host, "anybody", "/private/y/x.html");
    }
    CHECK(excepted > 60 && excepted < 140);
}

TEST(an_agent_has_a_group_of_its_own)
{
    struct websim_web web;
    unsigned shut = 0;
    make_web(&web, &web.parameters.robots_agent);
    for (uint32_t host = 0; host < 200; host++) {
        CHECK(!allows(&web, host, "Lycosa", "/private/x.html"));
        CHECK(allows(&web, host, "lycosa", "/news/x.html"));
        shut += !allows(&web, host, "wanderer", "/news/x.html");
    }
    CHECK(shut > 60 && shut < 140);
}

TEST(delays_stay_below_the_given_one)
{
    struct websim_web web;
    make_web(&web, &web.parameters.robots_delay);
    for (uint32_t host = 0; host < 200; host++) {
        uint32_t delay = websim_robots_delay_ms(&web, host);
        CHECK(delay >= 100 && delay <= 1000);
    }
    make_web(&web, NULL);
    CHECK_INT(websim_robots_delay_ms(&web, 1), 0);
}

/* A reader of robots.txt that knows just enough for what is written: the decision and the text agree. */
static bool text_allows(const char *text, const char *agent, const char *path)
{
    char line[128];
    size_t longest = 0;
    bool allowed = true, ours = false, named = false, in_names = false;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "User-agent: %s\n", agent);
    named = strstr(text, wanted);
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        if (strncmp(line, "User-agent: ", 12) == 0) {
            ours = (in_names && ours) || strcmp(line + 12, named ? agent : "*") == 0;
            in_names = true;
            continue;
        }
        in_names = false;
        bool allow = strncmp(line, "Allow: ", 7) == 0;
        if (!ours || (!allow && strncmp(line, "Disallow: ", 10) != 0))
            continue;
        const char *pattern = line + (allow ? 7 : 10);
        if (!matches(pattern, path) || strlen(pattern) < longest)
            continue;
        allowed = allow || (strlen(pattern) == longest && allowed);
        longest = strlen(pattern);
    }
    return allowed;
}

TEST(text_and_decision_agree)
{
    static const char *const paths[] = {"/",
                                        "/private/a.html",
                                        "/private/b/c-1.html",
                                        "/private/s/3",
                                        "/search/view.php?cat=winter&id=4",
                                        "/search/river-5.html",
                                        "/search/x-1.html",
                                        "/img/1.png",
                                        "/img/2.png",
                                        "/news/view.php?cat=winter&id=1"};
    struct websim_web web;
    for (unsigned kind = 0; kind < 5; kind++) {
        uint64_t *shares[] = {&web.parameters.robots_rules, &web.parameters.robots_agent,
                              &web.parameters.robots_closed, &web.parameters.robots_delay,
                              &web.parameters.robots_moved};
        make_web(&web, shares[kind]);
        for (uint32_t host = 0; host < 100; host++) {
            char text[WEBSIM_ROBOTS_BYTES + 1];
            text[websim_robots_write(&web, host, text)] = '\0';
            CHECK((strstr(text, "Crawl-delay: ") != NULL) == (kind == 3));
            CHECK((strstr(text, "Sitemap: http://h") != NULL) == websim_robots_has_sitemap(&web, host));
            for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
                CHECK_INT(text_allows(text, "lycosa", paths[i]), allows(&web, host, "lycosa", paths[i]));
                CHECK_INT(text_allows(text, "somebody", paths[i]), allows(&web, host, "somebody", paths[i]));
            }
        }
    }
}
