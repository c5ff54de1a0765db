#include "engine/state/record.h"

#include "tests/support/check.h"

static const struct record_url a_url = {.signature = 0x1122334455667788,
                                        .kind = 'L',
                                        .redirects = 3,
                                        .hops_off = 2,
                                        .embed_hops = 5,
                                        .is_requisite = true,
                                        .depth = 700,
                                        .hop_count = 801,
                                        .recent_hops = 0xdeadbeef,
                                        .source = 70000,
                                        .text = {"http://a.it/x?y", 15}};
static const struct record_done a_done = {.signature = 7,
                                          .host = 8,
                                          .body_bytes = 123456,
                                          .status = 999,
                                          .outcome = 41,
                                          .is_page = true,
                                          .is_stored = false};
static const struct record_visit a_visit = {.is_end = true,
                                            .dead_why = 9,
                                            .failures = 65535,
                                            .crawl_delay_ms = 1500,
                                            .host_us = 1,
                                            .address_us = 2,
                                            .pages = 3,
                                            .bytes = 4,
                                            .spent_ns = 5,
                                            .key = {"https://a.it", 12}};

static size_t write_all(char *buffer)
{
    size_t len = record_write_via(buffer, SLICE("http://from.it/"));
    len += record_write_url(buffer + len, &a_url);
    len += record_write_done(buffer + len, &a_done);
    return len + record_write_visit(buffer + len, &a_visit);
}

TEST(what_is_written_is_read)
{
    char buffer[1024];
    struct slice rest = {buffer, write_all(buffer)};
    struct record record;
    CHECK(record_read(&rest, &record) && record.type == RECORD_VIA);
    CHECK(slice_equals(record.via, SLICE("http://from.it/")));
    CHECK(record_read(&rest, &record) && record.type == RECORD_URL);
    const struct record_url *url = &record.url;
    CHECK(url->signature == a_url.signature && url->kind == 'L' && url->redirects == 3 && url->hops_off == 2);
    CHECK(url->embed_hops == 5 && url->is_requisite && url->depth == 700 && url->hop_count == 801);
    CHECK(url->source == 70000 && url->recent_hops == a_url.recent_hops &&
          slice_equals(url->text, a_url.text));
    CHECK(record_read(&rest, &record) && record.type == RECORD_DONE);
    const struct record_done *done = &record.done;
    CHECK(done->signature == 7 && done->host == 8 && done->body_bytes == 123456 && done->status == 999);
    CHECK(done->outcome == 41 && done->is_page && !done->is_stored);
    CHECK(record_read(&rest, &record) && record.type == RECORD_VISIT);
    const struct record_visit *visit = &record.visit;
    CHECK(visit->is_end && visit->dead_why == 9 && visit->failures == 65535 && visit->host_us == 1);
    CHECK(visit->address_us == 2 && visit->pages == 3 && visit->bytes == 4 && visit->spent_ns == 5);
    CHECK(visit->crawl_delay_ms == 1500 && slice_equals(visit->key, a_visit.key));
    CHECK_INT(rest.len, 0);
    CHECK(!record_read(&rest, &record));
}

/* Inputs end at a guard page: nothing is read beyond them. */
TEST(no_prefix_of_a_record_is_one)
{
    char buffer[1024];
    size_t len = write_all(buffer);
    for (size_t cut = 0; cut < len; cut++) {
        struct record record;
        struct slice rest = {check_guard_copy(buffer, cut), cut};
        size_t read = 0;
        while (record_read(&rest, &record))
            read++;
        CHECK(read < 4);
        CHECK(rest.len > 0 || cut == 0 || read > 0);
    }
}

TEST(an_unknown_record_is_none)
{
    char buffer[64] = "X";
    struct slice rest = {buffer, sizeof buffer};
    struct record record;
    CHECK(!record_read(&rest, &record));
    CHECK_INT(rest.len, sizeof buffer);
}

TEST(signatures_are_read_one_by_one)
{
    uint64_t signatures[300];
    char buffer[sizeof signatures + RECORD_BYTES_MAX + 1];
    struct record record;
    for (size_t i = 0; i < 300; i++)
        signatures[i] = i * i;
    size_t len = record_write_known(buffer + 1, signatures, 300); /* nothing is aligned in a journal */
    struct slice rest = {buffer + 1, len};
    CHECK(record_read(&rest, &record) && record.type == RECORD_KNOWN && rest.len == 0);
    CHECK_INT(record.known.count, 300);
    for (size_t i = 0; i < 300; i++)
        CHECK_INT(record_known_at(&record.known, i), i * i);
    for (size_t cut = 0; cut < len; cut++) {
        rest = (struct slice){buffer + 1, cut};
        CHECK(!record_read(&rest, &record) && rest.len == cut);
    }
}

TEST(totals_add_up)
{
    struct record_totals totals = {0}, again = {0};
    char buffer[sizeof totals + RECORD_BYTES_MAX];
    struct record record;
    record_add_done(&totals, &a_done);
    record_add_done(&totals, &(struct record_done){.outcome = 41, .is_stored = true, .body_bytes = 5});
    CHECK(totals.done == 2 && totals.stored == 1 && totals.outcomes[41] == 2);
    CHECK(totals.pages == 1 && totals.bytes == 123456 && totals.statuses[9] == 1);
    CHECK_INT(totals.sizes[log_linear_bucket(123456)], 1);
    size_t len = record_write_totals(buffer, &totals);
    for (unsigned i = 0; i < 2; i++) {
        struct slice rest = {buffer, len};
        CHECK(record_read(&rest, &record) && record.type == RECORD_TOTALS && rest.len == 0);
        record_add_totals(&again, record.totals);
    }
    CHECK(again.done == 4 && again.bytes == 2 * 123456 && again.sizes[log_linear_bucket(123456)] == 2);
    for (size_t cut = 0; cut < len; cut++) {
        struct slice rest = {buffer, cut};
        CHECK(!record_read(&rest, &record) && rest.len == cut);
    }
    buffer[4]--; /* another version may have fewer numbers */
    struct slice rest = {buffer, len};
    CHECK(!record_read(&rest, &record) && rest.len == len);
}

/* The largest values have a bucket, too. */
TEST(sizes_have_a_place)
{
    struct record_totals totals = {0};
    record_add_done(&totals,
                    &(struct record_done){.is_page = true, .body_bytes = UINT32_MAX, .outcome = 255});
    CHECK_INT(totals.sizes[RECORD_SIZES - 1], 1);
    CHECK_INT(totals.outcomes[255], 1);
}
