/* Questions about hosts, at the desks of two loops without a crawl. */
#include "engine/crawl/desk.h"

#include "tests/unit/engine/frontier/frontier_web.h"

static struct inquiries inquiries;
static struct desk desks[2];
static struct desk *all[2] = {&desks[0], &desks[1]};

static void open_desks(unsigned threads, unsigned addresses)
{
    ratio_mode();
    begin(threads, addresses);
    for (unsigned i = 0; i < threads; i++)
        desk_init(&desks[i], &loops[i], all);
}

static void turn(void)
{
    for (unsigned i = 0; i < tuning.fixed.crawl.threads; i++) {
        frontier_turn(&loops[i], now);
        desk_turn(&desks[i], now);
    }
}

static struct inquiry *ask(enum inquiry_kind kind, const char *key)
{
    struct inquiry *inquiry = inquiry_begin(&inquiries);
    CHECK(inquiry);
    inquiry->kind = kind;
    CHECK(!key || !holds_parse_host(&inquiry->target, slice_of(key)));
    inquiry_send(inquiry, &desks[0]);
    for (int i = 0; i < 10 && !inquiry_is_answered(inquiry); i++)
        turn();
    return inquiry;
}

static void close_desks(void)
{
    finish();
    inquiry_fini(&inquiries);
    memset(&inquiries, 0, sizeof inquiries);
}

TEST(a_host_is_told_with_its_queue)
{
    open_desks(1, 10);
    for (int i = 0; i < 150; i++) {
        char path[16];
        snprintf(path, sizeof path, "/%d", i);
        push(&loops[0], 1, path);
    }
    turn();
    struct inquiry *inquiry = ask(INQUIRY_HOST, "http://h1.test");
    CHECK(inquiry_is_answered(inquiry) && inquiry->is_known && inquiry->host.is_whole);
    CHECK_INT(inquiry->host.row.queued, 150);
    CHECK_INT(inquiry->host.in_memory, 150);
    CHECK_INT(inquiry->url_count, INQUIRY_URLS_MAX);
    CHECK(strncmp(inquiry->text, "http://h1.test/0\nhttp://h1.test/1\n", 34) == 0);
    CHECK(inquiry->host.has_ip && inquiry->host.robots_age_ms == -1);
    CHECK_INT(inquiry->host.why, INQUIRY_WHY_TURN);
    inquiry_end(inquiry);
    CHECK(take()); /* it is still scheduled */
    close_desks();
}

TEST(a_url_has_a_place_in_the_queue_of_its_host)
{
    static const struct {
        const char *path;
        uint32_t place;
    } cases[] = {{"/0", 1}, {"/149", 150}, {"/150", 0}, {"/", 0}};
    open_desks(1, 10);
    for (int i = 0; i < 150; i++) {
        char path[16];
        snprintf(path, sizeof path, "/%d", i);
        push(&loops[0], 1, path);
    }
    turn();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct inquiry *inquiry = inquiry_begin(&inquiries);
        inquiry->kind = INQUIRY_HOST;
        CHECK(!holds_parse_host(&inquiry->target, SLICE("http://h1.test")));
        inquiry->path_len = strlen(cases[i].path);
        memcpy(inquiry->path, cases[i].path, inquiry->path_len);
        inquiry_send(inquiry, &desks[0]);
        turn();
        CHECK(inquiry_is_answered(inquiry) && inquiry->place == cases[i].place);
        inquiry_end(inquiry);
    }
    close_desks();
}

TEST(what_is_no_host_is_not_known)
{
    open_desks(2, 10);
    push(&loops[0], 1, "/");
    struct inquiry *inquiry = ask(INQUIRY_HOST, "https://h1.test"); /* another scheme */
    CHECK(inquiry_is_answered(inquiry) && !inquiry->is_known);
    inquiry_end(inquiry);
    inquiry = ask(INQUIRY_QUEUE, "http://h2.test");
    CHECK(inquiry_is_answered(inquiry) && !inquiry->is_known);
    inquiry_end(inquiry);
    close_desks();
}

TEST(why_then)
{
    open_desks(1, 10);
    struct host *host = push(&loops[0], 1, "/a");
    push(&loops[0], 1, "/b");
    CHECK(take() == host);
    struct inquiry *inquiry = ask(INQUIRY_HOST, "http://h1.test");
    CHECK(inquiry->host.is_whole); /* this loop visits it */
    CHECK_INT(inquiry->host.why, INQUIRY_WHY_VISITED);
    CHECK_INT(inquiry->host.row.state, HOST_VISITING);
    inquiry_end(inquiry);
    check_item(host, "/a");
    give_back(host, 1 * S); /* ratio 0.1: ten seconds */
    inquiry = ask(INQUIRY_HOST, "http://h1.test");
    CHECK_INT(inquiry->host.why, INQUIRY_WHY_REST);
    CHECK(inquiry->host.wait_ms > 9900 && inquiry->host.wait_ms <= 10000);
    CHECK_INT(inquiry->host.row.visits, 1);
    inquiry_end(inquiry);
    lf_store(&host->failures, 2, relaxed);
    inquiry = ask(INQUIRY_HOST, "http://h1.test");
    CHECK_INT(inquiry->host.why, INQUIRY_WHY_FAILURES);
    CHECK_INT(inquiry->host.row.failures, 2);
    inquiry_end(inquiry);
    struct host *idle = push(&loops[0], 2, "/");
    CHECK(take() == idle);
    check_item(idle, "/");
    give_back(idle, 0);
    inquiry = ask(INQUIRY_HOST, "http://h2.test");
    CHECK_INT(inquiry->host.why, INQUIRY_WHY_NOTHING);
    CHECK_INT(inquiry->host.row.state, HOST_IDLE);
    inquiry_end(inquiry);
    push(&loops[0], 2, "/again"); /* it was given back as it was */
    now += 20 * S;
    CHECK(take() && take());
    close_desks();
}

