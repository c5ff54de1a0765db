#include "engine/url/json.h"

#include <stdlib.h>

#include "tests/support/check.h"

static void check_string(struct slice text, const char *expected)
{
    char *written = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&written, &len);
    char *guarded = check_guard_copy(text.ptr, text.len);
    json_write_string(out, (struct slice){guarded, text.len});
    fclose(out);
    check_guard_free(guarded, text.len);
    CHECK_STR(written, expected);
    free(written);
}

TEST(strings)
{
    check_string(SLICE(""), "\"\"");
    check_string(SLICE("a\"b\\c"), "\"a\\\"b\\\\c\"");
    check_string(SLICE("\0\x1f\x7f"), "\"\\u0000\\u001f\x7f\"");
    check_string(SLICE("\xc3\xa9\xe2\x82\xac"), "\"\xc3\xa9\xe2\x82\xac\"");
    check_string(SLICE("\xff\xe2\x82"), "\"\\ufffd\\ufffd\"");
}
