/* How a fetch ended: one value per cause, set once by the first. The values index the statistics, so that
 * every failure is counted; the names are what users, logs and --json see.
 *
 * A new cause is a new line here, beside its relatives: nothing stores the numbers. */
#pragma once

#include <stdbool.h>

/* clang-format off */
#define FETCH_OUTCOMES(X)                                                                                      \
    X(FETCH_DONE,                "done")                  /* a whole response; any status */                   \
    /* the name */                                                                                             \
    X(FETCH_DNS_NOT_FOUND,       "dns-not-found")         /* NXDOMAIN */                                       \
    X(FETCH_DNS_NO_ADDRESS,      "dns-no-address")        /* the name exists, without an address */            \
    X(FETCH_DNS_SERVER_FAILURE,  "dns-server-failure")    /* SERVFAIL, NOTIMP, FORMERR */                      \
    X(FETCH_DNS_REFUSED,         "dns-refused")           /* the server, or no server listens */               \
    X(FETCH_DNS_TIMEOUT,         "dns-timeout")                                                                \
    X(FETCH_DNS_BAD_ANSWER,      "dns-bad-answer")        /* not to be parsed */                               \
    X(FETCH_DNS_BAD_NAME,        "dns-bad-name")          /* cannot be asked for */                            \
    X(FETCH_DNS_FAILED,          "dns-failed")            /* the resolver itself: no memory, no socket */      \
    /* the connection */                                                                                       \
    X(FETCH_NO_DESCRIPTOR,       "no-descriptor")         /* the ring's table or the system's is full */       \
    X(FETCH_CONNECT_REFUSED,     "connect-refused")                                                            \
    X(FETCH_CONNECT_RESET,       "connect-reset")                                                              \
    X(FETCH_CONNECT_UNREACHABLE, "connect-unreachable")   /* host, network, or forbidden on the way */         \
    X(FETCH_CONNECT_TIMEOUT,     "connect-timeout")                                                            \
    X(FETCH_CONNECT_NO_PORT,     "connect-no-port")       /* no local port left for this address */            \
    X(FETCH_CONNECT_FAILED,      "connect-failed")        /* any other errno */                                \
    /* TLS */                                                                                                  \
    X(FETCH_TLS_TIMEOUT,         "tls-timeout")                                                                \
    X(FETCH_TLS_RESET,           "tls-reset")                                                                  \
    X(FETCH_TLS_CLOSED,          "tls-closed")            /* end of stream inside the handshake */             \
    X(FETCH_TLS_FAILED,          "tls-failed")            /* no finer cause is known */                        \
    /* the exchange, up to the first byte */                                                                   \
    X(FETCH_REQUEST_TOO_LONG,    "request-too-long")                                                           \
    X(FETCH_REUSED_CLOSED,       "reused-closed")         /* a kept-alive connection was already over: retry */ \
    X(FETCH_SEND_RESET,          "send-reset")            /* while the request was being sent */               \
    X(FETCH_SEND_FAILED,         "send-failed")                                                                \
    X(FETCH_FIRST_BYTE_TIMEOUT,  "first-byte-timeout")                                                         \
    X(FETCH_FIRST_BYTE_RESET,    "first-byte-reset")                                                           \
    X(FETCH_FIRST_BYTE_CLOSED,   "first-byte-closed")                                                          \
    /* the head */                                                                                             \
    X(FETCH_HEAD_TIMEOUT,        "head-timeout")                                                               \
    X(FETCH_HEAD_RESET,          "head-reset")                                                                 \
    X(FETCH_HEAD_CLOSED,         "head-closed")                                                                \
    X(FETCH_HEAD_BAD,            "head-bad")                                                                   \
    X(FETCH_HEAD_TOO_LARGE,      "head-too-large")                                                             \
    /* the body */                                                                                             \
    X(FETCH_BODY_TIMEOUT,        "body-timeout")                                                               \
    X(FETCH_BODY_RESET,          "body-reset")                                                                 \
    X(FETCH_BODY_TRUNCATED,      "body-truncated")        /* end of stream before the promised end */          \
    X(FETCH_BODY_TOO_LARGE,      "body-too-large")                                                             \
    X(FETCH_RECEIVE_FAILED,      "receive-failed")        /* any other errno */                                \
    /* either side ended it */                                                                                 \
    X(FETCH_IDLE_CLOSED,         "idle-closed")           /* no request was under way */                       \
    X(FETCH_UNSOLICITED,         "unsolicited")           /* bytes that answer no request */                   \
    X(FETCH_TOTAL_TIMEOUT,       "total-timeout")                                                              \
    X(FETCH_ABORTED,             "aborted")               /* by the owner */
/* clang-format on */

enum fetch_outcome {
#define FETCH_OUTCOME_VALUE(value, name) value,
    FETCH_OUTCOMES(FETCH_OUTCOME_VALUE)
#undef FETCH_OUTCOME_VALUE
        FETCH_OUTCOME_COUNT,
};

/* "done", "dns-not-found", ... */
const char *outcome_name(enum fetch_outcome outcome);
