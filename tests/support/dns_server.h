/* A name server for tests: a UDP socket of loopback that is served by the test's own thread. What it answers
 * goes by the first label of the name asked for:
 *
 *     formerr, servfail, nx, notimp, refused   that failure
 *     nodata                                   no record
 *     silent                                   nothing
 *     stranger, broken                         with another number; with records that are not there
 *     six, half                                no A record; SERVFAIL for AAAA
 *     big, cut                                 truncated: without records, with one
 *     many                                     twelve addresses
 *     any other                                one address */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum dns_rcode { DNS_NOERROR, DNS_FORMERR, DNS_SERVFAIL, DNS_NXDOMAIN, DNS_NOTIMP, DNS_REFUSED };

struct dns_server {
    int fd;
    uint16_t port;
    unsigned asked;
    enum dns_rcode rcode_always; /* unless DNS_NOERROR */
    bool is_deaf;                /* takes questions and says nothing */
};

struct dns_server dns_server_open(void);
/* Answers what has come. */
void dns_server_serve(struct dns_server *server);
