#include "engine/state/fold_hosts.h"

#include "tests/support/check.h"

TEST(what_came_after_the_last_end)
{
    struct fold_hosts hosts;
    const struct fold_host *host;
    fold_hosts_init(&hosts);
    CHECK(!fold_hosts_find(&hosts, 7));
    fold_hosts_end(&hosts, 7); /* of a host that is not known */
    CHECK_INT(fold_hosts_page(&hosts, 7, 1), 0);
    CHECK_INT(fold_hosts_begin(&hosts, 7, 2), 0);
    CHECK_INT(fold_hosts_begin(&hosts, 7, 3), 0);
    CHECK_INT(fold_hosts_begin(&hosts, 7, 4), 0);
    host = fold_hosts_find(&hosts, 7);
    CHECK(host && host->since == 1 && host->first == 2 && host->last == 4);
    fold_hosts_end(&hosts, 7);
    CHECK(!fold_hosts_find(&hosts, 7));
    CHECK_INT(fold_hosts_page(&hosts, 7, 5), 0);
    host = fold_hosts_find(&hosts, 7);
    CHECK(host && host->since == 5 && host->first == 0 && host->last == 0);
    CHECK(!fold_hosts_find(&hosts, 0)); /* a signature like any other */
    CHECK_INT(fold_hosts_begin(&hosts, 0, 6), 0);
    CHECK(fold_hosts_find(&hosts, 0)->first == 6);
    fold_hosts_fini(&hosts);
}

/* Those that have ended make room for others. */
TEST(memory_is_for_those_that_are_open)
{
    struct fold_hosts hosts;
    fold_hosts_init(&hosts);
    for (uint64_t i = 1; i <= 1000000; i++) {
        CHECK_INT(fold_hosts_begin(&hosts, i * 0x9e3779b97f4a7c15, i), 0);
        if (i % 1000)
            fold_hosts_end(&hosts, i * 0x9e3779b97f4a7c15);
    }
    CHECK(hosts.room <= 8192);
    for (uint64_t i = 1; i <= 1000000; i++)
        CHECK(!fold_hosts_find(&hosts, i * 0x9e3779b97f4a7c15) == (i % 1000 != 0));
    fold_hosts_fini(&hosts);
}
