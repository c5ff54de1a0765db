/* Orders about hosts: the housekeeper's part, and the file that outlives the process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/crawl/crawl_parts.h"
#include "engine/crawl/limits.h"
#include "lockfree/clock.h"
#include "tests/support/check.h"

static struct crawl crawl;
static char directory[] = "/tmp/lycosa-holds-XXXXXX";

static void path_of(const char *name, char path[128])
{
    snprintf(path, 128, "%s/state/%s", directory, name);
}

static void begin(void)
{
    char path[128];
    memset(&crawl, 0, sizeof crawl);
    memcpy(directory + strlen(directory) - 6, "XXXXXX", 6);
    CHECK(mkdtemp(directory));
    path_of("", path);
    CHECK_INT(mkdir(path, 0755), 0);
    crawl.directory = directory;
    crawl.disk = &disk_system;
    crawl.tuning.fixed.state.journal = true;
}

static void end(void)
{
    char path[128];
    path_of("held", path);
    unlink(path);
    path_of("", path);
    CHECK_INT(rmdir(path), 0);
    CHECK_INT(rmdir(directory), 0);
    crawl_free_holds(&crawl);
}

/* As crawl_order_hosts, without a thread. */
static struct crawl_hold *order(enum holds_verb verb, const char *key)
{
    crawl.hold.order = (struct holds_order){.verb = verb};
    CHECK(!holds_parse_host(&crawl.hold.order.target, slice_of(key)));
    lf_store(&crawl.hold.state, 1, release);
    crawl_keep_holds(&crawl, clock_now_ns());
    CHECK_INT(lf_load(&crawl.hold.state, acquire), 2);
    return &crawl.hold;
}

static void check_file(const char *text)
{
    char path[128];
    size_t len;
    path_of("held", path);
    char *found = check_read_file(path, &len);
    CHECK_STR(found, text);
    free(found);
}

TEST(what_is_held_outlives_the_process)
{
    struct tuning_error error;
    begin();
    CHECK(crawl_read_holds(&crawl, &error) && !crawl.holds); /* nothing was ever held */
    CHECK_INT(order(HOLDS_HOLD, "http://a.test")->result, HOLDS_DONE);
    CHECK_INT(order(HOLDS_HOLD, "http://b.test")->result, HOLDS_DONE);
    CHECK_INT(crawl.hold.number, 2);
    CHECK(lf_load(&crawl.frontier.holds, acquire) == crawl.holds);
    CHECK_INT(order(HOLDS_DROP, "http://c.test")->result, HOLDS_DONE);
    check_file("host http://a.test\nhost http://b.test\n");
    crawl_free_holds(&crawl);
    CHECK(crawl_read_holds(&crawl, &error));
    CHECK_INT(crawl.holds->count, 2);
    CHECK_INT(order(HOLDS_RELEASE, "http://a.test")->result, HOLDS_DONE);
    check_file("host http://b.test\n");
    CHECK_INT(order(HOLDS_RELEASE, "http://a.test")->result, HOLDS_NOT_HELD);
    end();
}

TEST(an_order_that_cannot_be_written_down_is_none)
{
    begin();
    char path[128];
    order(HOLDS_HOLD, "http://a.test");
    path_of("held.open", path);
    CHECK_INT(mkdir(path, 0755), 0); /* in its way */
    CHECK_INT(order(HOLDS_HOLD, "http://b.test")->error, -EISDIR);
    CHECK_INT(crawl.holds->count, 1);
    check_file("host http://a.test\n");
    CHECK_INT(rmdir(path), 0);
    CHECK_INT(order(HOLDS_HOLD, "http://b.test")->error, 0);
    end();
}

TEST(a_file_that_is_wrong_is_named_with_its_line)
{
    struct tuning_error error;
    char path[128];
    begin();
    path_of("held", path);
    FILE *file = fopen(path, "w");
    fputs("host http://a.test\nnonsense\n", file);
    fclose(file);
    CHECK(!crawl_read_holds(&crawl, &error));
    CHECK(strstr(error.message, "state/held, line 2: a line is 'host KEY' or 'domain NAME'"));
    end();
}

TEST(one_order_at_a_time)
{
    const struct holds_order hold = {.verb = HOLDS_HOLD, .target = {.is_domain = true, .len = 6, .name = "a.test"}};
    begin();
    CHECK(!crawl_list_holds(&crawl));
    CHECK(crawl_order_hosts(&crawl, &hold));
    CHECK(!crawl_ordered_hosts(&crawl) && !crawl_order_hosts(&crawl, &hold)); /* nobody has taken it up */
    CHECK(!crawl_list_holds(&crawl));
    crawl_keep_holds(&crawl, clock_now_ns());
    const struct crawl_hold *done = crawl_ordered_hosts(&crawl);
    CHECK(done && done->result == HOLDS_DONE && done->number == 1);
    const struct holds *holds = crawl_list_holds(&crawl);
    CHECK(holds->count == 1);
    CHECK(crawl_order_hosts(&crawl, &hold)); /* also if the giver of the last one has not looked */
    crawl_keep_holds(&crawl, clock_now_ns());
    CHECK_INT(crawl_ordered_hosts(&crawl)->result, HOLDS_SAME);
    CHECK(crawl_list_holds(&crawl) == holds);
    end();
}
