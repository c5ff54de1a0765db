/* The sockets of the server. They are reachable through the loopback device alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* IPv4 and IPv6, or TCP and UDP: two sockets with one port. */
struct websim_listen_pair {
    int first, second;
};

/* Listens on all of 127.0.0.0/8, by binding 0.0.0.0 to the device `lo`, and on ::1. `port` 0 picks a free one
 * and is set to it; several pairs may share one. False after one line on stderr. */
bool websim_listen_http(struct websim_listen_pair *sockets, uint16_t *port);
/* UDP and TCP of 127.0.0.1. */
bool websim_listen_dns(struct websim_listen_pair *sockets, uint16_t *port);
/* Holds a port on which nobody listens, so that connections to it are refused. -1 after one line on stderr.
 */
int websim_listen_refuse(uint16_t *port);
/* True if nobody listens on the port of 127.0.0.1 or 0.0.0.0. */
bool websim_listen_is_free(uint16_t port);
