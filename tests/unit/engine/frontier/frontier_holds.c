/* Hosts that are held, released and emptied, in every state that a host can be in. */
#include "tests/unit/engine/frontier/frontier_web.h"

#include <unistd.h>

static struct holds *list;

/* An order and its publication, as the housekeeper does it. */
static void order(enum holds_verb verb, const char *name)
{
    struct holds_order wanted = {.verb = verb};
    struct holds *next = NULL;
    CHECK(!(strstr(name, "://") ? holds_parse_host(&wanted.target, slice_of(name))
                                : holds_parse_domain(&wanted.target, slice_of(name))));
    CHECK_INT(holds_follow(list, &wanted, &next), HOLDS_DONE);
    next->older = list;
    list = next;
    lf_store(&frontier.holds, next, release);
}

static void end(void)
{
    finish();
    while (list) {
        struct holds *older = list->older;
        free(list);
        list = older;
    }
}

static void turn(void)
{
    for (unsigned i = 0; i < tuning.fixed.crawl.threads; i++)
        frontier_turn(&loops[i], now);
}

static void check_state(const struct host *host, enum host_state state)
{
    CHECK_STR(host_state_name(host_state(host)), host_state_name(state));
}

static uint32_t queued(const struct host *host)
{
    return lf_load(&host->queued, relaxed);
}

TEST(a_host_is_held_at_once_and_released)
{
    ratio_mode();
    begin(1, 10);
    struct host *host = push(&loops[0], 1, "/a"), *other = push(&loops[0], 2, "/b");
    turn();
    check_state(host, HOST_READY);
    order(HOLDS_HOLD, "http://h1.test");
    turn();
    check_state(host, HOST_HELD);
    CHECK_INT(lf_load(&loops[0].holds.done, relaxed), 1);
    CHECK_INT(lf_load(&loops[0].states[HOST_HELD], relaxed), 1);
    CHECK(take() == other && take() == NULL);
    push(&loops[0], 1, "/c");
    CHECK(take() == NULL);
    order(HOLDS_RELEASE, "http://h1.test");
    CHECK(take() == host);
    CHECK_INT(lf_load(&loops[0].states[HOST_HELD], relaxed), 0);
    CHECK(!host_has_orders(host));
    check_item(host, "/a");
    check_item(host, "/c");
    end();
}

TEST(a_rest_is_kept_over_a_hold)
{
    ratio_mode();
    begin(1, 10);
    struct host *host = push(&loops[0], 1, "/a");
    push(&loops[0], 1, "/b");
    CHECK(take() == host);
    check_item(host, "/a");
    give_back(host, 1 * S); /* it rests for ten seconds */
    order(HOLDS_HOLD, "http://h1.test");
    turn();
    check_state(host, HOST_HELD);
    now += 5 * S;
    order(HOLDS_RELEASE, "http://h1.test");
    turn();
    check_state(host, HOST_RESTING);
    CHECK(take() == NULL);
    now += 6 * S;
    CHECK(take() == host);
    end();
}

TEST(a_host_that_is_ready_or_visited_is_told)
{
    ratio_mode();
    begin(1, 1); /* one address: the second is ready, and waits for the token of the first */
    struct host *first = push(&loops[0], 1, "/a"), *second = push(&loops[0], 2, "/b");
    struct host *taken = take();
    struct host *waiting = taken == first ? second : first;
    push(&loops[0], taken == first ? 1 : 2, "/c");
    check_state(waiting, HOST_READY);
    order(HOLDS_HOLD, "h1.test");
    order(HOLDS_HOLD, "h2.test");
    turn();
    check_state(waiting, HOST_HELD);
    check_state(taken, HOST_VISITING);
    CHECK(host_has_orders(taken)); /* its visit makes no further request */
    give_back(taken, 0);
    check_state(taken, HOST_HELD);
    CHECK(take() == NULL);
    end();
}

TEST(hosts_of_a_domain_are_held_when_they_are_found)
{
    ratio_mode();
    begin(1, 10);
    order(HOLDS_HOLD, "h3.test");
    turn();
    struct host *host = push(&loops[0], 3, "/a");
    CHECK(host_has_orders(host)); /* at once: whoever made it has looked it up */
    turn();
    check_state(host, HOST_HELD);
    CHECK(take() == NULL);
    end();
}

TEST(an_idle_host_stays_idle_until_it_has_urls)
{
    ratio_mode();
    begin(1, 10);
    struct host *host = push(&loops[0], 1, "/a");
    CHECK(take() == host);
    check_item(host, "/a");
    give_back(host, 0);
    check_state(host, HOST_IDLE);
    order(HOLDS_HOLD, "http://h1.test");
    turn();
    check_state(host, HOST_IDLE);
    push(&loops[0], 1, "/b");
    turn();
    check_state(host, HOST_HELD);
    end();
}

TEST(a_drop_empties_the_queue_and_nothing_else)
{
    ratio_mode();
    begin(1, 10);
    char path[16];
    struct host *host = NULL, *other = push(&loops[0], 2, "/x");
    for (int i = 0; i < 10; i++) {
        snprintf(path, sizeof path, "/%d", i);
        host = push(&loops[0], 1, path);
    }
    turn();
    order(HOLDS_DROP, "http://h1.test");
    for (int i = 0; i < 6; i++) /* abandon takes three at a time */
        turn();
    CHECK_INT(abandoned, 10);
    CHECK_INT(queued(host), 0);
    CHECK(!host_has_orders(host));
    check_state(host, HOST_IDLE);
    CHECK_INT(queued(other), 1);
    push(&loops[0], 1, "/later"); /* found after the drop */
    CHECK(take());
    CHECK(take());
    CHECK_INT(abandoned, 10);
    end();
}

