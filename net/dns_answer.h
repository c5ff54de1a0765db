/* What a look-up of a name ends in. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/ip.h"
#include "net/limits.h"

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

enum dns_families {
    DNS_IPV4,
    DNS_IPV6,
    DNS_BOTH, /* asks for A and AAAA, waits for both; IPv4 first in the answer */
};

struct dns_answer {
    enum dns_error error;
    uint8_t count;  /* at least 1 with DNS_OK, else 0 */
    bool was_fresh; /* asked for over the network, not taken from memory */
    bool
        is_outage; /* with DNS_ERROR_TIMEOUT or _UNREACHABLE: no server answers anything, whatever the name */
    uint64_t
        until_ns; /* up to when it holds; UINT64_MAX: always, as a literal address does. 0: not to be kept */
    struct ip addresses[DNS_ADDRESSES_MAX];
};

/* "no-name", "timeout"; fit for a log column. Static storage. */
const char *dns_error_text(enum dns_error error);

/* What the servers say may be remembered; what happened on this side may not. */
bool dns_error_is_memorable(enum dns_error error);
