#include "engine/archive/archive_error.h"

#include <errno.h>

#include "tests/support/check.h"

TEST(the_first_error_is_kept)
{
    struct archive_error error = {0};
    CHECK(!archive_error_set(&error, (struct archive_place){ARCHIVE_TRUNCATED, "a.warc", 12}, "it ends at %d",
                             7));
    CHECK(!archive_error_of_call(&error, -EIO, "read", "b.warc"));
    CHECK_STR(error.text, "a.warc: byte 12: it ends at 7");
    CHECK(error.fault == ARCHIVE_TRUNCATED && error.offset == 12 && error.code == 0);
}

TEST(errors_of_the_system_say_what_was_tried)
{
    struct archive_error error = {0};
    CHECK(!archive_error_of_call(&error, -ENOSPC, "write", "b.cdxj"));
    CHECK_STR(error.text, "b.cdxj: cannot write: No space left on device");
    CHECK(error.fault == ARCHIVE_SYSTEM && error.code == ENOSPC);
}

TEST(every_fault_has_a_name_of_its_own)
{
    for (int i = 0; i < ARCHIVE_FAULTS; i++) {
        CHECK(archive_fault_name((enum archive_fault)i)[0] != '?');
        for (int j = 0; j < i; j++)
            CHECK(strcmp(archive_fault_name((enum archive_fault)i),
                         archive_fault_name((enum archive_fault)j)) != 0);
    }
}
