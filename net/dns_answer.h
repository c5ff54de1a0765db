/* What a look-up of a name ends in. */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "net/limits.h"
#include "net/slice.h"

enum dns_error {
    DNS_OK,
    DNS_ERROR_NO_NAME,         /* NXDOMAIN: there is no such name */
    DNS_ERROR_NO_DATA,         /* the name exists but has no address */
    DNS_ERROR_SERVER_FAILED,   /* SERVFAIL */
    DNS_ERROR_REFUSED,         /* by every server asked: lame, or not for us */
    DNS_ERROR_NOT_IMPLEMENTED, /* NOTIMP */
    DNS_ERROR_FORMAT,          /* FORMERR: the server does not understand the question */
    DNS_ERROR_ANSWER_BAD,      /* an answer that is no DNS message, or belongs to no question */
    DNS_ERROR_TIMEOUT,         /* no server answered in time */
    DNS_ERROR_UNREACHABLE,     /* no server could be talked to */
    DNS_ERROR_NAME_BAD,        /* empty, too long, or a label that cannot be */
    DNS_ERROR_OVERLOADED,      /* more than DNS_IN_FLIGHT_MAX names under way */
    DNS_ERROR_CANCELLED,       /* the resolver was shut down */
    DNS_ERROR_NO_MEMORY,
    DNS_ERROR_OTHER,
    DNS_ERROR_COUNT,
};

struct dns_address {
    uint8_t family;    /* AF_INET or AF_INET6 */
    uint8_t bytes[16]; /* 4 or 16 of them, network order */
};

struct dns_answer {
    enum dns_error error;
    uint8_t count;  /* at least 1 with DNS_OK, else 0 */
    bool was_fresh; /* asked for over the network, not taken from memory */
    uint64_t
        until_ns; /* up to when it holds; UINT64_MAX: always, as a literal address does. 0: not to be kept */
    struct dns_address addresses[DNS_ADDRESSES_MAX];
};

/* "no-name", "timeout"; fit for a log column. Static storage. */
const char *dns_error_text(enum dns_error error);

/* An address written as text (no brackets, no scope): true and *address set. */
bool dns_address_parse(struct dns_address *address, struct slice text);
/* Fills a socket address; returns its length. `port` in host order. */
socklen_t dns_address_socket(const struct dns_address *address, uint16_t port, struct sockaddr_storage *out);
/* NUL-terminated; `out` has DNS_ADDRESS_TEXT_BYTES. Returns `out`. */
const char *dns_address_text(const struct dns_address *address, char *out);
