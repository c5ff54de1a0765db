#include "engine/console/router.h"

#include <poll.h>

#include "engine/console/console.h"
#include "tests/unit/engine/crawl/crawl_frame.h"

static struct trial trial;
static struct console console;
static struct console_response response;
static struct console_wait waits;
static char *text;

static unsigned ask(const char *path, const char *query, const char *body)
{
    struct console_request request = {.method = "POST", .path = path, .query = slice_of(query), .is_local = true, .who = "uid 0",
                                      .body = slice_of(body), .wait = &waits};
    free(text);
    CHECK(console_response_begin(&response));
    router_answer(&console, &request, &response);
    CHECK(console_response_finish(&response));
    text = response.text;
    return response.status;
}

static unsigned patch(const char *body)
{
    struct console_request request = {.method = "PATCH", .path = "/api/v1/tuning", .query = {"", 0}, .is_local = true, .who = "uid 0",
                                      .body = slice_of(body), .wait = &waits};
    free(text);
    CHECK(console_response_begin(&response));
    router_answer(&console, &request, &response);
    CHECK(console_response_finish(&response));
    text = response.text;
    return response.status;
}

static struct crawl *begin(void)
{
    struct crawl *crawl = trial_open(&trial);
    console.crawl = crawl;
    order_log_init(&console.orders);
    waits = (struct console_wait){0};
    return crawl;
}

/* The giver of the last order does not wait for its answer. */
static void go_away(void)
{
    router_leave(&console, &waits);
    waits = (struct console_wait){0};
}

static void finish(void)
{
    go_away();
    free(text);
    text = NULL;
    added_destroy(console.added);
    order_log_fini(&console.orders);
    memset(&console, 0, sizeof console);
    trial_end(&trial);
    trial_fini(&trial);
}

static unsigned orders_logged(void)
{
    char path[TRIAL_PATH_BYTES], *log;
    size_t len;
    unsigned lines = 0;
    order_log_write(&console.orders, console.crawl->directory);
    log = check_read_file(trial_path(&trial, "crawl/events.log", path), &len);
    struct tm date = {0};
    CHECK(len == 0 || (log[20] == '\t' && strptime(log, "%Y-%m-%dT%H:%M:%SZ\t", &date)));
    CHECK(len == 0 || labs(timegm(&date) - time(NULL)) < 600);
    for (size_t i = 0; i < len; i++)
        lines += log[i] == '\n';
    free(log);
    return lines;
}

/* Asked again and again, as the server does. */
TEST(seeds_are_answered_when_they_are_committed)
{
    trial_init(&trial);
    trial_seed(&trial, "http://127.0.0.1/a");
    struct crawl *crawl = begin();
    const char *body = "http://127.0.0.1/b\nhttp://127.0.0.1/a\n\"quoted\" text\n";
    CHECK_INT(ask("/api/v1/seeds", "lines=1", body), 200);
    CHECK(response.is_pending);
    for (int i = 0; response.is_pending; i++) {
        CHECK(i < 10000);
        trial_turn(crawl);
        CHECK_INT(ask("/api/v1/seeds", "lines=1", body), 200);
    }
    CHECK(strstr(text, "{\"accepted\": 1, \"known\": 1, \"out_of_scope\": 0, \"bad\": 1, \"lost\": 0, \"kept\": 0, \"rules\": {}, \"epoch\": "));
    CHECK(strstr(text, "{\"line\": 1, \"fate\": \"accepted\"},\n{\"line\": 2, \"fate\": \"known\"}"));
    CHECK(strstr(text, "\"why\": \"'\\\"quoted\\\" text' is no URL"));
    CHECK(console.added == NULL);
    CHECK_INT(orders_logged(), 1);
    finish();
}

