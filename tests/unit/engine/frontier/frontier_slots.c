/* Hosts with more URLs than their share of the memory. */
#include "tests/unit/engine/frontier/frontier_web.h"

#include <sys/stat.h>
#include <unistd.h>

static char directory[64], path[80];

static unsigned pushed_to[HOSTS], popped_of[HOSTS]; /* URLs are numbered host by host */

/* A frontier of one MiB: a host of few may have 256 URLs in memory, and there are 32 buffers. */
static void begin_small(unsigned threads)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-stock-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    snprintf(path, sizeof path, "%s/slots", directory);
    slots_path = path;
    frontier_bytes = 1 << 20;
    begin(threads, 64);
    memset(pushed_to, 0, sizeof pushed_to);
    memset(popped_of, 0, sizeof popped_of);
    for (unsigned i = 0; i < threads; i++)
        frontier_turn(&loops[i], now); /* the share is known from now on */
}

static void finish_small(void)
{
    finish();
    CHECK(access(path, F_OK) != 0);
    CHECK_INT(rmdir(directory), 0);
    slots_path = NULL;
    frontier_bytes = 64 << 20;
}

static struct host *push_next(struct frontier_loop *loop, unsigned number)
{
    char text[32];
    snprintf(text, sizeof text, "/%u/%u", number, pushed_to[number]++);
    return push(loop, number, text);
}

/* A turn of loop and housekeeper. */
static void turn(void)
{
    now += 1 * MS;
    frontier_turn(&loops[0], now);
    CHECK(slots_serve(&frontier.slots) >= 0);
}

static struct host *push_many(unsigned number, unsigned count)
{
    struct host *host = NULL;
    for (unsigned i = 0; i < count; i++) {
        host = push_next(&loops[0], number);
        if (i % 128 == 127)
            turn();
    }
    turn();
    return host;
}

/* The next URL of the host is the next that was pushed to it. */
static bool pop_next(struct frontier_loop *loop, struct host *host)
{
    char text[32];
    unsigned number = (unsigned)strtoul(host->key + 8, NULL, 10);
    struct host_item *item = host_pop(host, false);
    if (!item)
        return false;
    snprintf(text, sizeof text, "/%u/%u", number, popped_of[number]++);
    CHECK_SLICE(host_item_path(item), text);
    frontier_done(loop, host, item);
    return true;
}

static struct host *take_within(unsigned turns)
{
    struct host *host = frontier_take(&loops[0], now);
    for (unsigned i = 0; i < turns && !host; i++) {
        turn();
        host = frontier_take(&loops[0], now);
    }
    return host;
}

/* Visits of ten URLs each until nothing is left. */
static void pop_all(void)
{
    struct host *host;
    while ((host = take_within(3000))) {
        for (int i = 0; i < 10 && pop_next(&loops[0], host);)
            i++;
        give_back(host, 0);
    }
}

static void check_nothing_left(unsigned hosts)
{
    for (unsigned i = 0; i < hosts; i++)
        CHECK_INT(popped_of[i], pushed_to[i]);
    CHECK_INT(pool_region_bytes_used(&frontier.urls), 0);
    CHECK_INT(slots_count(&frontier.slots).in_use, 0);
    CHECK_INT(loops[0].stock.loading, 0);
    CHECK_INT(lf_load(&loops[0].states[HOST_LOADING], relaxed), 0);
}

TEST(a_long_queue_takes_little_memory_and_keeps_its_order)
{
    ratio_mode();
    begin_small(1);
    struct host *host = push_many(0, 20000); /* in memory it would take two MiB */
    CHECK(host->waiting <= 256 && !host->tail);
    CHECK_INT(lf_load(&host->queued, relaxed), 20000);
    CHECK(slots_count(&frontier.slots).writes > 100);
    CHECK(frontier_is_roomy(&loops[0]));
    for (int i = 0; i < 50; i++) {
        CHECK(take_within(3000) == host);
        for (int k = 0; k < 7; k++)
            CHECK(pop_next(&loops[0], host));
        push_next(&loops[0], 0); /* behind all others */
        give_back(host, 0);
    }
    pop_all();
    check_nothing_left(1);
    CHECK_INT(host->state, HOST_IDLE);
    finish_small();
}

TEST(others_have_their_memory_beside_a_long_queue)
{
    ratio_mode();
    begin_small(1);
    push_many(0, 20000);
    for (unsigned i = 1; i < 40; i++)
        push_many(i, 20);
    for (unsigned i = 1; i < 40; i++) {
        char text[16];
        snprintf(text, sizeof text, "h%u.test", i);
        struct host *host = push_next(&loops[0], i);
        CHECK_SLICE(host_name(host), text);
        CHECK_INT(slots_waiting(&host->stowed), 0);
    }
    pop_all();
    check_nothing_left(40);
    finish_small();
}

