#include "engine/frontier/host.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/support/check.h"

static struct pool_region region;
static struct pool pool;
static struct host host;

static void begin(void)
{
    CHECK_INT(pool_region_init(&region, 1 << 20), 0);
    pool_init(&pool, &region, 1);
    host = (struct host){.key = "http://a.it", .key_len = 11};
    inbox_init(&host.incoming);
}

static void finish(void)
{
    pool_region_fini(&region);
}

static struct host_item *item(const char *path, enum host_item_kind kind)
{
    struct host_item *made = host_item_acquire(&pool, slice_of(path));
    CHECK(made);
    made->kind = (uint8_t)kind;
    return made;
}

static void push(const char *path)
{
    inbox_push(&host.incoming, &item(path, HOST_ITEM_LINK)->node);
}

static void check_pop(bool weights, const char *path)
{
    struct host_item *popped = host_pop(&host, weights);
    CHECK(popped);
    CHECK_SLICE(host_item_path(popped), path);
    host_item_release(&pool, popped);
}

TEST(the_parts_of_a_key)
{
    struct host named = {.key = "https://example.org:8443", .key_len = 24, .is_https = true};
    CHECK_SLICE(host_name(&named), "example.org");
    CHECK_SLICE(host_authority(&named), "example.org:8443");
    struct host plain = {.key = "http://a.it", .key_len = 11};
    CHECK_SLICE(host_name(&plain), "a.it");
    struct host v6 = {.key = "http://[::1]:80", .key_len = 15};
    CHECK_SLICE(host_name(&v6), "[::1]");
    struct host v6_plain = {.key = "http://[::1]", .key_len = 12};
    CHECK_SLICE(host_name(&v6_plain), "[::1]");
}

TEST(first_come_first_served)
{
    char path[16];
    begin();
    CHECK(!host_has_items(&host) && !host_pop(&host, false));
    for (int i = 0; i < 50; i++) {
        snprintf(path, sizeof path, "/%d", i);
        push(path);
    }
    CHECK(host_has_items(&host));
    for (int i = 0; i < 50; i++) {
        snprintf(path, sizeof path, "/%d", i);
        check_pop(false, path);
    }
    CHECK(!host_has_items(&host));
    finish();
}

TEST(the_first_is_looked_at_without_being_taken)
{
    begin();
    CHECK(!host_first(&host));
    push("/1");
    push("/2");
    inbox_push(&host.incoming, &item("/errand", HOST_ITEM_ROBOTS)->node);
    CHECK(!host_first(&host)); /* still in the inbox */
    CHECK(host_has_errand(&host, false));
    CHECK_SLICE(host_item_path(host_first(&host)), "/1");
    check_pop(false, "/errand");
    check_pop(false, "/1");
    CHECK_SLICE(host_item_path(host_first(&host)), "/2");
    check_pop(false, "/2");
    CHECK(!host_first(&host));
    finish();
}

TEST(what_comes_meanwhile_stands_behind)
{
    begin();
    push("/1");
    push("/2");
    check_pop(false, "/1");
    push("/3");
    check_pop(false, "/2");
    check_pop(false, "/3");
    CHECK_INT(host.waiting, 0);
    finish();
}

TEST(fewer_marks_go_first)
{
    begin();
    push("/a/b/c/d/e/f/g/h");
    push("/a/b.html?q");
    push("/a/b/c.html?q");
    push("/a");
    check_pop(true, "/a");
    check_pop(true, "/a/b.html?q");
    check_pop(true, "/a/b/c.html?q");
    check_pop(true, "/a/b/c/d/e/f/g/h");
    finish();
}

TEST(nothing_starves)
{
    begin();
    push("/a/b/c/d/e/f/g/h");
    for (int i = 0; i < 8; i++) {
        push("/short");
        push("/short");
        struct host_item *popped = host_pop(&host, true);
        bool is_long = popped->len > 6;
        host_item_release(&pool, popped);
        if (is_long) {
            finish();
            return;
        }
    }
    CHECK(!"the long one came within eight");
}

TEST(a_url_goes_back_to_the_front_or_behind)
{
    begin();
    push("/1");
    push("/2");
    struct host_item *first = host_pop(&host, false);
    host_unpop(&host, first);
    CHECK_INT(host.waiting, 2);
    check_pop(false, "/1");
    struct host_item *second = host_pop(&host, false);
    host_unpop(&host, second); /* into an empty band */
    push("/3");
    second = host_pop(&host, false);
    CHECK_SLICE(host_item_path(second), "/2");
    host_push_back(&host, second);
    host_push_back(&host, item("/4", HOST_ITEM_LINK));
    check_pop(false, "/3");
    check_pop(false, "/2");
    check_pop(false, "/4");
    finish();
}

