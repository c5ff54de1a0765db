#include "engine/crawl/spill.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/crawl/limits.h"
#include "engine/url/limits.h"
#include "tests/support/check.h"

static char directory[64];
static struct spill spill;

static void begin(const struct disk *disk)
{
    char prefix[96];
    snprintf(directory, sizeof directory, "/tmp/lycosa-spill-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    snprintf(prefix, sizeof prefix, "%s/urls", directory);
    CHECK_INT(spill_init(&spill, disk, prefix), 0);
}

/* Its scratch files are gone. */
static void finish(void)
{
    spill_fini(&spill);
    CHECK_INT(rmdir(directory), 0);
}

TEST(a_url_comes_back_as_it_went_in)
{
    struct record_url url = {.kind = 'E',
                             .redirects = 2,
                             .hops_off = 1,
                             .embed_hops = 3,
                             .is_requisite = true,
                             .depth = 9,
                             .hop_count = 10,
                             .recent_hops = 11,
                             .source = 12,
                             .text = SLICE("http://a.it/1")};
    struct record_url back;
    struct slice via;
    begin(&disk_system);
    CHECK(spill_has_room(&spill));
    spill_push(&spill, &url, SLICE("http://from.it/"));
    url.text = SLICE("http://b.it/2");
    spill_push(&spill, &url, SLICE(""));
    CHECK_INT(spill_count(&spill), 2);
    CHECK(!spill_front(&spill, &back, &via));
    CHECK_INT(spool_serve(&spill.spool), 0);
    CHECK(spill_front(&spill, &back, &via));
    CHECK(slice_equals(back.text, SLICE("http://a.it/1")) && slice_equals(via, SLICE("http://from.it/")));
    CHECK(back.kind == 'E' && back.redirects == 2 && back.hops_off == 1 && back.embed_hops == 3);
    CHECK(back.is_requisite && back.depth == 9 && back.hop_count == 10 && back.recent_hops == 11);
    CHECK_INT(back.source, 12);
    spill_pop(&spill);
    CHECK(spill_front(&spill, &back, &via));
    CHECK(slice_equals(back.text, SLICE("http://b.it/2")) && via.len == 0);
    spill_pop(&spill);
    CHECK_INT(spill_count(&spill), 0);
    finish();
}

TEST(the_longest_urls_fit)
{
    static char text[URL_BYTES_MAX], from[URL_BYTES_MAX];
    struct record_url url = {.kind = 'L', .depth = UINT8_MAX, .source = UINT32_MAX}, back;
    struct slice via;
    begin(&disk_system);
    memset(text, 't', sizeof text);
    memset(from, 'f', sizeof from);
    url.text = (struct slice){text, sizeof text};
    for (int i = 0; i < HARVEST_LINKS_PER_STEP; i++) { /* there is room for a step of the harvest */
        CHECK(i || spill_has_room(&spill));
        spill_push(&spill, &url, (struct slice){from, sizeof from});
    }
    CHECK_INT(spool_serve(&spill.spool), 0);
    CHECK(spill_front(&spill, &back, &via));
    CHECK(slice_equals(back.text, url.text) && slice_equals(via, (struct slice){from, sizeof from}));
    CHECK(back.depth == url.depth && back.source == UINT32_MAX);
    finish();
}

/* Numbers for URLs, pushed in order. */
static unsigned push_until_full(unsigned from)
{
    char text[64];
    while (spill_has_room(&spill)) {
        snprintf(text, sizeof text, "http://a.it/%u", from++);
        spill_push(&spill, &(struct record_url){.kind = 'L', .text = slice_of(text)},
                   SLICE("http://via.it/"));
    }
    return from;
}

static void check_order(unsigned from, unsigned to)
{
    struct record_url url;
    struct slice via;
    char text[64];
    while (from < to) {
        if (!spill_front(&spill, &url, &via)) {
            CHECK_INT(spool_serve(&spill.spool), 0);
            continue;
        }
        snprintf(text, sizeof text, "http://a.it/%u", from++);
        CHECK_SLICE(url.text, text);
        CHECK_SLICE(via, "http://via.it/");
        spill_pop(&spill);
    }
    CHECK_INT(spill_count(&spill), 0);
}

TEST(it_is_full_until_the_housekeeper_has_written)
{
    begin(&disk_system);
    unsigned count = push_until_full(0);
    CHECK_INT(spill_count(&spill), count);
    CHECK(!spill_has_room(&spill));
    CHECK_INT(spool_serve(&spill.spool), 0);
    CHECK(spill_has_room(&spill));
    unsigned more = push_until_full(count);
    CHECK(more > count);
    check_order(0, more);
    finish();
}

static int64_t fail_to_write(void *owner, int fd, struct slice bytes)
{
    (void)owner, (void)fd, (void)bytes;
    return -ENOSPC;
}

static int64_t fail_to_write_at(void *owner, int fd, uint64_t offset, struct slice bytes)
{
    (void)owner, (void)fd, (void)offset, (void)bytes;
    return -ENOSPC;
}

TEST(a_full_disk_is_told_to_the_housekeeper)
{
    struct disk full = disk_system;
    full.write = full.write_away = fail_to_write;
    full.write_at = fail_to_write_at;
    begin(&full);
    int failed = 0;
    for (int i = 0; i < 8 && !failed; i++) {
        push_until_full(0);
        failed = spool_serve(&spill.spool);
    }
    CHECK_INT(failed, -ENOSPC);
    char path[96]; /* of a file without a block; whoever owns the directory removes it */
    snprintf(path, sizeof path, "%s/urls-000001", directory);
    unlink(path);
    finish();
}
