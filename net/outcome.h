/* How a fetch ended: one value per cause, set once by the first. The values index the statistics, so that
 * every failure is counted; the names are what users, logs and --json see.
 *
 * A new cause is a new line, beside its relatives: nothing stores the numbers. The causes of the parts below
 * (dns, tls, http) are listed one by one, and outcome.c does not compile without warning when one is
 * forgotten. */
#pragma once

#include "net/dns_answer.h"
#include "net/http_error.h"
#include "net/tls_error.h"

/* clang-format off */
#define FETCH_OUTCOMES(X)                                                                                   \
    X(FETCH_DONE, "done")                                /* a whole response, of any status */              \
    /* the name */                                                                                          \
    X(FETCH_DNS_NO_NAME, "dns-no-name")                  /* NXDOMAIN */                                     \
    X(FETCH_DNS_NO_DATA, "dns-no-data")                  /* the name exists, without an address */          \
    X(FETCH_DNS_SERVER_FAILED, "dns-server-failed")      /* SERVFAIL */                                     \
    X(FETCH_DNS_REFUSED, "dns-refused")                  /* by every server asked */                        \
    X(FETCH_DNS_NOT_IMPLEMENTED, "dns-not-implemented")                                                     \
    X(FETCH_DNS_FORMAT, "dns-format")                    /* the server does not understand the question */  \
    X(FETCH_DNS_ANSWER_BAD, "dns-answer-bad")            /* no DNS message, or to no question */            \
    X(FETCH_DNS_TIMEOUT, "dns-timeout")                                                                     \
    X(FETCH_DNS_UNREACHABLE, "dns-unreachable")          /* no server could be talked to */                 \
    X(FETCH_DNS_NAME_BAD, "dns-name-bad")                /* cannot be asked for */                          \
    X(FETCH_DNS_OVERLOADED, "dns-overloaded")            /* too many names under way */                     \
    X(FETCH_DNS_CANCELLED, "dns-cancelled")              /* the resolver was shut down */                   \
    X(FETCH_DNS_NO_MEMORY, "dns-no-memory")                                                                 \
    X(FETCH_DNS_OTHER, "dns-other")                                                                         \
    /* the connection */                                                                                    \
    X(FETCH_NO_DESCRIPTOR, "no-descriptor")              /* the ring's table is full, or the system's */    \
    X(FETCH_NO_MEMORY, "no-memory")                                                                         \
    X(FETCH_CONNECT_REFUSED, "connect-refused")                                                             \
    X(FETCH_CONNECT_RESET, "connect-reset")                                                                 \
    X(FETCH_CONNECT_UNREACHABLE, "connect-unreachable")  /* host or network, or forbidden on the way */     \
    X(FETCH_CONNECT_TIMEOUT, "connect-timeout")                                                             \
    X(FETCH_CONNECT_NO_PORT, "connect-no-port")          /* no local port is left for this address */       \
    X(FETCH_CONNECT_FAILED, "connect-failed")            /* any other errno */                              \
    /* TLS */                                                                                               \
    X(FETCH_TLS_TIMEOUT, "tls-timeout")                                                                     \
    X(FETCH_TLS_RESET, "tls-reset")                      /* inside the handshake */                         \
    X(FETCH_TLS_CLOSED, "tls-closed")                    /* end of stream inside the handshake */           \
    X(FETCH_TLS_CERT_EXPIRED, "tls-cert-expired")                                                           \
    X(FETCH_TLS_CERT_NAME, "tls-cert-name")                                                                 \
    X(FETCH_TLS_CERT_SELF_SIGNED, "tls-cert-self-signed")                                                   \
    X(FETCH_TLS_CERT_UNTRUSTED, "tls-cert-untrusted")                                                       \
    X(FETCH_TLS_CERT_CHAIN, "tls-cert-chain")                                                               \
    X(FETCH_TLS_CERT_SIGNATURE, "tls-cert-signature")                                                       \
    X(FETCH_TLS_CERT_KEY, "tls-cert-key")                                                                   \
    X(FETCH_TLS_CERT_EXTENSION, "tls-cert-extension")                                                       \
    X(FETCH_TLS_CERT_MALFORMED, "tls-cert-malformed")                                                       \
    X(FETCH_TLS_VERSION, "tls-version")                                                                     \
    X(FETCH_TLS_SUITE, "tls-suite")                                                                         \
    X(FETCH_TLS_MAC, "tls-mac")                                                                             \
    X(FETCH_TLS_SIGNATURE, "tls-signature")                                                                 \
    X(FETCH_TLS_RECORD, "tls-record")                                                                       \
    X(FETCH_TLS_UNEXPECTED, "tls-unexpected")                                                               \
    X(FETCH_TLS_RESUMPTION, "tls-resumption")                                                               \
    X(FETCH_TLS_TRUNCATED, "tls-truncated")                                                                 \
    X(FETCH_TLS_NAME_TOO_LONG, "tls-name-too-long")                                                         \
    X(FETCH_TLS_ENTROPY, "tls-entropy")                                                                     \
    X(FETCH_TLS_INTERNAL, "tls-internal")                                                                   \
    X(FETCH_TLS_ALERT_UNEXPECTED_MESSAGE, "tls-alert-unexpected-message")                                   \
    X(FETCH_TLS_ALERT_BAD_RECORD_MAC, "tls-alert-bad-record-mac")                                           \
    X(FETCH_TLS_ALERT_RECORD_OVERFLOW, "tls-alert-record-overflow")                                         \
    X(FETCH_TLS_ALERT_HANDSHAKE_FAILURE, "tls-alert-handshake-failure")                                     \
    X(FETCH_TLS_ALERT_BAD_CERTIFICATE, "tls-alert-bad-certificate")                                         \
    X(FETCH_TLS_ALERT_UNSUPPORTED_CERTIFICATE, "tls-alert-unsupported-certificate")                         \
    X(FETCH_TLS_ALERT_CERTIFICATE_REVOKED, "tls-alert-certificate-revoked")                                 \
    X(FETCH_TLS_ALERT_CERTIFICATE_EXPIRED, "tls-alert-certificate-expired")                                 \
    X(FETCH_TLS_ALERT_CERTIFICATE_UNKNOWN, "tls-alert-certificate-unknown")                                 \
    X(FETCH_TLS_ALERT_ILLEGAL_PARAMETER, "tls-alert-illegal-parameter")                                     \
    X(FETCH_TLS_ALERT_UNKNOWN_CA, "tls-alert-unknown-ca")                                                   \
    X(FETCH_TLS_ALERT_ACCESS_DENIED, "tls-alert-access-denied")                                             \
    X(FETCH_TLS_ALERT_DECODE_ERROR, "tls-alert-decode-error")                                               \
    X(FETCH_TLS_ALERT_DECRYPT_ERROR, "tls-alert-decrypt-error")                                             \
    X(FETCH_TLS_ALERT_PROTOCOL_VERSION, "tls-alert-protocol-version")                                       \
    X(FETCH_TLS_ALERT_INSUFFICIENT_SECURITY, "tls-alert-insufficient-security")                             \
    X(FETCH_TLS_ALERT_INTERNAL_ERROR, "tls-alert-internal-error")                                           \
    X(FETCH_TLS_ALERT_INAPPROPRIATE_FALLBACK, "tls-alert-inappropriate-fallback")                           \
    X(FETCH_TLS_ALERT_USER_CANCELED, "tls-alert-user-canceled")                                             \
    X(FETCH_TLS_ALERT_MISSING_EXTENSION, "tls-alert-missing-extension")                                     \
    X(FETCH_TLS_ALERT_UNSUPPORTED_EXTENSION, "tls-alert-unsupported-extension")                             \
    X(FETCH_TLS_ALERT_UNRECOGNIZED_NAME, "tls-alert-unrecognized-name")                                     \
    X(FETCH_TLS_ALERT_CERTIFICATE_REQUIRED, "tls-alert-certificate-required")                               \
    X(FETCH_TLS_ALERT_NO_APPLICATION_PROTOCOL, "tls-alert-no-application-protocol")                         \
    X(FETCH_TLS_ALERT_OTHER, "tls-alert-other")                                                             \
    /* the exchange, up to the first byte */                                                                \
    X(FETCH_REQUEST_TOO_LONG, "request-too-long")                                                           \
    X(FETCH_REQUEST_BAD, "request-bad")                  /* a character that would break the message */     \
    X(FETCH_REUSED_CLOSED, "reused-closed")              /* kept alive, but already over: retry */          \
    X(FETCH_SEND_RESET, "send-reset")                    /* while the request was being sent */             \
    X(FETCH_SEND_FAILED, "send-failed")                  /* any other errno */                              \
    X(FETCH_FIRST_BYTE_TIMEOUT, "first-byte-timeout")                                                       \
    X(FETCH_FIRST_BYTE_RESET, "first-byte-reset")                                                           \
    X(FETCH_FIRST_BYTE_CLOSED, "first-byte-closed")                                                         \
    /* the head */                                                                                          \
    X(FETCH_HEAD_TIMEOUT, "head-timeout")                /* silence inside it */                            \
    X(FETCH_HEAD_RESET, "head-reset")                                                                       \
    X(FETCH_HEAD_TRUNCATED, "head-truncated")            /* end of stream inside it */                      \
    X(FETCH_STATUS_LINE_BAD, "status-line-bad")          /* no response of HTTP/1.x */                      \
    X(FETCH_HEAD_TOO_LONG, "head-too-long")                                                                 \
    X(FETCH_TOO_MANY_FIELDS, "too-many-fields")                                                             \
    X(FETCH_TOO_MANY_INTERIM, "too-many-interim")        /* responses 1xx without end */                    \
    X(FETCH_UPGRADED, "upgraded")                        /* 101 without having asked */                     \
    /* where the body ends cannot be known */                                                               \
    X(FETCH_LENGTH_BAD, "length-bad")                                                                       \
    X(FETCH_LENGTH_CONFLICT, "length-conflict")                                                             \
    X(FETCH_CODING_UNKNOWN, "coding-unknown")                                                               \
    X(FETCH_CHUNK_BAD, "chunk-bad")                                                                         \
    X(FETCH_CHUNK_OVERHEAD, "chunk-overhead")                                                               \
    /* the body */                                                                                          \
    X(FETCH_BODY_TIMEOUT, "body-timeout")                /* silence inside it */                            \
    X(FETCH_BODY_RESET, "body-reset")                                                                       \
    X(FETCH_BODY_TRUNCATED, "body-truncated")            /* end of stream before the promised end */        \
    X(FETCH_BODY_TOO_LONG, "body-too-long")                                                                 \
    X(FETCH_RECEIVE_FAILED, "receive-failed")            /* any other errno */                              \
    /* either side ended it */                                                                              \
    X(FETCH_IDLE_CLOSED, "idle-closed")                  /* no request was open */                          \
    X(FETCH_UNSOLICITED, "unsolicited")                  /* bytes that answer no request */                 \
    X(FETCH_EXCHANGE_TIMEOUT, "exchange-timeout")        /* from the request to the last byte */            \
    X(FETCH_ABORTED, "aborted")                          /* by the owner */                                 \
    /* the body, once whole */                                                                              \
    X(FETCH_DECODE_FAILED, "decode-failed")              /* not in the coding that it claims */             \
    X(FETCH_DECODE_TOO_LONG, "decode-too-long")          /* decodes to more than allowed, or a bomb */      \
    /* never asked for */                                                                                   \
    X(FETCH_ROBOTS_DENIED, "robots-denied")                                                                 \
    X(FETCH_ROBOTS_UNREACHABLE, "robots-unreachable")    /* no robots.txt could be had: all is forbidden */ \
    X(FETCH_ADDRESS_FORBIDDEN, "address-forbidden")      /* out of bounds for this crawl */                 \
    X(FETCH_ADDRESS_FULL, "address-full")                /* as many hosts on one address as allowed */      \
    X(FETCH_HOST_LIMIT, "host-limit")                    /* pages, bytes or time of a host used up */       \
    X(FETCH_REDIRECTS_TOO_MANY, "redirects-too-many")                                                       \
    X(FETCH_FRONTIER_FULL, "frontier-full")              /* no memory for another URL or host */            \
    X(FETCH_SIEVE_FULL, "sieve-full")                                                                       \
    X(FETCH_STOPPED, "stopped")                          /* the crawl ended before its turn came */
/* clang-format on */

enum fetch_outcome {
#define FETCH_OUTCOME_VALUE(value, name) value,
    FETCH_OUTCOMES(FETCH_OUTCOME_VALUE)
#undef FETCH_OUTCOME_VALUE
        FETCH_OUTCOME_COUNT,
};

/* "done", "dns-no-name", ... Static storage. */
const char *outcome_name(enum fetch_outcome outcome);

/* Of an error, not of the absence of one. */
enum fetch_outcome outcome_of_dns(enum dns_error error);
enum fetch_outcome outcome_of_tls(enum tls_error error);
enum fetch_outcome outcome_of_http(enum http_error error);
