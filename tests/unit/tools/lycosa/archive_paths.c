#include "tools/lycosa/archive_paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/check.h"

static char directory[] = "/tmp/lycosa-paths-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static const char *const names[] = {"b.warc.gz",           "a.warc",    "a.cdxj", "warc/c.warc.zst",
                                    "warc/d.warc.gz.open", "crawl.log", ".warc",  "warc/c.cdxj"};

TEST(a_folder_gives_its_archives_in_order)
{
    struct archive_paths paths = {0};
    CHECK(mkdtemp(directory) && mkdir(path_of("warc"), 0700) == 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        FILE *file = fopen(path_of(names[i]), "w");
        CHECK(file && fclose(file) == 0);
    }
    CHECK(archive_paths_add(&paths, "test", directory));
    CHECK(paths.warc_count == 3 && paths.index_count == 2 && paths.open_count == 1);
    CHECK_STR(paths.warcs[0], path_of("a.warc"));
    CHECK_STR(paths.warcs[1], path_of("b.warc.gz"));
    CHECK_STR(paths.warcs[2], path_of("warc/c.warc.zst"));
    CHECK_STR(paths.indexes[1], path_of("warc/c.cdxj"));
    CHECK(archive_paths_add(&paths, "test", path_of("crawl.log")) && paths.warc_count == 4);
    CHECK(!archive_paths_add(&paths, "test", path_of("missing")));
    archive_paths_fini(&paths);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        CHECK(unlink(path_of(names[i])) == 0);
    CHECK(rmdir(path_of("warc")) == 0 && rmdir(directory) == 0);
}

TEST(an_index_has_the_name_of_its_file)
{
    char buffer[100];
    CHECK_STR(archive_paths_index_of("x/a.warc.gz", buffer, sizeof buffer), "x/a.cdxj");
    CHECK_STR(archive_paths_index_of("a.warc.zst", buffer, sizeof buffer), "a.cdxj");
    CHECK_STR(archive_paths_index_of("a.warc", buffer, sizeof buffer), "a.cdxj");
    CHECK_STR(archive_paths_index_of("other", buffer, sizeof buffer), "other.cdxj");
    CHECK(archive_paths_is_index("a.cdxj") && !archive_paths_is_index("a.warc"));
}