TEST(a_host_is_loaded_while_it_rests_and_not_visited_before)
{
    ratio_mode();
    begin_small(1);
    struct host *host = push_many(0, 1000);
    CHECK(take_within(3000) == host);
    uint64_t rest_ns = tuning.live.politeness.host_min_idle_ns;
    while (pop_next(&loops[0], host))
        ;
    CHECK(host->waiting == 0 && host_has_items(host));
    give_back(host, 0);
    CHECK_INT(host->state, HOST_LOADING);
    CHECK_INT(lf_load(&loops[0].states[HOST_LOADING], relaxed), 1);
    now += 2 * rest_ns; /* the housekeeper is late */
    CHECK(take() == NULL && take() == NULL);
    turn();
    now += 1 * MS;
    CHECK(take() == host); /* and its rest is over */
    CHECK(pop_next(&loops[0], host));
    give_back(host, 0);
    for (int i = 0; i < 20; i++)
        turn();
    CHECK_INT(host->state, HOST_RESTING); /* it has what a visit needs, long before that */
    CHECK(host->waiting >= 32 && host->waiting < 256);
    CHECK(take() == NULL);
    pop_all();
    check_nothing_left(1);
    finish_small();
}

TEST(a_resting_host_takes_no_memory_for_what_is_pushed_to_it)
{
    ratio_mode();
    begin_small(1);
    struct host *host = push_many(0, 300);
    CHECK(take_within(3000) == host);
    CHECK(pop_next(&loops[0], host));
    give_back(host, 1000 * S); /* a rest without end */
    while (host->state != HOST_RESTING)
        turn();
    push_many(0, 30000);
    CHECK_INT(host->state, HOST_RESTING);
    CHECK(frontier_is_roomy(&loops[0]));
    CHECK(host->waiting <= 256);
    finish_small();
}

TEST(what_was_pushed_before_the_first_turn_goes_to_the_disk_within_some)
{
    ratio_mode();
    begin_small(1);
    struct host *host = NULL;
    for (int i = 0; i < 19000; i++) /* most of the memory */
        host = push_next(&loops[0], 0);
    CHECK(!frontier_is_roomy(&loops[0]));
    for (int i = 0; i < 20; i++)
        turn();
    CHECK(frontier_is_roomy(&loops[0]));
    CHECK(!host->tail && host->waiting <= 256);
    pop_all();
    check_nothing_left(1);
    finish_small();
}

TEST(a_visit_takes_no_memory_for_what_it_finds_at_its_own_host)
{
    ratio_mode();
    begin_small(1);
    struct host *host = push_many(0, 1);
    CHECK(take_within(3000) == host);
    for (int i = 0; i < 30000; i++) {
        push_next(&loops[0], 0);
        if (i % 50 == 0) {
            frontier_stow(&loops[0], host);
            turn();
        }
    }
    CHECK(frontier_is_roomy(&loops[0]));
    give_back(host, 0);
    pop_all();
    check_nothing_left(1);
    finish_small();
}

/* Of 32 hosts each may have 64 URLs; while hardly any memory is in use, 256. */
TEST(a_host_needs_no_disk_while_memory_is_nearly_empty)
{
    ratio_mode();
    begin_small(1);
    for (unsigned i = 0; i < 32; i++)
        push_next(&loops[0], i);
    now += 200 * MS; /* the share is renewed */
    struct host *host = push_many(0, 200);
    CHECK_INT(slots_waiting(&host->stowed), 0);
    push_many(0, 200);
    CHECK(slots_waiting(&host->stowed) > 0);
    pop_all();
    check_nothing_left(32);
    finish_small();
}

TEST(without_a_buffer_urls_wait_in_memory_in_order)
{
    ratio_mode();
    begin_small(1);
    for (unsigned i = 0; i < 80; i++) /* of which 32 have a buffer, and nobody writes any */
        for (unsigned k = 0; k < 40; k++)
            push_next(&loops[0], i);
    frontier_turn(&loops[0], now);
    now += 200 * MS; /* the share is renewed */
    frontier_turn(&loops[0], now);
    for (unsigned i = 0; i < 80; i++)
        for (unsigned k = 0; k < 72; k++)
            push_next(&loops[0], i);
    for (int i = 0; i < 3; i++)
        frontier_turn(&loops[0], now);
    unsigned in_memory = 0, on_disk = 0;
    for (uint32_t id = 1; id <= 80; id++) {
        in_memory += frontier_host_by_id(&frontier, id)->tail != NULL;
        on_disk += slots_waiting(&frontier_host_by_id(&frontier, id)->stowed) > 0;
    }
    CHECK(in_memory > 0 && on_disk > 0);
    for (int i = 0; i < 200; i++)
        turn();
    pop_all();
    check_nothing_left(80);
    finish_small();
}

