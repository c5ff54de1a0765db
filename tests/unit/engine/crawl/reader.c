/* Pages in, links in the frontier out, part by part. */
#include "engine/crawl/reader.h"

#include <libdeflate.h>
#include <stdlib.h>

#include "engine/content/limits.h"
#include "engine/robots/robots_tag.h"
#include "tests/support/pace.h"
#include "tests/unit/engine/crawl/harvest_frame.h"
#include "tests/unit/engine/crawl/journal_records.h"

#define LONG_BYTES    (4u << 20)
#define HOSTILE_BYTES (16u << 20)

static struct buffer_pool pool;
static struct reader reader;
static bool reads_styles;

static void begin_reader(size_t memory)
{
    set_up();
    tuning.fixed.memory.sieve_bytes = 8 << 20;
    tuning.fixed.memory.frontier_bytes = 64 << 20;
    tuning.fixed.scope.depth_max = 0;
    begin();
    buffer_pool_init(&pool, memory);
    CHECK(reader_init(&reader, &pool, &harvest,
                      &(struct decode_options){.bytes_max = 32 << 20, .ratio_max = 10000}));
}

static void finish_reader(void)
{
    reader_fini(&reader);
    buffer_pool_fini(&pool);
    finish();
}

static struct repeats repeats; /* none, unless a test says so */

static void begin_page(const char *type, const char *coding, struct slice body)
{
    struct reader_page page = {.source = {.url = &base, .base = &base},
                               .body = {.content_type = slice_of(type),
                                        .codings = slice_of(coding),
                                        .bytes = body,
                                        .is_sitemap = strcmp(type, "text/plain") == 0}};
    struct reader_options options = {.agent = SLICE("lycosa"),
                                     .css = reads_styles,
                                     .noscript = reads_styles,
                                     .obeys_meta = true,
                                     .repeats = &repeats,
                                     .entries_max = 1000000};
    reader_begin(&reader, &reader, &page, &options);
}

/* In one go. */
static void read_page(const char *type, const char *coding, struct slice body)
{
    begin_page(type, coding, body);
    CHECK(reader.owner == &reader);
    CHECK(reader_run(&reader, UINT64_MAX));
    CHECK(!reader.owner && reader.phase == READER_IDLE);
}

/* A part at a time; the longest of them in nanoseconds of this thread. */
static uint64_t longest_part(const char *type, const char *coding, struct slice body)
{
    uint64_t longest = 0, before = pace_thread_ns();
    unsigned parts = 1;
    begin_page(type, coding, body);
    for (bool is_read = false; !is_read; parts++) {
        is_read = reader_run(&reader, 0);
        uint64_t now = pace_thread_ns();
        longest = now - before > longest ? now - before : longest;
        before = now;
    }
    CHECK(parts >= 4);
    return longest;
}

/* The least of three: a machine that is busy adds to each, and the document is the same. */
static uint64_t quietest(const char *type, const char *coding, struct slice body)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        uint64_t longest = longest_part(type, coding, body);
        least = longest < least ? longest : least;
    }
    return least;
}

/* `head`, then `unit` again and again, each '#' of it a number. */
static struct slice numbered(const char *head, const char *unit, size_t len)
{
    static char *text;
    size_t used = strlen(head);
    free(text);
    text = malloc(len + 256);
    memcpy(text, head, used);
    for (unsigned i = 0; used < len; i++)
        for (const char *at = unit; *at; at++) {
            if (*at == '#')
                used += (size_t)snprintf(text + used, 16, "%u", i);
            else
                text[used++] = *at;
        }
    return (struct slice){text, used};
}

static struct slice packed(struct slice text)
{
    static char *bytes;
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(1);
    size_t max = libdeflate_gzip_compress_bound(compressor, text.len);
    free(bytes);
    bytes = malloc(max);
    size_t len = libdeflate_gzip_compress(compressor, text.ptr, text.len, bytes, max);
    libdeflate_free_compressor(compressor);
    return (struct slice){bytes, len};
}

