#include "tests/unit/engine/frontier/frontier_web.h"

TEST(a_host_gives_its_urls_in_order_and_rests)
{
    ratio_mode();
    begin(1, 1);
    CHECK(take() == NULL);
    struct host *host = push(&loops[0], 1, "/a");
    CHECK(push(&loops[0], 1, "/b") == host);
    CHECK(take() == host);
    CHECK(take() == NULL);
    check_item(host, "/a");
    push(&loops[0], 1, "/c");
    now += 200 * MS;
    give_back(host, 200 * MS);
    now += 2 * S - 1;
    CHECK(take() == NULL);
    now += 2 * MS;
    CHECK(take() == host);
    check_item(host, "/b");
    check_item(host, "/c");
    CHECK(host_pop(host, false) == NULL);
    give_back(host, 0);
    CHECK_INT(host->state, HOST_IDLE);
    push(&loops[0], 1, "/d");
    CHECK(take() == NULL); /* an idle host rests as long as a busy one */
    now += 1 * S + 2 * MS;
    CHECK(take() == host);
    finish();
}

TEST(hosts_of_one_address_share_its_token)
{
    ratio_mode();
    begin(1, 1);
    push(&loops[0], 1, "/");
    push(&loops[0], 2, "/");
    struct host *first = take();
    CHECK(first != NULL);
    CHECK(take() == NULL);
    now += 50 * MS;
    check_item(first, "/");
    give_back(first, 50 * MS);
    CHECK(take() == NULL);
    now += 99 * MS;
    CHECK(take() == NULL);
    now += 3 * MS;
    struct host *second = take();
    CHECK(second && second != first);
    finish();
}

TEST(a_host_that_was_asked_nothing_costs_its_address_nothing)
{
    ratio_mode();
    begin(1, 1);
    push(&loops[0], 1, "/");
    push(&loops[0], 2, "/");
    struct host *first = take();
    frontier_give_back(&loops[0], first, 1 * S, now);
    struct host *second = take();
    CHECK(second && second != first);
    frontier_give_back(&loops[0], second, 1 * S, now);
    CHECK(take() == NULL);
    now += 1 * S + 2 * MS;
    CHECK(take() != NULL);
    finish();
}

TEST(a_loop_that_takes_nothing_offers_its_hosts_and_wakes_an_idle_loop)
{
    ratio_mode();
    begin(2, 64);
    CHECK(frontier_take(&loops[0], now) == NULL);
    CHECK(frontier_take(&loops[1], now) == NULL);
    for (unsigned i = 0; i < 64; i++)
        push(&loops[0], i, "/");
    lf_store(&woken, 0, relaxed);
    frontier_turn(&loops[0], now);
    frontier_turn(&loops[1], now);
    frontier_turn(&loops[0], now); /* hosts that loop 1 has resolved */
    frontier_offer(&loops[0], now);
    CHECK(lf_load(&woken, relaxed) & 2);
    unsigned own = 0, stolen = 0;
    for (; frontier_take(&loops[1], now); stolen = (unsigned)lf_load(&loops[1].stolen, relaxed))
        own++;
    CHECK(own && stolen);
    finish();
}

TEST(an_address_with_two_tokens_takes_two_visits)
{
    ratio_mode();
    tuning.fixed.politeness.connections_per_address = 2;
    begin(1, 1);
    for (unsigned i = 0; i < 3; i++)
        push(&loops[0], i, "/");
    struct host *a = take(), *b = take();
    CHECK(a && b && a != b);
    CHECK(take() == NULL);
    check_item(a, "/");
    give_back(a, 0);
    CHECK(take() == NULL);
    now += 101 * MS + 2 * MS;
    CHECK(take() != NULL);
    finish();
}