TEST(without_memory_a_batch_waits_until_there_is_some)
{
    static void *blocks[100000];
    unsigned taken = 0;
    ratio_mode();
    begin_small(1);
    struct host *host = push_many(0, 2000);
    CHECK(take_within(3000) == host);
    while (pop_next(&loops[0], host))
        ;
    while (taken < 100000 && (blocks[taken] = pool_acquire(&loops[0].urls, 64)))
        taken++;
    give_back(host, 0);
    for (int i = 0; i < 2000; i++)
        turn();
    CHECK_INT(host->state, HOST_LOADING);
    while (taken)
        pool_release(&loops[0].urls, blocks[--taken], 64);
    pop_all();
    check_nothing_left(1);
    finish_small();
}

TEST(more_hosts_than_batches_are_loaded_in_turn)
{
    ratio_mode();
    tuning.live.politeness.host_min_idle_ns = 1 * MS;
    begin_small(1);
    for (unsigned i = 0; i < 30; i++)
        push_many(i, 400);
    struct host *host, *taken[30];
    unsigned count = 0;
    while (count < 30 && (host = take_within(3000)))
        taken[count++] = host;
    CHECK_INT(count, 30);
    for (unsigned i = 0; i < 30; i++)
        while (pop_next(&loops[0], taken[i]))
            ;
    for (unsigned i = 0; i < 30; i++)
        give_back(taken[i], 0);
    CHECK_INT(loops[0].stock.loading, 30);
    CHECK(loops[0].stock.hungry != NULL); /* a loop has four batches here */
    pop_all();
    check_nothing_left(30);
    finish_small();
}

TEST(a_dead_host_loses_what_it_has_on_disk_url_by_url)
{
    ratio_mode();
    begin_small(1);
    struct host *host = push_many(0, 3000);
    CHECK(take_within(3000) == host);
    host->is_dead = true;
    give_back(host, 0);
    for (int i = 0; i < 10; i++)
        push_next(&loops[0], 0);
    CHECK(abandoned < 1000);
    for (int i = 0; i < 10000 && abandoned < 3010; i++) {
        unsigned before = abandoned;
        turn();
        CHECK(abandoned - before <= 200); /* some in each turn */
    }
    CHECK_INT(abandoned, 3010);
    CHECK_INT(host->state, HOST_IDLE);
    CHECK_INT(lf_load(&host->queued, relaxed), 0);
    popped_of[0] = pushed_to[0];
    check_nothing_left(1);
    push_next(&loops[0], 0);
    turn();
    CHECK_INT(abandoned, 3011);
    finish_small();
}

TEST(a_host_with_urls_on_disk_is_not_retired)
{
    ratio_mode();
    hosts_max = 16;
    begin_small(1);
    struct host *host = push_many(0, 1000);
    CHECK(take_within(3000) == host);
    while (pop_next(&loops[0], host))
        ;
    give_back(host, 0);
    for (unsigned i = 1; i < 16; i++) {
        push_next(&loops[0], i);
        struct host *other;
        while ((other = take_within(1)) && other != host) {
            CHECK(pop_next(&loops[0], other));
            give_back(other, 0);
        }
        if (other)
            give_back(other, 0);
    }
    for (int i = 0; i < 5000; i++)
        turn(); /* the table is crowded: idle hosts are retired */
    CHECK(lf_load(&frontier.hosts.count, relaxed) < 16);
    pop_all();
    CHECK_INT(popped_of[0], 1000);
    CHECK_INT(slots_count(&frontier.slots).in_use, 0);
    hosts_max = 5000;
    finish_small();
}

TEST(a_disk_that_fails_ends_in_an_error_not_in_a_loop)
{
    ratio_mode();
    begin_small(1);
    struct host *host = push_many(0, 2000);
    CHECK(take_within(3000) == host);
    while (pop_next(&loops[0], host))
        ;
    CHECK_INT(truncate(path, 0), 0);
    give_back(host, 0);
    CHECK(slots_serve(&frontier.slots) < 0);
    for (int i = 0; i < 10; i++) {
        now += 1 * MS;
        frontier_turn(&loops[0], now);
        CHECK(slots_serve(&frontier.slots) < 0);
        CHECK_INT(host->state, HOST_LOADING);
    }
    CHECK_INT(lf_load(&host->queued, relaxed), 2000 - popped_of[0]);
    finish_small();
}

