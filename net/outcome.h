/* How a fetch ended: one value per cause, set once by the first. The values index the statistics, so that
 * every failure is counted; the names are what users, logs and --json see.
 *
 * A new cause is a new line, beside its relatives: nothing stores the numbers, and nothing may be read out of
 * their order. The causes of the parts below (dns, tls, http) are listed one by one, and outcome.c does not
 * compile without warning when one is forgotten.
 *
 * The columns of the table: the value; its name; Heritrix's code for it in crawl.log, where no status came
 * (-1 the name, -2 the connection, -3 what came over it, -4 time-outs); whom the failure tells something
 * about (enum outcome_class); whether another try may end better (RETRY) or not (FINAL). A body that was cut
 * by time is FINAL: it cost its time already. So is one in TLS without a goodbye, since servers that leave so
 * do it always. */
#pragma once

#include <stdbool.h>

#include "net/dns_answer.h"
#include "net/http_error.h"
#include "net/tls_error.h"

/* clang-format off */
#define FETCH_OUTCOMES(X)                                                                                    \
    X(FETCH_DONE, "done", 0, PAGE, FINAL) /* a whole response, of any status */                              \
    /* the name */                                                                                           \
    X(FETCH_DNS_NO_NAME, "dns-no-name", -1, HOST, RETRY) /* NXDOMAIN */                                      \
    X(FETCH_DNS_NO_DATA, "dns-no-data", -1, HOST, RETRY) /* the name exists, without an address */           \
    X(FETCH_DNS_SERVER_FAILED, "dns-server-failed", -1, NAME_SERVER, RETRY) /* SERVFAIL */                   \
    X(FETCH_DNS_REFUSED, "dns-refused", -1, NAME_SERVER, RETRY) /* by every server asked */                  \
    X(FETCH_DNS_NOT_IMPLEMENTED, "dns-not-implemented", -1, NAME_SERVER, RETRY)                              \
    X(FETCH_DNS_FORMAT, "dns-format", -1, NAME_SERVER, RETRY) /* the question was not understood */          \
    X(FETCH_DNS_ANSWER_BAD, "dns-answer-bad", -1, NAME_SERVER, RETRY) /* no DNS message */                   \
    X(FETCH_DNS_TIMEOUT, "dns-timeout", -1, NAME_SERVER, RETRY)                                              \
    X(FETCH_DNS_UNREACHABLE, "dns-unreachable", -1, NAME_SERVER, RETRY) /* no server could be talked to */   \
    X(FETCH_DNS_NAME_BAD, "dns-name-bad", -1, HOST, FINAL) /* cannot be asked for */                         \
    X(FETCH_DNS_OVERLOADED, "dns-overloaded", -1, OURS, RETRY) /* too many names under way */                \
    X(FETCH_DNS_CANCELLED, "dns-cancelled", -1, OURS, RETRY) /* the resolver was shut down */                \
    X(FETCH_DNS_NO_MEMORY, "dns-no-memory", -1, OURS, RETRY)                                                 \
    X(FETCH_DNS_OTHER, "dns-other", -1, NAME_SERVER, RETRY)                                                  \
    /* the connection */                                                                                     \
    X(FETCH_NO_DESCRIPTOR, "no-descriptor", -2, OURS, RETRY) /* the ring's table is full, or the system's */ \
    X(FETCH_NO_MEMORY, "no-memory", -2, OURS, RETRY)                                                         \
    X(FETCH_CONNECT_REFUSED, "connect-refused", -2, HOST, RETRY)                                             \
    X(FETCH_CONNECT_RESET, "connect-reset", -2, HOST, RETRY)                                                 \
    X(FETCH_CONNECT_UNREACHABLE, "connect-unreachable", -2, HOST, RETRY) /* or forbidden on the way */       \
    X(FETCH_CONNECT_TIMEOUT, "connect-timeout", -2, HOST, RETRY)                                             \
    X(FETCH_CONNECT_NO_PORT, "connect-no-port", -2, OURS, RETRY) /* no local port is left */                 \
    X(FETCH_CONNECT_FAILED, "connect-failed", -2, HOST, RETRY) /* any other errno */                         \
    /* TLS */                                                                                                \
    X(FETCH_TLS_TIMEOUT, "tls-timeout", -2, HOST, RETRY)                                                     \
    X(FETCH_TLS_RESET, "tls-reset", -2, HOST, RETRY) /* inside the handshake */                              \
    X(FETCH_TLS_CLOSED, "tls-closed", -2, HOST, RETRY) /* end of stream inside the handshake */              \
    X(FETCH_TLS_CERT_EXPIRED, "tls-cert-expired", -2, HOST, RETRY)                                           \
    X(FETCH_TLS_CERT_NOT_YET_VALID, "tls-cert-not-yet-valid", -2, HOST, RETRY)                               \
    X(FETCH_TLS_CERT_NAME, "tls-cert-name", -2, HOST, RETRY)                                                 \
    X(FETCH_TLS_CERT_SELF_SIGNED, "tls-cert-self-signed", -2, HOST, RETRY)                                   \
    X(FETCH_TLS_CERT_UNTRUSTED, "tls-cert-untrusted", -2, HOST, RETRY)                                       \
    X(FETCH_TLS_CERT_CHAIN, "tls-cert-chain", -2, HOST, RETRY)                                               \
    X(FETCH_TLS_CERT_SIGNATURE, "tls-cert-signature", -2, HOST, RETRY)                                       \
    X(FETCH_TLS_CERT_KEY, "tls-cert-key", -2, HOST, RETRY)                                                   \
    X(FETCH_TLS_CERT_EXTENSION, "tls-cert-extension", -2, HOST, RETRY)                                       \
    X(FETCH_TLS_CERT_MALFORMED, "tls-cert-malformed", -2, HOST, RETRY)                                       \
    X(FETCH_TLS_PLAIN_TEXT, "tls-plain-text", -2, HOST, RETRY) /* HTTP on a port for TLS */                  \
    X(FETCH_TLS_VERSION, "tls-version", -2, HOST, RETRY)                                                     \
    X(FETCH_TLS_SUITE, "tls-suite", -2, HOST, RETRY)                                                         \
    X(FETCH_TLS_MAC, "tls-mac", -2, HOST, RETRY)                                                             \
    X(FETCH_TLS_SIGNATURE, "tls-signature", -2, HOST, RETRY)                                                 \
    X(FETCH_TLS_RECORD, "tls-record", -2, HOST, RETRY)                                                       \
    X(FETCH_TLS_UNEXPECTED, "tls-unexpected", -2, HOST, RETRY)                                               \
    X(FETCH_TLS_RESUMPTION, "tls-resumption", -2, HOST, RETRY)                                               \
    X(FETCH_TLS_TRUNCATED, "tls-truncated", -3, PAGE, FINAL)                                                 \
    X(FETCH_TLS_NAME_TOO_LONG, "tls-name-too-long", -2, HOST, FINAL)                                         \
    X(FETCH_TLS_ENTROPY, "tls-entropy", -2, OURS, RETRY)                                                     \
    X(FETCH_TLS_INTERNAL, "tls-internal", -2, HOST, RETRY)                                                   \
    X(FETCH_TLS_ALERT_UNEXPECTED_MESSAGE, "tls-alert-unexpected-message", -2, HOST, RETRY)                   \
    X(FETCH_TLS_ALERT_BAD_RECORD_MAC, "tls-alert-bad-record-mac", -2, HOST, RETRY)                           \
    X(FETCH_TLS_ALERT_RECORD_OVERFLOW, "tls-alert-record-overflow", -2, HOST, RETRY)                         \
    X(FETCH_TLS_ALERT_HANDSHAKE_FAILURE, "tls-alert-handshake-failure", -2, HOST, RETRY)                     \
    X(FETCH_TLS_ALERT_BAD_CERTIFICATE, "tls-alert-bad-certificate", -2, HOST, RETRY)                         \
    X(FETCH_TLS_ALERT_UNSUPPORTED_CERTIFICATE, "tls-alert-unsupported-certificate", -2, HOST, RETRY)         \
    X(FETCH_TLS_ALERT_CERTIFICATE_REVOKED, "tls-alert-certificate-revoked", -2, HOST, RETRY)                 \
    X(FETCH_TLS_ALERT_CERTIFICATE_EXPIRED, "tls-alert-certificate-expired", -2, HOST, RETRY)                 \
    X(FETCH_TLS_ALERT_CERTIFICATE_UNKNOWN, "tls-alert-certificate-unknown", -2, HOST, RETRY)                 \
    X(FETCH_TLS_ALERT_ILLEGAL_PARAMETER, "tls-alert-illegal-parameter", -2, HOST, RETRY)                     \
    X(FETCH_TLS_ALERT_UNKNOWN_CA, "tls-alert-unknown-ca", -2, HOST, RETRY)                                   \
    X(FETCH_TLS_ALERT_ACCESS_DENIED, "tls-alert-access-denied", -2, HOST, RETRY)                             \
    X(FETCH_TLS_ALERT_DECODE_ERROR, "tls-alert-decode-error", -2, HOST, RETRY)                               \
    X(FETCH_TLS_ALERT_DECRYPT_ERROR, "tls-alert-decrypt-error", -2, HOST, RETRY)                             \
    X(FETCH_TLS_ALERT_PROTOCOL_VERSION, "tls-alert-protocol-version", -2, HOST, RETRY)                       \
    X(FETCH_TLS_ALERT_INSUFFICIENT_SECURITY, "tls-alert-insufficient-security", -2, HOST, RETRY)             \
    X(FETCH_TLS_ALERT_INTERNAL_ERROR, "tls-alert-internal-error", -2, HOST, RETRY)                           \
    X(FETCH_TLS_ALERT_INAPPROPRIATE_FALLBACK, "tls-alert-inappropriate-fallback", -2, HOST, RETRY)           \
    X(FETCH_TLS_ALERT_USER_CANCELED, "tls-alert-user-canceled", -2, HOST, RETRY)                             \
    X(FETCH_TLS_ALERT_MISSING_EXTENSION, "tls-alert-missing-extension", -2, HOST, RETRY)                     \
    X(FETCH_TLS_ALERT_UNSUPPORTED_EXTENSION, "tls-alert-unsupported-extension", -2, HOST, RETRY)             \
    X(FETCH_TLS_ALERT_UNRECOGNIZED_NAME, "tls-alert-unrecognized-name", -2, HOST, RETRY)                     \
    X(FETCH_TLS_ALERT_CERTIFICATE_REQUIRED, "tls-alert-certificate-required", -2, HOST, RETRY)               \
    X(FETCH_TLS_ALERT_NO_APPLICATION_PROTOCOL, "tls-alert-no-application-protocol", -2, HOST, RETRY)         \
    X(FETCH_TLS_ALERT_OTHER, "tls-alert-other", -2, HOST, RETRY)                                             \
    /* the exchange, up to the first byte */                                                                 \
    X(FETCH_REQUEST_TOO_LONG, "request-too-long", -3, PAGE, FINAL)                                           \
    X(FETCH_REQUEST_BAD, "request-bad", -3, PAGE, FINAL) /* a character that would break the message */      \
    X(FETCH_REUSED_CLOSED, "reused-closed", -3, OURS, RETRY) /* kept alive, but of no use: retry */          \
    X(FETCH_SEND_RESET, "send-reset", -3, HOST, RETRY) /* while the request was being sent */                \
    X(FETCH_SEND_FAILED, "send-failed", -3, OURS, RETRY) /* any other errno */                               \
    X(FETCH_FIRST_BYTE_TIMEOUT, "first-byte-timeout", -4, HOST, RETRY)                                       \
    X(FETCH_FIRST_BYTE_RESET, "first-byte-reset", -3, HOST, RETRY)                                           \
    X(FETCH_FIRST_BYTE_CLOSED, "first-byte-closed", -3, HOST, RETRY)                                         \
    /* the head */                                                                                           \
    X(FETCH_HEAD_TIMEOUT, "head-timeout", -4, PAGE, RETRY) /* silence inside it */                           \
    X(FETCH_HEAD_RESET, "head-reset", -3, PAGE, RETRY)                                                       \
    X(FETCH_HEAD_TRUNCATED, "head-truncated", -3, PAGE, RETRY) /* end of stream inside it */                 \
    X(FETCH_STATUS_LINE_BAD, "status-line-bad", -3, PAGE, RETRY) /* no response of HTTP/1.x */               \
    X(FETCH_HEAD_TOO_LONG, "head-too-long", -3, PAGE, RETRY)                                                 \
    X(FETCH_TOO_MANY_INTERIM, "too-many-interim", -3, PAGE, RETRY) /* responses 1xx without end */           \
    X(FETCH_UPGRADED, "upgraded", -3, PAGE, RETRY) /* 101 without having asked */                            \
    /* where the body ends cannot be known */                                                                \
    X(FETCH_CHUNK_BAD, "chunk-bad", -3, PAGE, RETRY)                                                         \
    X(FETCH_CHUNK_OVERHEAD, "chunk-overhead", -3, PAGE, RETRY)                                               \
    /* the body */                                                                                           \
    X(FETCH_BODY_TIMEOUT, "body-timeout", -4, PAGE, FINAL) /* silence inside it */                           \
    X(FETCH_BODY_RESET, "body-reset", -3, PAGE, RETRY)                                                       \
    X(FETCH_BODY_TRUNCATED, "body-truncated", -3, PAGE, RETRY) /* end of stream before its own */            \
    X(FETCH_BODY_TOO_LONG, "body-too-long", -3, PAGE, FINAL)                                                 \
    X(FETCH_SLOW_TRANSFER, "slow-transfer", -4, HOST, FINAL) /* below the floor */                           \
    X(FETCH_RECEIVE_FAILED, "receive-failed", -3, OURS, RETRY) /* any other errno */                         \
    /* either side ended it */                                                                               \
    X(FETCH_IDLE_CLOSED, "idle-closed", -3, OURS, RETRY) /* no request was open */                           \
    X(FETCH_UNSOLICITED, "unsolicited", -3, HOST, RETRY) /* bytes that answer no request */                  \
    X(FETCH_EXCHANGE_TIMEOUT, "exchange-timeout", -4, HOST, FINAL) /* inside the body */                     \
    X(FETCH_ABORTED, "aborted", -3, OURS, RETRY) /* by the owner */                                          \
    /* the body, once whole */                                                                               \
    X(FETCH_DECODE_FAILED, "decode-failed", -3, PAGE, FINAL) /* not in the coding that it claims */          \
    X(FETCH_DECODE_CUT, "decode-cut", -3, PAGE, FINAL) /* cut or damaged: what could be decoded was read */  \
    X(FETCH_DECODE_TOO_LONG, "decode-too-long", -3, PAGE, FINAL) /* decodes to more than allowed */          \
    /* never asked for */                                                                                    \
    X(FETCH_ROBOTS_DENIED, "robots-denied", -9998, PAGE, FINAL)                                              \
    X(FETCH_ROBOTS_UNREACHABLE, "robots-unreachable", -61, HOST, RETRY) /* so all is forbidden */            \
    X(FETCH_ADDRESS_FORBIDDEN, "address-forbidden", -5001, OURS, FINAL) /* not for this crawl */             \
    X(FETCH_ADDRESS_FULL, "address-full", -5003, OURS, FINAL) /* too many hosts on one address */            \
    X(FETCH_TYPE_UNWANTED, "type-unwanted", -5001, OURS, FINAL) /* its head told: no body was taken */       \
    X(FETCH_HOST_BUSY, "host-busy", -5003, HOST, RETRY) /* 429 or 503, time and again */                     \
    X(FETCH_HOST_LIMIT, "host-limit", -5003, OURS, FINAL) /* pages, bytes or time of a host used up */       \
    X(FETCH_REDIRECTS_TOO_MANY, "redirects-too-many", -4001, PAGE, FINAL)                                    \
    X(FETCH_FRONTIER_FULL, "frontier-full", -60, OURS, FINAL) /* no memory for another URL */                \
    X(FETCH_HOSTS_FULL, "hosts-full", -60, OURS, FINAL) /* no room for another host */                       \
    X(FETCH_HOST_FULL, "host-full", -5003, OURS, FINAL) /* too many URLs of one host wait */                 \
    X(FETCH_DOMAIN_FULL, "domain-full", -5003, OURS, FINAL) /* too many hosts or URLs of one domain */       \
    X(FETCH_SIEVE_FULL, "sieve-full", -60, OURS, FINAL)
