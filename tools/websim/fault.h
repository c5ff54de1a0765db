/* What may be wrong with a host or a page. All are off unless an option gives them a share. */
#pragma once

#include <stdint.h>

/* X(name, word on the command line, meaning). A host, or a page, has at most one fault. */
#define WEBSIM_HOST_FAULTS(X)                                                                                \
    X(REFUSE, "refuse", "its URLs name a port on which nobody listens")                                      \
    X(SILENT, "silent", "accepts connections and never answers")                                             \
    X(NXDOMAIN, "nxdomain", "its name does not exist")                                                       \
    X(SERVFAIL, "servfail", "the DNS answers SERVFAIL")                                                      \
    X(DNSTIMEOUT, "dnstimeout", "the DNS does not answer")                                                   \
    X(EXPIRED, "expired", "https with a certificate whose time has passed")                                  \
    X(CALENDAR, "calendar", "links to an endless calendar")

#define WEBSIM_PAGE_FAULTS(X)                                                                                \
    X(RESETHEAD, "resethead", "connection reset within the response head")                                   \
    X(RESETBODY, "resetbody", "connection reset within the body")                                            \
    X(SHORT, "short", "closes before Content-Length is reached")                                             \
    X(LONG, "long", "sends more than Content-Length")                                                        \
    X(BADCHUNK, "badchunk", "a chunk size that is no number")                                                \
    X(ENDLESS, "endless", "a body that does not end")                                                        \
    X(DRIP, "drip", "a byte now and then")                                                                   \
    X(BOMB, "bomb", "gzip of a body of --bomb-size zeroes")                                                  \
    X(BIGHEAD, "bighead", "a head of --head-size bytes")                                                     \
    X(LOOP, "loop", "redirects to two URLs that redirect to each other")                                     \
    X(CHAIN, "chain", "a chain of 12 redirects")                                                             \
    X(BADHTML, "badhtml", "malformed HTML, with the links it would have had")                                \
    X(BADURL, "badurl", "malformed and foreign URLs among the links")

#define WEBSIM_FAULT_ENUM(name, word, meaning) WEBSIM_FAULT_##name,
enum websim_fault {
    WEBSIM_FAULT_NONE,
    WEBSIM_HOST_FAULTS(WEBSIM_FAULT_ENUM) WEBSIM_PAGE_FAULTS(WEBSIM_FAULT_ENUM) WEBSIM_FAULT_COUNT,
    WEBSIM_FAULT_PAGE_FIRST = WEBSIM_FAULT_RESETHEAD,
};
#undef WEBSIM_FAULT_ENUM

#define WEBSIM_CHAIN_LENGTH 12

const char *websim_fault_word(enum websim_fault fault);
const char *websim_fault_meaning(enum websim_fault fault);
/* WEBSIM_FAULT_NONE if there is none of that name. */
enum websim_fault websim_fault_find(const char *word, uint64_t len);

/* Reads "word=share,word=share" into shares[WEBSIM_FAULT_COUNT] (millionths): NULL, or what is wrong. */
const char *websim_fault_read(void *shares, const char *text);

/* Of the faults in [first, end) the one that `bits` falls on, or none. */
enum websim_fault websim_fault_draw(const uint64_t *shares, enum websim_fault first, enum websim_fault end,
                                    uint64_t bits);