/* Two loops push to all hosts, most of all to the first ones, and visit what they get; a third thread is the housekeeper.
 * What one loop pushes to a host comes out in the order in which it was pushed. */

static _Atomic(bool) is_over;
static unsigned last_of[2][HOSTS]; /* the visitor of the host writes it */

static void *keep_house(void *argument)
{
    (void)argument;
    while (!lf_load(&is_over, relaxed))
        CHECK(slots_serve(&frontier.slots) >= 0);
    return NULL;
}

static void push_numbered(struct frontier_loop *loop, unsigned number, unsigned count)
{
    char text[128], buffer[256];
    struct url url;
    url_init(&url, buffer, sizeof buffer);
    snprintf(text, sizeof text, "http://h%u.test/%u/%u", number, loop->index, count);
    CHECK(url_parse(&url, NULL, slice_of(text)) == URL_OK);
    struct frontier_place place = {.url = &url, .hash = frontier_hash(loop, &url)};
    struct host_item *item = NULL;
    while (!(item = host_item_acquire(&loop->urls, url_path_query(&url)))) { /* the crawl would spill it */
        frontier_turn(loop, clock_now_ns());
        struct host *host = frontier_take(loop, clock_now_ns());
        if (host)
            frontier_give_back(loop, host, 0, clock_now_ns());
    }
    CHECK(frontier_push(loop, &place, item));
}

static void visit_in_order(struct frontier_loop *loop, struct host *host)
{
    unsigned number = (unsigned)strtoul(host->key + 8, NULL, 10);
    struct host_item *item;
    CHECK_INT(lf_fetch_add(&at_host[number], 1, relaxed), 0);
    frontier_stow(loop, host);
    for (int burst = 0; burst < 20 && (item = host_pop(host, false)); burst++) {
        unsigned by = 0, count = 0;
        char text[64];
        snprintf(text, sizeof text, "%.*s", (int)item->len, item->path);
        CHECK_INT(sscanf(text, "/%u/%u", &by, &count), 2);
        CHECK(count > last_of[by][number]);
        last_of[by][number] = count;
        frontier_done(loop, host, item);
        lf_fetch_add(&popped, 1, relaxed);
    }
    lf_fetch_sub(&at_host[number], 1, relaxed);
    frontier_return(loop, host, &(struct politeness_visit){.spent_ns = 0}, clock_now_ns());
}

static void *run_in_order(void *argument)
{
    struct frontier_loop *loop = argument;
    unsigned pushed = 0;
    uint64_t until = clock_now_ns() + 120 * S;
    while (lf_load(&popped, relaxed) < 2 * PUSHES) {
        for (int i = 0; i < 40 && pushed < PUSHES; i++, pushed++)
            push_numbered(loop, pushed % 4 ? pushed % 3 : pushed * 7919 % HOSTS, pushed + 1);
        uint64_t moment = clock_now_ns();
        CHECK(moment < until);
        frontier_turn(loop, moment);
        struct host *host = frontier_take(loop, moment);
        if (host)
            visit_in_order(loop, host);
    }
    return NULL;
}

static void run_two_in_order(uint64_t address_lives_ns)
{
    pthread_t threads[3];
    ratio_mode();
    tuning.live.politeness.host_min_idle_ns = 0;
    tuning.live.politeness.address_min_idle_ns = 0;
    begin_small(2);
    lives_ns = address_lives_ns;
    wanders = lives_ns;
    address_count = ADDRESSES;
    lf_store(&popped, 0, relaxed);
    lf_store(&is_over, false, relaxed);
    memset(last_of, 0, sizeof last_of);
    CHECK(pthread_create(&threads[2], NULL, keep_house, NULL) == 0);
    for (int i = 0; i < 2; i++)
        CHECK(pthread_create(&threads[i], NULL, run_in_order, &loops[i]) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    lf_store(&is_over, true, relaxed);
    pthread_join(threads[2], NULL);
    CHECK_INT(lf_load(&popped, relaxed), 2 * PUSHES);
    CHECK(slots_count(&frontier.slots).reads > 10);
    CHECK_INT(loops[0].urls.bytes_in_use + loops[1].urls.bytes_in_use, 0);
    CHECK_INT(slots_count(&frontier.slots).in_use, 0);
    finish_small();
}

TEST(two_loops_and_a_housekeeper_keep_every_host_in_order)
{
    run_two_in_order(0);
}

TEST(hosts_that_wander_between_loops_keep_their_order_too)
{
    run_two_in_order(5 * MS);
}
