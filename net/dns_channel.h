/* A channel of c-ares: its servers, and sockets that hang in an epoll descriptor which several channels share.
 * For dns.c alone. */
#pragma once

#include <ares.h>
#include <stdint.h>

struct dns_channel {
    ares_channel ares; /* NULL: not open */
    int epoll_fd;
    uint32_t index; /* told by the epoll events of its sockets */
};

struct dns_channel_options {
    int epoll_fd;
    uint32_t index;
    const char *servers; /* as ares_set_servers_ports_csv wants them; NULL: /etc/resolv.conf */
    int flags;           /* ARES_FLAG_*, beside those that all have */
    uint32_t timeout_ms;
    uint32_t tries;
};

/* NULL, or what is wrong. The channel stays where it is while it is open. */
const char *dns_channel_open(struct dns_channel *channel, const struct dns_channel_options *options);
void dns_channel_close(struct dns_channel *channel);
unsigned dns_channel_server_count(const struct dns_channel *channel);

/* The index of the channel that an epoll event with this `data` belongs to. */
static inline uint32_t dns_channel_index(uint64_t data)
{
    return (uint32_t)(data >> 32);
}
void dns_channel_on_event(struct dns_channel *channel, uint64_t data, uint32_t events);
/* Time-outs and retransmissions. */
void dns_channel_on_tick(struct dns_channel *channel);