TEST(a_held_host_can_be_dropped)
{
    ratio_mode();
    begin(1, 10);
    struct host *host = push(&loops[0], 1, "/a");
    order(HOLDS_HOLD, "http://h1.test");
    turn();
    order(HOLDS_DROP, "h1.test");
    turn();
    CHECK_INT(abandoned, 1);
    check_state(host, HOST_IDLE);
    push(&loops[0], 1, "/b");
    turn();
    check_state(host, HOST_HELD); /* it is still held */
    CHECK_INT(abandoned, 1);
    end();
}

TEST(a_host_that_is_visited_is_dropped_when_it_returns)
{
    ratio_mode();
    begin(1, 10);
    struct host *host = push(&loops[0], 1, "/a");
    push(&loops[0], 1, "/b");
    CHECK(take() == host);
    check_item(host, "/a");
    order(HOLDS_DROP, "http://h1.test");
    turn();
    CHECK(host_has_orders(host));
    CHECK_INT(abandoned, 0);
    give_back(host, 0);
    CHECK_INT(abandoned, 1);
    check_state(host, HOST_IDLE);
    end();
}

/* On disk, too: they come to memory batch by batch. */
TEST(urls_on_disk_are_dropped)
{
    char file[] = "/tmp/lycosa-holds-XXXXXX", path[32];
    close(mkstemp(file));
    ratio_mode();
    tuning.fixed.state.spill = true;
    slots_path = file;
    frontier_bytes = 1 << 20;
    begin(1, 10);
    enum { URLS = 1000 };
    struct host *host = NULL;
    for (int i = 0; i < URLS; i++) {
        snprintf(path, sizeof path, "/%d", i);
        host = push(&loops[0], 1, path);
        if (i % 100 == 0)
            turn(), slots_serve(&frontier.slots);
    }
    for (int i = 0; i < 20; i++)
        turn(), slots_serve(&frontier.slots);
    CHECK(slots_waiting(&host->stowed) > 100);
    order(HOLDS_DROP, "http://h1.test");
    for (int i = 0; i < 2 * URLS && queued(host); i++)
        turn(), slots_serve(&frontier.slots);
    CHECK_INT(abandoned, URLS);
    CHECK_INT(queued(host), 0);
    turn();
    check_state(host, HOST_IDLE);
    CHECK(!host_has_orders(host));
    end();
    slots_path = NULL;
    frontier_bytes = 64 << 20;
    unlink(file);
}

/* Two loops: the home carries the order out, whoever has adopted the list first. */
TEST(every_loop_looks_at_its_own_hosts)
{
    ratio_mode();
    begin(2, 50);
    struct host *hosts[40];
    for (unsigned i = 0; i < 40; i++)
        hosts[i] = push(&loops[i % 2], i, "/a");
    for (int i = 0; i < 4; i++)
        turn();
    order(HOLDS_HOLD, "test"); /* a public suffix is its own domain: none of theirs */
    turn();
    for (unsigned i = 0; i < 40; i++)
        CHECK(!host_has_orders(hosts[i]));
    char name[32];
    for (unsigned i = 0; i < 40; i += 2) {
        snprintf(name, sizeof name, "http://h%u.test", i);
        order(HOLDS_HOLD, name);
    }
    frontier_turn(&loops[0], now);
    frontier_turn(&loops[1], now);
    for (unsigned i = 0; i < 40; i++)
        CHECK_INT(host_state(hosts[i]) == HOST_HELD, i % 2 == 0);
    CHECK_INT(lf_load(&loops[0].states[HOST_HELD], relaxed) + lf_load(&loops[1].states[HOST_HELD], relaxed), 20);
    CHECK_INT(lf_load(&loops[1].holds.adopted, relaxed), list->number);
    end();
}

/* Many hosts are looked at in several turns. */
TEST(a_walk_is_divided)
{
    ratio_mode();
    begin(1, 200);
    struct host *last = NULL;
    for (unsigned i = 0; i < 2000; i++)
        last = push(&loops[0], i, "/a");
    turn();
    order(HOLDS_HOLD, "http://h1999.test");
    turn();
    CHECK(frontier_is_obeying(&loops[0]));
    CHECK_INT(lf_load(&loops[0].holds.done, relaxed), 0);
    for (int i = 0; i < 4; i++)
        turn();
    CHECK(!frontier_is_obeying(&loops[0]));
    CHECK_INT(lf_load(&loops[0].holds.done, relaxed), 1);
    check_state(last, HOST_HELD);
    end();
}

TEST(a_pinned_host_is_nobodys)
{
    ratio_mode();
    begin(1, 10);
    struct host *host = push(&loops[0], 1, "/a");
    CHECK_INT(frontier_reach(&loops[0], host), FRONTIER_IS_AWAY); /* in the inbox of its home */
    turn();
    CHECK_INT(frontier_reach(&loops[0], host), FRONTIER_IS_OURS);
    CHECK(frontier_pin(&loops[0], host) && !frontier_pin(&loops[0], host));
    CHECK(take() == NULL);
    order(HOLDS_DROP, "http://h1.test");
    turn();
    CHECK_INT(abandoned, 0);
    frontier_unpin(&loops[0], host, now);
    CHECK_INT(abandoned, 1);
    check_state(host, HOST_IDLE);
    CHECK_INT(frontier_reach(&loops[0], host), FRONTIER_WAS_SEIZED);
    frontier_unpin(&loops[0], host, now);
    push(&loops[0], 1, "/b");
    CHECK(take() == host);
    CHECK_INT(frontier_reach(&loops[0], host), FRONTIER_IS_OURS);
    CHECK(!frontier_pin(&loops[0], host));
    end();
}