TEST(one_list_at_a_time_and_none_at_the_end)
{
    trial_init(&trial);
    trial_seed(&trial, "http://127.0.0.1/a");
    struct crawl *crawl = begin();
    CHECK_INT(ask("/api/v1/seeds", "", "# nothing\n"), 400);
    CHECK(!console.added);
    CHECK_INT(ask("/api/v1/seeds", "", "http://127.0.0.1/b"), 200);
    struct console_wait first = waits;
    waits = (struct console_wait){0};
    CHECK_INT(ask("/api/v1/seeds", "", "http://127.0.0.1/c"), 503);
    for (int i = 0; i < 1000; i++)
        trial_turn(crawl);
    CHECK_INT(ask("/api/v1/seeds", "", "http://127.0.0.1/c"), 503); /* its owner has not asked yet */
    waits = first;
    CHECK_INT(ask("/api/v1/seeds", "", "http://127.0.0.1/b"), 200);
    CHECK(!response.is_pending);
    waits = (struct console_wait){0};
    CHECK_INT(ask("/api/v1/seeds", "", "http://127.0.0.1/c"), 200);
    console.added_asked_ns = 0;
    go_away();
    for (int i = 0; i < 1000; i++)
        trial_turn(crawl);
    CHECK_INT(ask("/api/v1/seeds", "", "http://127.0.0.1/d"), 200);
    for (int i = 0; i < 1000; i++)
        trial_turn(crawl);
    gate_set_phase(&crawl->gate, CRAWL_ENDING);
    CHECK_INT(ask("/api/v1/seeds", "", "http://127.0.0.1/d"), 200); /* it was taken before */
    CHECK(strstr(text, "\"accepted\": 1"));
    waits = (struct console_wait){0};
    CHECK_INT(ask("/api/v1/seeds", "", "http://127.0.0.1/e"), 409);
    finish();
}

/* Each key that is named is told, also if it changes nothing. */
TEST(keys_are_told_one_by_one)
{
    trial_init(&trial);
    trial_seed(&trial, "http://127.0.0.1/a");
    struct crawl *crawl = begin();
    CHECK_INT(patch("[net]\nbandwidth = 2MB\nconnections = 4\n[crawl]\nthreads = 7\nmax-pages = 0\n[scope]\nexclude = /a/\nexclude = /b/\n"), 200);
    CHECK_STR(text, "{\"crawl.threads\": \"fixed\", \"crawl.max-pages\": \"unchanged\", \"net.connections\": \"unchanged\", "
                    "\"net.bandwidth\": \"set\", \"scope.exclude\": \"fixed\"}\n");
    crawl_adopt_tuning(crawl, clock_now_ns());
    CHECK_INT(patch("[net]\nbandwidth = 2MB\n"), 200);
    CHECK_STR(text, "{\"net.bandwidth\": \"unchanged\"}\n");
    crawl_adopt_tuning(crawl, clock_now_ns());
    CHECK_INT(patch("# nothing\n"), 200);
    CHECK_STR(text, "{}\n");
    finish();
}

TEST(a_checkpoint_is_answered_when_it_is_durable)
{
    trial_init(&trial);
    trial_seed(&trial, "http://127.0.0.1/a");
    struct crawl *crawl = begin();
    CHECK_INT(ask("/api/v1/checkpoint", "", ""), 200);
    for (int i = 0; response.is_pending; i++) {
        CHECK(i < 20000);
        trial_turn(crawl);
        poll(NULL, 0, 1); /* the sync has a thread of its own */
        CHECK_INT(ask("/api/v1/checkpoint", "", ""), 200);
    }
    CHECK(strstr(text, "\"synced\": true}"));
    waits = (struct console_wait){0};
    CHECK_INT(ask("/api/v1/checkpoint", "", ""), 200);
    waits.since_ns = 1; /* long ago */
    CHECK_INT(ask("/api/v1/checkpoint", "", ""), 202);
    CHECK(strstr(text, "under way"));
    crawl->tuning.fixed.state.journal = false;
    waits = (struct console_wait){0};
    CHECK_INT(ask("/api/v1/checkpoint", "", ""), 409);
    finish();
}
