#include "engine/frontier/holds.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"

static struct holds *list;

static struct holds_target host(const char *key)
{
    struct holds_target target;
    CHECK(!holds_parse_host(&target, slice_of(key)));
    return target;
}

static struct holds_target domain(const char *name)
{
    struct holds_target target;
    CHECK(!holds_parse_domain(&target, slice_of(name)));
    return target;
}

static enum holds_result order(enum holds_verb verb, struct holds_target target)
{
    struct holds *next = NULL;
    enum holds_result result = holds_follow(list, &(struct holds_order){.verb = verb, .target = target}, &next);
    CHECK((result == HOLDS_DONE) == (next != NULL));
    if (next) {
        CHECK_INT(next->number, list ? list->number + 1 : 1);
        free(list);
        list = next;
    }
    return result;
}

static bool is_held(const char *key, const char *name)
{
    return holds_ask(list, slice_of(key), slice_of(name)).is_held;
}

static void forget(void)
{
    free(list);
    list = NULL;
}

TEST(a_host_is_named_by_its_key)
{
    struct holds_target target = host("HTTPS://Example.ORG:443/");
    CHECK_SLICE(((struct slice){target.name, target.len}), "https://example.org");
    target = host("http://[::1]:8080");
    CHECK_SLICE(((struct slice){target.name, target.len}), "http://[::1]:8080");
    static const char *const bad[] = {"", "example.org", "ftp://example.org", "http://", "http://a/b", "http://a/?", "http://u@a",
                                      "http://a/#x", "http://a:99999", "\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(holds_parse_host(&target, slice_of(bad[i])));
    char name[400];
    memset(name, 'a', sizeof name);
    memcpy(name, "http://", 7);
    CHECK(holds_parse_host(&target, (struct slice){name, sizeof name}));
}

TEST(a_domain_is_a_registrable_one)
{
    struct holds_target target = domain("Example.co.uk");
    CHECK_SLICE(((struct slice){target.name, target.len}), "example.co.uk");
    domain("127.0.0.1");
    static const char *const bad[] = {"", "www.example.org", "example.org:80", "example.org/", "a b", "http://example.org", "u@a.org"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(holds_parse_domain(&target, slice_of(bad[i])));
    char name[2000];
    memset(name, 'a', sizeof name);
    CHECK(holds_parse_domain(&target, (struct slice){name, sizeof name}));
}

TEST(what_is_held_is_exactly_that)
{
    CHECK_INT(order(HOLDS_HOLD, host("https://a.test")), HOLDS_DONE);
    CHECK_INT(order(HOLDS_HOLD, domain("b.test")), HOLDS_DONE);
    CHECK_INT(order(HOLDS_HOLD, host("https://a.test")), HOLDS_SAME);
    CHECK(is_held("https://a.test", "a.test") && !is_held("http://a.test", "a.test"));
    CHECK(!is_held("https://a.test:8443", "a.test") && !is_held("https://x.a.test", "x.a.test"));
    CHECK(is_held("http://b.test", "b.test") && is_held("https://x.y.b.test:1", "x.y.b.test"));
    CHECK(!is_held("http://bb.test", "bb.test"));
    CHECK_INT(order(HOLDS_RELEASE, host("http://b.test")), HOLDS_NOT_HELD); /* its domain is */
    CHECK_INT(order(HOLDS_RELEASE, domain("b.test")), HOLDS_DONE);
    CHECK(!is_held("http://b.test", "b.test") && is_held("https://a.test", "a.test"));
    CHECK_INT(list->domains, 0);
    forget();
}

TEST(a_drop_concerns_its_moment)
{
    CHECK_INT(order(HOLDS_HOLD, host("http://a.test")), HOLDS_DONE);
    CHECK_INT(list->last_drop, 0);
    CHECK_INT(order(HOLDS_DROP, host("http://a.test")), HOLDS_DONE);
    CHECK_INT(order(HOLDS_DROP, domain("c.test")), HOLDS_DONE);
    struct holds_answer answer = holds_ask(list, SLICE("http://a.test"), SLICE("a.test"));
    CHECK(answer.is_held && answer.dropped == 2);
    CHECK_INT(holds_ask(list, SLICE("http://x.c.test"), SLICE("x.c.test")).dropped, 3);
    CHECK_INT(order(HOLDS_DROP, host("http://a.test")), HOLDS_DONE);
    CHECK_INT(list->count, 3); /* the later drop takes the place of the earlier */
    CHECK_INT(holds_ask(list, SLICE("http://a.test"), SLICE("a.test")).dropped, 4);
    struct holds *next;
    struct holds_order last = {.verb = HOLDS_HOLD, .target = host("http://d.test"), .forgets_drops = true};
    CHECK_INT(holds_follow(list, &last, &next), HOLDS_DONE);
    CHECK_INT(next->count, 2);
    CHECK_INT(next->last_drop, 0);
    free(next);
    forget();
}

TEST(the_list_is_bounded)
{
    char key[64];
    for (int i = 0; i < HOLDS_MAX; i++) {
        snprintf(key, sizeof key, "http://h%d.test", i);
        CHECK_INT(order(HOLDS_HOLD, host(key)), HOLDS_DONE);
    }
    CHECK_INT(order(HOLDS_HOLD, host("http://one-more.test")), HOLDS_FULL);
    CHECK_INT(order(HOLDS_DROP, host("http://h1.test")), HOLDS_FULL);
    CHECK_INT(order(HOLDS_RELEASE, host("http://h7.test")), HOLDS_DONE);
    CHECK_INT(order(HOLDS_HOLD, host("http://one-more.test")), HOLDS_DONE);
    forget();
}

TEST(what_is_written_is_read)
{
    char *text = NULL;
    size_t len = 0;
    const char *why;
    order(HOLDS_HOLD, host("https://a.test:8443"));
    order(HOLDS_HOLD, domain("b.test"));
    order(HOLDS_DROP, host("http://c.test"));
    FILE *out = open_memstream(&text, &len);
    holds_write(list, out);
    fclose(out);
    CHECK_STR(text, "host https://a.test:8443\ndomain b.test\n");
    forget();
    CHECK_INT(holds_read(slice_of(text), &list, &why), 0);
    CHECK_INT(list->number, 1);
    CHECK(is_held("https://a.test:8443", "a.test") && is_held("http://x.b.test", "x.b.test"));
    free(text);
    forget();
    CHECK_INT(holds_read(SLICE("# none\n\n"), &list, &why), 0);
    CHECK(list == NULL);
    CHECK_INT(holds_read(SLICE("host http://a.test # why\r\nhost http://a.test"), &list, &why), 0);
    CHECK_INT(list->count, 1);
    forget();
    CHECK_INT(holds_read(SLICE("host http://a.test\nhosts http://b.test\n"), &list, &why), 2);
    CHECK(list == NULL && strstr(why, "domain NAME"));
    CHECK_INT(holds_read(SLICE("domain www.b.test"), &list, &why), 1);
    CHECK(list == NULL && why);
}