/* clang-format on */

/* Whom a failure tells something about. A host whose own failures repeat is given up. */
enum outcome_class {
    OUTCOME_OURS,        /* this machine, or the rules of this crawl */
    OUTCOME_NAME_SERVER, /* whoever answers for the host's name, not the host */
    OUTCOME_HOST,        /* the host as a whole: its other pages would fare alike */
    OUTCOME_PAGE,        /* this URL alone */
};

enum fetch_outcome {
#define FETCH_OUTCOME_VALUE(value, name, code, class, again) value,
    FETCH_OUTCOMES(FETCH_OUTCOME_VALUE)
#undef FETCH_OUTCOME_VALUE
        FETCH_OUTCOME_COUNT,
};

/* "done", "dns-no-name", ... Static storage. */
const char *outcome_name(enum fetch_outcome outcome);
enum outcome_class outcome_class(enum fetch_outcome outcome);
/* Whether asking again cannot change it. */
bool outcome_is_final(enum fetch_outcome outcome);
/* Of an outcome that can come in the middle of a body, of which what came is of use: "length", "time",
 * "disconnect" or "unspecified", the words of WARC-Truncated. NULL: nothing is of use. */
const char *outcome_truncation(enum fetch_outcome outcome);
/* Heritrix's code, below 0; 0 for FETCH_DONE. */
int outcome_log_code(enum fetch_outcome outcome);

/* Of an error, not of the absence of one. */
enum fetch_outcome outcome_of_dns(enum dns_error error);
enum fetch_outcome outcome_of_tls(enum tls_error error);
enum fetch_outcome outcome_of_http(enum http_error error);
