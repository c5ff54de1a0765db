/* What one robots.txt may cost its loop. */
#include "engine/robots/limits.h"
#include "tests/unit/engine/crawl/visit_frame.h"

static char rules[ROBOTS_BYTES_MAX];
static const char *location; /* where robots.txt has moved to, or NULL */
static const char *exclude = "";

static void answer(struct peer *peer, int fd)
{
    char request[8192], head[1024];
    (void)peer;
    while (peer_read_request(fd, request, sizeof request)) {
        bool is_robots = strncmp(request, "GET /robots.txt ", 16) == 0;
        const char *body = is_robots ? rules : "hello";
        if (is_robots && location)
            snprintf(head, sizeof head, "HTTP/1.1 301 Moved\r\nLocation: %s\r\nContent-Length: %zu\r\n\r\n",
                     location, strlen(body));
        else
            snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", strlen(body));
        peer_send(fd, head);
        peer_send(fd, body);
    }
}

static void begin(void)
{
    frame_set_up(&frame);
    location = NULL;
    frame.tuning.fixed.robots.obey = true;
    frame.tuning.fixed.robots.sitemaps = TUNING_SITEMAPS_ROBOTS;
    frame.tuning.fixed.memory.page_bytes = 64 << 20;
    frame.tuning.fixed.memory.frontier_bytes = 16 << 20;
}

/* So many lines, each with `text` after a number. */
static void write_sitemaps(unsigned count, const char *text)
{
    size_t used = 0;
    for (unsigned i = 0; i < count; i++)
        used += (size_t)snprintf(rules + used, sizeof rules - used, "sitemap: http://s%u%s/\n", i, text);
    CHECK(used < sizeof rules);
}

static void check_sitemaps(unsigned *taken, unsigned *lost)
{
    begin();
    frame.tuning.fixed.memory.hosts_max = 4096;
    frame.tuning.live.crawl.max_pages = 1; /* the sitemaps stay in their queues */
    snprintf(frame.tuning.fixed.scope.exclude, TUNING_LIST_BYTES, "%s", exclude);
    frame_start(&frame, 1, answer);
    frame_push(&frame, "/1");
    const uint64_t deadline = clock_now_ns() + 20 * CLOCK_NS_PER_S;
    while (stats_get(&frame.stats.pages) < 1 || frame.visits.open) {
        frame_turn(&frame);
        CHECK(clock_now_ns() < deadline);
    }
    *taken = (unsigned)stats_get(&frame.stats.urls_in) - 1;
    *lost = (unsigned)stats_get(&frame.stats.links_lost);
    frame_stop(&frame);
}

TEST(sitemaps_are_taken_as_long_as_they_are_quickly_read)
{
    SKIP_IF_SLOWED_DOWN();
    unsigned taken, lost;
    write_sitemaps(200, ".test");
    check_sitemaps(&taken, &lost);
    CHECK_INT(taken, 200);
    CHECK_INT(lost, 0);
}

/* Names that take 50 microseconds each: a thousand would hold the loop for as many milliseconds. */
TEST(sitemaps_that_take_long_to_read_are_left)
{
    SKIP_IF_SLOWED_DOWN();
    char name[512] = "";
    unsigned taken, lost;
    for (unsigned i = 0; i < 80; i++) {
        unsigned c = 0xac00 + i * 7919 % 11000;
        const char syllable[] = {(char)(0xe0 | c >> 12), (char)(0x80 | (c >> 6 & 63)),
                                 (char)(0x80 | (c & 63))};
        memcpy(name + sizeof syllable * i, syllable, sizeof syllable);
    }
    write_sitemaps(1000, name);
    check_sitemaps(&taken, &lost);
    CHECK(taken + lost <= 1000);
    CHECK(lost > 500);
}

/* Each takes a millisecond, whatever the expression. */
TEST(sitemaps_that_expressions_take_long_for_are_left)
{
    SKIP_IF_SLOWED_DOWN();
    unsigned taken, lost;
    write_sitemaps(16, ".test/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r");
    exclude = "(.*/)*calendar/.*";
    check_sitemaps(&taken, &lost);
    exclude = "";
    CHECK_INT(taken, 0);
    CHECK(lost > 4);
}

/* Rules of which each URL has to be compared with thousands: more than a tenth of a millisecond each on any machine. */
static void write_costly_rules(void)
{
    size_t used = (size_t)snprintf(rules, sizeof rules, "user-agent: *\ndisallow: /d\n");
    for (unsigned i = 0; used + 64 < sizeof rules; i++) {
        char word[18] = "";
        for (unsigned k = 0; k < 17; k++)
            word[k] = "ab"[i >> k & 1];
        used += (size_t)snprintf(rules + used, sizeof rules - used, "disallow: /*%sc\n", word);
    }
}

TEST(denied_urls_are_dropped_in_parts)
{
    SKIP_IF_SLOWED_DOWN();
    enum { COUNT = 200 };
    char path[200] = "/d";
    for (unsigned i = 2; i < 180; i++)
        path[i] = "abbaab"[i % 6];
    write_costly_rules();
    begin();
    frame_start(&frame, 1, answer);
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(path + 180, 20, "acbcca%u", i);
        frame_push(&frame, path);
    }
    unsigned parts = 0;
    uint64_t denied = 0;
    const uint64_t deadline = clock_now_ns() + 60 * CLOCK_NS_PER_S;
    while (denied < COUNT) {
        frame_turn(&frame);
        uint64_t now_denied = stats_get(&frame.stats.outcomes[FETCH_ROBOTS_DENIED]);
        parts += now_denied > denied;
        denied = now_denied;
        CHECK(clock_now_ns() < deadline);
    }
    printf("%u parts\n", parts);
    CHECK(parts >= 4);
    frame_run(&frame);
    frame_stop(&frame);
}

/* The robots.txt of a host has moved to where nobody is asked: it is unreachable, as if nobody answered there. */
static void check_blocked(const char *to)
{
    begin();
    frame.tuning.live.retry.host_failures_max = 1;
    rules[0] = '\0';
    location = to;
    frame_start(&frame, 1, answer);
    frame_push(&frame, "/1");
    frame_run(&frame);
    CHECK_INT(stats_get(&frame.stats.urls_in), 1);
    CHECK_INT(stats_get(&frame.stats.requests), 1);
    CHECK_INT(stats_get(&frame.stats.outcomes[FETCH_ROBOTS_UNREACHABLE]), 1);
    frame_stop(&frame);
}

TEST(robots_is_not_looked_for_where_no_link_would_lead)
{
    char name[400] = "http://";
    for (unsigned i = 7; i < 290; i++)
        name[i] = i % 50 ? 'a' : '.';
    check_blocked("http://127.0.0.1:6379/robots.txt");
    check_blocked("http://127.0.0.1:22/");
    check_blocked(name);
}
