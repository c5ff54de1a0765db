#include "tools/lycosa/remarks.h"

#include <errno.h>

#include "lockfree/clock.h"
#include "tests/support/check.h"

static struct status status;
static struct tuning tuning;
static char buffer[768];
static struct text text;

static void begin(void)
{
    memset(&status, 0, sizeof status);
    tuning_init(&tuning);
    text = text_in(buffer, sizeof buffer);
}

TEST(a_sound_crawl_gives_no_cause_for_remarks)
{
    begin();
    status.queued = 5;
    stats_add(&status.now.connections, 1);
    remarks_put_failing(&text, &status);
    remarks_put_lost(&text, &status);
    remarks_put_waiting(&text, &status);
    remarks_put_outage(&text, &status);
    remarks_put_fold(&text, &status);
    CHECK_STR(buffer, "");
}

TEST(a_journal_that_is_not_folded_is_told_of)
{
    const struct {
        int trouble;
        bool stays;
        const char *words;
    } cases[] = {{-ENOSPC, false, "the journal is not folded: No space left on device; tried again when the disk has twice its "
                                  "length free beside state.reserve"},
                 {-ENOMEM, false, "the journal is not folded: Cannot allocate memory; tried again in some minutes"},
                 {-EIO, true, "the journal is not folded: Input/output error; tried again when the crawl is resumed"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin();
        status.fold_trouble = cases[i].trouble;
        status.fold_trouble_stays = cases[i].stays;
        remarks_put_fold(&text, &status);
        CHECK_STR(buffer, cases[i].words);
    }
}

TEST(spans_are_short)
{
    const struct {
        double seconds;
        const char *words;
    } cases[] = {{0, "0 s"}, {99, "99 s"}, {100, "2 min"}, {3600, "60 min"}, {7200, "2.0 h"}, {200000, "2.3 d"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin();
        remarks_put_span(&text, cases[i].seconds);
        CHECK_STR(buffer, cases[i].words);
    }
}

TEST(an_outlook_is_for_crawls_that_go_on)
{
    begin();
    status.outlook = (struct outlook){.by = OUTLOOK_TIME, .share = 0.25, .left_s = 75};
    remarks_put_outlook(&text, &status);
    CHECK_STR(buffer, "25% of max-time, 75 s left");
    begin();
    status.outlook = (struct outlook){.by = OUTLOOK_TIME, .share = 0.25, .left_s = 75};
    status.phase = CRAWL_ENDING;
    remarks_put_outlook(&text, &status);
    CHECK_STR(buffer, "");
}

TEST(an_outage_names_the_key_of_the_servers)
{
    begin();
    status.names_outage_s = 12.4;
    remarks_put_outage(&text, &status);
    CHECK_STR(buffer, "no name server has answered for 12 s: see net.dns-servers");
}

TEST(failing_hosts_are_told_by_reason_the_most_frequent_first)
{
    begin();
    status.failing[FETCH_CONNECT_REFUSED] = status.failing_count = 1;
    remarks_put_failing(&text, &status);
    CHECK_STR(buffer, "1 host fails: 1 connect-refused");
    begin();
    status.failing[FETCH_CONNECT_REFUSED] = 1;
    status.failing[FETCH_TLS_ALERT_PROTOCOL_VERSION] = 4;
    status.failing[FETCH_DNS_NO_NAME] = 3;
    status.failing[FETCH_CONNECT_TIMEOUT] = 2;
    status.failing_count = 10;
    remarks_put_failing(&text, &status);
    CHECK_STR(buffer,
              "10 hosts fail: 4 tls-alert-protocol-version, 3 dns-no-name, 2 connect-timeout, 1 others");
}

TEST(losses_name_the_key_to_raise)
{
    begin();
    stats_add(&status.now.outcomes[FETCH_SIEVE_FULL], 7);
    status.seeds.out_of_scope = 3;
    remarks_put_lost(&text, &status);
    CHECK_STR(buffer, "7 URLs lost: raise memory.sieve; 3 of the seeds out of scope");
    begin();
    stats_add(&status.now.outcomes[FETCH_FRONTIER_FULL], 1);
    stats_add(&status.now.outcomes[FETCH_HOSTS_FULL], 2);
    stats_add(&status.now.outcomes[FETCH_HOST_FULL], 3);
    stats_add(&status.now.outcomes[FETCH_DOMAIN_FULL], 4);
    stats_add(&status.now.links_cut, 5);
    stats_add(&status.now.links_undecided, 8);
    stats_add(&status.now.robots_lost, 6);
    remarks_put_lost(&text, &status);
    CHECK_STR(buffer, "1 URLs lost: raise memory.frontier; 2 URLs lost: raise memory.hosts; "
                      "3 URLs lost: raise limits.urls-per-host; "
                      "4 URLs lost: raise limits.hosts-per-domain or limits.urls-per-domain; "
                      "5 links lost: raise limits.links-per-page or limits.links-per-sitemap; "
                      "8 links left out because expressions took too long: see scope.exclude and scope.include; "
                      "6 robots.txt files not stored: raise store.buffer");
}

TEST(what_is_waited_for_is_told_when_nothing_else_goes_on)
{
    begin();
    status.queued = status.waiting_count = 1;
    status.now_ns = CLOCK_NS_PER_S;
    status.waiting[0] = (struct troubles_host){
        .id = 1, .name = "example.org", .why = FETCH_CONNECT_REFUSED, .retry_ns = 313 * CLOCK_NS_PER_S};
    remarks_put_waiting(&text, &status);
    CHECK_STR(buffer, "waiting for 1 host: example.org, retry in 312 s (connect-refused)");
    text = text_in(buffer, sizeof buffer);
    stats_add(&status.now.connections, 1);
    remarks_put_waiting(&text, &status);
    CHECK_STR(buffer, "");
}

TEST(an_end_that_takes_its_time_says_why)
{
    begin();
    stats_add(&status.now.connections, 1);
    status.unwritten_bytes = 4200000;
    remarks_put_end(&text, &status);
    CHECK_STR(buffer, "");
    status.phase = CRAWL_STOPPING;
    remarks_put_end(&text, &status);
    CHECK_STR(buffer, "stopping: 1 fetch in flight");
    text = text_in(buffer, sizeof buffer);
    status.phase = CRAWL_ENDING;
    remarks_put_end(&text, &status);
    CHECK_STR(buffer, "ending: 4.2 MB are still to be written");
}

static const char *nothing(void)
{
    text = text_in(buffer, sizeof buffer);
    remarks_put_nothing(&text, &status, &tuning);
    return buffer;
}

TEST(why_nothing_was_fetched)
{
    begin();
    CHECK(strstr(nothing(), "no answer came in time") != NULL);
    stats_add(&status.now.outcomes[FETCH_ROBOTS_DENIED], 2);
    CHECK_STR(nothing(), "nothing was fetched: 2 robots-denied");
    status.failing[FETCH_DNS_NO_NAME] = status.failing_count = 2;
    CHECK_STR(nothing(), "nothing was fetched: 2 hosts fail: 2 dns-no-name");
    stats_add(&status.now.outcomes[FETCH_ADDRESS_FORBIDDEN], 1);
    CHECK(strstr(nothing(), "contact-url = https://") != NULL);
    snprintf(tuning.fixed.crawl.contact_url, sizeof tuning.fixed.crawl.contact_url, "https://example.org/");
    CHECK(strstr(nothing(), "private-addresses = yes") != NULL);
    status.seeds.out_of_scope = status.seeds.scope[SCOPE_SUFFIX] = 3;
    CHECK_STR(nothing(),
              "nothing was fetched: no seed is in the scope (3 by suffix); see the keys of [scope]");
}