TEST(errands_go_before_all_others)
{
    begin();
    push("/1");
    inbox_push(&host.incoming, &item("/robots.txt", HOST_ITEM_ROBOTS)->node);
    inbox_push(&host.incoming, &item("/moved", HOST_ITEM_ROBOTS)->node);
    CHECK(host_has_errand(&host, false));
    struct host_item *errand = host_pop_errand(&host, false);
    CHECK_SLICE(host_item_path(errand), "/robots.txt");
    host_unpop(&host, errand);
    CHECK_INT(host.waiting, 3);
    check_pop(false, "/robots.txt");
    check_pop(false, "/moved");
    CHECK(!host_has_errand(&host, false) && !host_pop_errand(&host, false));
    check_pop(false, "/1");
    CHECK_INT(host.waiting, 0);
    finish();
}

TEST(an_errand_that_arrives_late_goes_before_those_that_wait)
{
    begin();
    push("/1");
    push("/2");
    check_pop(false, "/1");
    inbox_push(&host.incoming, &item("/robots.txt", HOST_ITEM_ROBOTS)->node);
    check_pop(false, "/robots.txt");
    check_pop(false, "/2");
    finish();
}

TEST(a_full_pool_is_an_answer)
{
    static char path[4096];
    unsigned count = 0;
    begin();
    memset(path, 'x', sizeof path);
    struct host_item *made, *last = NULL;
    while ((made = host_item_acquire(&pool, (struct slice){path, sizeof path}))) {
        last = made;
        count++;
    }
    CHECK(count > 100 && count <= 256);
    host_item_release(&pool, last);
    CHECK(host_item_acquire(&pool, (struct slice){path, sizeof path}) == last);
    finish();
}

static void check_choice(const char *present, const char *expected)
{
    static const char *const texts[] = {"192.0.2.9", "192.0.2.1", "2001:db8::1"};
    struct ip ips[3], wanted;
    for (int i = 0; i < 3; i++)
        CHECK(ip_parse(&ips[i], slice_of(texts[i])));
    host.address = present != NULL;
    if (present)
        CHECK(ip_parse(&host.ip, slice_of(present)));
    CHECK(ip_parse(&wanted, slice_of(expected)));
    CHECK(ip_equals(host_choose_ip(&host, ips, 3), &wanted));
}

TEST(a_host_stays_at_an_address_that_works)
{
    host = (struct host){.ip_count = 3};
    check_choice(NULL, "192.0.2.9");
    check_choice("192.0.2.1", "192.0.2.1");
    check_choice("192.0.2.4", "192.0.2.9"); /* it has moved */
}

TEST(after_a_failure_every_address_has_its_turn)
{
    host = (struct host){.ip_count = 3};
    CHECK(host_leave_ip(&host));
    check_choice("192.0.2.9", "2001:db8::1");
    CHECK(host_leave_ip(&host));
    check_choice("2001:db8::1", "192.0.2.1");
    CHECK(!host_leave_ip(&host)); /* all have failed */
    check_choice("192.0.2.1", "192.0.2.9");
    CHECK(host_leave_ip(&host));
    host_keep_ip(&host);
    CHECK(host_leave_ip(&host));
    CHECK(host_leave_ip(&host));
    CHECK(!host_leave_ip(&host));
}

TEST(one_address_is_all_there_is)
{
    host = (struct host){.ip_count = 1};
    CHECK(!host_leave_ip(&host));
    CHECK(!host.wants_other_ip);
}

/* URLs that wait on disk. */

static char stock_directory[64], stock_path[80];
static struct slots stock;
static struct host_mover mover;

static void begin_stock(uint32_t share)
{
    begin();
    snprintf(stock_directory, sizeof stock_directory, "/tmp/lycosa-host-XXXXXX");
    CHECK(mkdtemp(stock_directory) != NULL);
    snprintf(stock_path, sizeof stock_path, "%s/slots", stock_directory);
    CHECK_INT(slots_init(&stock, &(struct slots_options){.disk = &disk_system,
                                                         .path = stock_path,
                                                         .loops = 1,
                                                         .buffers = 4,
                                                         .loads = 1,
                                                         .slots_max = 1000,
                                                         .record_bytes_max = SLOTS_RECORD_BYTES_SMALL}),
              0);
    mover = (struct host_mover){.slots = &stock.loops[0], .pool = &pool};
    host.stowed.host = 1;
    host.share = share;
}

static void finish_stock(void)
{
    slots_fini(&stock);
    rmdir(stock_directory);
    finish();
}

/* What is on disk comes to memory, batch by batch. */
static void unstow(unsigned batches)
{
    for (; batches && slots_waiting(&host.stowed); batches--) {
        CHECK(slots_load(&stock.loops[0], &host.stowed));
        CHECK(slots_serve(&stock) >= 0);
        struct slots_buffer *batch = slots_loaded(&stock.loops[0]);
        CHECK(batch && host_unstow(&host, &mover, batch));
        slots_accept(&stock.loops[0], batch);
        slots_release(&stock.loops[0], batch);
    }
}