TEST(a_page_gives_its_links)
{
    begin_reader(1 << 20);
    read_page("text/html", "", SLICE("<base href=/b/><a href=x><a href=http://b.it/>"));
    CHECK_INT(reader.outcome, FETCH_DONE);
    CHECK_INT(stats_get(&stats.links), 2);
    CHECK_INT(reader.outlinks, 2);
    CHECK_INT(stats_get(&stats.urls_in), 2);
    read_page("text/html", "gzip", packed(SLICE("<a href=y>")));
    CHECK_INT(reader.body_bytes, 10);
    CHECK_INT(stats_get(&stats.urls_in), 3);
    finish_reader();
}

TEST(nofollow_counts_and_takes_nothing)
{
    begin_reader(1 << 20);
    read_page("text/html", "", SLICE("<a href=x><meta name=robots content=nofollow>"));
    CHECK_INT(reader.tags & ROBOTS_TAG_NOFOLLOW, ROBOTS_TAG_NOFOLLOW);
    CHECK_INT(stats_get(&stats.links_nofollow), 1);
    CHECK_INT(reader.outlinks, 1);
    CHECK_INT(stats_get(&stats.urls_in), 0);
    finish_reader();
}

TEST(links_beyond_the_bound_are_lost)
{
    begin_reader(64 << 20);
    read_page("text/html", "", numbered("<html>", "<a href=#>", 1 << 20));
    CHECK_INT(stats_get(&stats.urls_in), tuning.fixed.limits.links_per_page_max);
    CHECK_INT(stats_get(&stats.links), stats_get(&stats.urls_in) + stats_get(&stats.links_lost));
    CHECK_INT(reader.outlinks, stats_get(&stats.links));
    finish_reader();
}

TEST(a_sitemap_is_read_in_pieces)
{
    begin_reader(64 << 20);
    struct slice map = numbered("<urlset>", "<url><loc>http://a.it/#</loc></url>", 1 << 20);
    longest_part("text/xml", "gzip", packed(map));
    CHECK_INT(reader.outcome, FETCH_DONE);
    CHECK(stats_get(&stats.urls_in) > 3 * tuning.fixed.limits.links_per_page_max);
    CHECK_INT(stats_get(&stats.urls_in), stats_get(&stats.links));
    finish_reader();
}

TEST(without_memory_what_fits_is_read)
{
    begin_reader(1 << 20);
    struct slice page = numbered("<html>", "<a href=#>", 4 << 20);
    read_page("text/html", "gzip", packed(page));
    CHECK_INT(reader.outcome, FETCH_NO_MEMORY);
    CHECK_INT(stats_get(&stats.urls_in), tuning.fixed.limits.links_per_page_max);
    CHECK(pool.bytes_used <= pool.bytes_max);
    read_page("text/html; charset=utf-16le", "", (struct slice){page.ptr, 2 << 20});
    CHECK_INT(reader.outcome, FETCH_NO_MEMORY);
    finish_reader();
}

