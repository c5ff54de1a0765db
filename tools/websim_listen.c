#include "tools/websim_listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The kernel cuts it down to net.core.somaxconn. */
#define BACKLOG 65535

static int refuse(int fd, const char *what, unsigned port)
{
    fprintf(stderr, "websim serve: %s port %u: %s\n", what, port, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool set(int fd, int level, int option)
{
    int on = 1;
    return setsockopt(fd, level, option, &on, sizeof on) == 0;
}

/* Binds to an address of loopback, or to all; learns the port if it was 0. */
static bool bind_to(int fd, bool ipv6, uint32_t address, uint16_t *port)
{
    struct sockaddr_in v4 = {
        .sin_family = AF_INET, .sin_port = htons(*port), .sin_addr.s_addr = htonl(address)};
    struct sockaddr_in6 v6 = {
        .sin6_family = AF_INET6, .sin6_port = htons(*port), .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_storage bound;
    socklen_t len = sizeof bound;
    if (ipv6 ? bind(fd, (struct sockaddr *)&v6, sizeof v6) : bind(fd, (struct sockaddr *)&v4, sizeof v4))
        return false;
    if (getsockname(fd, (struct sockaddr *)&bound, &len) != 0)
        return false;
    *port =
        ntohs(ipv6 ? ((struct sockaddr_in6 *)&bound)->sin6_port : ((struct sockaddr_in *)&bound)->sin_port);
    return true;
}

int websim_listen_tcp(bool ipv6, uint16_t *port, bool shared)
{
    int fd = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return refuse(fd, "cannot make a socket for", *port);
    /* One socket hears all of 127.0.0.0/8 only if it is bound to 0.0.0.0; the device keeps others out. */
    if (!ipv6 && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", sizeof "lo") != 0)
        return refuse(fd, "cannot bind to the loopback device (needs root or CAP_NET_RAW):", *port);
    if (!set(fd, SOL_SOCKET, SO_REUSEADDR) || (shared && !set(fd, SOL_SOCKET, SO_REUSEPORT)) ||
        !set(fd, IPPROTO_TCP, TCP_NODELAY) || (ipv6 && !set(fd, IPPROTO_IPV6, IPV6_V6ONLY)))
        return refuse(fd, "cannot set options of", *port);
    if (!bind_to(fd, ipv6, INADDR_ANY, port) || listen(fd, BACKLOG) != 0)
        return refuse(fd, "cannot listen on", *port);
    return fd;
}

int websim_listen_udp(uint16_t *port)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || !bind_to(fd, false, INADDR_LOOPBACK, port))
        return refuse(fd, "cannot answer DNS on UDP", *port);
    return fd;
}

int websim_listen_dns_tcp(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || !set(fd, SOL_SOCKET, SO_REUSEADDR) || !set(fd, IPPROTO_TCP, TCP_NODELAY) ||
        !bind_to(fd, false, INADDR_LOOPBACK, &port) || listen(fd, BACKLOG) != 0)
        return refuse(fd, "cannot answer DNS on TCP", port);
    return fd;
}

int websim_listen_refuse(uint16_t *port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || !bind_to(fd, false, INADDR_ANY, port))
        return refuse(fd, "cannot keep for refusing", *port);
    return fd;
}

bool websim_listen_is_free(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_free = fd >= 0 && set(fd, SOL_SOCKET, SO_REUSEADDR) && bind_to(fd, false, INADDR_ANY, &port) &&
                   listen(fd, 1) == 0;
    if (fd >= 0)
        close(fd);
    return is_free;
}
