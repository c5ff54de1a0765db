#include "engine/console/request.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"

static struct console_request request;
static char value[16];

static bool get(const char *query, const char *name)
{
    request.query = slice_of(query);
    return console_request_value(&request, name, value, sizeof value);
}

TEST(values_of_a_query)
{
    CHECK(get("step=10&after=7", "after"));
    CHECK_STR(value, "7");
    CHECK(get("a=%2f%2F+%zz%", "a"));
    CHECK_STR(value, "// %zz%");
    CHECK(get("&&a&b=", "a"));
    CHECK_STR(value, "");
    CHECK(!get("", "a"));
    CHECK(!get("ab=1", "a"));
    CHECK(!get("a=%00", "a"));
    CHECK(get("a=123456789012345", "a"));
    CHECK(!get("a=1234567890123456", "a"));
}

TEST(unknown_names_are_found)
{
    const char *const names[] = {"step", "after", NULL};
    request.query = SLICE("after=1&step=2&stop=3&x=4");
    CHECK(slice_equals(console_request_unknown(&request, names), SLICE("stop")));
    request.query = SLICE("after=1&&step=2");
    CHECK_INT(console_request_unknown(&request, names).len, 0);
}

TEST(an_error_replaces_what_was_written)
{
    struct console_response response;
    CHECK(console_response_begin(&response));
    fputs("{\"pages\": 1, and much more that is not wanted any longer", response.out);
    console_response_fail(&response, 404, "no \"%s\"", "such");
    CHECK(console_response_finish(&response));
    CHECK_INT(response.status, 404);
    CHECK_STR(response.text, "{\"error\": \"no \\\"such\\\"\"}\n");
    CHECK_INT(response.len, strlen(response.text));
    free(response.text);
}
