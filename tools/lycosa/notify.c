#include "tools/lycosa/notify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lockfree/clock.h"

/* A status page is read by people. */
#define STATUS_NS (5 * CLOCK_NS_PER_S)
/* How often more time is asked for, and how much: a machine that is busy may be late with the next one. */
#define EXTEND_EVERY_NS (5 * CLOCK_NS_PER_S)
#define EXTEND_US       60000000
/* An end that takes longer hangs: systemd may do what it does then. */
#define STOPPING_NS_MAX (3600 * CLOCK_NS_PER_S)

static void say(const struct notify *notify, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* What finds no room is lost: the next one comes soon. */
static void say(const struct notify *notify, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (len >= (int)sizeof text)
        len = sizeof text - 1;
    sendto(notify->fd, text, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL,
           (const struct sockaddr *)&notify->address, notify->address_len);
}

/* Half of systemd's patience, as sd_watchdog_enabled(3) advises. */
static uint64_t watchdog_of_environment(void)
{
    const char *text = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    if (!text || (pid && strtol(pid, NULL, 10) != getpid()))
        return 0;
    return strtoull(text, NULL, 10) * 1000 / 2;
}

void notify_init(struct notify *notify)
{
    const char *path = getenv("NOTIFY_SOCKET");
    size_t len = path ? strlen(path) : 0;
    *notify = (struct notify){.fd = -1, .address.sun_family = AF_UNIX};
    if (len < 2 || len >= sizeof notify->address.sun_path || (path[0] != '/' && path[0] != '@'))
        return;
    memcpy(notify->address.sun_path, path, len);
    if (path[0] == '@')
        notify->address.sun_path[0] = '\0'; /* an abstract name */
    notify->address_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    notify->watchdog_ns = watchdog_of_environment();
    notify->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

void notify_fini(struct notify *notify)
{
    if (notify->fd >= 0)
        close(notify->fd);
    notify->fd = -1;
}

static void extend(struct notify *notify, uint64_t now_ns)
{
    if (notify->extended_ns && now_ns - notify->extended_ns < EXTEND_EVERY_NS)
        return;
    notify->extended_ns = now_ns;
    say(notify, "EXTEND_TIMEOUT_USEC=%d", EXTEND_US);
}

static void look_at_health(struct notify *notify, const struct notify_facts *facts)
{
    if (notify->watchdog_ns == 0 || facts->now_ns - notify->looked_ns < notify->watchdog_ns)
        return;
    notify->looked_ns = facts->now_ns;
    if (facts->is_alive)
        say(notify, "WATCHDOG=1");
    else
        say(notify, "STATUS=%s", facts->why);
}

static void look_at_end(struct notify *notify, const struct notify_facts *facts)
{
    if (!notify->is_stopping) {
        notify->is_stopping = true;
        notify->stopping_ns = facts->now_ns;
        say(notify, "STOPPING=1");
    }
    if (facts->now_ns - notify->stopping_ns < STOPPING_NS_MAX)
        extend(notify, facts->now_ns);
}

void notify_look(struct notify *notify, const struct notify_facts *facts)
{
    if (notify->fd < 0)
        return;
    if (facts->phase == CRAWL_STOPPING || facts->phase == CRAWL_ENDING) {
        look_at_end(notify, facts);
    } else if (notify->is_ready) {
        look_at_health(notify, facts);
    } else if (facts->has_begun) {
        notify->is_ready = true;
        say(notify, "READY=1");
    } else {
        extend(notify, facts->now_ns);
    }
}

void notify_tick(struct notify *notify, const struct crawl *crawl)
{
    char why[PULSE_WHY_BYTES] = "";
    struct notify_facts facts = {.now_ns = clock_now_ns(), .why = why, .phase = crawl->end.phase};
    if (notify->fd < 0)
        return;
    facts.has_begun = notify->is_ready || pulse_has_begun(crawl);
    facts.is_alive = facts.has_begun && pulse_look(&notify->pulse, crawl, facts.now_ns, why);
    notify_look(notify, &facts);
}

void notify_status(struct notify *notify, const char *line, uint64_t now_ns)
{
    if (notify->fd < 0 || (notify->told_ns && now_ns - notify->told_ns < STATUS_NS))
        return;
    notify->told_ns = now_ns;
    say(notify, "STATUS=%s", line);
}
