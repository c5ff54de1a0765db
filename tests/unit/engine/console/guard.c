#include "engine/console/guard.h"

#include <string.h>

#include "tests/support/check.h"

#define TOKEN "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static struct guard guard;
static const char *why, *local = "127.0.0.1:8473";

static void begin(void)
{
    guard = (struct guard){.token = TOKEN};
    guard_set_names(&guard, "crawler.example.org\n[::1]:8080", 8473);
}

static unsigned check_sender(const char *host, const char *origin, const char *site)
{
    struct console_request request = {.host = host, .origin = origin, .fetch_site = site, .local = local};
    return guard_check_sender(&guard, &request, &why);
}

TEST(the_host_must_be_one_of_our_names)
{
    static const char *const good[] = {"127.0.0.1:8473", "localhost:8473", "LocalHost:8473", "crawler.example.org:8473",
                                       "[::1]:8080"};
    static const char *const bad[] = {"evil.example",    "127.0.0.1",       "127.0.0.1:80",        "localhost:8474",
                                      "localhost:84731", "xlocalhost:8473", "",                    "crawler.example.org",
                                      "localhost:8473\n", "[::1]:8473",     "localhost:8473.evil"};
    begin();
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK_INT(check_sender(good[i], NULL, NULL), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_INT(check_sender(bad[i], NULL, NULL), 403);
    CHECK_INT(check_sender(NULL, NULL, NULL), 403);
}

TEST(a_browser_leaves_port_80_out)
{
    guard_set_names(&guard, "", 80);
    local = "127.0.0.1:80";
    CHECK_INT(check_sender("127.0.0.1", NULL, NULL), 0);
    CHECK_INT(check_sender("localhost:80", NULL, NULL), 0);
    CHECK_INT(check_sender("127.0.0.1:8", NULL, NULL), 403);
    local = "127.0.0.1:8473";
}

/* A listener on all addresses is known by each: by the one that the connection came to. */
TEST(the_address_that_was_connected_to_is_ours)
{
    begin();
    local = "192.0.2.7:8473";
    CHECK_INT(check_sender("192.0.2.7:8473", "http://192.0.2.7:8473", NULL), 0);
    CHECK_INT(check_sender("192.0.2.8:8473", NULL, NULL), 403);
    CHECK_INT(check_sender("127.0.0.1:8473", NULL, NULL), 403);
    CHECK_INT(check_sender("0.0.0.0:8473", NULL, NULL), 403);
    CHECK_INT(check_sender("192.0.2.7", NULL, NULL), 403);
    local = "[2001:db8::1]:8473";
    CHECK_INT(check_sender("[2001:DB8::1]:8473", NULL, NULL), 0);
    local = "";
    CHECK_INT(check_sender("", NULL, NULL), 403);
    local = "127.0.0.1:8473";
}

TEST(another_site_is_refused)
{
    begin();
    CHECK_INT(check_sender("localhost:8473", "http://localhost:8473", "same-origin"), 0);
    CHECK_INT(check_sender("localhost:8473", NULL, "none"), 0);
    CHECK_INT(check_sender("localhost:8473", "http://evil.example", NULL), 403);
    CHECK_INT(check_sender("localhost:8473", "https://localhost:8473", NULL), 403);
    CHECK_INT(check_sender("localhost:8473", "null", NULL), 403);
    CHECK_INT(check_sender("localhost:8473", "http://127.0.0.1:8473", NULL), 403);
    CHECK_INT(check_sender("localhost:8473", NULL, "cross-site"), 403);
    CHECK_INT(check_sender("localhost:8473", NULL, "same-site"), 403);
}

static unsigned check_need(enum guard_need need, const char *authorization, const char *type)
{
    struct console_request request = {.authorization = authorization, .content_type = type};
    return guard_check_need(&guard, &request, need, &why);
}

TEST(the_token_is_needed_for_all_but_the_page)
{
    begin();
    CHECK_INT(check_need(GUARD_NOTHING, NULL, NULL), 0);
    CHECK_INT(check_need(GUARD_TOKEN, NULL, NULL), 401);
    CHECK_INT(check_need(GUARD_TOKEN, "Bearer " TOKEN, NULL), 0);
    CHECK_INT(check_need(GUARD_TOKEN, "bearer " TOKEN, NULL), 0);
    CHECK_INT(check_need(GUARD_TOKEN, TOKEN, NULL), 401);
    CHECK_INT(check_need(GUARD_TOKEN, "Bearer " TOKEN "0", NULL), 401);
    CHECK_INT(check_need(GUARD_TOKEN, "Bearer ", NULL), 401);
    CHECK_INT(check_need(GUARD_TOKEN, "Basic " TOKEN, NULL), 401);
    for (size_t i = 0; i < strlen(TOKEN); i++) {
        char text[] = "Bearer " TOKEN;
        text[7 + i] ^= 1;
        CHECK_INT(check_need(GUARD_TOKEN, text, NULL), 401);
    }
    guard.token[0] = '\0'; /* none: nobody has it */
    CHECK_INT(check_need(GUARD_TOKEN, "Bearer ", NULL), 401);
}

TEST(metrics_may_be_open)
{
    begin();
    CHECK_INT(check_need(GUARD_METRICS, NULL, NULL), 401);
    CHECK_INT(check_need(GUARD_METRICS, "Bearer " TOKEN, NULL), 0);
    guard.metrics_open = true;
    CHECK_INT(check_need(GUARD_METRICS, NULL, NULL), 0);
    CHECK_INT(check_need(GUARD_TOKEN, NULL, NULL), 401);
}

/* What a form of another site can send without asking: text/plain, and no Authorization. */
TEST(an_order_needs_the_token_and_its_type)
{
    begin();
    CHECK_INT(check_need(GUARD_ORDER, "Bearer " TOKEN, "text/plain;charset=utf-8"), 0);
    CHECK_INT(check_need(GUARD_ORDER, "Bearer " TOKEN, "text/plain; charset=UTF-8"), 0);
    CHECK_INT(check_need(GUARD_ORDER, NULL, "text/plain;charset=utf-8"), 401);
    CHECK_INT(check_need(GUARD_ORDER, "Bearer " TOKEN, "text/plain"), 415);
    CHECK_INT(check_need(GUARD_ORDER, "Bearer " TOKEN, "text/plain;charset=utf-8x"), 415);
    CHECK_INT(check_need(GUARD_ORDER, "Bearer " TOKEN, "application/x-www-form-urlencoded"), 415);
    CHECK_INT(check_need(GUARD_ORDER, "Bearer " TOKEN, NULL), 415);
}

TEST(the_socket_is_trusted)
{
    struct console_request request = {.is_local = true, .host = "anything"};
    begin();
    CHECK_INT(guard_check_sender(&guard, &request, &why), 0);
    CHECK_INT(guard_check_need(&guard, &request, GUARD_ORDER, &why), 0);
}

TEST(tokens_differ)
{
    struct guard other;
    CHECK(guard_make_token(&guard) && guard_make_token(&other));
    CHECK_INT(strlen(guard.token), GUARD_TOKEN_CHARS);
    CHECK_INT(strspn(guard.token, "0123456789abcdef"), GUARD_TOKEN_CHARS);
    CHECK(strcmp(guard.token, other.token) != 0);
}
