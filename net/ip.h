/* An IP address of either family, as one value: 16 bytes, IPv4 as ::ffff:a.b.c.d (RFC 4291, 2.5.5.2). Two are
 * equal if their bytes are. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "net/limits.h"
#include "net/slice.h"

struct ip {
    uint8_t bytes[16];
};

/* An address and a port, as the kernel wants them. */
union ip_socket {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* `bytes`: the 4 or 16 of an address of this family, in network order. */
struct ip ip_of(int family, const void *bytes);
struct ip ip_of_socket(const union ip_socket *address);
/* An address written as text (no brackets, no scope): true and *ip set. */
bool ip_parse(struct ip *ip, struct slice text);
/* "192.0.2.1", "2001:db8::1", NUL-terminated, into `out` of IP_TEXT_BYTES. */
struct slice ip_text(const struct ip *ip, char *out);
/* Fills a socket address; returns its length. `port` in host order. */
socklen_t ip_to_socket(const struct ip *ip, uint16_t port, union ip_socket *out);

bool ip_is_v4(const struct ip *ip);
/* The 4 or 16 bytes that the address has in its own family. */
struct slice ip_bytes(const struct ip *ip);
bool ip_equals(const struct ip *a, const struct ip *b);
bool ip_is_loopback(const struct ip *ip);
/* Loopback, private, link-local, multicast and other addresses that are nobody's public web server. */
bool ip_is_private(const struct ip *ip);
