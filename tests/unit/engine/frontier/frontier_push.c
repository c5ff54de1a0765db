#include "engine/frontier/frontier_parts.h"
#include "tests/unit/engine/frontier/frontier_web.h"

static char buffer[256];
static struct url url;

/* A URL that is not looked up yet. */
static struct frontier_place place_of(const char *text)
{
    url_init(&url, buffer, sizeof buffer);
    CHECK(url_parse(&url, NULL, slice_of(text)) == URL_OK);
    return (struct frontier_place){.url = &url, .hash = frontier_hash(&loops[0], &url)};
}

static struct host *push_url(const char *text)
{
    struct frontier_place place = place_of(text);
    struct host_item *item = host_item_acquire(&loops[0].urls, url_path_query(&url));
    CHECK(item && frontier_push(&loops[0], &place, item));
    return place.host;
}

static enum fetch_outcome room_for(const char *text, unsigned ahead)
{
    struct frontier_place place = place_of(text);
    return frontier_room(&loops[0], &place, ahead);
}

static uint32_t counted_at_domain_of(const struct host *host)
{
    return lf_load(&frontier.hosts.domains.counts[host->domain].urls, relaxed);
}

static void start(void)
{
    ratio_mode();
    tuning.live.limits = (struct limits_tuning_live){0};
}

TEST(a_host_is_made_once_and_found_again)
{
    start();
    begin(1, 1);
    struct frontier_place place = place_of("http://a.test/1");
    struct host *host = frontier_host(&loops[0], &url, place.hash);
    CHECK(host && host_state(host) == HOST_IDLE);
    CHECK_INT(loops[0].states[HOST_IDLE], 1);
    CHECK(frontier_host(&loops[0], &url, place.hash) == host);
    CHECK_INT(loops[0].states[HOST_IDLE], 1);
    CHECK(place_of("http://a.test/2").hash == place.hash);
    CHECK(place_of("https://a.test/1").hash != place.hash);
    finish();
}

/* Asking looks the host up, and makes none. */
TEST(to_ask_for_room_makes_no_host)
{
    start();
    begin(1, 1);
    struct frontier_place place = place_of("http://a.test/");
    CHECK_INT(frontier_room(&loops[0], &place, 0), FETCH_DONE);
    CHECK(!place.host);
    struct host *host = push_url("http://a.test/");
    place = place_of("http://a.test/");
    CHECK_INT(frontier_room(&loops[0], &place, 0), FETCH_DONE);
    CHECK(place.host == host);
    finish();
}

/* What waits on disk counts as well. */
TEST(a_host_has_room_up_to_its_limit)
{
    start();
    tuning.live.limits.urls_per_host_max = 3;
    begin(1, 1);
    struct host *host = push_url("http://a.test/1");
    push_url("http://a.test/2");
    CHECK_INT(room_for("http://a.test/3", 0), FETCH_DONE);
    lf_store(&host->spilled, 1, relaxed);
    CHECK_INT(room_for("http://a.test/3", 0), FETCH_HOST_FULL);
    lf_store(&host->spilled, 0, relaxed);
    push_url("http://a.test/3");
    CHECK_INT(room_for("http://a.test/4", 0), FETCH_HOST_FULL);
    CHECK_INT(room_for("http://b.test/4", 0), FETCH_DONE);
    CHECK(take() == host);
    check_item(host, "/1");
    CHECK_INT(room_for("http://a.test/4", 0), FETCH_DONE);
    give_back(host, 0);
    finish();
}

/* Others of the same batch that need a host, too, are counted in. */
TEST(a_domain_has_room_for_so_many_hosts)
{
    start();
    tuning.live.limits.hosts_per_domain_max = 3;
    begin(1, 1);
    push_url("http://a.d.test/");
    CHECK_INT(room_for("http://b.d.test/", 0), FETCH_DONE);
    CHECK_INT(room_for("http://b.d.test/", 1), FETCH_DONE);
    CHECK_INT(room_for("http://b.d.test/", 2), FETCH_DOMAIN_FULL);
    push_url("http://b.d.test/");
    push_url("http://c.d.test/");
    CHECK_INT(room_for("http://e.d.test/", 0), FETCH_DOMAIN_FULL);
    CHECK_INT(room_for("http://a.d.test/2", 0), FETCH_DONE); /* its host is there */
    CHECK_INT(room_for("http://a.e.test/", 0), FETCH_DONE);
    finish();
}

