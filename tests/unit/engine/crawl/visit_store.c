/* What goes to the store, and what is said of it there. */
#include <libdeflate.h>

#include "tests/unit/engine/crawl/visit_stored.h"

static void start(const struct route *table)
{
    stored_set_up(table, TUNING_STORE_WARC);
}

TEST(a_page_is_stored_with_its_request)
{
    static const struct route table[] = {{NULL, "/1", TEXT("5", "hello")}, {NULL, NULL, NULL}};
    start(table);
    char *warc = stored_run();
    CHECK_INT(stored_count(warc, "WARC-Type: response"), 1);
    CHECK_INT(stored_count(warc, "WARC-Type: request"), 1);
    CHECK_INT(stored_count(warc, "GET /1 HTTP/1.1\r\n"), 1);
    CHECK_INT(stored_count(warc, "\r\n\r\nhello\r\n\r\n"), 1);
    CHECK_INT(stored_count(warc, "WARC-IP-Address: 127.0.0.1\r\n"), 1);
    CHECK_INT(stored_count(warc, "WARC-Payload-Digest: sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N\r\n"), 1);
    CHECK_INT(stored_count(warc, "WARC-Truncated"), 0);
    CHECK_INT(stats_get(&frame.stats.stored), 1);
    char *log = frame_log(&frame);
    CHECK(strstr(log, "sha1:VL2MMHO4YXUKFWV63YHTWSBM3GXKSQ2N") != NULL);
    free(log);
    free(warc);
    routes_stop();
}

