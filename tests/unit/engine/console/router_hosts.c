#include <stdlib.h>
#include <string.h>

#include "engine/console/console.h"
#include "engine/console/pending.h"
#include "engine/console/router.h"
#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/desk.h"
#include "engine/crawl/loop.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"

static struct console console;
static struct crawl crawl;
static struct console_response response;
static bool is_ready;
static struct console_wait waits;

static unsigned ask(const char *method, const char *path, const char *query)
{
    struct console_request request = {
        .method = method, .path = path, .query = slice_of(query), .is_local = true, .who = "uid 0", .body = {"", 0}, .wait = &waits};
    console.crawl = &crawl;
    if (!is_ready)
        order_log_init(&console.orders);
    is_ready = true;
    free(response.text);
    CHECK(console_response_begin(&response));
    router_answer(&console, &request, &response);
    CHECK(console_response_finish(&response));
    order_log_fini(&console.orders); /* nobody writes them down */
    return response.status;
}

/* No loop is asked for what cannot be a host. */
TEST(what_is_no_host_is_refused)
{
    static const char *const bad[] = {"", "key=", "key=example.org", "key=ftp://a.org", "key=http://a.org/x", "key=http://u:p@a.org",
                                      "key=http%3A%2F%2Fa.org%00", "key=http://a.org&format=xml", "format=text"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_INT(ask("GET", "/api/v1/host", bad[i]), 400);
    CHECK_INT(ask("GET", "/api/v1/hosts", "by=size"), 400);
    CHECK_STR(response.text, "{\"error\": \"by is queue, failures, time or bytes\"}\n");
    static const char *const orders[] = {"/api/v1/hold", "/api/v1/release", "/api/v1/drop"};
    for (size_t i = 0; i < 3; i++) {
        CHECK_INT(ask("POST", orders[i], ""), 400);
        CHECK_INT(ask("POST", orders[i], "host=http://a.org&domain=a.org"), 400);
        CHECK_INT(ask("POST", orders[i], "host=a.org"), 400);
        CHECK_INT(ask("POST", orders[i], "domain=www.a.org"), 400);
        CHECK(strstr(response.text, "registrable"));
        CHECK_INT(ask("GET", orders[i], "host=http://a.org"), 405);
    }
}

TEST(no_order_makes_sense_at_the_end)
{
    gate_set_phase(&crawl.gate, CRAWL_STOPPING);
    CHECK_INT(ask("POST", "/api/v1/hold", "domain=a.org"), 409);
    gate_set_phase(&crawl.gate, CRAWL_RUNNING);
}

static void set_inquiries(enum inquiry_state state)
{
    for (unsigned i = 0; i < INQUIRIES_MAX; i++)
        lf_store(&crawl.inquiries.all[i].state, state, relaxed);
}

/* The server asks again when there is nothing to say yet; this pretends that it has been doing so for long. */
static unsigned ask_late(const char *method, const char *path, const char *query)
{
    CHECK_INT(ask(method, path, query), 200);
    CHECK(response.is_pending);
    ((struct pending *)waits.work)->since_ns = 1;
    return ask(method, path, query);
}

/* Fixed memory: what the loops have not answered is theirs, and others wait. */
TEST(questions_are_bounded)
{
    set_inquiries(INQUIRY_LEFT);
    CHECK_INT(ask_late("GET", "/api/v1/hosts", ""), 503);
    CHECK_INT(ask_late("GET", "/api/v1/host", "key=http://a.org"), 503);
    CHECK_INT(ask_late("GET", "/api/v1/host", "key=http://a.org&format=text"), 503);
    CHECK_INT(ask_late("POST", "/api/v1/drop", "host=http://a.org"), 503);
    CHECK(strstr(response.text, "too many questions"));
    set_inquiries(INQUIRY_FREE);
}

/* A loop that stands still holds up nobody: the request is asked again, and other requests meanwhile. */
TEST(nobody_waits_in_a_call)
{
    static const char *const paths[] = {"/api/v1/hosts", "/api/v1/host?key=http://a.org", "/api/v1/host?key=http://a.org&format=text"};
    static struct frontier_loop loop;
    static struct desk desk;
    desk_init(&desk, &loop, crawl.desks);
    crawl.desks[0] = &desk;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        const char *mark = strchr(paths[i], '?');
        char path[32];
        snprintf(path, sizeof path, "%.*s", (int)strcspn(paths[i], "?"), paths[i]);
        uint64_t begun_ns = clock_now_ns();
        CHECK_INT(ask("GET", path, mark ? mark + 1 : ""), 200);
        CHECK(response.is_pending && clock_now_ns() - begun_ns < CLOCK_NS_PER_S);
        CHECK_INT(ask("GET", path, mark ? mark + 1 : ""), 200);
        CHECK(response.is_pending);
        router_leave(&console, &waits); /* its client has gone: the question is the loops' */
        CHECK(!waits.work && lf_load(&crawl.inquiries.all[i].state, relaxed) == INQUIRY_LEFT);
    }
    gate_set_phase(&crawl.gate, CRAWL_ENDING); /* the loops have ended: nobody is waited for */
    CHECK_INT(ask("GET", "/api/v1/hosts", "by=bytes"), 503);
    CHECK_STR(response.text, "{\"error\": \"the loop did not answer\"}\n");
    gate_set_phase(&crawl.gate, CRAWL_RUNNING);
    set_inquiries(INQUIRY_FREE);
}