TEST(weights_prefer_but_do_not_starve)
{
    ratio_mode();
    tuning.live.politeness.host_min_idle_ns = 10 * MS;
    tuning.live.politeness.address_min_idle_ns = 0;
    snprintf(tuning.fixed.priority.preferred_suffixes, sizeof tuning.fixed.priority.preferred_suffixes,
             "h1.test");
    tuning.fixed.priority.suffix_weight_ns = 1 * S;
    begin(1, 1);
    unsigned taken[2] = {0, 0}, first_taken = 0;
    push(&loops[0], 2, "/");
    push(&loops[0], 1, "/");
    for (int i = 0; i < 1000; i++) {
        struct host *host = take();
        if (host) {
            unsigned number = (unsigned)host->key[8] - '1';
            taken[number]++;
            first_taken = first_taken ? first_taken : number + 1;
            frontier_done(&loops[0], host, host_pop(host, false));
            push(&loops[0], number + 1, "/");
            give_back(host, 0);
        }
        now += 5 * MS;
    }
    CHECK_INT(first_taken, 1);
    CHECK(taken[0] > 300);
    CHECK(taken[1] >= 3); /* 5 s of a weight of 1 s */
    CHECK(taken[1] < taken[0]);
    finish();
}

TEST(shallow_urls_first_but_deep_ones_are_not_forgotten)
{
    ratio_mode();
    tuning.fixed.priority.url_weights = true;
    begin(1, 1);
    struct host *host = push(&loops[0], 1, "/a/b/c/d/e/f/g/h.html");
    for (int i = 0; i < 20; i++)
        push(&loops[0], 1, "/x");
    CHECK(take() == host);
    int at = -1;
    for (int i = 0; i < 21; i++) {
        struct host_item *item = host_pop(host, true);
        if (item->len > 10)
            at = i;
        frontier_done(&loops[0], host, item);
    }
    CHECK(at > 0 && at < 10);
    finish();
}

TEST(whales_are_cut_and_their_urls_counted)
{
    ratio_mode();
    tuning.live.limits.hosts_per_address_max = 3;
    begin(1, 1);
    for (unsigned i = 0; i < 10; i++)
        push(&loops[0], i, "/");
    take();
    CHECK_INT(abandoned, 7);
    push(&loops[0], 9, "/again");
    take();
    CHECK_INT(abandoned, 8);
    finish();
}

TEST(no_room_for_more_hosts_is_an_answer)
{
    ratio_mode();
    begin(1, 7);
    for (unsigned i = 0; i < tuning.fixed.memory.hosts_max; i++)
        push(&loops[0], i, "/");
    char buffer[64];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    CHECK(url_parse(&url, NULL, SLICE("http://one-more.test/")) == URL_OK);
    CHECK(frontier_host(&loops[0], &url, frontier_hash(&loops[0], &url)) == NULL);
    CHECK(url_parse(&url, NULL, SLICE("http://h17.test/x")) == URL_OK);
    CHECK(frontier_host(&loops[0], &url, frontier_hash(&loops[0], &url)) != NULL);
    finish();
}

/* Taken, its next URL read, and given back: a visit of no length. */
static void visit_once(struct host *expected)
{
    CHECK(take() == expected);
    frontier_done(&loops[0], expected, host_pop(expected, false));
    give_back(expected, 0);
}

TEST(an_address_is_asked_for_again_when_a_visit_needs_it)
{
    ratio_mode();
    begin(1, 16);
    lives_ns = 60 * S;
    struct host *host = push(&loops[0], 1, "/a");
    push(&loops[0], 1, "/b");
    push(&loops[0], 1, "/c");
    visit_once(host);
    now += 59 * S;
    visit_once(host);
    CHECK_INT(resolved, 1);
    CHECK_INT(unit_of(host)->bytes[15], 1);
    now += 2 * S;
    frontier_turn(&loops[0], now);
    CHECK_INT(resolved, 1); /* a host at rest needs none */
    moved_by = 4;
    visit_once(host);
    CHECK_INT(resolved, 2);
    CHECK_INT(unit_of(host)->bytes[15], 5);
    CHECK_INT(lf_load(&loops[0].states[HOST_RESOLVING], relaxed), 0);
    CHECK_INT(lf_load(&loops[0].states[HOST_IDLE], relaxed), 1);
    finish();
}

TEST(a_host_that_moves_rests_as_long_and_shares_the_new_token)
{
    ratio_mode();
    begin(1, 2);
    lives_ns = 60 * S;
    struct host *mover = push(&loops[0], 0, "/a"), *there = push(&loops[0], 1, "/a");
    struct host *first = take(), *second = take();
    CHECK((first == mover && second == there) || (first == there && second == mover));
    check_item(mover, "/a");
    push(&loops[0], 0, "/b");
    now += 61 * S;
    moved_by = 1;
    give_back(mover, 0);
    now += 1 * S - 1 * MS;
    CHECK(take() == NULL); /* its own rest */
    now += 3 * MS;
    CHECK(take() == NULL); /* the visit of the other is at the new address */
    CHECK_INT(resolved, 3);
    CHECK_INT(unit_of(mover)->bytes[15], 1);
    check_item(there, "/a");
    give_back(there, 0);
    CHECK(take() == NULL);
    now += 102 * MS;
    CHECK(take() == mover);
    finish();
}

