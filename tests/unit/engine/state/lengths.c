#include "engine/state/lengths.h"

#include <errno.h>

#include "tests/support/check.h"
#include "tests/support/pace.h"

static struct lengths lengths;

static int note(const char *name, uint64_t bytes)
{
    char payload[300];
    uint16_t len = (uint16_t)strlen(name);
    memcpy(payload, &bytes, 8);
    memcpy(payload + 8, &len, 2);
    memcpy(payload + 10, name, len);
    return lengths_note(&lengths, (struct slice){payload, 10u + len});
}

TEST(the_last_length_counts)
{
    char name[32];
    for (unsigned round = 1; round <= 3; round++)
        for (unsigned i = 0; i < 200; i++) {
            snprintf(name, sizeof name, "warc/%u", i);
            CHECK_INT(note(name, round * i), 0);
            CHECK_INT(note("crawl.log", 1000 * round + i), 0);
        }
    CHECK_INT(lengths.count, 201);
    CHECK_INT(lengths_find(&lengths, "crawl.log")->bytes, 3199);
    CHECK_INT(lengths_find(&lengths, "warc/0")->bytes, 0);
    CHECK_INT(lengths_find(&lengths, "warc/150")->bytes, 450);
    CHECK(!lengths_find(&lengths, "warc/200"));
    lengths_fini(&lengths);
}

/* A crawl with store.kind = directory makes a file each second: these are of a day. One by one, they took 30 seconds. */
TEST(many_files_take_no_longer_each)
{
    char name[64];
    uint64_t begin_ns = pace_thread_ns();
    for (unsigned i = 0; i < 86400; i++) {
        snprintf(name, sizeof name, "incoming/lycosa-20261118%09u-%05u-00.warc", i * 1000, i);
        CHECK_INT(note(name, i), 0);
    }
    CHECK_INT(lengths.count, 86400);
    CHECK_INT(lengths_find(&lengths, "incoming/lycosa-20261118000777000-00777-00.warc")->bytes, 777);
    CHECK(PACE_IS_SANITIZED || pace_thread_ns() - begin_ns < pace_bound_ns(2000));
    lengths_fini(&lengths);
    CHECK(!lengths_find(&lengths, name));
}

TEST(only_files_of_the_crawl_are_taken)
{
    static const char *const names[] = {"", "/etc/passwd", "../a", "warc/../../a", "state/journal-000001"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK_INT(note(names[i], 1), -EBADMSG);
    char name[FILES_NAME_BYTES + 1];
    memset(name, 'a', sizeof name);
    name[FILES_NAME_BYTES] = '\0';
    CHECK_INT(note(name, 1), -EBADMSG);
    name[FILES_NAME_BYTES - 1] = '\0';
    CHECK_INT(note(name, 1), 0);
    lengths_fini(&lengths);
}