TEST(beyond_its_share_urls_go_to_the_disk_and_come_back_as_they_were)
{
    begin_stock(2);
    push("/1");
    push("/2");
    for (int i = 3; i < 10; i++) {
        char text[16], via[32];
        snprintf(text, sizeof text, "/%d", i);
        snprintf(via, sizeof via, "/from-%d", i);
        struct host_item *made = host_item_acquire_via(&pool, slice_of(text), slice_of(via));
        made->kind = HOST_ITEM_REDIRECT;
        made->recent_hops = 100 + (uint32_t)i;
        made->source = 200 + (uint32_t)i;
        made->hop_count = 300;
        made->depth = 400;
        made->tries = 3;
        made->embed_hops = 5;
        made->redirects = 7;
        made->is_requisite = true;
        made->hops_off = 9;
        inbox_push(&host.incoming, &made->node);
    }
    CHECK(host_stow(&host, &mover));
    CHECK(host.waiting == 2 && slots_waiting(&host.stowed) == 7 && !host.tail);
    check_pop(false, "/1");
    check_pop(false, "/2");
    CHECK(!host_pop(&host, false) && host_has_items(&host)); /* there is more, but not in memory */
    unstow(1);
    for (int i = 3; i < 10; i++) {
        char text[16], via[32];
        snprintf(text, sizeof text, "/%d", i);
        snprintf(via, sizeof via, "/from-%d", i);
        struct host_item *popped = host_pop(&host, false);
        CHECK_SLICE(host_item_path(popped), text);
        CHECK_SLICE(host_item_via(popped), via);
        CHECK(popped->kind == HOST_ITEM_REDIRECT && popped->recent_hops == 100 + (uint32_t)i);
        CHECK(popped->source == 200 + (uint32_t)i && popped->hop_count == 300 && popped->depth == 400);
        CHECK(popped->tries == 3 && popped->embed_hops == 5 && popped->redirects == 7);
        CHECK(popped->is_requisite && popped->hops_off == 9);
        host_item_release(&pool, popped);
    }
    CHECK(!host_has_items(&host));
    CHECK_INT(pool_region_bytes_used(&region), 0);
    finish_stock();
}

TEST(later_urls_queue_up_behind_those_on_disk)
{
    char text[16];
    begin_stock(4);
    for (int i = 0; i < 10; i++) {
        snprintf(text, sizeof text, "/%d", i);
        push(text);
    }
    CHECK(host_stow(&host, &mover));
    for (int i = 0; i < 4; i++) {
        snprintf(text, sizeof text, "/%d", i);
        check_pop(false, text);
    }
    push("/10"); /* there is room in memory again, but it is not its turn */
    CHECK(!host_pop(&host, false) && host.tail);
    CHECK(host_stow(&host, &mover) && !host.tail);
    unstow(1);
    push("/11"); /* nothing is on disk any more */
    for (int i = 4; i < 12; i++) {
        snprintf(text, sizeof text, "/%d", i);
        check_pop(false, text);
    }
    CHECK(!host_has_items(&host));
    finish_stock();
}

TEST(errands_answers_and_what_is_put_back_stay_in_memory)
{
    begin_stock(1);
    push("/1");
    push("/2");
    inbox_push(&host.incoming, &item("/errand", HOST_ITEM_ROBOTS)->node);
    inbox_push(&host.incoming, &item("/answer", HOST_ITEM_ANSWER)->node);
    CHECK(host_stow(&host, &mover));
    CHECK_INT(slots_waiting(&host.stowed), 1);
    struct host_item *popped = host_pop_answer(&host, false);
    CHECK_SLICE(host_item_path(popped), "/answer");
    host_item_release(&pool, popped);
    check_pop(false, "/errand");
    popped = host_pop(&host, false);
    host_unpop(&host, popped);
    popped = host_pop(&host, false);
    CHECK_SLICE(host_item_path(popped), "/1");
    host_push_back(&host, popped);
    CHECK(host_stow(&host, &mover));
    CHECK(slots_waiting(&host.stowed) == 1 && host.waiting == 1);
    unstow(1);
    check_pop(false, "/2"); /* what is to be tried again comes behind the others */
    check_pop(false, "/1");
    finish_stock();
}

TEST(a_url_too_long_for_the_disk_waits_in_memory)
{
    static char text[4000];
    begin_stock(1);
    memset(text, 'x', sizeof text - 1);
    text[0] = '/';
    push("/1");
    push("/2");
    push(text);
    CHECK(host_stow(&host, &mover));
    CHECK(slots_waiting(&host.stowed) == 1 && host.waiting == 2 && !host.tail);
    check_pop(false, "/1");
    check_pop(false, text);
    unstow(1);
    check_pop(false, "/2");
    finish_stock();
}

TEST(urls_of_a_dead_host_need_not_go_to_the_disk)
{
    begin_stock(1);
    push("/1");
    push("/2");
    CHECK(!host_has_errand(&host, false));
    CHECK(host.tail);
    host.is_dead = true;
    push("/3");
    check_pop(false, "/1");
    check_pop(false, "/2");
    check_pop(false, "/3");
    CHECK(!host_has_items(&host));
    finish_stock();
}

TEST(one_call_stows_so_many_at_most)
{
    begin_stock(1);
    for (int i = 0; i < 3000; i++)
        push("/a");
    host_stow(&host, &mover);
    CHECK(host.tail && slots_waiting(&host.stowed) <= 2048);
    finish_stock();
}