TEST(a_host_that_moves_goes_to_the_home_of_its_address)
{
    ratio_mode();
    begin(2, 64);
    lives_ns = 60 * S;
    struct host *host = push(&loops[0], 1, "/a");
    push(&loops[0], 1, "/b");
    unsigned homes = 0;
    for (moved_by = 0; moved_by < 64 && homes != 3; moved_by++) {
        struct host *taken = NULL;
        for (int i = 0; i < 4 && !taken; i++) {
            frontier_turn(&loops[i % 2], now);
            taken = frontier_take(&loops[i % 2], now);
        }
        CHECK(taken == host);
        CHECK_INT(unit_of(host)->bytes[15], 1 + moved_by);
        unsigned home = lf_load(&host->home, relaxed);
        CHECK_INT(home, frontier_address(&frontier, host->address)->home);
        homes |= 1u << home;
        frontier_return(&loops[0], host, &(struct politeness_visit){.spent_ns = 0}, now);
        now += 61 * S;
    }
    CHECK_INT(homes, 3);
    finish();
}

TEST(a_host_of_several_addresses_stays_at_one)
{
    ratio_mode();
    tuning.live.limits.hosts_per_address_max = 1;
    begin(1, 16);
    lives_ns = 60 * S;
    others = 2;
    struct host *host = push(&loops[0], 1, "/a");
    for (moved_by = 0; moved_by < 5; moved_by++) {
        push(&loops[0], 1, "/b");
        visit_once(host);
        CHECK_INT(unit_of(host)->bytes[15], 1);
        now += 61 * S;
    }
    CHECK_INT(resolved, 5);
    CHECK_INT(abandoned, 0);
    finish();
}

TEST(a_host_that_cannot_be_connected_to_goes_on_to_its_next_address)
{
    ratio_mode();
    begin(1, 16);
    lives_ns = 60 * S;
    others = 2;
    struct host *host = push(&loops[0], 1, "/a");
    for (unsigned tries = 0; tries < 4; tries++) {
        CHECK(take() == host);
        CHECK_INT(unit_of(host)->bytes[15], 1 + tries % 3);
        CHECK_INT(host->ip.bytes[15], 1 + tries % 3);
        CHECK_INT(host_leave_ip(host), tries < 2 || tries == 3);
        give_back(host, 10 * S);               /* a time-out: nothing that the host has to recover from */
        now += tries < 2 ? 1100 * MS : 10 * S; /* the first address rests from its own try */
    }
    CHECK_INT(abandoned, 0);
    finish();
}

TEST(a_host_that_has_left_makes_room_at_its_address)
{
    ratio_mode();
    tuning.live.limits.hosts_per_address_max = 1;
    begin(1, 16);
    lives_ns = 60 * S;
    struct host *first = push(&loops[0], 1, "/a");
    push(&loops[0], 1, "/b");
    visit_once(first);
    now += 61 * S;
    moved_by = 1;
    visit_once(first);
    moved_by = 0;
    struct host *second = push(&loops[0], 17, "/a");
    visit_once(second);
    CHECK_INT(abandoned, 0);
    CHECK_INT(unit_of(second)->bytes[15], 1);
    finish();
}

static void run_two_loops(uint64_t address_lives_ns)
{
    ratio_mode();
    tuning.live.politeness.host_min_idle_ns = 0;
    tuning.live.politeness.address_min_idle_ns = 0;
    begin(2, ADDRESSES);
    lives_ns = address_lives_ns;
    wanders = lives_ns;
    run_both_loops();
    finish();
}

TEST(two_loops_lose_nothing_and_never_meet)
{
    run_two_loops(0);
}

TEST(hosts_that_wander_between_loops_are_not_lost_either)
{
    run_two_loops(5 * MS);
    CHECK(lf_load(&resolved, relaxed) > HOSTS);
}
