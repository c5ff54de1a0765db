#include "engine/crawl/troubles.h"

#include <pthread.h>

#include "tests/support/check.h"

static struct troubles here, there; /* two loops */
static struct host hosts[TROUBLES_HOSTS + 4];
static char names[TROUBLES_HOSTS + 4][96];

static void begin(void)
{
    memset(&here, 0, sizeof here);
    memset(&there, 0, sizeof there);
    memset(hosts, 0, sizeof hosts);
    for (uint32_t i = 0; i < TROUBLES_HOSTS + 4; i++) {
        snprintf(names[i], sizeof names[i], "http://host-%u.example", i);
        hosts[i].id = i + 1;
        hosts[i].key = names[i];
        hosts[i].key_len = (uint16_t)strlen(names[i]);
    }
}

static int64_t failing(enum fetch_outcome why)
{
    return lf_load(&here.hosts[why], relaxed) + lf_load(&there.hosts[why], relaxed);
}

/* What the watch would read. */
static const struct troubles_host *copy_of(struct troubles *troubles)
{
    CHECK(troubles_read(troubles) != NULL);
    troubles_ask(troubles);
    CHECK(troubles_read(troubles) == NULL);
    troubles_turn(troubles);
    return troubles_read(troubles);
}

TEST(a_host_counts_once_for_its_last_failure)
{
    begin();
    troubles_note(&here, &hosts[0], FETCH_CONNECT_REFUSED, 100);
    troubles_note(&here, &hosts[0], FETCH_CONNECT_REFUSED, 200);
    CHECK_INT(failing(FETCH_CONNECT_REFUSED), 1);
    troubles_note(&there, &hosts[0], FETCH_TLS_VERSION, 300);
    CHECK_INT(failing(FETCH_CONNECT_REFUSED), 0);
    CHECK_INT(failing(FETCH_TLS_VERSION), 1);
    troubles_forget(&here, &hosts[0]);
    CHECK_INT(failing(FETCH_TLS_VERSION), 0);
    troubles_forget(&here, &hosts[0]);
    CHECK_INT(failing(FETCH_TLS_VERSION), 0);
}

TEST(the_watch_gets_the_hosts_that_are_tried_again)
{
    begin();
    troubles_note(&here, &hosts[0], FETCH_CONNECT_REFUSED, 100);
    troubles_note(&here, &hosts[1], FETCH_DNS_TIMEOUT, 200);
    troubles_note(&here, &hosts[0], FETCH_CONNECT_TIMEOUT, 300);
    const struct troubles_host *copy = copy_of(&here);
    CHECK_STR(copy[0].name, "host-0.example");
    CHECK_INT(copy[0].retry_ns, 300);
    CHECK_INT(copy[0].why, FETCH_CONNECT_TIMEOUT);
    CHECK_STR(copy[1].name, "host-1.example");
    CHECK_INT(copy[2].id, 0);
    troubles_forget(&here, &hosts[1]);
    troubles_note(&here, &hosts[0], FETCH_CONNECT_TIMEOUT, 0); /* given up */
    CHECK_INT(copy[1].id, 2);                                  /* the copy is the watch's */
    copy = copy_of(&here);
    CHECK(copy[0].id == 0 && copy[1].id == 0);
    CHECK_INT(failing(FETCH_CONNECT_TIMEOUT), 1); /* it still fails */
}

TEST(the_latest_write_over_the_oldest)
{
    begin();
    for (unsigned i = 0; i < TROUBLES_HOSTS + 4; i++)
        troubles_note(&here, &hosts[i], FETCH_CONNECT_REFUSED, 1000 + i);
    const struct troubles_host *copy = copy_of(&here);
    CHECK_INT(copy[3].id, TROUBLES_HOSTS + 4);
    CHECK_INT(copy[4].id, 5);
    CHECK_INT(failing(FETCH_CONNECT_REFUSED), TROUBLES_HOSTS + 4);
}

TEST(a_long_name_is_cut)
{
    begin();
    char key[200] = "http://";
    memset(key + 7, 'n', sizeof key - 8);
    hosts[0].key = key;
    hosts[0].key_len = sizeof key - 1;
    troubles_note(&here, &hosts[0], FETCH_CONNECT_REFUSED, 100);
    const struct troubles_host *copy = copy_of(&here);
    CHECK_INT(strlen(copy[0].name), TROUBLES_NAME_BYTES - 1);
    CHECK_INT(strspn(copy[0].name, "n"), TROUBLES_NAME_BYTES - 1);
}

/* A host keeps its entry: it is not there twice, and does not push others out. */
TEST(a_host_that_fails_often_takes_one_entry)
{
    begin();
    for (unsigned i = 0; i < TROUBLES_HOSTS; i++)
        troubles_note(&here, &hosts[i], FETCH_CONNECT_REFUSED, 100 + i);
    for (unsigned i = 0; i < 50; i++)
        troubles_note(&here, &hosts[3], FETCH_DNS_TIMEOUT, 1000 + i);
    const struct troubles_host *copy = copy_of(&here);
    for (unsigned i = 0; i < TROUBLES_HOSTS; i++)
        CHECK_INT(copy[i].id, i + 1);
    CHECK_INT(copy[3].retry_ns, 1049);
    CHECK_INT(failing(FETCH_CONNECT_REFUSED), TROUBLES_HOSTS - 1);
    CHECK_INT(failing(FETCH_DNS_TIMEOUT), 1);
}

TEST(a_host_that_recovers_elsewhere_is_counted_down_there)
{
    begin();
    troubles_note(&here, &hosts[0], FETCH_CONNECT_REFUSED, 100);
    troubles_forget(&there, &hosts[0]);
    CHECK_INT(lf_load(&here.hosts[FETCH_CONNECT_REFUSED], relaxed), 1);
    CHECK_INT(lf_load(&there.hosts[FETCH_CONNECT_REFUSED], relaxed), -1);
    CHECK_INT(failing(FETCH_CONNECT_REFUSED), 0);
}

static _Atomic(bool) is_over;

/* A loop: each entry's moment and reason go together. */
static void *fail_often(void *argument)
{
    (void)argument;
    for (unsigned i = 0; !lf_load(&is_over, relaxed); i++) {
        enum fetch_outcome why = i % 2 ? FETCH_DNS_TIMEOUT : FETCH_CONNECT_REFUSED;
        troubles_note(&here, &hosts[i % 7], why, 2 * i + (why == FETCH_DNS_TIMEOUT) + 2);
        troubles_turn(&here);
    }
    return NULL;
}

TEST(the_watch_reads_while_the_loop_notes)
{
    pthread_t thread;
    unsigned copies = 0;
    begin();
    CHECK_INT(pthread_create(&thread, NULL, fail_often, NULL), 0);
    while (copies < 200) {
        const struct troubles_host *copy = troubles_read(&here);
        if (!copy) {
            sched_yield();
            continue;
        }
        for (unsigned i = 0; i < TROUBLES_HOSTS; i++)
            CHECK(!copy[i].id || (copy[i].retry_ns % 2 == 1) == (copy[i].why == FETCH_DNS_TIMEOUT));
        troubles_ask(&here);
        copies++;
    }
    lf_store(&is_over, true, relaxed);
    CHECK_INT(pthread_join(thread, NULL), 0);
}
