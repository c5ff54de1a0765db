/* How an exchange over a connection ended: one value per cause, set once by the first. The names are what users and --json
 * see.
 *
 * These are the causes that net/ can find. A program above adds its own to them, with the same columns (the crawl:
 * engine/outcome/fetch_outcome.h), and has one table of both. The causes of the parts below (dns, tls, http) are
 * listed one by one, and outcome.c does not compile without warning when one is forgotten.
 *
 * The columns of the table:
 *
 *   value    without its prefix: OUTCOME_ here, another one in a table above
 *   number   of the value. Journals of crawls keep it, so it never changes and is never given to another cause. A new
 *            cause is a new line beside its relatives, with a number that neither table has
 *   name
 *   code     Heritrix's, for crawl.log where no status came: -1 the name, -2 the connection, -3 what came over it, -4
 *            time-outs
 *   class    whom the failure tells something about: OURS, this machine or the rules of this crawl; NAME_SERVER, whoever
 *            answers for the host's name; HOST, the host as a whole, whose other pages would fare alike; PAGE, this URL
 *   again    whether another try may end better: RETRY or FINAL. A body that was cut by time is FINAL: it has cost its
 *            time already. So is one in TLS without a goodbye, since servers that leave so do it always */
#pragma once

#include "net/dns_answer.h"
#include "net/http_error.h"
#include "net/tls_error.h"