TEST(a_question_finds_the_loop_that_has_the_host)
{
    open_desks(2, 20);
    for (unsigned i = 0; i < 20; i++)
        push(&loops[0], i, "/");
    for (int i = 0; i < 4; i++)
        turn();
    bool elsewhere = false;
    for (unsigned i = 0; i < 20; i++) {
        char key[32];
        snprintf(key, sizeof key, "http://h%u.test", i);
        struct inquiry *inquiry = ask(INQUIRY_HOST, key);
        CHECK(inquiry_is_answered(inquiry) && inquiry->host.is_whole);
        elsewhere |= inquiry->desk == &desks[1];
        inquiry_end(inquiry);
    }
    CHECK(elsewhere);
    struct host *host = frontier_take(&loops[1], now); /* visited by the other */
    char key[32] = {0};
    memcpy(key, host->key, host->key_len);
    struct inquiry *inquiry = ask(INQUIRY_HOST, key);
    CHECK(inquiry_is_answered(inquiry) && inquiry->host.is_whole && inquiry->desk == &desks[1]);
    CHECK_INT(inquiry->url_count, 1);
    inquiry_end(inquiry);
    inquiry = ask(INQUIRY_QUEUE, key);
    CHECK(!inquiry_is_answered(inquiry)); /* it is waited for */
    now += DESK_PATIENCE_NS;
    turn();
    CHECK(inquiry_is_answered(inquiry) && inquiry->is_refused && inquiry->is_known);
    CHECK_INT(inquiry->host.row.queued, 1);
    inquiry_end(inquiry);
    close_desks();
}

/* A long queue comes in pieces; the host is let go at the end, or when nobody reads on. */
TEST(a_queue_is_written_out_whole)
{
    enum { URLS = 20000 };
    open_desks(1, 10);
    for (int i = 0; i < URLS; i++) {
        char path[32];
        snprintf(path, sizeof path, "/a-path-%d", i);
        push(&loops[0], 1, path);
    }
    turn();
    static bool seen[URLS];
    for (int round = 0; round < 2; round++) {
        unsigned count = 0, pieces = 0;
        memset(seen, 0, sizeof seen);
        struct inquiry *inquiry = ask(INQUIRY_QUEUE, "http://h1.test");
        for (;; inquiry_go_on(inquiry)) {
            for (int i = 0; i < 1000 && !inquiry_is_answered(inquiry); i++)
                turn();
            CHECK(inquiry_is_answered(inquiry) && inquiry->len <= INQUIRY_TEXT_BYTES);
            pieces++;
            for (char *at = inquiry->text, *end = at + inquiry->len; at < end; at = strchr(at, '\n') + 1) {
                unsigned long number = strtoul(at + strlen("http://h1.test/a-path-"), NULL, 10);
                CHECK(number < URLS && !seen[number]);
                seen[number] = true;
                count++;
            }
            if (!inquiry->has_more || round == 1)
                break;
            CHECK(take() == NULL); /* nobody visits it meanwhile */
        }
        CHECK(round == 1 || (count == URLS && pieces > 1));
        inquiry_end(inquiry);
        turn();
    }
    CHECK(take());
    for (unsigned i = 0; i < INQUIRIES_MAX; i++)
        CHECK_INT(lf_load(&inquiries.all[i].state, relaxed), INQUIRY_FREE);
    close_desks();
}

TEST(the_largest_are_found_in_steps)
{
    enum { COUNT = 4999 }; /* more than one turn looks at */
    open_desks(1, 100);
    for (unsigned i = 0; i < COUNT; i++)
        lf_store(&push(&loops[0], i, "/")->bytes, i * 7919 % COUNT, relaxed);
    turn();
    struct inquiry *inquiry = inquiry_begin(&inquiries);
    inquiry->kind = INQUIRY_TOP;
    inquiry->by = INQUIRY_BY_BYTES;
    inquiry_send(inquiry, &desks[0]);
    turn();
    CHECK(!inquiry_is_answered(inquiry) && desk_is_busy(&desks[0]));
    turn();
    CHECK(inquiry_is_answered(inquiry) && !desk_is_busy(&desks[0]));
    CHECK_INT(inquiry->row_count, INQUIRY_ROWS_MAX);
    for (unsigned i = 0; i < INQUIRY_ROWS_MAX; i++)
        CHECK_INT(inquiry->rows[i].bytes, COUNT - 1 - i);
    inquiry_end(inquiry);
    inquiry = ask(INQUIRY_TOP, NULL); /* by queue: all have one URL */
    CHECK_INT(inquiry->rows[63].value, 1);
    inquiry_end(inquiry);
    close_desks();
}

TEST(what_nobody_waits_for_is_freed)
{
    open_desks(1, 10);
    for (int i = 0; i < INQUIRIES_MAX; i++) {
        struct inquiry *inquiry = inquiry_begin(&inquiries);
        CHECK(inquiry);
        inquiry->kind = INQUIRY_TOP;
        inquiry_send(inquiry, &desks[0]);
        CHECK(inquiry_leave(inquiry));
    }
    CHECK(!inquiry_begin(&inquiries)); /* fixed memory */
    turn();
    CHECK(inquiry_begin(&inquiries));
    close_desks();
}
