/* What became of a URL: one value per cause, set once by the first. The values index the statistics, so that every failure is
 * counted; crawl.log has their names, the journal their numbers.
 *
 * The table is that of net/outcome.h, which explains the columns, and behind it the causes that only a crawl has. */
#pragma once

#include <stdbool.h>

#include "net/outcome.h"

/* clang-format off */
#define FETCH_OUTCOMES_OWN(X)                                                                              \
    /* the body, once whole */                                                                             \
    X(DECODE_FAILED, 100, "decode-failed", -3, PAGE, FINAL) /* not in the coding that it claims */         \
    X(DECODE_CUT, 101, "decode-cut", -3, PAGE, FINAL) /* cut or damaged: what could be decoded was read */ \
    X(DECODE_TOO_LONG, 102, "decode-too-long", -3, PAGE, FINAL) /* decodes to more than allowed */         \
    /* never asked for */                                                                                  \
    X(ROBOTS_DENIED, 103, "robots-denied", -9998, PAGE, FINAL)                                             \
    X(ROBOTS_UNREACHABLE, 104, "robots-unreachable", -61, HOST, RETRY) /* so all is forbidden */           \
    X(ADDRESS_FULL, 106, "address-full", -5003, OURS, FINAL) /* too many hosts on one address */           \
    X(TYPE_UNWANTED, 107, "type-unwanted", -5001, OURS, FINAL) /* its head told: no body was taken */      \
    X(HOST_BUSY, 108, "host-busy", -5003, HOST, RETRY) /* 429 or 503, time and again */                    \
    X(HOST_LIMIT, 109, "host-limit", -5003, OURS, FINAL) /* pages, bytes or time of a host used up */      \
    X(REDIRECTS_TOO_MANY, 110, "redirects-too-many", -4001, PAGE, FINAL)                                   \
    X(FRONTIER_FULL, 111, "frontier-full", -60, OURS, FINAL) /* no memory for another URL */               \
    X(HOSTS_FULL, 112, "hosts-full", -60, OURS, FINAL) /* no room for another host */                      \
    X(HOST_FULL, 113, "host-full", -5003, OURS, FINAL) /* too many URLs of one host wait */                \
    X(DOMAIN_FULL, 114, "domain-full", -5003, OURS, FINAL) /* too many hosts or URLs of one domain */      \
    X(SIEVE_FULL, 115, "sieve-full", -60, OURS, FINAL)                                                     \
    X(DROPPED, 116, "dropped-by-operator", -6000, OURS, FINAL) /* its host's queue was emptied by an order */
/* clang-format on */

#define FETCH_OUTCOMES(X) OUTCOMES(X) FETCH_OUTCOMES_OWN(X)

/* Its size is one more than the highest number. */
union fetch_outcome_numbers {
#define FETCH_OUTCOME_MEMBER(value, number, name, code, class, again) char value[(number) + 1];
    FETCH_OUTCOMES(FETCH_OUTCOME_MEMBER)
#undef FETCH_OUTCOME_MEMBER
};

enum fetch_outcome {
#define FETCH_OUTCOME_VALUE(value, number, name, code, class, again) FETCH_##value = (number),
    FETCH_OUTCOMES(FETCH_OUTCOME_VALUE)
#undef FETCH_OUTCOME_VALUE
        FETCH_OUTCOME_COUNT = sizeof(union fetch_outcome_numbers), /* for arrays */
};

/* Whom a failure tells something about. A host whose own failures repeat is given up. */
enum fetch_outcome_class {
    FETCH_OUTCOME_OURS,        /* this machine, or the rules of this crawl */
    FETCH_OUTCOME_NAME_SERVER, /* whoever answers for the host's name, not the host */
    FETCH_OUTCOME_HOST,        /* the host as a whole: its other pages would fare alike */
    FETCH_OUTCOME_PAGE,        /* this URL alone */
};

/* The outcome of a connection or a look-up: it has the same number in both tables. */
static inline enum fetch_outcome fetch_outcome_of(enum outcome outcome)
{
    return (enum fetch_outcome)outcome;
}

/* "done", "robots-denied", ... Static storage. */
const char *fetch_outcome_name(enum fetch_outcome outcome);
enum fetch_outcome_class fetch_outcome_class(enum fetch_outcome outcome);
/* Whether asking again cannot change it. */
bool fetch_outcome_is_final(enum fetch_outcome outcome);
/* The word of WARC-Truncated for an outcome that cuts a body but leaves a useful part of it: "length", "time",
 * "disconnect" or "unspecified". NULL: nothing of the body is of use. */
const char *fetch_outcome_truncation(enum fetch_outcome outcome);
/* Heritrix's code, below 0; 0 for FETCH_DONE. */
int fetch_outcome_log_code(enum fetch_outcome outcome);
