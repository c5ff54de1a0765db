#include "tools/websim/listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The kernel cuts it down to net.core.somaxconn. */
#define BACKLOG    65535
#define PORT_TRIES 16

/* Questions that come while the server is busy with pages wait here: the usual size is good for some 270. */
enum { DNS_RECEIVE_BYTES = 4 << 20 };

static bool set(int fd, int level, int option)
{
    int on = 1;
    return setsockopt(fd, level, option, &on, sizeof on) == 0;
}

/* Binds to 127.0.0.1, or to all addresses of both families; learns the port if it was 0. */
static bool bind_to(int fd, bool all, uint16_t *port)
{
    struct sockaddr_in loopback = {
        .sin_family = AF_INET, .sin_port = htons(*port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 any = {
        .sin6_family = AF_INET6, .sin6_port = htons(*port), .sin6_addr = IN6ADDR_ANY_INIT};
    struct sockaddr_in6 bound = {0}; /* or a sockaddr_in, which has its port at the same place */
    socklen_t len = sizeof bound;
    if (all ? bind(fd, (struct sockaddr *)&any, sizeof any)
            : bind(fd, (struct sockaddr *)&loopback, sizeof loopback))
        return false;
    if (getsockname(fd, (struct sockaddr *)&bound, &len) != 0)
        return false;
    *port = ntohs(bound.sin6_port);
    return true;
}

static int fail(int fd, const char *what, unsigned port)
{
    fprintf(stderr, "websim serve: %s port %u: %s\n", what, port, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

int websim_listen_http(uint16_t *port)
{
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), off = 0;
    if (fd < 0)
        return fail(fd, "cannot make a socket for", *port);
    if (setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", sizeof "lo") != 0)
        return fail(fd, "cannot bind to the loopback device (root or CAP_NET_RAW is needed) for", *port);
    if (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) != 0 ||
        !set(fd, SOL_SOCKET, SO_REUSEADDR) || !set(fd, IPPROTO_TCP, TCP_NODELAY))
        return fail(fd, "cannot set options of", *port);
    if (!bind_to(fd, true, port) || listen(fd, BACKLOG) != 0)
        return fail(fd, "cannot listen on", *port);
    return fd;
}

static int listen_dns_tcp(uint16_t *port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || !set(fd, SOL_SOCKET, SO_REUSEADDR) || !set(fd, IPPROTO_TCP, TCP_NODELAY) ||
        !bind_to(fd, false, port) || listen(fd, BACKLOG) != 0)
        return fail(fd, "cannot answer DNS on TCP", *port);
    return fd;
}

bool websim_listen_dns(struct websim_listen_dns *sockets, uint16_t *port)
{
    for (unsigned i = 0; i < PORT_TRIES; i++) {
        uint16_t number = *port;
        sockets->tcp = listen_dns_tcp(&number);
        if (sockets->tcp < 0)
            return false;
        sockets->udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (sockets->udp >= 0 && bind_to(sockets->udp, false, &number)) {
            /* Less than asked for is no error: the kernel has its own bound. */
            setsockopt(sockets->udp, SOL_SOCKET, SO_RCVBUF, &(int){DNS_RECEIVE_BYTES}, sizeof(int));
            *port = number;
            return true;
        }
        /* A port that is free in TCP may be taken in UDP: then another is tried. */
        bool again = *port == 0 && errno == EADDRINUSE && i + 1 < PORT_TRIES;
        if (!again)
            fprintf(stderr, "websim serve: cannot answer DNS on UDP port %u: %s\n", number, strerror(errno));
        close(sockets->tcp);
        if (sockets->udp >= 0)
            close(sockets->udp);
        if (!again)
            return false;
    }
    return false;
}

int websim_listen_refuse(uint16_t *port)
{
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || !bind_to(fd, true, port))
        return fail(fd, "cannot keep for refusing", *port);
    return fd;
}
