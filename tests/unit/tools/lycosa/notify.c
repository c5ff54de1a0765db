#include "tools/lycosa/notify.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lockfree/clock.h"
#include "tests/support/check.h"

#define S CLOCK_NS_PER_S

static int listener = -1;
static char got[1024];

/* A socket as systemd has it, in the abstract namespace; signs of life are wanted every `watchdog_us`. */
static void listen_as_systemd(struct notify *notify, const char *watchdog_us)
{
    char name[64];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int len = snprintf(name, sizeof name, "@lycosa-notify-%d", (int)getpid());
    memcpy(address.sun_path + 1, name + 1, (size_t)len - 1);
    listener = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    CHECK(bind(listener, (struct sockaddr *)&address,
               (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)len)) == 0);
    setenv("NOTIFY_SOCKET", name, 1);
    if (watchdog_us)
        setenv("WATCHDOG_USEC", watchdog_us, 1);
    else
        unsetenv("WATCHDOG_USEC");
    notify_init(notify);
    CHECK(notify->fd >= 0);
}

static void finish(struct notify *notify)
{
    notify_fini(notify);
    close(listener);
    unsetenv("NOTIFY_SOCKET");
}

/* The next datagram; "" if there is none. */
static const char *heard(void)
{
    ssize_t len = recv(listener, got, sizeof got - 1, 0);
    got[len > 0 ? len : 0] = '\0';
    return got;
}

TEST(a_crawl_begins_and_ends)
{
    struct notify notify;
    struct notify_facts facts = {.now_ns = 100 * S};
    listen_as_systemd(&notify, NULL);
    notify_look(&notify, &facts);
    CHECK_STR(heard(), "EXTEND_TIMEOUT_USEC=60000000");
    facts.now_ns += S; /* once in five seconds is enough */
    notify_look(&notify, &facts);
    CHECK_STR(heard(), "");
    facts.has_begun = facts.is_alive = true;
    notify_look(&notify, &facts);
    CHECK_STR(heard(), "READY=1");
    facts.now_ns += 1000 * S;
    notify_look(&notify, &facts); /* nobody wants signs of life */
    CHECK_STR(heard(), "");
    facts.phase = CRAWL_STOPPING;
    notify_look(&notify, &facts);
    CHECK_STR(heard(), "STOPPING=1");
    CHECK_STR(heard(), "EXTEND_TIMEOUT_USEC=60000000");
    facts.phase = CRAWL_ENDING;
    facts.now_ns += 6 * S;
    notify_look(&notify, &facts);
    CHECK_STR(heard(), "EXTEND_TIMEOUT_USEC=60000000");
    facts.now_ns += 3600 * S; /* it hangs */
    notify_look(&notify, &facts);
    CHECK_STR(heard(), "");
    finish(&notify);
}

TEST(signs_of_life_are_true)
{
    struct notify notify;
    struct notify_facts facts = {
        .now_ns = 100 * S, .has_begun = true, .is_alive = true, .why = "loop 1 hangs"};
    listen_as_systemd(&notify, "20000000"); /* looks every ten seconds */
    notify_look(&notify, &facts);
    CHECK_STR(heard(), "READY=1");
    notify_look(&notify, &facts);
    CHECK_STR(heard(), "WATCHDOG=1");
    facts.now_ns += 9 * S; /* not due yet */
    notify_look(&notify, &facts);
    CHECK_STR(heard(), "");
    facts.now_ns += S;
    facts.is_alive = false;
    notify_look(&notify, &facts);
    CHECK_STR(heard(), "STATUS=loop 1 hangs");
    facts.now_ns += 10 * S;
    facts.is_alive = true;
    notify_look(&notify, &facts);
    CHECK_STR(heard(), "WATCHDOG=1");
    finish(&notify);
}

/* systemd would kill it after TimeoutStopSec. */
TEST(a_pause_is_no_end)
{
    struct notify notify;
    struct notify_facts facts = {.now_ns = 100 * S, .has_begun = true, .is_alive = true};
    listen_as_systemd(&notify, "20000000");
    notify_look(&notify, &facts);
    CHECK_STR(heard(), "READY=1");
    facts.phase = CRAWL_PAUSED;
    notify_look(&notify, &facts);
    CHECK_STR(heard(), "WATCHDOG=1");
    facts.now_ns += 10 * S;
    notify_look(&notify, &facts);
    CHECK_STR(heard(), "WATCHDOG=1");
    CHECK_STR(heard(), "");
    finish(&notify);
}

/* A pause may come before the first turn. */
TEST(a_paused_crawl_begins)
{
    struct notify notify;
    struct notify_facts facts = {.now_ns = 100 * S, .phase = CRAWL_PAUSED};
    listen_as_systemd(&notify, NULL);
    notify_look(&notify, &facts);
    CHECK_STR(heard(), "EXTEND_TIMEOUT_USEC=60000000");
    facts.has_begun = true;
    notify_look(&notify, &facts);
    CHECK_STR(heard(), "READY=1");
    finish(&notify);
}

TEST(the_status_is_told_now_and_then)
{
    struct notify notify;
    char line[2000];
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    listen_as_systemd(&notify, NULL);
    notify_status(&notify, "pages 7", 100 * S);
    CHECK_STR(heard(), "STATUS=pages 7");
    notify_status(&notify, "pages 8", 104 * S);
    CHECK_STR(heard(), "");
    notify_status(&notify, line, 105 * S);
    CHECK(strlen(heard()) == sizeof got - 1 && strncmp(got, "STATUS=xx", 9) == 0);
    finish(&notify);
}

TEST(nobody_listens)
{
    static const char *const names[] = {
        NULL, "", "relative/path", "/",
        "/a-path-that-is-longer-than-a-socket-can-have-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    struct notify notify;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i])
            setenv("NOTIFY_SOCKET", names[i], 1);
        else
            unsetenv("NOTIFY_SOCKET");
        notify_init(&notify);
        CHECK(notify.fd == -1);
        notify_look(&notify, &(struct notify_facts){.now_ns = S});
        notify_status(&notify, "nothing", S);
        notify_fini(&notify);
    }
    setenv("NOTIFY_SOCKET", "/nonexistent/socket", 1);
    notify_init(&notify);
    notify_status(&notify, "lost", S); /* does no harm */
    notify_fini(&notify);
    unsetenv("NOTIFY_SOCKET");
}

TEST(the_watchdog_of_another_process_is_not_ours)
{
    struct notify notify;
    setenv("WATCHDOG_PID", "1", 1);
    listen_as_systemd(&notify, "1000000");
    CHECK(notify.watchdog_ns == 0);
    finish(&notify);
    unsetenv("WATCHDOG_PID");
    listen_as_systemd(&notify, "1000000");
    CHECK(notify.watchdog_ns == S / 2);
    finish(&notify);
}
