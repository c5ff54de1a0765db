/* Errands between two hosts of an imagined web, in which every host resolves at once. */
#include "engine/frontier/errand.h"

#include "lockfree/clock.h"
#include "tests/support/check.h"

static struct tuning tuning;
static struct frontier frontier;
static struct frontier_loop loop;
static uint64_t now;

static void resolve(void *owner, struct host *host)
{
    struct ip ip = {{[10] = 0xff, [11] = 0xff, [12] = 127, [15] = (uint8_t)host->id}};
    struct frontier_resolved answer = {.addresses = &ip, .count = 1, .until_ns = UINT64_MAX, .now_ns = now};
    frontier_resolved(owner, host, &answer);
}

static bool abandon(void *owner, struct host *host)
{
    (void)owner;
    (void)host;
    return true;
}

static void wake(void *owner, unsigned index)
{
    (void)owner;
    (void)index;
}

static void begin(void)
{
    struct frontier_loop_options options = {
        .resolve = resolve, .abandon = abandon, .wake = wake, .owner = &loop};
    tuning_init(&tuning);
    tuning.fixed.memory.hosts_max = 16;
    tuning.fixed.memory.frontier_bytes = 1 << 20;
    tuning.live.politeness.host_min_idle_ns = tuning.live.politeness.address_min_idle_ns = 0;
    CHECK_INT(frontier_init(&frontier, &tuning), 0);
    CHECK_INT(frontier_loop_init(&loop, &frontier, &options), 0);
    now = clock_now_ns();
}

static void finish(void)
{
    frontier_loop_fini(&loop);
    frontier_fini(&frontier);
}

static struct url url_of(const char *text)
{
    static char buffers[4][128];
    static unsigned used;
    struct url url;
    url_init(&url, buffers[used++ % 4], sizeof buffers[0]);
    CHECK(url_parse(&url, NULL, slice_of(text)) == URL_OK);
    return url;
}

static struct host *push(const char *text)
{
    struct url url = url_of(text);
    struct frontier_place place = {.url = &url, .hash = frontier_hash(&loop, &url)};
    struct host_item *item = host_item_acquire(&loop.urls, url_path_query(&url));
    item->kind = HOST_ITEM_LINK;
    CHECK(frontier_push(&loop, &place, item));
    return place.host;
}

static struct host *take(void)
{
    frontier_turn(&loop, now);
    return frontier_take(&loop, now);
}

static void give_back(struct host *host)
{
    frontier_give_back(&loop, host, 0, now);
}

/* The origin is visited, and its robots.txt found to be at the other host. */
static struct host *send_away(const char *to)
{
    struct host *origin = push("http://origin.it/page");
    struct url url = url_of(to);
    CHECK(take() == origin);
    origin->awaits_robots = true;
    CHECK(errand_send(&loop, &(struct errand_order){.origin = origin->id, .to = &url, .redirects = 1}));
    give_back(origin);
    return origin;
}

TEST(an_errand_goes_to_the_other_host_and_its_answer_back)
{
    begin();
    struct host *origin = send_away("http://other.it/rules?x"), *other = take();
    CHECK(other && other != origin);
    struct host_item *item = host_pop(other, false);
    CHECK_INT(item->kind, HOST_ITEM_ROBOTS);
    CHECK_INT(item->redirects, 1);
    CHECK_INT(errand_origin(item), origin->id);
    CHECK_SLICE(errand_path(item), "/rules?x");
    errand_answer(&loop, other, item, 77);
    give_back(other);
    CHECK(take() == origin);
    item = host_pop_answer(origin, false);
    CHECK_INT(errand_rules(item), 77);
    host_item_release(&loop.urls, item);
    item = host_pop(origin, false);
    CHECK_SLICE(host_item_path(item), "/page");
    finish();
}

TEST(a_host_that_awaits_an_answer_is_not_in_the_schedule)
{
    begin();
    struct host *origin = send_away("http://other.it/rules"), *other = take();
    CHECK_INT(origin->state, HOST_AWAITING);
    push("http://origin.it/more"); /* sends it home, where it is parked again */
    now += 1000 * CLOCK_NS_PER_S;
    CHECK(take() == NULL);
    CHECK_INT(origin->state, HOST_AWAITING);
    errand_answer_all(&loop, other, 5);
    CHECK(take() == origin);
    CHECK(host_pop_answer(origin, false) != NULL);
    finish();
}

TEST(a_host_that_awaits_an_answer_runs_errands_of_others)
{
    begin();
    struct host *origin = send_away("http://other.it/rules");
    struct host *other = take();
    struct url url = url_of("http://origin.it/rules");
    other->awaits_robots = true;
    CHECK(errand_send(&loop, &(struct errand_order){.origin = other->id, .to = &url, .redirects = 1}));
    struct host_item *item = host_pop_errand(other, false);
    CHECK(item != NULL);
    host_unpop(other, item);
    CHECK(take() == origin);
    CHECK(host_pop_errand(origin, false) != NULL);
    CHECK(host_pop_errand(origin, false) == NULL);
    finish();
}

TEST(an_errand_may_lead_to_the_host_that_it_is_for)
{
    begin();
    struct host *origin = send_away("http://origin.it/elsewhere");
    CHECK(take() == origin);
    struct host_item *item = host_pop_errand(origin, false);
    errand_answer(&loop, origin, item, 3);
    item = host_pop_answer(origin, false);
    CHECK_INT(errand_rules(item), 3);
    finish();
}