/* The first 64 URLs of a host are not counted, neither up nor down. */
TEST(a_domain_counts_what_its_hosts_have_beyond_a_few)
{
    enum { UNCOUNTED = 64, MORE = 10 };
    start();
    tuning.live.limits.urls_per_domain_max = MORE;
    begin(1, 1);
    struct host *host = NULL;
    for (unsigned i = 0; i < UNCOUNTED; i++)
        host = push_url("http://a.d.test/x");
    CHECK_INT(counted_at_domain_of(host), 0);
    for (unsigned i = 0; i < MORE; i++) {
        CHECK_INT(room_for("http://a.d.test/x", 0), FETCH_DONE);
        CHECK_INT(room_for("http://b.d.test/x", 0), FETCH_DONE);
        push_url("http://a.d.test/x");
    }
    CHECK_INT(counted_at_domain_of(host), MORE);
    CHECK_INT(room_for("http://a.d.test/x", 0), FETCH_DOMAIN_FULL);
    CHECK_INT(room_for("http://b.d.test/x", 0), FETCH_DOMAIN_FULL);
    push_url("http://c.d.test/x"); /* whoever does not ask is let in */
    CHECK_INT(room_for("http://c.d.test/y", 0), FETCH_DONE); /* one of the first of its host */
    CHECK(take() == host);
    for (unsigned i = 0; i < UNCOUNTED + MORE; i++)
        check_item(host, "/x");
    CHECK_INT(counted_at_domain_of(host), 0);
    CHECK_INT(lf_load(&host->queued, relaxed), 0);
    give_back(host, 0);
    finish();
}

TEST(the_table_of_hosts_is_full_at_some_time)
{
    start();
    hosts_max = 64;
    begin(1, 1);
    char text[64];
    unsigned pushed = 0;
    for (; pushed < 2 * hosts_max; pushed++) {
        snprintf(text, sizeof text, "http://h%u.test/", pushed);
        if (room_for(text, 0) != FETCH_DONE)
            break;
        push_url(text);
    }
    CHECK_INT(pushed, hosts_max);
    CHECK_INT(room_for("http://another.test/", 0), FETCH_HOSTS_FULL);
    CHECK_INT(room_for("http://h0.test/2", 0), FETCH_DONE);
    struct frontier_place place = place_of("http://another.test/");
    struct host_item *item = host_item_acquire(&loops[0].urls, SLICE("/"));
    CHECK(!frontier_push(&loops[0], &place, item)); /* the item is still the caller's */
    host_item_release(&loops[0].urls, item);
    finish();
    hosts_max = 5000;
}

TEST(a_url_that_moves_to_another_host_is_counted_there)
{
    start();
    begin(1, 2);
    struct host *from = push(&loops[0], 0, "/a"), *to = push(&loops[0], 1, "/b");
    CHECK(take() == from);
    struct host *taken = take();
    CHECK(taken == to);
    check_item(to, "/b");
    give_back(to, 0);
    now += 10 * S;
    frontier_turn(&loops[0], now);
    CHECK_INT(host_state(to), HOST_IDLE);
    struct host_item *item = host_pop(from, false);
    frontier_forward(&loops[0], from, to, item);
    CHECK_INT(lf_load(&from->queued, relaxed), 0);
    CHECK_INT(lf_load(&to->queued, relaxed), 1);
    give_back(from, 0);
    CHECK(take() == to); /* it was idle, and is on its way again */
    check_item(to, "/a");
    CHECK_INT(loops[0].urls.bytes_in_use, 0);
    give_back(to, 0);
    finish();
}

TEST(memory_for_urls_becomes_scarce_before_it_is_gone)
{
    start();
    frontier_bytes = 8 << 20;
    begin(1, 1);
    static char text[2048] = "http://a.test/";
    memset(text + 14, 'x', 2000);
    CHECK(frontier_is_ample(&loops[0]) && frontier_is_roomy(&loops[0]));
    while (frontier_is_roomy(&loops[0]))
        push(&loops[0], 1, "/some/path/of/usual/length");
    CHECK(frontier_is_ample(&loops[0])); /* a quarter is more than a batch takes */
    uint64_t left = 0;
    while (frontier_is_ample(&loops[0]))
        push(&loops[0], 1, "/some/path/of/usual/length");
    for (; left < 64; left++) { /* a batch of URLs still finds room */
        struct host_item *item = host_item_acquire(&loops[0].urls, slice_of(text));
        CHECK(item);
    }
    finish();
    frontier_bytes = 64 << 20;
}
