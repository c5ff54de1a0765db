#include <stdlib.h>
#include <string.h>

#include "engine/console/console.h"
#include "engine/console/router.h"
#include "engine/crawl/desk.h"
#include "tests/support/check.h"

static struct console console;
static struct crawl crawl;
static struct console_response response;

static unsigned ask(const char *method, const char *path, const char *query)
{
    struct console_request request = {
        .method = method, .path = path, .query = slice_of(query), .is_local = true, .who = "uid 0", .body = {"", 0}};
    console.crawl = &crawl;
    crawl.directory = "/nowhere"; /* orders are not logged */
    free(response.text);
    CHECK(console_response_begin(&response));
    router_answer(&console, &request, &response);
    CHECK(console_response_finish(&response));
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

/* Fixed memory: what the loops have not answered is theirs. */
TEST(questions_are_bounded)
{
    for (unsigned i = 0; i < INQUIRIES_MAX; i++)
        lf_store(&crawl.inquiries.all[i].state, INQUIRY_LEFT, relaxed);
    CHECK_INT(ask("GET", "/api/v1/hosts", ""), 503);
    CHECK_INT(ask("GET", "/api/v1/host", "key=http://a.org"), 503);
    CHECK_INT(ask("GET", "/api/v1/host", "key=http://a.org&format=text"), 503);
    CHECK_INT(ask("POST", "/api/v1/drop", "host=http://a.org"), 503);
    CHECK(strstr(response.text, "too many questions"));
    for (unsigned i = 0; i < INQUIRIES_MAX; i++)
        lf_store(&crawl.inquiries.all[i].state, INQUIRY_FREE, relaxed);
}

/* The loops have ended: nobody waits for them. */
TEST(loops_that_do_not_answer_are_told)
{
    static struct frontier_loop loop;
    static struct desk desk;
    desk_init(&desk, &loop, crawl.desks);
    crawl.desks[0] = &desk;
    gate_set_phase(&crawl.gate, CRAWL_ENDING);
    CHECK_INT(ask("GET", "/api/v1/hosts", "by=bytes"), 503);
    CHECK_STR(response.text, "{\"error\": \"the loop did not answer\"}\n");
    gate_set_phase(&crawl.gate, CRAWL_RUNNING);
    inquiry_fini(&crawl.inquiries);
    free(response.text);
    response.text = NULL;
}