/* clang-format off */
#define OUTCOMES(X)                                                                                        \
    X(DONE, 0, "done", 0, PAGE, FINAL) /* a whole response, of any status */                               \
    /* the name */                                                                                         \
    X(DNS_NO_NAME, 1, "dns-no-name", -1, HOST, RETRY) /* NXDOMAIN */                                       \
    X(DNS_NO_DATA, 2, "dns-no-data", -1, HOST, RETRY) /* the name exists, without an address */            \
    X(DNS_SERVER_FAILED, 3, "dns-server-failed", -1, NAME_SERVER, RETRY) /* SERVFAIL */                    \
    X(DNS_REFUSED, 4, "dns-refused", -1, NAME_SERVER, RETRY) /* by every server asked */                   \
    X(DNS_NOT_IMPLEMENTED, 5, "dns-not-implemented", -1, NAME_SERVER, RETRY)                               \
    X(DNS_FORMAT, 6, "dns-format", -1, NAME_SERVER, RETRY) /* the question was not understood */           \
    X(DNS_ANSWER_BAD, 7, "dns-answer-bad", -1, NAME_SERVER, RETRY) /* no DNS message */                    \
    X(DNS_TIMEOUT, 8, "dns-timeout", -1, NAME_SERVER, RETRY)                                               \
    X(DNS_UNREACHABLE, 9, "dns-unreachable", -1, NAME_SERVER, RETRY) /* no server could be talked to */    \
    X(DNS_NAME_BAD, 10, "dns-name-bad", -1, HOST, FINAL) /* cannot be asked for */                         \
    X(DNS_OVERLOADED, 11, "dns-overloaded", -1, OURS, RETRY) /* too many names under way */                \
    X(DNS_CANCELLED, 12, "dns-cancelled", -1, OURS, RETRY) /* the resolver was shut down */                \
    X(DNS_NO_MEMORY, 13, "dns-no-memory", -1, OURS, RETRY)                                                 \
    X(DNS_OTHER, 14, "dns-other", -1, NAME_SERVER, RETRY)                                                  \
    /* the connection */                                                                                   \
    X(NO_DESCRIPTOR, 15, "no-descriptor", -2, OURS, RETRY) /* the ring's table is full, or the system's */ \
    X(NO_MEMORY, 16, "no-memory", -2, OURS, RETRY)                                                         \
    X(CONNECT_REFUSED, 17, "connect-refused", -2, HOST, RETRY)                                             \
    X(CONNECT_RESET, 18, "connect-reset", -2, HOST, RETRY)                                                 \
    X(CONNECT_UNREACHABLE, 19, "connect-unreachable", -2, HOST, RETRY) /* or forbidden on the way */       \
    X(CONNECT_TIMEOUT, 20, "connect-timeout", -2, HOST, RETRY)                                             \
    X(CONNECT_NO_PORT, 21, "connect-no-port", -2, OURS, RETRY) /* no local port is left */                 \
    X(CONNECT_FAILED, 22, "connect-failed", -2, HOST, RETRY) /* any other errno */                         \
    /* TLS */                                                                                              \
    X(TLS_TIMEOUT, 23, "tls-timeout", -2, HOST, RETRY)                                                     \
    X(TLS_RESET, 24, "tls-reset", -2, HOST, RETRY) /* inside the handshake */                              \
    X(TLS_CLOSED, 25, "tls-closed", -2, HOST, RETRY) /* end of stream inside the handshake */              \
    X(TLS_CERT_EXPIRED, 26, "tls-cert-expired", -2, HOST, RETRY)                                           \
    X(TLS_CERT_NOT_YET_VALID, 27, "tls-cert-not-yet-valid", -2, HOST, RETRY)                               \
    X(TLS_CERT_NAME, 28, "tls-cert-name", -2, HOST, RETRY)                                                 \
    X(TLS_CERT_SELF_SIGNED, 29, "tls-cert-self-signed", -2, HOST, RETRY)                                   \
    X(TLS_CERT_UNTRUSTED, 30, "tls-cert-untrusted", -2, HOST, RETRY)                                       \
    X(TLS_CERT_CHAIN, 31, "tls-cert-chain", -2, HOST, RETRY)                                               \
    X(TLS_CERT_SIGNATURE, 32, "tls-cert-signature", -2, HOST, RETRY)                                       \
    X(TLS_CERT_KEY, 33, "tls-cert-key", -2, HOST, RETRY)                                                   \
    X(TLS_CERT_EXTENSION, 34, "tls-cert-extension", -2, HOST, RETRY)                                       \
    X(TLS_CERT_MALFORMED, 35, "tls-cert-malformed", -2, HOST, RETRY)                                       \
    X(TLS_PLAIN_TEXT, 36, "tls-plain-text", -2, HOST, RETRY) /* HTTP on a port for TLS */                  \
    X(TLS_VERSION, 37, "tls-version", -2, HOST, RETRY)                                                     \
    X(TLS_SUITE, 38, "tls-suite", -2, HOST, RETRY)                                                         \
    X(TLS_MAC, 39, "tls-mac", -2, HOST, RETRY)                                                             \
    X(TLS_SIGNATURE, 40, "tls-signature", -2, HOST, RETRY)                                                 \
    X(TLS_RECORD, 41, "tls-record", -2, HOST, RETRY)                                                       \
    X(TLS_UNEXPECTED, 42, "tls-unexpected", -2, HOST, RETRY)                                               \
    X(TLS_RESUMPTION, 43, "tls-resumption", -2, HOST, RETRY)                                               \
    X(TLS_TRUNCATED, 44, "tls-truncated", -3, PAGE, FINAL)                                                 \
    X(TLS_NAME_TOO_LONG, 45, "tls-name-too-long", -2, HOST, FINAL)                                         \
    X(TLS_ENTROPY, 46, "tls-entropy", -2, OURS, RETRY)                                                     \
    X(TLS_INTERNAL, 47, "tls-internal", -2, HOST, RETRY)                                                   \
    X(TLS_ALERT_UNEXPECTED_MESSAGE, 48, "tls-alert-unexpected-message", -2, HOST, RETRY)                   \
    X(TLS_ALERT_BAD_RECORD_MAC, 49, "tls-alert-bad-record-mac", -2, HOST, RETRY)                           \
    X(TLS_ALERT_RECORD_OVERFLOW, 50, "tls-alert-record-overflow", -2, HOST, RETRY)                         \
    X(TLS_ALERT_HANDSHAKE_FAILURE, 51, "tls-alert-handshake-failure", -2, HOST, RETRY)                     \
    X(TLS_ALERT_BAD_CERTIFICATE, 52, "tls-alert-bad-certificate", -2, HOST, RETRY)                         \
    X(TLS_ALERT_UNSUPPORTED_CERTIFICATE, 53, "tls-alert-unsupported-certificate", -2, HOST, RETRY)         \
    X(TLS_ALERT_CERTIFICATE_REVOKED, 54, "tls-alert-certificate-revoked", -2, HOST, RETRY)                 \
    X(TLS_ALERT_CERTIFICATE_EXPIRED, 55, "tls-alert-certificate-expired", -2, HOST, RETRY)                 \
    X(TLS_ALERT_CERTIFICATE_UNKNOWN, 56, "tls-alert-certificate-unknown", -2, HOST, RETRY)                 \
    X(TLS_ALERT_ILLEGAL_PARAMETER, 57, "tls-alert-illegal-parameter", -2, HOST, RETRY)                     \
    X(TLS_ALERT_UNKNOWN_CA, 58, "tls-alert-unknown-ca", -2, HOST, RETRY)                                   \
    X(TLS_ALERT_ACCESS_DENIED, 59, "tls-alert-access-denied", -2, HOST, RETRY)                             \
    X(TLS_ALERT_DECODE_ERROR, 60, "tls-alert-decode-error", -2, HOST, RETRY)                               \
    X(TLS_ALERT_DECRYPT_ERROR, 61, "tls-alert-decrypt-error", -2, HOST, RETRY)                             \
    X(TLS_ALERT_PROTOCOL_VERSION, 62, "tls-alert-protocol-version", -2, HOST, RETRY)                       \
    X(TLS_ALERT_INSUFFICIENT_SECURITY, 63, "tls-alert-insufficient-security", -2, HOST, RETRY)             \
    X(TLS_ALERT_INTERNAL_ERROR, 64, "tls-alert-internal-error", -2, HOST, RETRY)                           \
    X(TLS_ALERT_INAPPROPRIATE_FALLBACK, 65, "tls-alert-inappropriate-fallback", -2, HOST, RETRY)           \
    X(TLS_ALERT_USER_CANCELED, 66, "tls-alert-user-canceled", -2, HOST, RETRY)                             \
    X(TLS_ALERT_MISSING_EXTENSION, 67, "tls-alert-missing-extension", -2, HOST, RETRY)                     \
    X(TLS_ALERT_UNSUPPORTED_EXTENSION, 68, "tls-alert-unsupported-extension", -2, HOST, RETRY)             \
    X(TLS_ALERT_UNRECOGNIZED_NAME, 69, "tls-alert-unrecognized-name", -2, HOST, RETRY)                     \
    X(TLS_ALERT_CERTIFICATE_REQUIRED, 70, "tls-alert-certificate-required", -2, HOST, RETRY)               \
    X(TLS_ALERT_NO_APPLICATION_PROTOCOL, 71, "tls-alert-no-application-protocol", -2, HOST, RETRY)         \
    X(TLS_ALERT_OTHER, 72, "tls-alert-other", -2, HOST, RETRY)                                             \
    /* the exchange, up to the first byte */                                                               \
    X(REQUEST_TOO_LONG, 73, "request-too-long", -3, PAGE, FINAL)                                           \
    X(REQUEST_BAD, 74, "request-bad", -3, PAGE, FINAL) /* a character that would break the message */      \
    X(REUSED_CLOSED, 75, "reused-closed", -3, OURS, RETRY) /* kept alive, but of no use: retry */          \
    X(SEND_RESET, 76, "send-reset", -3, HOST, RETRY) /* while the request was being sent */                \
    X(SEND_FAILED, 77, "send-failed", -3, OURS, RETRY) /* any other errno */                               \
    X(FIRST_BYTE_TIMEOUT, 78, "first-byte-timeout", -4, HOST, RETRY)                                       \
    X(FIRST_BYTE_RESET, 79, "first-byte-reset", -3, HOST, RETRY)                                           \
    X(FIRST_BYTE_CLOSED, 80, "first-byte-closed", -3, HOST, RETRY)                                         \
    /* the head */                                                                                         \
    X(HEAD_TIMEOUT, 81, "head-timeout", -4, PAGE, RETRY) /* silence inside it */                           \
    X(HEAD_RESET, 82, "head-reset", -3, PAGE, RETRY)                                                       \
    X(HEAD_TRUNCATED, 83, "head-truncated", -3, PAGE, RETRY) /* end of stream inside it */                 \
    X(STATUS_LINE_BAD, 84, "status-line-bad", -3, PAGE, RETRY) /* no response of HTTP/1.x */               \
    X(HEAD_TOO_LONG, 85, "head-too-long", -3, PAGE, RETRY)                                                 \
    X(TOO_MANY_INTERIM, 86, "too-many-interim", -3, PAGE, RETRY) /* responses 1xx without end */           \
    X(UPGRADED, 87, "upgraded", -3, PAGE, RETRY) /* 101 without having asked */                            \
    /* where the body ends cannot be known */                                                              \
    X(CHUNK_BAD, 88, "chunk-bad", -3, PAGE, RETRY)                                                         \
    X(CHUNK_OVERHEAD, 89, "chunk-overhead", -3, PAGE, RETRY)                                               \
    /* the body */                                                                                         \
    X(BODY_TIMEOUT, 90, "body-timeout", -4, PAGE, FINAL) /* silence inside it */                           \
    X(BODY_RESET, 91, "body-reset", -3, PAGE, RETRY)                                                       \
    X(BODY_TRUNCATED, 92, "body-truncated", -3, PAGE, RETRY) /* end of stream before its own */            \
    X(BODY_TOO_LONG, 93, "body-too-long", -3, PAGE, FINAL)                                                 \
    X(SLOW_TRANSFER, 94, "slow-transfer", -4, HOST, FINAL) /* below the floor */                           \
    X(RECEIVE_FAILED, 95, "receive-failed", -3, OURS, RETRY) /* any other errno */                         \
    /* either side ended it */                                                                             \
    X(IDLE_CLOSED, 96, "idle-closed", -3, OURS, RETRY) /* no request was open */                           \
    X(UNSOLICITED, 97, "unsolicited", -3, HOST, RETRY) /* bytes that answer no request */                  \
    X(EXCHANGE_TIMEOUT, 98, "exchange-timeout", -4, HOST, FINAL) /* inside the body */                     \
    X(ABORTED, 99, "aborted", -3, OURS, RETRY) /* by the owner */                                          \
    /* never asked for */                                                                                  \
    X(ADDRESS_FORBIDDEN, 105, "address-forbidden", -5001, OURS, FINAL) /* not for this crawl */
/* clang-format on */

/* Its size is one more than the highest number: a union is as large as its largest member. */
union outcome_numbers {
#define OUTCOME_MEMBER(value, number, name, code, class, again) char value[(number) + 1];
    OUTCOMES(OUTCOME_MEMBER)
#undef OUTCOME_MEMBER
};

enum outcome {
#define OUTCOME_VALUE(value, number, name, code, class, again) OUTCOME_##value = (number),
    OUTCOMES(OUTCOME_VALUE)
#undef OUTCOME_VALUE
        OUTCOME_COUNT = sizeof(union outcome_numbers), /* for arrays */
};

/* "done", "dns-no-name", ... Static storage. */
const char *outcome_name(enum outcome outcome);

/* The outcome that stands for an error. Not for a value that means no error. */
enum outcome outcome_of_dns(enum dns_error error);
enum outcome outcome_of_tls(enum tls_error error);
enum outcome outcome_of_http(enum http_error error);
