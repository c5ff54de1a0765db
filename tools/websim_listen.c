#include "tools/websim_listen.h"

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

static bool is_opened(int fd, const char **failed, const char *what)
{
    if (fd >= 0)
        return true;
    *failed = what;
    return false;
}

/* A listening socket, or -1 with errno and what failed. */
static int listen_tcp(bool ipv6, uint32_t address, uint16_t *port, const char **failed)
{
    int fd = socket(ipv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (!is_opened(fd, failed, "cannot make a socket for"))
        return -1;
    /* One socket hears all of 127.0.0.0/8 only if it is bound to 0.0.0.0; the device keeps others out. */
    if (address == INADDR_ANY && !ipv6 && setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", sizeof "lo") != 0)
        *failed = "cannot bind to the loopback device (root or CAP_NET_RAW is needed) for";
    else if (!set(fd, SOL_SOCKET, SO_REUSEADDR) ||
             (address == INADDR_ANY && !set(fd, SOL_SOCKET, SO_REUSEPORT)) ||
             !set(fd, IPPROTO_TCP, TCP_NODELAY) || (ipv6 && !set(fd, IPPROTO_IPV6, IPV6_V6ONLY)))
        *failed = "cannot set options of";
    else if (!bind_to(fd, ipv6, address, port) || listen(fd, BACKLOG) != 0)
        *failed = "cannot listen on";
    else
        return fd;
    int error = errno;
    close(fd);
    errno = error;
    return -1;
}

static int listen_udp(uint16_t *port, const char **failed)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (is_opened(fd, failed, "cannot make a socket for") && bind_to(fd, false, INADDR_LOOPBACK, port))
        return fd;
    *failed = "cannot receive UDP on";
    if (fd >= 0)
        close(fd);
    return -1;
}

/* A free port of the one kind may be taken in the other: then another is tried. */
static bool open_pair(struct websim_listen_pair *sockets, uint16_t *port, bool dns)
{
    const char *failed = NULL;
    for (unsigned i = 0; i < PORT_TRIES; i++) {
        uint16_t number = *port;
        sockets->first = listen_tcp(false, dns ? INADDR_LOOPBACK : INADDR_ANY, &number, &failed);
        if (sockets->first < 0)
            break;
        sockets->second = dns ? listen_udp(&number, &failed) : listen_tcp(true, INADDR_ANY, &number, &failed);
        if (sockets->second >= 0) {
            *port = number;
            return true;
        }
        close(sockets->first);
        if (*port || errno != EADDRINUSE)
            break;
    }
    fprintf(stderr, "websim serve: %s port %u: %s\n", failed, *port, strerror(errno));
    return false;
}

bool websim_listen_http(struct websim_listen_pair *sockets, uint16_t *port)
{
    return open_pair(sockets, port, false);
}

bool websim_listen_dns(struct websim_listen_pair *sockets, uint16_t *port)
{
    struct websim_listen_pair pair;
    if (!open_pair(&pair, port, true))
        return false;
    *sockets = (struct websim_listen_pair){.first = pair.second, .second = pair.first};
    return true;
}

int websim_listen_refuse(uint16_t *port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && bind_to(fd, false, INADDR_ANY, port))
        return fd;
    fprintf(stderr, "websim serve: cannot keep port %u for refusing: %s\n", *port, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
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
