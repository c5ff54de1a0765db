#include "engine/archive/lookup.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/engine/archive/warc_file.h"

#define LINE(time, url, mime, digest, offset)                                                                \
    "test,a)/ " time " {\"url\": \"" url "\", \"mime\": \"" mime "\", \"digest\": \"" digest                 \
    "\", \"offset\": \"" offset "\", \"filename\": \"f.warc\"}\n"

static const char first[] =
    "test,a( 2020 {}\n" LINE("20200101000000", "http://a.test/", "text/html", "D1", "1")
        LINE("20220101000000", "http://a.test/", "warc/revisit", "D1", "2")
            LINE("20240101000000", "https://www.a.test/", "text/html", "D3", "3") "test,a)/x 2020 {}\n";
static const char second[] = LINE("20210101000000", "http://a.test/", "text/html", "D4", "4");

static char directory[] = "/tmp/lycosa-lookup-XXXXXX";

/* The offset of the capture that is found, 0 if there is none. */
static uint64_t find(struct lookup *lookup, struct lookup_question question)
{
    struct archive_error error = {0};
    struct lookup_hit hit;
    bool is_found = lookup_find(lookup, &question, &hit, &error);
    CHECK(error.fault == ARCHIVE_OK);
    return is_found ? hit.offset : 0;
}

TEST(the_nearest_capture_is_found_in_all_indexes)
{
    static struct lookup lookup;
    char paths[2][400];
    CHECK(mkdtemp(directory));
    snprintf(paths[0], sizeof paths[0], "%s", warc_file_save(directory, "a.cdxj", slice_of(first)));
    snprintf(paths[1], sizeof paths[1], "%s", warc_file_save(directory, "b.cdxj", slice_of(second)));
    const char *indexes[] = {paths[0], paths[1]};
    lookup.indexes = indexes;
    lookup.count = 2;
    struct slice url = SLICE("http://a.test/");
    CHECK_INT(find(&lookup, (struct lookup_question){.url = url}), 2);
    CHECK_INT(find(&lookup, (struct lookup_question){.url = url, .is_original = true}), 4);
    CHECK_INT(find(&lookup, (struct lookup_question){.url = url, .timestamp = SLICE("20190101000000")}), 1);
    CHECK_INT(find(&lookup, (struct lookup_question){.url = url, .timestamp = SLICE("20201001000000")}), 4);
    CHECK_INT(find(&lookup, (struct lookup_question){.url = url, .digest = SLICE("D1"), .is_original = true}),
              1);
    CHECK_INT(find(&lookup, (struct lookup_question){.url = SLICE("https://www.a.test/")}), 3);
    CHECK_INT(find(&lookup, (struct lookup_question){.url = SLICE("https://a.test/")}), 3);
    CHECK_INT(find(&lookup, (struct lookup_question){.url = SLICE("http://a.test/y")}), 0);
    CHECK_INT(find(&lookup, (struct lookup_question){.url = url, .digest = SLICE("D9")}), 0);
    CHECK(unlink(paths[0]) == 0 && unlink(paths[1]) == 0 && rmdir(directory) == 0);
}
