#include "net/tls_sessions.h"

#include <stdio.h>

#include "tests/support/check.h"

static struct tls_sessions sessions;

static struct tls_session session_of(int number)
{
    struct tls_session session = {{0}};
    memcpy(session.bytes, &number, sizeof number);
    return session;
}

static void keep(const char *host, uint16_t port, int number)
{
    const struct tls_session session = session_of(number);
    tls_sessions_keep(&sessions, slice_of(host), port, &session);
}

/* 0: none. */
static int find(const char *host, uint16_t port)
{
    struct tls_session session;
    int number = 0;
    if (tls_sessions_find(&sessions, slice_of(host), port, &session))
        memcpy(&number, session.bytes, sizeof number);
    return number;
}

TEST(a_session_is_found_by_host_and_port)
{
    CHECK(tls_sessions_init(&sessions, 64));
    CHECK_INT(find("a.test", 443), 0);
    keep("a.test", 443, 1);
    keep("a.test", 8443, 2);
    keep("b.test", 443, 3);
    CHECK_INT(find("a.test", 443), 1);
    CHECK_INT(find("a.test", 8443), 2);
    CHECK_INT(find("b.test", 443), 3);
    CHECK_INT(find("b.test", 8443), 0);
    keep("a.test", 443, 4);
    CHECK_INT(find("a.test", 443), 4);
    tls_sessions_forget(&sessions, SLICE("a.test"), 443);
    tls_sessions_forget(&sessions, SLICE("c.test"), 443);
    CHECK_INT(find("a.test", 443), 0);
    CHECK_INT(find("a.test", 8443), 2);
    tls_sessions_fini(&sessions);
}

TEST(the_one_not_used_for_longest_makes_room)
{
    CHECK(tls_sessions_init(&sessions, 4)); /* one set */
    keep("a", 1, 1), keep("b", 1, 2), keep("c", 1, 3), keep("d", 1, 4);
    CHECK_INT(find("a", 1), 1);
    keep("e", 1, 5);
    CHECK_INT(find("b", 1), 0);
    CHECK(find("a", 1) == 1 && find("c", 1) == 3 && find("d", 1) == 4 && find("e", 1) == 5);
    tls_sessions_fini(&sessions);
}

TEST(memory_is_bounded)
{
    char host[32];
    int kept = 0;
    CHECK(tls_sessions_init(&sessions, 1000));
    for (int i = 1; i <= 100000; i++) {
        snprintf(host, sizeof host, "host-%d.test", i);
        keep(host, 443, i);
        CHECK_INT(find(host, 443), i);
    }
    for (int i = 1; i <= 100000; i++) {
        snprintf(host, sizeof host, "host-%d.test", i);
        kept += find(host, 443) != 0;
    }
    CHECK_INT(kept, 1024);
    tls_sessions_fini(&sessions);
}