TEST(a_page_that_was_cut_says_so)
{
    static const struct route table[] = {
        {NULL, "/1", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\nConnection: close\r\n\r\nhello"},
        {NULL, NULL, NULL}};
    start(table);
    frame.tuning.live.retry.retries_max = 0;
    char *warc = stored_run();
    CHECK_INT(stored_count(warc, "WARC-Truncated: disconnect\r\n"), 1);
    free(warc);
    routes_stop();
}

static void check_tag(const char *answer, unsigned stored)
{
    const struct route table[] = {{NULL, "/1", answer}, {NULL, NULL, NULL}};
    start(table);
    char *warc = stored_run();
    CHECK_INT(stored_count(warc, "WARC-Type: response"), stored);
    CHECK_INT(stats_get(&frame.stats.stored), stored);
    CHECK_INT(stats_get(&frame.stats.pages), 1);
    free(warc);
    routes_stop();
}

TEST(pages_that_forbid_it_are_not_stored)
{
    check_tag(OK_WITH("X-Robots-Tag: noindex\r\nContent-Length: 1\r\n", "a"), 0);
    check_tag(OK_WITH("X-Robots-Tag: noarchive\r\nContent-Length: 1\r\n", "a"), 0);
    check_tag(OK_WITH("X-Robots-Tag: nofollow\r\nContent-Length: 1\r\n", "a"), 1);
    check_tag(
        OK_WITH("Content-Type: text/html\r\nContent-Length: 34\r\n", "<meta name=robots content=noindex>"),
        0);
}

static void check_robots(bool is_wanted, unsigned stored)
{
    static const struct route table[] = {
        {NULL, "/robots.txt", TEXT("14", "User-agent: *\n")}, {NULL, "/1", MISSING}, {NULL, NULL, NULL}};
    start(table);
    frame.tuning.fixed.robots.obey = true;
    frame.tuning.fixed.robots.sitemaps = TUNING_SITEMAPS_NO;
    frame.tuning.live.store.robots = is_wanted;
    char *warc = stored_run();
    CHECK_INT(stored_count(warc, "/robots.txt\r\n"), 2 * stored); /* a response and a request */
    CHECK_INT(stats_get(&frame.stats.pages), 1);
    free(warc);
    routes_stop();
}

TEST(robots_txt_is_stored_if_it_is_wanted)
{
    check_robots(true, 1);
    check_robots(false, 0);
}

TEST(types_that_are_not_wanted_are_not_stored)
{
    static const struct route table[] = {{NULL, "/1", TEXT("5", "hello")}, {NULL, NULL, NULL}};
    start(table);
    snprintf(frame.tuning.fixed.scope.mime, sizeof frame.tuning.fixed.scope.mime, "image/");
    char *warc = stored_run();
    CHECK(!warc);
    CHECK_INT(stats_get(&frame.stats.pages), 1);
    routes_stop();
}

/* Long pages. At the highest level these letters take hundreds of milliseconds, and a turn a few of them. */
enum { LETTERS = 300000 };

static void start_long(const struct route *table)
{
    start(table);
    frame.tuning.fixed.store.compress = TUNING_COMPRESS_GZIP;
    frame.tuning.fixed.store.level = 12;
    frame.tuning.fixed.memory.page_bytes = 8 << 20;
}

/* An answer with a body of that many letters. Valid until the next call. */
static const char *letters(const char *fields, unsigned count)
{
    static char answer[LETTERS + 512];
    uint32_t random = 1;
    int head = snprintf(answer, 512, "HTTP/1.1 200 OK\r\n%sContent-Length: %u\r\n\r\n", fields, count);
    for (unsigned i = 0; i < count; i++) {
        random = random * 1103515245 + 12345;
        answer[head + (int)i] = i % 80 ? "ab"[random >> 16 & 1] : '\n';
    }
    answer[head + (int)count] = '\0';
    return answer;
}

/* The records of the file so far, unpacked. Freed by the caller. */
static char *unpacked_warc(void)
{
    enum { TEXT_BYTES = 4 << 20 };
    char path[512], *text = malloc(TEXT_BYTES);
    size_t len, used = 0;
    struct libdeflate_decompressor *unpack = libdeflate_alloc_decompressor();
    free(frame_warc(&frame));
    snprintf(path, sizeof path, "%s/warc/%s.open", frame.directory, frame.store.filename);
    char *packed = check_read_file(path, &len);
    for (size_t at = 0, in, out; at < len; at += in, used += out)
        CHECK_INT(libdeflate_gzip_decompress_ex(unpack, packed + at, len - at, text + used,
                                                TEXT_BYTES - 1 - used, &in, &out),
                  LIBDEFLATE_SUCCESS);
    text[used] = '\0';
    libdeflate_free_decompressor(unpack);
    free(packed);
    return text;
}

/* Until the only visit stores a long page. */
static void run_until_stalled(void)
{
    const uint64_t deadline = clock_now_ns() + 20 * CLOCK_NS_PER_S;
    routes_start();
    frame_push(&frame, "/1");
    while (!frame.visits.stalled || frame.store.job.phase != STORE_PACKS) {
        CHECK(clock_now_ns() < deadline);
        frame_turn(&frame);
    }
}

static void check_stored(unsigned responses)
{
    char *warc = unpacked_warc();
    CHECK_INT(stored_count(warc, "WARC-Type: response"), responses);
    CHECK_INT(stored_count(warc, "WARC-Type: request"), responses);
    free(warc);
}

TEST(a_long_page_takes_many_turns)
{
    const char *page = letters("", LETTERS);
    const struct route table[] = {{NULL, "/1", page}, {NULL, NULL, NULL}};
    unsigned turns = 0;
    start_long(table);
    run_until_stalled();
    CHECK_INT(visits_next_ns(&frame.visits, 5), 5); /* the loop does not sleep */
    for (; frame.visits.stalled; turns++)
        frame_turn(&frame);
    CHECK(turns >= 5);
    frame_run(&frame);
    CHECK_INT(stats_get(&frame.stats.stored), 1);
    CHECK_INT(visits_next_ns(&frame.visits, 5), UINT64_MAX);
    char *warc = unpacked_warc(), *log = frame_log(&frame);
    const char *digest = strstr(warc, "WARC-Payload-Digest: ");
    CHECK(digest);
    digest += strlen("WARC-Payload-Digest: ");
    CHECK(memmem(log, strlen(log), digest, 37) != NULL); /* sha1: and 32 letters */
    CHECK(strstr(warc, strstr(page, "\r\n\r\n")) != NULL);
    check_stored(1);
    free(warc);
    free(log);
    routes_stop();
}

/* All that is said of a page is in the epoch of its verdict: records, line, and the count of the ledger. */
TEST(an_epoch_that_ends_while_a_long_page_is_stored_has_nothing_of_it)
{
    const struct route table[] = {{NULL, "/1", letters("", LETTERS)}, {NULL, NULL, NULL}};
    start_long(table);
    run_until_stalled();
    size_t info_bytes = frame.store.offset; /* of the warcinfo */
    lf_store(&frame.epoch, 1, relaxed);
    ledger_adopt(&frame.ledger);
    CHECK(frame.visits.stalled != NULL);
    frame_run(&frame);
    outlet_flush(&frame.store.outlet);
    CHECK_INT(outlet_drain(&frame.store.outlet), 0);
    CHECK(frame.store.outlet.is_held);
    CHECK_INT(frame.store.outlet.file->length, info_bytes);
    outlet_flush(&frame.log);
    CHECK_INT(outlet_drain(&frame.log), 0);
    CHECK(frame.log.is_held && !frame.log.file->length);
    outlet_release(&frame.store.outlet);
    outlet_release(&frame.log);
    check_stored(1);
    routes_stop();
}

TEST(a_long_page_is_stored_though_the_server_closes_or_the_crawl_ends)
{
    for (int is_end = 0; is_end < 2; is_end++) {
        const struct route table[] = {{NULL, "/1", letters(is_end ? "" : "Connection: close\r\n", LETTERS)},
                                      {NULL, NULL, NULL}};
        start_long(table);
        run_until_stalled();
        if (is_end) {
            gate_set_phase(&frame.gate, CRAWL_ENDING);
            visits_abort(&frame.visits);
        }
        frame_run(&frame);
        CHECK_INT(routes_outcome(FETCH_DONE), 1);
        check_stored(1);
        routes_stop();
    }
}

TEST(short_pages_are_stored_while_a_long_one_is)
{
    const struct route table[] = {
        {"127.0.0.1", "/1", letters("", LETTERS)}, {"b.test", "/1", TEXT("5", "hello")}, {NULL, NULL, NULL}};
    start_long(table);
    frame.tuning.fixed.politeness.connections_per_address = 2;
    routes_start();
    frame_push_at(&frame, "b.test", "/1");
    frontier_turn(&frame.queues, clock_now_ns());
    CHECK_INT(visits_turn(&frame.visits, clock_now_ns()),
              1); /* it is let in before the long one holds up visits */
    frame_push(&frame, "/1");
    frame_run(&frame);
    CHECK_INT(stats_get(&frame.stats.stored), 2);
    check_stored(2);
    routes_stop();
}

TEST(long_pages_are_stored_one_after_another)
{
    const struct route table[] = {{NULL, "/1", letters("", LETTERS / 4)}, {NULL, NULL, NULL}};
    start_long(table);
    frame.tuning.fixed.politeness.connections_per_address = 3;
    routes_start();
    frame_push_at(&frame, "127.0.0.1", "/1");
    frame_push_at(&frame, "b.test", "/1");
    frame_push_at(&frame, "c.test", "/1");
    frame_run(&frame);
    CHECK_INT(stats_get(&frame.stats.stored), 3);
    check_stored(3);
    routes_stop();
}

TEST(a_long_page_that_is_not_stored_has_a_digest_all_the_same)
{
    const struct route table[] = {{NULL, "/1", letters("X-Robots-Tag: noindex\r\n", LETTERS)},
                                  {NULL, NULL, NULL}};
    start_long(table);
    CHECK(!stored_run());
    CHECK_INT(stats_get(&frame.stats.stored), 0);
    char *log = frame_log(&frame);
    CHECK(strstr(log, " sha1:") != NULL);
    free(log);
    routes_stop();
}

TEST(a_long_page_waits_for_room)
{
    const struct route table[] = {{NULL, "/1", letters("", LETTERS)}, {NULL, NULL, NULL}};
    static char bytes[OUTLET_BLOCK_BYTES];
    const uint64_t deadline = clock_now_ns() + 20 * CLOCK_NS_PER_S;
    start_long(table);
    run_until_stalled();
    while (outlet_free_blocks(&frame.store.outlet))
        outlet_append(&frame.store.outlet, (struct slice){bytes, sizeof bytes});
    while (store_has_work(&frame.store)) {
        CHECK(clock_now_ns() < deadline);
        frame_turn(&frame);
    }
    frame_turn(&frame);
    CHECK(frame.visits.stalled != NULL);
    CHECK_INT(visits_next_ns(&frame.visits, 5), UINT64_MAX); /* there is nothing to do but wait */
    CHECK_INT(stats_get(&frame.stats.stored), 0);
    outlet_flush(&frame.store.outlet);
    CHECK_INT(outlet_drain(&frame.store.outlet), 0);
    frame_run(&frame);
    CHECK_INT(stats_get(&frame.stats.stored), 1);
    routes_stop();
}

static void check_long_robots(bool is_full)
{
    static const char rules[] =
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 100040\r\n\r\n"
        "User-agent: *\nDisallow: /denied\n#";
    static char answer[sizeof rules + 100040], bytes[OUTLET_BLOCK_BYTES];
    const struct route table[] = {
        {NULL, "/robots.txt", answer}, {NULL, "/1", MISSING}, {NULL, "/denied", MISSING}, {NULL, NULL, NULL}};
    const char *body = strstr(letters("", 100040), "\r\n\r\n") + 4;
    snprintf(answer, sizeof answer, "%s%s", rules, body);
    answer[strstr(answer, "\r\n\r\n") + 4 + 100040 - answer] = '\0';
    start_long(table);
    frame.tuning.fixed.robots.obey = true;
    frame.tuning.fixed.robots.sitemaps = TUNING_SITEMAPS_NO;
    frame.tuning.live.store.robots = frame.tuning.live.log.robots = true;
    frame.tuning.live.robots.fresh_ns = CLOCK_NS_PER_S;
    routes_start();
    frame_push(&frame, "/denied");
    CHECK(store_open(&frame.store));
    while (is_full && outlet_free_blocks(&frame.store.outlet))
        outlet_append(&frame.store.outlet, (struct slice){bytes, sizeof bytes});
    frame_run(&frame);
    CHECK_INT(routes_outcome(FETCH_ROBOTS_DENIED), 1);
    CHECK_INT(stats_get(&frame.stats.robots_lost), is_full);
    CHECK_INT(stats_get(&frame.stats.robots_files), 1);
    char *log = frame_log(&frame);
    CHECK_INT(strstr(log, " sha1:") != NULL, 1);
    free(log);
    if (!is_full)
        check_stored(1);
    routes_stop();
}

TEST(a_long_robots_txt_is_stored_in_steps_and_obeyed)
{
    check_long_robots(false);
}

TEST(rules_do_not_wait_for_the_disk)
{
    check_long_robots(true);
}

/* A long copy takes steps like any long page, unless it is stored as a revisit or not at all. */
TEST(a_long_copy_is_stored_as_the_tuning_says)
{
    static const unsigned stored[] = {
        [TUNING_DUPLICATES_FULL] = 2, [TUNING_DUPLICATES_REVISIT] = 1, [TUNING_DUPLICATES_SKIP] = 1};
    for (unsigned way = 0; way < 3; way++) {
        const struct route table[] = {{NULL, "/1", letters("", LETTERS / 4)}, {NULL, NULL, NULL}};
        start_long(table);
        frame.tuning.fixed.duplicates.store = way;
        frame.tuning.fixed.duplicates.links = TUNING_DUPLICATES_SKIP_LINKS;
        frame.tuning.fixed.duplicates.bytes = 1 << 20;
        routes_start();
        CHECK_INT(repeats_init(&frame.repeats, &frame.tuning), 0);
        frame_push_at(&frame, "127.0.0.1", "/1");
        frame_push_at(&frame, "b.test", "/1");
        frame_run(&frame);
        CHECK_INT(stats_get(&frame.stats.duplicates), 1);
        char *warc = unpacked_warc();
        CHECK_INT(stored_count(warc, "WARC-Type: response"), stored[way]);
        CHECK_INT(stored_count(warc, "WARC-Type: revisit"), way == TUNING_DUPLICATES_REVISIT);
        free(warc);
        repeats_fini(&frame.repeats);
        routes_stop();
    }
}

/* Its text is not looked at: the index of near-duplicates is not asked about it. */
TEST(the_text_of_a_copy_is_not_compared)
{
    static char text[4096], answer[4200];
    size_t len = 0;
    for (unsigned i = 0; i < 300; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "w%co%cd ", 'a' + i % 26, 'a' + i / 26);
    snprintf(answer, sizeof answer, "%s%zu\r\nConnection: keep-alive\r\n\r\n%s",
             "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ", len, text);
    const struct route table[] = {{NULL, "/1", answer}, {NULL, NULL, NULL}};
    start(table);
    frame.tuning.fixed.duplicates.kind = TUNING_DUPLICATES_NEAR;
    frame.tuning.fixed.duplicates.bytes = 1 << 20;
    routes_start();
    CHECK_INT(repeats_init(&frame.repeats, &frame.tuning), 0);
    frame_push_at(&frame, "127.0.0.1", "/1");
    frame_run(&frame);
    CHECK_INT(near_count(&frame.repeats.near), 1);
    CHECK(!frame.visits.reader.is_near);
    frame_push_at(&frame, "b.test", "/1");
    frame_run(&frame);
    CHECK_INT(stats_get(&frame.stats.duplicates), 1);
    CHECK(!frame.visits.reader.is_near);
    char *warc = frame_warc(&frame);
    CHECK_INT(stored_count(warc, "WARC-Type: response"), 1);
    CHECK_INT(stored_count(warc, "WARC-Type: revisit"), 1);
    CHECK_INT(stored_count(warc, "WARC-Block-Digest: "), 5); /* both with their requests, and the warcinfo */
    free(warc);
    repeats_fini(&frame.repeats);
    routes_stop();
}

/* Another loop has stored the same body: what is begun is stored all the same, and the store is free again. */
TEST(a_copy_that_comes_while_a_page_is_stored_changes_nothing)
{
    const struct route table[] = {{NULL, "/1", letters("", LETTERS)}, {NULL, NULL, NULL}};
    struct exact_source source = {.url = SLICE("http://b.test/"), .date_us = 7};
    start_long(table);
    frame.tuning.fixed.duplicates.store = TUNING_DUPLICATES_REVISIT;
    frame.tuning.fixed.duplicates.bytes = 1 << 20;
    CHECK_INT(repeats_init(&frame.repeats, &frame.tuning), 0);
    run_until_stalled();
    repeats_add(&frame.repeats, 0, frame.visits.stalled->page.digest, &source);
    frame_run(&frame);
    CHECK_INT(frame.store.job.phase, STORE_IDLE);
    check_stored(1);
    repeats_fini(&frame.repeats);
    routes_stop();
}

/* The value of a field of the first record of a type. */
static struct slice field_of(const char *warc, const char *type, const char *name)
{
    const char *record = strstr(warc, type), *value = record ? strstr(record, name) : NULL;
    CHECK(value && value < strstr(record, "\r\n\r\n"));
    value += strlen(name);
    return slice_between(value, strstr(value, "\r\n"));
}

/* The clock of the ledger is set in each turn, and a long page takes many. */
TEST(a_copy_refers_to_the_date_in_the_record_of_a_long_page)
{
    const struct route table[] = {{NULL, "/1", letters("", LETTERS)}, {NULL, NULL, NULL}};
    start_long(table);
    frame.tuning.fixed.duplicates.store = TUNING_DUPLICATES_REVISIT;
    frame.tuning.fixed.duplicates.bytes = 1 << 20;
    CHECK_INT(repeats_init(&frame.repeats, &frame.tuning), 0);
    run_until_stalled();
    frame.ledger.clock_offset_us += 5;
    frame_run(&frame);
    frame_push_at(&frame, "b.test", "/1");
    frame_run(&frame);
    char *warc = unpacked_warc();
    struct slice date = field_of(warc, "WARC-Type: response", "WARC-Date: ");
    CHECK(slice_equals(field_of(warc, "WARC-Type: revisit", "WARC-Refers-To-Date: "), date));
    CHECK(slice_equals(field_of(warc, "WARC-Type: request", "WARC-Date: "), date));
    free(warc);
    repeats_fini(&frame.repeats);
    routes_stop();
}
