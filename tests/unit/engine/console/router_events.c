#include "engine/console/router.h"

#include <stdlib.h>
#include <string.h>

#include "engine/console/console.h"
#include "tests/support/check.h"

static struct console console;
static struct crawl crawl;
static struct console_response response;

static unsigned ask(const char *last)
{
    struct console_wait wait = {0};
    struct console_request request = {.method = "GET", .path = "/api/v1/events", .is_local = true, .who = "uid 0",
                                      .last_event = last, .query = {"", 0}, .wait = &wait};
    console.crawl = &crawl;
    free(response.text);
    CHECK(console_response_begin(&response));
    router_answer(&console, &request, &response);
    CHECK(console_response_finish(&response));
    return response.status;
}

/* The numbers of the samples with which the stream begins: first, last, how many. */
static void check_samples(unsigned first, unsigned last)
{
    unsigned count = 0, number = 0;
    for (const char *at = response.text; (at = strstr(at, "id: ")); at++, count++) {
        unsigned found = (unsigned)strtoul(at + 4, NULL, 10);
        CHECK(found == (count ? number + 1 : first));
        number = found;
    }
    CHECK_INT(count, first ? last - first + 1 : 0);
    CHECK_INT(number, last);
}

TEST(a_reader_goes_on_where_it_left_off)
{
    struct sample sample = {0};
    CHECK(recent_init(&console.history));
    for (int i = 0; i < 20; i++)
        recent_add(&console.history, &sample);
    CHECK_INT(ask(NULL), 200);
    CHECK(response.is_stream && strncmp(response.text, "event: phase\ndata: {\"phase\": \"running\"}\n\n", 42) == 0);
    check_samples(0, 0);
    CHECK_INT(ask("17"), 200);
    check_samples(18, 20);
    CHECK_INT(ask("20"), 200);
    check_samples(0, 0);
    CHECK_INT(ask("5000"), 200); /* of an earlier process */
    check_samples(1, 20);
    for (int i = 0; i < 1000; i++)
        recent_add(&console.history, &sample);
    CHECK_INT(ask("3"), 200); /* ten minutes are kept */
    check_samples(421, 1020);
    CHECK_INT(ask("18446744073709551615"), 200);
    check_samples(421, 1020);
    CHECK_INT(ask("x"), 400);
    CHECK(!response.is_stream);
    CHECK_INT(ask(""), 400);
    CHECK_INT(ask("-1"), 400);
    free(response.text);
    response.text = NULL;
    recent_fini(&console.history);
}

/* Whatever is in a note, it is one line. */
TEST(a_note_cannot_end_its_event)
{
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    router_write_note(out, "a\n\nevent: sample\ndata: \"b\"");
    fclose(out);
    CHECK_STR(text, "event: note\ndata: {\"note\": \"a\\u000a\\u000aevent: sample\\u000adata: \\\"b\\\"\"}\n\n");
    free(text);
}
