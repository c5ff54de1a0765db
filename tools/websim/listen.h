/* The sockets of the server. They are reachable through the loopback device alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* One socket that hears all of 127.0.0.0/8 and ::1, since it is bound to all addresses and to the device
 * `lo`. `port` 0 picks a free one and is set to it. -1 after one line on stderr. */
int websim_listen_http(uint16_t *port);
/* UDP and TCP of 127.0.0.1, one port. False after one line on stderr. */
struct websim_listen_dns {
    int udp, tcp;
};
bool websim_listen_dns(struct websim_listen_dns *sockets, uint16_t *port);
/* Holds a port on which nobody listens, so that connections to it are refused. -1 after one line on
 * stderr. */
int websim_listen_refuse(uint16_t *port);
