#include "net/dns_channel.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/epoll.h>

#include "net/limits.h"

/* c-ares wants to know of a socket's readiness, or no more of it at all. */
static void on_socket(void *context, ares_socket_t fd, int readable, int writable)
{
    const struct dns_channel *channel = context;
    struct epoll_event event = {.data.u64 = (uint64_t)channel->index << 32 | (uint32_t)fd,
                                .events =
                                    (readable ? (uint32_t)EPOLLIN : 0) | (writable ? (uint32_t)EPOLLOUT : 0)};
    if (!event.events) {
        epoll_ctl(channel->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        return;
    }
    /* A socket that cannot be watched is found out by its questions' time-outs. */
    if (epoll_ctl(channel->epoll_fd, EPOLL_CTL_MOD, fd, &event) != 0 && errno == ENOENT)
        epoll_ctl(channel->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

const char *dns_channel_open(struct dns_channel *channel, const struct dns_channel_options *options)
{
    char lookups[] = "b"; /* without "f", which would read /etc/hosts anew for every question */
    channel->epoll_fd = options->epoll_fd;
    channel->index = options->index;
    struct ares_options ares = {
        /* NOCHECKRESP: answers such as SERVFAIL come through, where c-ares would call them "connection
           refused". */
        .flags = options->flags | ARES_FLAG_NOSEARCH | ARES_FLAG_NOALIASES | ARES_FLAG_NOCHECKRESP |
                 ARES_FLAG_EDNS,
        .timeout = (int)options->timeout_ms,
        .tries = (int)options->tries,
        .ednspsz = DNS_EDNS_BYTES,
        .socket_receive_buffer_size = DNS_RECEIVE_BUFFER_BYTES,
        .lookups = lookups,
        .sock_state_cb = on_socket,
        .sock_state_cb_data = channel,
    };
    int mask = ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_EDNSPSZ |
               ARES_OPT_SOCK_RCVBUF | ARES_OPT_LOOKUPS | ARES_OPT_SOCK_STATE_CB | ARES_OPT_ROTATE;
    int status = ares_init_options(&channel->ares, &ares, mask);
    if (status != ARES_SUCCESS) {
        channel->ares = NULL;
        return ares_strerror(status);
    }
    if (options->servers)
        status = ares_set_servers_ports_csv(channel->ares, options->servers);
    return status == ARES_SUCCESS ? NULL : ares_strerror(status);
}

void dns_channel_close(struct dns_channel *channel)
{
    if (channel->ares)
        ares_destroy(channel->ares);
    channel->ares = NULL;
}

unsigned dns_channel_server_count(const struct dns_channel *channel)
{
    struct ares_addr_port_node *servers = NULL;
    unsigned count = 0;
    if (ares_get_servers_ports(channel->ares, &servers) == ARES_SUCCESS)
        for (const struct ares_addr_port_node *server = servers; server; server = server->next)
            count++;
    ares_free_data(servers);
    return count;
}

void dns_channel_on_event(struct dns_channel *channel, uint64_t data, uint32_t events)
{
    ares_socket_t fd = (ares_socket_t)(uint32_t)data;
    bool failed = events & (EPOLLERR | EPOLLHUP);
    bool readable = failed || events & EPOLLIN, writable = failed || events & EPOLLOUT;
    ares_process_fd(channel->ares, readable ? fd : ARES_SOCKET_BAD, writable ? fd : ARES_SOCKET_BAD);
}

void dns_channel_on_tick(struct dns_channel *channel)
{
    ares_process_fd(channel->ares, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}
