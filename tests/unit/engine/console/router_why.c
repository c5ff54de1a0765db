#include "engine/console/router.h"

#include <poll.h>

#include "engine/console/console.h"
#include "tests/unit/engine/crawl/crawl_frame.h"

static struct trial trial;
static struct console console;
static struct console_response response;
static char *text;

static struct crawl *begin(void)
{
    struct crawl *crawl = trial_open(&trial);
    console.crawl = crawl;
    return crawl;
}

static unsigned ask_once(const char *query, struct console_wait *wait)
{
    struct console_request request = {.method = "GET", .path = "/api/v1/why", .query = slice_of(query), .is_local = true, .who = "uid 0",
                                      .body = {"", 0}, .wait = wait};
    free(text);
    CHECK(console_response_begin(&response));
    router_answer(&console, &request, &response);
    CHECK(console_response_finish(&response));
    text = response.text;
    return response.status;
}

static unsigned ask(struct crawl *crawl, const char *query)
{
    struct console_wait wait = {0};
    unsigned status = ask_once(query, &wait);
    for (int i = 0; response.is_pending; i++) {
        CHECK(i < 10000);
        trial_turn(crawl);
        frontier_turn(&crawl->loops[0].frontier, clock_now_ns());
        desk_turn(&crawl->loops[0].desk, clock_now_ns());
        poll(NULL, 0, 1);
        status = ask_once(query, &wait);
    }
    return status;
}

TEST(unknown_waiting_and_done_are_told_apart)
{
    trial_init(&trial);
    trial.tuning.fixed.scope.mode = TUNING_SCOPE_HOSTS;
    snprintf(trial.tuning.fixed.scope.exclude, TUNING_LIST_BYTES, "/private/");
    trial_seed(&trial, "http://127.0.0.1/a");
    trial_seed(&trial, "http://127.0.0.1/b");
    struct crawl *crawl = begin();
    CHECK_INT(ask(crawl, "url=http%3A%2F%2F127.0.0.1%2Fa%23part"), 200);
    CHECK_STR(text, "{\"url\": \"http://127.0.0.1/a\", \"state\": \"waiting\", \"host\": {\"state\": \"waiting\", \"queued\": 2, \"place\": 1, "
                    "\"next_visit_ms\": null, \"why\": \"its name is looked up\"}}\n");
    CHECK_INT(ask(crawl, "url=http%3A%2F%2F127.0.0.1%2Fb"), 200);
    CHECK(strstr(text, "\"place\": 2, "));
    CHECK_INT(ask(crawl, "url=http%3A%2F%2F127.0.0.1%2Fc"), 200);
    CHECK_STR(text, "{\"url\": \"http://127.0.0.1/c\", \"state\": \"unknown\", \"in_scope\": true, \"rule\": \"host\"}\n");
    CHECK_INT(ask(crawl, "url=http%3A%2F%2F127.0.0.1%2Fprivate/c"), 200);
    CHECK_STR(text, "{\"url\": \"http://127.0.0.1/private/c\", \"state\": \"unknown\", \"in_scope\": false, \"rule\": \"exclude\", \"item\": \"/private/\"}\n");
    trial_write(&trial, "crawl/crawl.log", "2026-11-18T04:00:00.000Z   200          1 http://127.0.0.1/b - - text/html #000 20261118040000000+1 sha1:X - -\n");
    CHECK_INT(ask(crawl, "url=http%3A%2F%2F127.0.0.1%2Fb"), 200);
    CHECK(strstr(text, "\"state\": \"done\", \"log\": \"2026-11-18T04:00:00.000Z   200"));
    CHECK_INT(ask(crawl, "url=nonsense"), 400);
    CHECK_INT(ask(crawl, ""), 400);
    router_why_fini(&console.question);
    free(text);
    text = NULL;
    trial_end(&trial);
    trial_fini(&trial);
}

TEST(one_question_at_a_time_until_its_owner_has_gone)
{
    struct console_wait first = {0}, second = {0};
    trial_init(&trial);
    trial_seed(&trial, "http://127.0.0.1/a");
    struct crawl *crawl = begin();
    CHECK_INT(ask_once("url=http%3A%2F%2F127.0.0.1%2Fa", &first), 200);
    CHECK(response.is_pending);
    CHECK_INT(ask_once("url=http%3A%2F%2F127.0.0.1%2Fb", &second), 503);
    trial_turn(crawl);
    CHECK_INT(ask_once("url=http%3A%2F%2F127.0.0.1%2Fb", &second), 503);
    console.question.asked_ns = 0;
    CHECK_INT(ask(crawl, "url=http%3A%2F%2F127.0.0.1%2Fb"), 200);
    CHECK(strstr(text, "unknown"));
    CHECK_INT(ask_once("url=http%3A%2F%2F127.0.0.1%2Fa", &first), 503); /* it came back too late */
    router_why_fini(&console.question);
    free(text);
    text = NULL;
    trial_end(&trial);
    trial_fini(&trial);
}
