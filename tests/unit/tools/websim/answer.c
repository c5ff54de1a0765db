#include "tools/websim/answer.h"

#include <stdlib.h>
#include <zlib.h>

#include "lockfree/clock.h"
#include "tests/support/check.h"

static struct websim_web web;
static struct websim_text text;
static struct websim_answerer answerer;
static struct websim_answer answer;

static void begin(const char *faults)
{
    struct websim_parameters parameters;
    char *plain[] = {NULL, (char[]){"--plain"}};
    websim_parameters_default(&parameters, 2, plain);
    parameters.hosts = 5;
    parameters.drip_ms = 7;
    if (faults)
        CHECK(!websim_fault_read(parameters.faults, faults));
    CHECK_INT(websim_parameters_settle(&parameters, "test"), 0);
    websim_web_init(&web, &parameters);
    websim_text_init(&text, 1);
    if (!answerer.encoder)
        answerer.encoder = websim_encoder_create();
    answerer.web = &web;
    answerer.text = &text;
}

/* The answer to a GET of this page, as a string of its bytes. */
static char *ask(struct websim_url url, struct websim_answer_context context, uint8_t accepts)
{
    static char path[WEBSIM_PATH_BYTES], out[1 << 20];
    struct websim_site site = websim_site(&web, url.host);
    struct websim_request request = {.method = SLICE("GET"), .keep_alive = true, .accepts = accepts};
    request.target = (struct slice){path, websim_path_write(&site, url, path)};
    context.has_host = true;
    context.host = url.host;
    websim_answer_prepare(&answerer, &answer, &request, &context);
    websim_answer_write(&answerer, &answer);
    size_t len = answer.bytes.len - answer.begin;
    CHECK(len < sizeof out);
    memcpy(out, answer.bytes.data + answer.begin, len);
    out[len] = '\0';
    return out;
}

static struct websim_url leaf(uint32_t host)
{
    return (struct websim_url){.host = host, .index = websim_host_pages(&web, host) - 1};
}

static size_t length_of(const char *response)
{
    const char *field = strstr(response, "Content-Length: ");
    CHECK(field);
    return strtoul(field + 16, NULL, 10);
}

static const char *body_of(const char *response)
{
    const char *end = strstr(response, "\r\n\r\n");
    CHECK(end);
    return end + 4;
}

TEST(a_page)
{
    begin(NULL);
    char *response = ask((struct websim_url){.host = 1}, (struct websim_answer_context){0}, 0);
    CHECK(strncmp(response, "HTTP/1.1 200 OK\r\n", 17) == 0);
    CHECK_INT(length_of(response), strlen(body_of(response)));
    CHECK_INT(answer.status, 200);
    CHECK_INT(answer.ending, WEBSIM_ENDING_KEEP);
    CHECK_INT(answer.delay_ns, 0);
    CHECK_INT(answer.packed, websim_url_pack((struct websim_url){.host = 1}));
    CHECK(strstr(response, "</html>\n"));
}

TEST(chunks_hold_the_body)
{
    begin(NULL);
    char *plain = strdup(body_of(ask((struct websim_url){.host = 1}, (struct websim_answer_context){0}, 0)));
    web.parameters.chunked = WEBSIM_PPM;
    const char *at = body_of(ask((struct websim_url){.host = 1}, (struct websim_answer_context){0}, 0));
    size_t done = 0, size;
    while ((size = strtoul(at, NULL, 16))) {
        at = strstr(at, "\r\n") + 2;
        CHECK(memcmp(at, plain + done, size) == 0);
        done += size;
        CHECK(memcmp(at + size, "\r\n", 2) == 0);
        at += size + 2;
    }
    CHECK_INT(done, strlen(plain));
    CHECK_STR(at, "0\r\n\r\n");
    free(plain);
}

TEST(gzip_only_where_it_is_accepted)
{
    begin(NULL);
    web.parameters.gzip = WEBSIM_PPM;
    char *response = ask((struct websim_url){.host = 1}, (struct websim_answer_context){0}, 0);
    CHECK(!strstr(response, "Content-Encoding"));
    size_t plain = length_of(response);
    response =
        ask((struct websim_url){.host = 1}, (struct websim_answer_context){0}, 1 << WEBSIM_ENCODING_GZIP);
    CHECK(strstr(response, "Content-Encoding: gzip\r\n"));
    CHECK(length_of(response) < plain);
    unsigned char *unpacked = malloc(plain + 1);
    z_stream stream = {.next_in = (unsigned char *)(uintptr_t)body_of(response),
                       .avail_in = (unsigned)length_of(response),
                       .next_out = unpacked,
                       .avail_out = (unsigned)plain + 1};
    CHECK_INT(inflateInit2(&stream, 31), Z_OK);
    CHECK_INT(inflate(&stream, Z_FINISH), Z_STREAM_END);
    CHECK_INT(stream.total_out, plain);
    inflateEnd(&stream);
    free(unpacked);
}

TEST(who_is_not_here)
{
    begin(NULL);
    struct websim_request request = {.method = SLICE("GET"), .target = SLICE("/"), .keep_alive = true};
    struct websim_answer_context context = {.has_host = false};
    websim_answer_prepare(&answerer, &answer, &request, &context);
    CHECK_INT(answer.status, 421);
    CHECK_INT(answer.packed, WEBSIM_ANSWER_NO_URL);
    context = (struct websim_answer_context){.has_host = true, .host = 1, .tls = true};
    websim_answer_prepare(&answerer, &answer, &request, &context);
    CHECK_INT(answer.status, 421);
    websim_answer_refuse(&answer);
    websim_answer_write(&answerer, &answer);
    CHECK_INT(answer.status, 400);
    CHECK_INT(answer.ending, WEBSIM_ENDING_CLOSE);
}

