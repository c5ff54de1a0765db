#include "engine/crawl/diagnosis.h"

#include "tests/support/check.h"

static struct status status;

static const char *sentence(void)
{
    static char text[DIAGNOSIS_BYTES];
    diagnosis_write(&status, text, sizeof text);
    return text;
}

static void begin(enum limited_by by, double share)
{
    status = (struct status){.next_due_s = -1};
    status.limited[by] = share;
}

TEST(nothing_is_said_before_something_is_known)
{
    begin(LIMITED_WORK, 0);
    CHECK_STR(sentence(), "");
}

TEST(politeness_tells_who_rests)
{
    begin(LIMITED_POLITENESS, 0.97);
    status.limited[LIMITED_WORK] = 0.03;
    status.hosts[HOST_RESTING] = 414;
    status.hosts[HOST_READY] = 7;
    status.next_due_s = 0.84;
    CHECK_STR(sentence(), "politeness 97%: 414 hosts rest, 7 wait for their address, the next is due in 0.8 s; work 3%");
    status.hosts[HOST_RESTING] = 1;
    status.hosts[HOST_READY] = 0;
    status.next_due_s = 0.02;
    CHECK_STR(sentence(), "politeness 97%: 1 host rests; work 3%");
}

TEST(a_key_is_named_where_one_helps)
{
    begin(LIMITED_CONNECTIONS, 0.995);
    stats_set(&status.now.connections, 1000);
    CHECK_STR(sentence(), "connections 100%: all 1000 are in use; net.connections allows more");
    begin(LIMITED_MEMORY, 1);
    CHECK_STR(sentence(), "memory 100%: pages wait for memory; memory.pages gives more");
}

TEST(a_pause_is_told_from_the_end)
{
    begin(LIMITED_PAUSED, 1);
    status.phase = CRAWL_PAUSED;
    CHECK_STR(sentence(), "paused 100%: the crawl is paused");
    status.phase = CRAWL_STOPPING;
    CHECK_STR(sentence(), "paused 100%: the crawl is about to end");
}

/* Each has a sentence of its own. */
TEST(every_reason_is_explained)
{
    static const char *const sentences[LIMITED_COUNT] = {
        [LIMITED_WORK] = "work 100%: the loops are busy; crawl.threads gives the crawl more cores",
        [LIMITED_CONNECTIONS] = "connections 100%: all 0 are in use; net.connections allows more",
        [LIMITED_POLITENESS] = "politeness 100%: 0 hosts rest",
        [LIMITED_SERVERS] = "servers 100%: every host with URLs is being visited, one connection each; 0 are open",
        [LIMITED_NAMES] = "names 100%: 0 hosts wait for name servers",
        [LIMITED_STORE] = "store 100%: pages wait for the disk, 0.0 MB are not written yet",
        [LIMITED_MEMORY] = "memory 100%: pages wait for memory; memory.pages gives more",
        [LIMITED_BANDWIDTH] = "bandwidth 100%: net.bandwidth is used up",
        [LIMITED_PAGES] = "pages 100%: the last pages of crawl.max-pages are in flight",
        [LIMITED_PAUSED] = "paused 100%: the crawl is about to end",
        [LIMITED_EMPTY] = "empty 100%: no URL waits",
    };
    for (int by = 0; by < LIMITED_COUNT; by++) {
        begin((enum limited_by)by, 1);
        CHECK_STR(sentence(), sentences[by]);
    }
}

/* A crawl that waits for its operator does not look as if it hung. */
TEST(held_hosts_are_told)
{
    begin(LIMITED_EMPTY, 1);
    CHECK_STR(sentence(), "empty 100%: no URL waits");
    status.hosts[HOST_HELD] = 1;
    CHECK_STR(sentence(), "empty 100%: 1 host is held by the operator");
    begin(LIMITED_SERVERS, 1);
    status.hosts[HOST_HELD] = 3;
    CHECK_STR(sentence(), "servers 100%: every host with URLs is being visited, one connection each; 0 are open; 3 hosts are "
                          "held by the operator");
}

/* summary.json writes it as it is, and it fits. */
TEST(no_sentence_is_cut_or_needs_escapes)
{
    for (int by = 0; by < LIMITED_COUNT; by++) {
        begin((enum limited_by)by, 0.6);
        status.limited[by ? 0 : 1] = 0.4;
        stats_set(&status.now.connections, UINT64_MAX);
        for (int state = 0; state < HOST_STATES; state++)
            status.hosts[state] = INT64_MAX / 4;
        status.unwritten_bytes = UINT64_MAX;
        status.next_due_s = 1e9;
        const char *text = sentence();
        CHECK(strchr(text, '"') == NULL && strchr(text, '\\') == NULL);
        CHECK_STR(text + strlen(text) - 12, by == LIMITED_EMPTY ? "or; work 40%" : "the operator");
    }
}