/* `head`, then words enough for a fingerprint, the same each time. */
static struct slice words_after(const char *head)
{
    static char text[1 << 13];
    size_t len = (size_t)snprintf(text, sizeof text, "%s", head);
    for (unsigned i = 0; i < 500; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%c%cord%c ", 'a' + i % 26, 'a' + i / 26, 'a' + i % 7);
    return (struct slice){text, len};
}

static void begin_near(uint64_t links)
{
    begin_reader(64 << 20);
    tuning.fixed.duplicates.kind = TUNING_DUPLICATES_NEAR;
    tuning.fixed.duplicates.links = links;
    tuning.fixed.duplicates.bytes = 1 << 20;
    CHECK_INT(repeats_init(&repeats, &tuning), 0);
}

static void finish_near(void)
{
    repeats_fini(&repeats);
    finish_reader();
}

/* The same text at another URL. */
static void read_elsewhere(struct slice page)
{
    char text[URL_BYTES_MAX];
    struct url before = base;
    url_init(&base, text, sizeof text);
    CHECK_INT(url_parse(&base, NULL, SLICE("http://elsewhere.it/")), URL_OK);
    read_page("text/html", "", page);
    base = before;
}

TEST(links_of_a_near_duplicate_are_followed_or_not)
{
    static const uint64_t ways[] = {TUNING_DUPLICATES_FOLLOW, TUNING_DUPLICATES_SKIP_LINKS};
    for (unsigned way = 0; way < 2; way++) {
        begin_near(ways[way]);
        read_page("text/html", "", words_after("<a href=http://c.it/1>"));
        CHECK(!reader.is_near);
        CHECK_INT(near_count(&repeats.near), 1);
        read_page("text/html", "", words_after("<a href=http://c.it/1>"));
        CHECK(!reader.is_near); /* itself, once more */
        read_elsewhere(words_after("<a href=http://c.it/2>"));
        CHECK(reader.is_near);
        CHECK_INT(reader.near.distance, 0);
        CHECK_INT(near_count(&repeats.near), 1);
        CHECK_INT(stats_get(&stats.urls_in), way == 0 ? 2 : 1);
        finish_near();
    }
}

TEST(a_page_that_may_not_be_stored_is_not_repeated)
{
    begin_near(TUNING_DUPLICATES_FOLLOW);
    read_page("text/html", "", words_after("<meta name=robots content=noindex>"));
    CHECK(reader.tags & ROBOTS_TAG_NOINDEX);
    CHECK_INT(near_count(&repeats.near), 0);
    finish_near();
}

/* A page stops where the journal may not take another batch of links, and goes on from there. */
TEST(a_full_journal_stops_the_page)
{
    enum { LINKS = 1000 };
    static struct journal_loop book;
    char html[LINKS * 16];
    size_t len = 0;
    begin_reader(1 << 20);
    CHECK_INT(journal_loop_init(&book, 0), 0);
    harvest.journal = &book;
    for (unsigned i = 0; i < LINKS; i++)
        len += (size_t)snprintf(html + len, sizeof html - len, "<a href=%u>", i);
    journal_fill(&book);
    begin_page("text/html", "", (struct slice){html, len});
    for (unsigned i = 0; i < 5; i++) { /* a step at a time, though there is time for all */
        uint64_t queued = stats_get(&stats.urls_in);
        CHECK(!reader_run(&reader, UINT64_MAX) && reader.owner == &reader);
        CHECK(stats_get(&stats.urls_in) <= queued + HARVEST_LINKS_PER_STEP);
    }
    CHECK(stats_get(&stats.urls_in) > 0);
    journal_drain(&book); /* the disk has caught up */
    CHECK(reader_run(&reader, UINT64_MAX));
    CHECK_INT(stats_get(&stats.urls_in), LINKS);
    CHECK(!reader.owner && reader.phase == READER_IDLE);
    journal_loop_fini(&book);
    finish_reader();
}

/* Of all kinds of long documents, none holds its loop for longer than that. */
TEST(no_part_takes_long)
{
    SKIP_IF_SLOWED_DOWN();
    begin_reader(256 << 20);
    static const struct {
        const char *type, *head, *unit;
    } kinds[] = {
        {"text/html", "<html>", "<a href='/x#'>x</a>"},
        {"text/html", "<html>", "<p class=x id='#'>some text</p>"},
        {"text/html", "<html>", "<p a='#' b c=d>"},
        {"text/html", "<html><p ", "a='#' b c=d "},
        {"text/html", "<html><p ", "a='' "},
        {"text/html", "<html><!-- ", "> # >>>>>>>>>>>>>>>>>"},
        {"text/html", "<html><title>", "<<</#</</</<</"},
        {"text/html", "<html><script><!--", "<script>#-->"},
        {"text/html; charset=windows-1251", "<html>", "<a href='/\xe9#?\xe9'>x</a>"},
        {"text/html", "<html>", "<a href='http://\xc3\xa9#.example/'>x</a>"},
        {"text/html", "<html>", "<img srcset='/a# 1x, /b 2x, /c&amp;d 3x'>"},
        {"text/xml", "<urlset>", "<url><loc>http://a.it/#&amp;x</loc></url>"},
        {"text/xml", "<rss>", "<item><link>http://a.it/#</link></item>"},
        {"application/feed+json", "{", "\"url\":\"http://a.it/#\","},
        {"text/html; charset=utf-16le", "<", "\1#"},
        {"text/html; charset=iso-2022-jp", "<html>", "\x1b$B$\"\x1b(B #\n"},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct slice body = numbered(kinds[i].head, kinds[i].unit, LONG_BYTES);
        uint64_t plain = quietest(kinds[i].type, "", body);
        uint64_t coded = quietest(kinds[i].type, "gzip", packed(body));
        printf("%s %s: %.2f ms, packed %.2f ms\n", kinds[i].type, kinds[i].unit, (double)plain / 1e6,
               (double)coded / 1e6);
        const uint64_t limit = pace_bound_ns(5);
        CHECK(plain < limit && coded < limit);
    }
    finish_reader();
}

/* Nor does any that was made for it: what is long and no link, and what is nearly the end of something. */
TEST(no_part_of_a_hostile_document_takes_long)
{
    SKIP_IF_SLOWED_DOWN();
    begin_reader(256 << 20);
    static const struct {
        const char *type, *head, *unit;
        bool reads_styles;
    } kinds[] = {
        {"text/xml", "<urlset>", "<url></url>", false},
        {"text/xml", "<urlset>", "<url>", false},
        {"text/xml", "<urlset>", "<url><loc></loc>", false},
        {"text/xml", "<urlset>", "<a b='#'>", false},
        {"text/xml", "<urlset><url>", "<a b='#'>", false},
        {"text/xml", "<urlset><url><loc>a</loc>", "<x:link rel='alternate' href='h#'/>", false},
        {"text/xml", "<urlset><a ", "b='#' ", false},
        {"text/xml", "<urlset>", "<!---->", false},
        {"text/xml", "<urlset><!-- ", "-> --!>", false},
        {"text/xml", "<urlset>", "<![", false},
        {"text/xml", "<urlset>", "<", false},
        {"text/plain", "", "\n", false},
        {"text/plain", "http://a.it/", "a", false},
        {"text/xml", "<rss>", "<", false},
        {"text/xml", "<rss>", "<!---->", false},
        {"text/xml", "<rss><a xml:base='/a/'><a xml:base='/a/'><a xml:base='/a/'>", "<link>x</link>", false},
        {"application/feed+json", "{\"url\":\"", "\\u00e9", false},
        {"application/feed+json", "{\"url\":", " ", false},
        {"text/html", "<html><!-- ", ">", false},
        {"text/html", "<html><script>", "<", false},
        {"text/html", "<html><textarea>", "</textare", false},
        {"text/html", "<html><svg><![CDATA[", ">", false},
        {"text/html", "<html><svg>", "<g a='#' b>", false},
        {"text/html", "<html>", "<p a='#' b>", true},
        {"text/html", "<html><style>", "a{b:url(#)}", true},
        {"text/html", "<html><style>", "/*", true},
        {"text/html", "<html><p style='", "url(", true},
        {"text/css", "", "url(", true},
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        reads_styles = kinds[i].reads_styles;
        uint64_t longest = quietest(kinds[i].type, "", numbered(kinds[i].head, kinds[i].unit, HOSTILE_BYTES));
        printf("%s %s%s: %.2f ms\n", kinds[i].type, kinds[i].head, kinds[i].unit, (double)longest / 1e6);
        CHECK(longest < pace_bound_ns(5));
    }
    reads_styles = false;
    finish_reader();
}