static void begin_holds(void)
{
    crawl.loop_count = 1;
    crawl.loops = aligned_alloc(128, sizeof *crawl.loops);
    memset(crawl.loops, 0, sizeof *crawl.loops);
}

static void end_holds(void)
{
    crawl_free_holds(&crawl);
    lf_store(&crawl.frontier.holds, NULL, relaxed);
    free(crawl.loops);
}

/* A housekeeper who waits for the disk holds up nobody either; other orders wait for him, too. */
TEST(an_order_is_answered_when_it_is_carried_out)
{
    struct console_wait first, second;
    begin_holds();
    CHECK_INT(ask("POST", "/api/v1/hold", "domain=a.org"), 200);
    CHECK(response.is_pending);
    first = waits;
    waits = (struct console_wait){0};
    CHECK_INT(ask("POST", "/api/v1/hold", "domain=b.org"), 200);
    CHECK(response.is_pending);
    second = waits;
    crawl_keep_holds(&crawl, clock_now_ns());
    CHECK_INT(ask("POST", "/api/v1/hold", "domain=b.org"), 200); /* the first has not looked yet */
    CHECK(response.is_pending && crawl.holds->count == 1);
    waits = first;
    CHECK_INT(ask("POST", "/api/v1/hold", "domain=a.org"), 200);
    CHECK(response.is_pending); /* the loop has not looked at the list */
    lf_store(&crawl.loops[0].frontier.holds.done, 1, relaxed);
    CHECK_INT(ask("POST", "/api/v1/hold", "domain=a.org"), 200);
    CHECK(!response.is_pending && !waits.work);
    CHECK_STR(response.text, "{\"order\": \"done\", \"held\": {\"hosts\": [], \"domains\": [\"a.org\"]}}\n");
    waits = second;
    CHECK_INT(ask("POST", "/api/v1/hold", "domain=b.org"), 200);
    crawl_keep_holds(&crawl, clock_now_ns());
    CHECK_INT(ask("POST", "/api/v1/hold", "domain=b.org"), 200);
    CHECK(response.is_pending);
    ((struct pending *)waits.work)->since_ns = 1;
    CHECK_INT(ask("POST", "/api/v1/hold", "domain=b.org"), 202);
    CHECK(strstr(response.text, "begun") && !console.orderer);
    end_holds();
}

TEST(an_order_whose_giver_has_gone_holds_up_no_other)
{
    begin_holds();
    CHECK_INT(ask("POST", "/api/v1/hold", "domain=a.org"), 200);
    router_leave(&console, &waits);
    CHECK_INT(ask("POST", "/api/v1/release", "domain=a.org"), 200);
    CHECK(response.is_pending);
    crawl_keep_holds(&crawl, clock_now_ns());
    CHECK_INT(ask("POST", "/api/v1/release", "domain=a.org"), 200);
    CHECK(response.is_pending); /* now it is handed over */
    crawl_keep_holds(&crawl, clock_now_ns());
    lf_store(&crawl.loops[0].frontier.holds.done, 2, relaxed);
    CHECK_INT(ask("POST", "/api/v1/release", "domain=a.org"), 200);
    CHECK(!response.is_pending && strstr(response.text, "\"domains\": []"));
    CHECK_INT(ask_late("POST", "/api/v1/hold", "domain=c.org"), 503); /* nobody takes it up */
    CHECK(strstr(response.text, "may still be carried out"));
    end_holds();
    inquiry_fini(&crawl.inquiries);
    free(response.text);
    response.text = NULL;
}
