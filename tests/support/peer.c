#include "tests/support/peer.h"

#include <netinet/tcp.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lockfree/atomic.h"
#include "tests/support/check.h"

static _Atomic(unsigned) events;

static socklen_t bind_loopback(struct peer *peer, int family)
{
    socklen_t len;
    memset(&peer->address, 0, sizeof peer->address);
    if (family == AF_INET) {
        peer->address.v4 =
            (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        len = sizeof peer->address.v4;
    } else {
        peer->address.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
        len = sizeof peer->address.v6;
    }
    peer->listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(peer->listener >= 0);
    CHECK_INT(bind(peer->listener, &peer->address.any, len), 0);
    CHECK_INT(getsockname(peer->listener, &peer->address.any, &len), 0);
    return len;
}

static void *serve(void *argument)
{
    struct peer *peer = argument;
    while (peer->served < peer->connections) {
        const int on = 1, fd = accept(peer->listener, NULL, NULL);
        CHECK(fd >= 0);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        peer->served++;
        peer->script(peer, fd);
        lf_fetch_add(&events, 1, release); /* R1 pairs with A1 in peer_sync */
        close(fd);
    }
    return NULL;
}

void peer_begin(struct peer *peer, int family, unsigned connections,
                void (*script)(struct peer *peer, int fd))
{
    bind_loopback(peer, family);
    peer->script = script;
    peer->connections = connections;
    peer->served = 0;
    CHECK_INT(listen(peer->listener, script ? 1024 : 0), 0);
    if (script)
        CHECK_INT(pthread_create(&peer->thread, NULL, serve, peer), 0);
}

void peer_sync(void)
{
    lf_fetch_add(&events, 1, acq_rel); /* A1, R2 */
}

void peer_finish(struct peer *peer)
{
    if (peer->script)
        pthread_join(peer->thread, NULL);
    close(peer->listener);
}

bool peer_send_bytes(int fd, const void *bytes, size_t len)
{
    const char *from = bytes;
    lf_fetch_add(&events, 1, release); /* R1 */
    while (len) {
        const ssize_t sent = send(fd, from, len, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        from += sent;
        len -= (size_t)sent;
    }
    return true;
}

bool peer_send(int fd, const char *text)
{
    return peer_send_bytes(fd, text, strlen(text));
}

bool peer_send_slowly(int fd, const char *text)
{
    for (; *text; text++)
        if (!peer_send_bytes(fd, text, 1))
            return false;
    return true;
}

bool peer_read_request(int fd, char *buffer, size_t capacity)
{
    size_t len = 0;
    while (len + 1 < capacity) {
        if (recv(fd, buffer + len, 1, 0) <= 0)
            return false;
        buffer[++len] = '\0';
        if (len >= 4 && memcmp(buffer + len - 4, "\r\n\r\n", 4) == 0) {
            lf_load(&events, acquire); /* A2 pairs with R2 in peer_sync */
            return true;
        }
    }
    check_failed(__FILE__, __LINE__, "a request of more than %zu bytes", capacity);
}

void peer_read_all(int fd)
{
    char sink[4096];
    while (recv(fd, sink, sizeof sink, 0) > 0)
        ;
}

void peer_reset_on_close(int fd)
{
    const struct linger linger = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

struct sockaddr_in peer_nobody(void)
{
    struct peer peer;
    bind_loopback(&peer, AF_INET);
    close(peer.listener);
    return peer.address.v4;
}
