/* A name under way: its questions, and what their answers amount to. For dns.c alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "net/dns_answer.h"
#include "net/slice.h"

struct dns;
struct dns_lookup;
struct dns_query;

enum {
    DNS_CLASS_IN = 1,
    DNS_TYPE_A = 1,
    DNS_TYPE_NS = 2,
    DNS_TYPE_AAAA = 28,
};

/* One question to the servers. */
struct dns_question {
    struct dns_lookup *lookup;
    int type;
    bool is_open;         /* not yet answered for good */
    bool is_by_tcp;       /* its answer did not fit into a datagram */
    uint8_t tries;        /* how often it was asked, retransmissions apart */
    enum dns_error error; /* of the latest answer */
};

struct dns_lookup {
    struct dns *dns;
    struct dns_lookup *next; /* in its bucket, or in a list */
    uint64_t begun_ns;
    struct dns_query *waiting;
    struct dns_question questions[2]; /* A, AAAA */
    struct dns_answer answer;
    uint32_t ttl_s; /* least of all records; dns_lookup_conclude makes it that of the whole answer */
    uint32_t negative_ttl_s;
    uint8_t name_len;
    char name[DNS_NAME_BYTES_MAX];
};

void dns_lookup_init(struct dns_lookup *lookup, struct dns *dns, struct slice name);
/* Takes in an answer: c-ares' status, and the message if there is one. */
void dns_lookup_read(struct dns_question *question, int status, struct slice message);
/* The server could not or would not say; another may. */
bool dns_lookup_wants_retry(const struct dns_question *question);
/* All questions are answered: sets answer.error. Addresses of either family are a success; else a "no" counts
 * for more than a failure only if both questions were answered with it. */
void dns_lookup_conclude(struct dns_lookup *lookup);

/* Look-ups in order. */
struct dns_list {
    struct dns_lookup *first, *last;
};

void dns_list_push(struct dns_list *list, struct dns_lookup *lookup);
/* NULL: none. */
struct dns_lookup *dns_list_pop(struct dns_list *list);
