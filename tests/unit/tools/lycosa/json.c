#include "tools/lycosa/json.h"

#include <stdlib.h>

#include "tests/support/check.h"

TEST(members)
{
    char *written = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&written, &len);
    lycosa_json_member(out, true, "a", SLICE("x"));
    lycosa_json_member(out, false, "b", SLICE("y"));
    fclose(out);
    CHECK_STR(written, "{\"a\":\"x\",\"b\":\"y\"");
    free(written);
}
