#include "engine/console/router.h"

#include <stdlib.h>
#include <string.h>

#include "engine/console/console.h"
#include "tests/support/check.h"
#include "tests/support/json.h"

static struct console console;
static struct crawl crawl;
static struct console_response response;
static bool is_ready;

static unsigned ask(const char *method, const char *path, const char *query)
{
    static struct console_wait wait;
    struct console_request request = {
        .wait = &wait, .method = method, .path = path, .query = slice_of(query), .is_local = true, .who = "uid 0", .body = {"", 0}};
    console.crawl = &crawl;
    if (!is_ready)
        order_log_init(&console.orders);
    is_ready = true;
    CHECK(console_response_begin(&response));
    router_answer(&console, &request, &response);
    CHECK(console_response_finish(&response));
    order_log_fini(&console.orders); /* nobody writes them down */
    return response.status;
}

TEST(the_document_has_every_route_once)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    router_write_openapi(out);
    fclose(out);
    for (size_t i = 0; i < router_count; i++) {
        char path[64];
        snprintf(path, sizeof path, "\"%s\": {", router_routes[i].path);
        char *found = strstr(text, path);
        CHECK(found && !strstr(found + 1, path));
        CHECK(strstr(text, router_routes[i].summary));
    }
    free(text);
}

/* Each name that a route takes is described, and each status. */
TEST(the_document_tells_of_parameters_and_statuses)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    router_write_openapi(out);
    fclose(out);
    struct json *tree = json_parse(text, len);
    CHECK(tree);
    for (size_t i = 0; i < router_count; i++) {
        const struct route *route = &router_routes[i];
        const char *method = route->method[0] == 'G' ? "get" : route->method[1] == 'O' ? "post" : "patch";
        const struct json *told = json_get(json_get(json_get(tree, "paths"), route->path), method);
        size_t names = route->query[0] != '\0';
        for (const char *at = route->query; *at; at++)
            names += *at == ' ';
        size_t listed = 0;
        for (const struct json *parameter = json_get(told, "parameters")->first; parameter; parameter = parameter->next)
            listed++;
        CHECK_INT(listed, names);
        for (const char *at = route->codes; *at; at += strspn(at, " ")) {
            char code[4];
            snprintf(code, sizeof code, "%.3s", at);
            CHECK(json_get(json_get(told, "responses"), code));
            at += 3;
        }
        CHECK((json_get(told, "security")->first != NULL) == (route->need != GUARD_NOTHING));
        CHECK((json_get(told, "requestBody") != NULL) == (route->body != NULL));
    }
    json_free(tree);
    free(text);
}

/* Whatever changes something is an order, and nothing else is. */
TEST(orders_are_guarded_as_such)
{
    for (size_t i = 0; i < router_count; i++) {
        bool is_get = strcmp(router_routes[i].method, "GET") == 0;
        CHECK((router_routes[i].need == GUARD_ORDER) == !is_get);
        if (strncmp(router_routes[i].path, "/api/", 5) == 0)
            CHECK(router_routes[i].need >= GUARD_TOKEN);
    }
}

TEST(wrong_requests_are_told_apart)
{
    CHECK_INT(ask("GET", "/nowhere", ""), 404);
    free(response.text);
    CHECK_INT(ask("GET", "/api/v1/pause", ""), 405);
    CHECK_STR(response.allow, "POST");
    free(response.text);
    CHECK_INT(ask("POST", "/api/v1/tuning", ""), 405);
    CHECK_STR(response.allow, "GET, PATCH");
    free(response.text);
    CHECK_INT(ask("POST", "/api/v1/pause", "now=1"), 400);
    CHECK_STR(response.text, "{\"error\": \"/api/v1/pause takes no 'now'\"}\n");
    free(response.text);
}

/* A number behind the last sample, the largest there is among them, asks for nothing. */
TEST(there_is_nothing_behind_the_last_sample)
{
    CHECK(recent_init(&console.history));
    recent_add(&console.history, &(struct sample){0});
    static const char *const behind[] = {"after=1", "after=2", "after=18446744073709551615"};
    for (size_t i = 0; i < sizeof behind / sizeof behind[0]; i++) {
        CHECK_INT(ask("GET", "/api/v1/samples", behind[i]), 200);
        CHECK(strstr(response.text, "\"first\": 2,") && strstr(response.text, "\"pages\": []"));
        free(response.text);
    }
    CHECK_INT(ask("GET", "/api/v1/samples", "after=0"), 200);
    CHECK(strstr(response.text, "\"pages\": [0]"));
    free(response.text);
    CHECK_INT(ask("GET", "/api/v1/samples", "after=99999999999999999999"), 400);
    free(response.text);
    recent_fini(&console.history);
}

TEST(orders_reach_the_crawl)
{
    CHECK_INT(ask("POST", "/api/v1/pause", ""), 200);
    CHECK_STR(response.text, "{\"phase\": \"paused\"}\n");
    free(response.text);
    CHECK(lf_load(&crawl.is_pausing, relaxed));
    CHECK_INT(ask("POST", "/api/v1/resume", ""), 200);
    free(response.text);
    CHECK(!lf_load(&crawl.is_pausing, relaxed));
    CHECK_INT(ask("POST", "/api/v1/stop", ""), 200);
    free(response.text);
    CHECK_INT(lf_load(&crawl.stops, relaxed), 1);
    gate_set_phase(&crawl.gate, CRAWL_STOPPING);
    CHECK_INT(ask("POST", "/api/v1/pause", ""), 409);
    free(response.text);
    CHECK(!lf_load(&crawl.is_pausing, relaxed));
    lf_store(&crawl.stops, 0, relaxed);
    gate_set_phase(&crawl.gate, CRAWL_RUNNING);
}

static void check_refused(const char *path, const char *text)
{
    CHECK_INT(ask("POST", path, ""), 409);
    CHECK_STR(response.text, text);
    free(response.text);
}

static void check_done(const char *path)
{
    CHECK_INT(ask("POST", path, ""), 200);
    free(response.text);
}

TEST(orders_that_make_no_sense_are_refused)
{
    check_refused("/api/v1/resume", "{\"error\": \"the crawl is not paused\"}\n");
    check_done("/api/v1/pause");
    check_refused("/api/v1/pause", "{\"error\": \"the crawl is paused already\"}\n"); /* whatever the watch has seen of it */
    check_done("/api/v1/resume");
    check_refused("/api/v1/resume", "{\"error\": \"the crawl is not paused\"}\n");
    check_done("/api/v1/stop");
    check_refused("/api/v1/pause", "{\"error\": \"the crawl is stopping\"}\n");
    gate_set_phase(&crawl.gate, CRAWL_STOPPING);
    check_done("/api/v1/stop"); /* what is in flight is cut off */
    check_refused("/api/v1/stop", "{\"error\": \"the crawl is ending\"}\n");
    lf_store(&crawl.stops, 0, relaxed);
    gate_set_phase(&crawl.gate, CRAWL_ENDING); /* by itself */
    check_refused("/api/v1/stop", "{\"error\": \"the crawl is ending\"}\n");
    CHECK_INT(lf_load(&crawl.stops, relaxed), 0);
    gate_set_phase(&crawl.gate, CRAWL_RUNNING);
}
