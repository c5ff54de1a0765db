/* The sockets of the server. They are reachable through the loopback device alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Listens on all of 127.0.0.0/8, by binding 0.0.0.0 to the device `lo`, or on ::1. `port` 0 picks a free one
 * and is set to it. Several sockets may share a port if `shared`. -1 after one line on stderr. */
int websim_listen_tcp(bool ipv6, uint16_t *port, bool shared);
/* Bound to 127.0.0.1, for DNS. */
int websim_listen_udp(uint16_t *port);
int websim_listen_dns_tcp(uint16_t port);
/* Holds a port on which nobody listens, so that connections to it are refused. */
int websim_listen_refuse(uint16_t *port);
/* True if nobody listens on the port of 127.0.0.1 or 0.0.0.0. */
bool websim_listen_is_free(uint16_t port);
