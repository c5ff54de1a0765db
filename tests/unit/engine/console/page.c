#include "engine/console/page.h"

#include <string.h>

#include "tests/support/check.h"

/* By `printf 'alert(1)' | openssl dgst -sha256 -binary | base64`. */
TEST(script_and_style_are_named_by_their_hashes)
{
    char policy[PAGE_POLICY_BYTES];
    page_write_policy(SLICE("<style></style><script>alert(1)</script>"), policy);
    CHECK(strstr(policy, "script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='"));
    CHECK(strstr(policy, "style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"));
    page_write_policy(SLICE("<p>"), policy);
    CHECK(strstr(policy, "script-src 'none'; style-src 'none'"));
}

TEST(the_page_is_whole_and_sends_for_nothing)
{
    static struct page page;
    page_init(&page);
    CHECK(page.text.len > 5000 && page.text.len < 40 << 10);
    CHECK(memmem(page.text.ptr, page.text.len, "</html>", 7));
    CHECK(strstr(page.policy, "script-src 'sha256-"));
    CHECK(strstr(page.policy, "style-src 'sha256-"));
    /* Names of hosts are hostile text: nothing may turn text into elements or script. */
    static const char *const sinks[] = {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "srcdoc", "DOMParser",
                                        "createContextualFragment", "setHTMLUnsafe", "eval(", "Function(", "javascript:"};
    for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++)
        CHECK(!memmem(page.text.ptr, page.text.len, sinks[i], strlen(sinks[i])));
    CHECK(!memmem(page.text.ptr, page.text.len, "https://", 8));
}
