/* What is made beside the stream comes into it whole and in its place, or not at all. */
#include "engine/disk/draft.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/support/check.h"

enum { BLOCKS = 6 };

static char directory[64];
static struct files files;
static struct outlet outlet;
static struct draft draft;

static void begin(void)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-draft-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    files_init(&files, &disk_system, directory);
    struct outlet_options options = {.files = &files, .bytes = BLOCKS * sizeof(struct outlet_block)};
    CHECK_INT(outlet_init(&outlet, &options), 0);
    draft = (struct draft){0};
    CHECK(outlet_open(&outlet, "one"));
}

static size_t blocks_free(void)
{
    return outlet_free_blocks(&outlet);
}

static char *path(void)
{
    static char text[128];
    snprintf(text, sizeof text, "%s/one.open", directory);
    return text;
}

/* Fills the draft with that many bytes of one letter. False: there is no room for all of them. */
static bool fill(size_t bytes, char letter)
{
    while (bytes) {
        size_t room;
        char *space = draft_space(&draft, &outlet, &room);
        if (!space) {
            CHECK_INT(room, 0);
            return false;
        }
        size_t now = bytes < room ? bytes : room;
        memset(space, letter, now);
        draft_claim(&draft, now);
        bytes -= now;
    }
    return true;
}

/* The file is `head`, then as many letters, then `tail`. */
static void check_file(const char *head, char letter, size_t bytes, const char *tail)
{
    size_t len, first = strlen(head);
    outlet_flush(&outlet);
    CHECK_INT(outlet_drain(&outlet), 0);
    char *text = check_read_file(path(), &len);
    CHECK_INT(len, first + bytes + strlen(tail));
    CHECK(memcmp(text, head, first) == 0);
    for (size_t i = first; i < first + bytes; i++)
        CHECK(text[i] == letter);
    CHECK_STR(text + first + bytes, tail);
    CHECK_INT(outlet_unwritten(&outlet), 0);
    free(text);
}

static void finish(void)
{
    outlet_fini(&outlet);
    files_fini(&files);
    unlink(path());
    CHECK(rmdir(directory) == 0);
}

TEST(a_draft_joins_the_stream_in_one_piece)
{
    static const size_t sizes[] = {1,
                                   1000,
                                   OUTLET_BLOCK_BYTES - 1,
                                   OUTLET_BLOCK_BYTES,
                                   OUTLET_BLOCK_BYTES + 1,
                                   3 * OUTLET_BLOCK_BYTES,
                                   4 * OUTLET_BLOCK_BYTES - 1};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        begin();
        outlet_append(&outlet, SLICE("before "));
        CHECK(fill(sizes[i], 'd'));
        outlet_append(&outlet, SLICE("meanwhile "));
        CHECK_INT(outlet_unwritten(&outlet), 17);
        draft_join(&draft, &outlet);
        CHECK_INT(draft.bytes, 0);
        CHECK_INT(outlet_unwritten(&outlet), 17 + sizes[i]);
        outlet_append(&outlet, SLICE(" after"));
        check_file("before meanwhile ", 'd', sizes[i], " after");
        finish();
    }
}

/* Else a record of a few bytes would take a block of its own to the disk. */
TEST(a_short_draft_shares_the_block_of_its_neighbours)
{
    begin();
    for (int i = 0; i < 1000; i++) {
        outlet_append(&outlet, SLICE("d"));
        CHECK(fill(10, 'd'));
        draft_join(&draft, &outlet);
    }
    CHECK_INT(ring_spsc_count(&outlet.full), 0);
    CHECK_INT(blocks_free(), BLOCKS - 2); /* the current one, and one that drafts keep */
    check_file("", 'd', 11000, "");
    finish();
}

TEST(an_epoch_that_ends_meanwhile_has_nothing_of_the_draft)
{
    begin();
    outlet_append(&outlet, SLICE("first"));
    CHECK(fill(2 * OUTLET_BLOCK_BYTES, 'd'));
    outlet_seal(&outlet);
    CHECK(fill(100, 'd'));
    draft_join(&draft, &outlet);
    outlet_flush(&outlet);
    CHECK_INT(outlet_drain(&outlet), 0);
    CHECK(outlet.is_held);
    CHECK_INT(files.all->length, 5);
    outlet_release(&outlet);
    check_file("first", 'd', 2 * OUTLET_BLOCK_BYTES + 100, "");
    finish();
}

TEST(a_draft_that_is_dropped_leaves_nothing_behind)
{
    begin();
    outlet_append(&outlet, SLICE("before "));
    CHECK(fill(3 * OUTLET_BLOCK_BYTES + 5, 'd'));
    draft_drop(&draft, &outlet);
    CHECK(draft.bytes == 0 && !draft.first);
    draft_drop(&draft, &outlet); /* an empty one */
    outlet_append(&outlet, SLICE("after"));
    check_file("before after", 'd', 0, "");
    CHECK_INT(blocks_free(), BLOCKS);
    finish();
}

TEST(a_draft_waits_for_blocks_and_goes_on)
{
    begin();
    outlet_append(&outlet, SLICE("before "));
    CHECK(fill(3 * OUTLET_BLOCK_BYTES, 'd'));
    static char bytes[2 * OUTLET_BLOCK_BYTES];
    memset(bytes, 'x', sizeof bytes);
    outlet_append(&outlet, (struct slice){bytes, sizeof bytes});
    CHECK_INT(blocks_free(), 0);
    CHECK(!fill(1, 'd'));
    CHECK_INT(outlet_drain(&outlet), 0);
    CHECK(fill(1, 'd'));
    draft_join(&draft, &outlet);
    outlet_flush(&outlet);
    CHECK_INT(outlet_drain(&outlet), 0);
    CHECK_INT(files.all->length, 7 + sizeof bytes + 3 * OUTLET_BLOCK_BYTES + 1);
    CHECK_INT(blocks_free(), BLOCKS);
    finish();
}