TEST(moods)
{
    begin(NULL);
    web.parameters.throttled = WEBSIM_PPM;
    web.parameters.retry_s = 9;
    char *response = ask((struct websim_url){.host = 1}, (struct websim_answer_context){.requests = 7}, 0);
    CHECK_INT(answer.status, 429);
    CHECK_INT(answer.retry_after_s, 9);
    CHECK(strstr(response, "Retry-After: 9\r\n"));
    ask((struct websim_url){.host = 1, .kind = WEBSIM_KIND_ROBOTS},
        (struct websim_answer_context){.requests = 7}, 0);
    CHECK_INT(answer.status, 404);
    ask((struct websim_url){.host = 1}, (struct websim_answer_context){.over_limit = true}, 0);
    CHECK_INT(answer.status, 503);
    CHECK_INT(answer.ending, WEBSIM_ENDING_CLOSE);
    web.parameters.throttled = 0;
    web.parameters.spells = WEBSIM_PPM;
    unsigned spells = 0;
    for (uint64_t second = 0; second < 80; second++) {
        ask((struct websim_url){.host = 1}, (struct websim_answer_context){.now_s = second}, 0);
        spells += answer.status == 503;
    }
    CHECK_INT(spells, 10);
}

TEST(delays_and_pace)
{
    begin(NULL);
    web.parameters.rtt_ms = 100;
    web.parameters.think_ms = 50;
    web.parameters.bandwidth = 100000;
    ask((struct websim_url){.host = 1}, (struct websim_answer_context){0}, 0);
    uint64_t first = answer.delay_ns;
    ask((struct websim_url){.host = 1}, (struct websim_answer_context){.requests = 1}, 0);
    CHECK(answer.delay_ns > 0 && answer.delay_ns < first);
    CHECK(answer.slice >= 1460 && answer.gap_ns > 0);
    struct websim_personality personality;
    websim_personality_init(&personality, &web, 1);
    CHECK_INT(answer.gap_ns, answer.slice * CLOCK_NS_PER_S / personality.bytes_per_s);
}

TEST(a_redirect)
{
    begin("chain=1");
    char *response = ask(leaf(1), (struct websim_answer_context){0}, 0), url[WEBSIM_URL_BYTES];
    struct websim_page page;
    websim_page_init(&page, &web, leaf(1));
    websim_url_write(&web, page.target, url);
    CHECK(strstr(response, url));
    CHECK(strstr(response, "Location: http://h1."));
    CHECK_INT(answer.status, page.status);
}

TEST(faults_of_the_length)
{
    begin("short=1");
    char *response = ask(leaf(1), (struct websim_answer_context){0}, 0);
    CHECK_INT(length_of(response), strlen(body_of(response)) + 1000);
    CHECK_INT(answer.ending, WEBSIM_ENDING_CLOSE);
    begin("long=1");
    response = ask(leaf(1), (struct websim_answer_context){0}, 0);
    CHECK(length_of(response) < strlen(body_of(response)));
    CHECK_INT(answer.ending, WEBSIM_ENDING_KEEP);
    begin("badchunk=1");
    response = ask(leaf(1), (struct websim_answer_context){0}, 0);
    CHECK(strstr(response, "Transfer-Encoding: chunked\r\n"));
    CHECK(strstr(response, "\r\nzz\r\n"));
}

TEST(faults_of_the_sending)
{
    begin("resethead=1");
    char *response = ask(leaf(1), (struct websim_answer_context){0}, 0);
    CHECK(!strstr(response, "\r\n\r\n"));
    CHECK_INT(answer.ending, WEBSIM_ENDING_RESET);
    begin("resetbody=1");
    response = ask(leaf(1), (struct websim_answer_context){0}, 0);
    CHECK(strlen(body_of(response)) < length_of(response));
    CHECK_INT(answer.ending, WEBSIM_ENDING_RESET);
    begin("endless=1");
    response = ask(leaf(1), (struct websim_answer_context){0}, 0);
    CHECK_INT(answer.ending, WEBSIM_ENDING_REPEAT);
    CHECK_INT(answer.repeat_from - answer.begin, body_of(response) - response);
    begin("drip=1");
    response = ask(leaf(1), (struct websim_answer_context){0}, 0);
    CHECK_INT(answer.slice, 1);
    CHECK_INT(answer.gap_ns, 7 * CLOCK_NS_PER_MS);
    CHECK_INT(answer.first, body_of(response) - response + 1);
    begin("silent=1");
    ask(leaf(1), (struct websim_answer_context){0}, 0);
    CHECK_INT(answer.ending, WEBSIM_ENDING_HOLD);
    CHECK_INT(answer.begin, answer.bytes.len);
}

TEST(a_head_without_a_body)
{
    begin(NULL);
    struct websim_request request = {.method = SLICE("HEAD"), .target = SLICE("/"), .keep_alive = true};
    struct websim_answer_context context = {.has_host = true, .host = 1};
    websim_answer_prepare(&answerer, &answer, &request, &context);
    websim_answer_write(&answerer, &answer);
    CHECK(memcmp(answer.bytes.data + answer.bytes.len - 4, "\r\n\r\n", 4) == 0);
    request.method = SLICE("DELETE");
    websim_answer_prepare(&answerer, &answer, &request, &context);
    CHECK_INT(answer.status, 405);
    websim_buffer_fini(&answer.bytes);
    websim_buffer_fini(&answerer.plain);
    websim_buffer_fini(&answerer.packed);
    websim_encoder_destroy(answerer.encoder);
    answerer.encoder = NULL;
}
