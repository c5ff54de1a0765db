#include "net/outcome.h"

#include <assert.h>
#include <stdint.h>

struct row {
    const char *name;
    int16_t code;
    uint8_t class; /* enum outcome_class */
    bool is_final;
};

enum again { RETRY, FINAL };

static const struct row rows[FETCH_OUTCOME_COUNT] = {
#define FETCH_OUTCOME_ROW(value, name, code, class, again)                                                   \
    [value] = {name, code, OUTCOME_##class, again == FINAL},
    FETCH_OUTCOMES(FETCH_OUTCOME_ROW)
#undef FETCH_OUTCOME_ROW
};

static const struct row *row_of(enum fetch_outcome outcome)
{
    assert(outcome < FETCH_OUTCOME_COUNT);
    return &rows[outcome];
}

const char *outcome_name(enum fetch_outcome outcome)
{
    return row_of(outcome)->name;
}

enum outcome_class outcome_class(enum fetch_outcome outcome)
{
    return (enum outcome_class)row_of(outcome)->class;
}

bool outcome_is_final(enum fetch_outcome outcome)
{
    return row_of(outcome)->is_final;
}

const char *outcome_truncation(enum fetch_outcome outcome)
{
    static const char *const words[FETCH_OUTCOME_COUNT] = {
        [FETCH_BODY_TOO_LONG] = "length",       [FETCH_BODY_TIMEOUT] = "time",
        [FETCH_EXCHANGE_TIMEOUT] = "time",      [FETCH_BODY_RESET] = "disconnect",
        [FETCH_BODY_TRUNCATED] = "disconnect",  [FETCH_TLS_TRUNCATED] = "disconnect",
        [FETCH_SLOW_TRANSFER] = "time",         [FETCH_CHUNK_BAD] = "unspecified",
        [FETCH_CHUNK_OVERHEAD] = "unspecified",
    };
    assert(outcome < FETCH_OUTCOME_COUNT);
    return words[outcome];
}

int outcome_log_code(enum fetch_outcome outcome)
{
    return row_of(outcome)->code;
}

enum fetch_outcome outcome_of_dns(enum dns_error error)
{
    switch (error) {
    case DNS_ERROR_NO_NAME:
        return FETCH_DNS_NO_NAME;
    case DNS_ERROR_NO_DATA:
        return FETCH_DNS_NO_DATA;
    case DNS_ERROR_SERVER_FAILED:
        return FETCH_DNS_SERVER_FAILED;
    case DNS_ERROR_REFUSED:
        return FETCH_DNS_REFUSED;
    case DNS_ERROR_NOT_IMPLEMENTED:
        return FETCH_DNS_NOT_IMPLEMENTED;
    case DNS_ERROR_FORMAT:
        return FETCH_DNS_FORMAT;
    case DNS_ERROR_ANSWER_BAD:
        return FETCH_DNS_ANSWER_BAD;
    case DNS_ERROR_TIMEOUT:
        return FETCH_DNS_TIMEOUT;
    case DNS_ERROR_UNREACHABLE:
        return FETCH_DNS_UNREACHABLE;
    case DNS_ERROR_NAME_BAD:
        return FETCH_DNS_NAME_BAD;
    case DNS_ERROR_OVERLOADED:
        return FETCH_DNS_OVERLOADED;
    case DNS_ERROR_CANCELLED:
        return FETCH_DNS_CANCELLED;
    case DNS_ERROR_NO_MEMORY:
        return FETCH_DNS_NO_MEMORY;
    case DNS_ERROR_OTHER:
        return FETCH_DNS_OTHER;
    case DNS_OK:
    case DNS_ERROR_COUNT:
        break;
    }
    assert(!"an error");
    return FETCH_DONE;
}

enum fetch_outcome outcome_of_tls(enum tls_error error)
{
    switch (error) {
    case TLS_ERROR_CERT_EXPIRED:
        return FETCH_TLS_CERT_EXPIRED;
    case TLS_ERROR_CERT_NOT_YET_VALID:
        return FETCH_TLS_CERT_NOT_YET_VALID;
    case TLS_ERROR_CERT_NAME:
        return FETCH_TLS_CERT_NAME;
    case TLS_ERROR_CERT_SELF_SIGNED:
        return FETCH_TLS_CERT_SELF_SIGNED;
    case TLS_ERROR_CERT_UNTRUSTED:
        return FETCH_TLS_CERT_UNTRUSTED;
    case TLS_ERROR_CERT_CHAIN:
        return FETCH_TLS_CERT_CHAIN;
    case TLS_ERROR_CERT_SIGNATURE:
        return FETCH_TLS_CERT_SIGNATURE;
    case TLS_ERROR_CERT_KEY:
        return FETCH_TLS_CERT_KEY;
    case TLS_ERROR_CERT_EXTENSION:
        return FETCH_TLS_CERT_EXTENSION;
    case TLS_ERROR_CERT_MALFORMED:
        return FETCH_TLS_CERT_MALFORMED;
    case TLS_ERROR_PLAIN_TEXT:
        return FETCH_TLS_PLAIN_TEXT;
    case TLS_ERROR_VERSION:
        return FETCH_TLS_VERSION;
    case TLS_ERROR_SUITE:
        return FETCH_TLS_SUITE;
    case TLS_ERROR_MAC:
        return FETCH_TLS_MAC;
    case TLS_ERROR_SIGNATURE:
        return FETCH_TLS_SIGNATURE;
    case TLS_ERROR_RECORD:
        return FETCH_TLS_RECORD;
    case TLS_ERROR_UNEXPECTED:
        return FETCH_TLS_UNEXPECTED;
    case TLS_ERROR_RESUMPTION:
        return FETCH_TLS_RESUMPTION;
    case TLS_ERROR_TRUNCATED:
        return FETCH_TLS_TRUNCATED;
    case TLS_ERROR_NAME_TOO_LONG:
        return FETCH_TLS_NAME_TOO_LONG;
    case TLS_ERROR_ENTROPY:
        return FETCH_TLS_ENTROPY;
    case TLS_ERROR_INTERNAL:
        return FETCH_TLS_INTERNAL;
    case TLS_ALERT_UNEXPECTED_MESSAGE:
        return FETCH_TLS_ALERT_UNEXPECTED_MESSAGE;
    case TLS_ALERT_BAD_RECORD_MAC:
        return FETCH_TLS_ALERT_BAD_RECORD_MAC;
    case TLS_ALERT_RECORD_OVERFLOW:
        return FETCH_TLS_ALERT_RECORD_OVERFLOW;
    case TLS_ALERT_HANDSHAKE_FAILURE:
        return FETCH_TLS_ALERT_HANDSHAKE_FAILURE;
    case TLS_ALERT_BAD_CERTIFICATE:
        return FETCH_TLS_ALERT_BAD_CERTIFICATE;
    case TLS_ALERT_UNSUPPORTED_CERTIFICATE:
        return FETCH_TLS_ALERT_UNSUPPORTED_CERTIFICATE;
    case TLS_ALERT_CERTIFICATE_REVOKED:
        return FETCH_TLS_ALERT_CERTIFICATE_REVOKED;
    case TLS_ALERT_CERTIFICATE_EXPIRED:
        return FETCH_TLS_ALERT_CERTIFICATE_EXPIRED;
    case TLS_ALERT_CERTIFICATE_UNKNOWN:
        return FETCH_TLS_ALERT_CERTIFICATE_UNKNOWN;
    case TLS_ALERT_ILLEGAL_PARAMETER:
        return FETCH_TLS_ALERT_ILLEGAL_PARAMETER;
    case TLS_ALERT_UNKNOWN_CA:
        return FETCH_TLS_ALERT_UNKNOWN_CA;
    case TLS_ALERT_ACCESS_DENIED:
        return FETCH_TLS_ALERT_ACCESS_DENIED;
    case TLS_ALERT_DECODE_ERROR:
        return FETCH_TLS_ALERT_DECODE_ERROR;
    case TLS_ALERT_DECRYPT_ERROR:
        return FETCH_TLS_ALERT_DECRYPT_ERROR;
    case TLS_ALERT_PROTOCOL_VERSION:
        return FETCH_TLS_ALERT_PROTOCOL_VERSION;
    case TLS_ALERT_INSUFFICIENT_SECURITY:
        return FETCH_TLS_ALERT_INSUFFICIENT_SECURITY;
    case TLS_ALERT_INTERNAL_ERROR:
        return FETCH_TLS_ALERT_INTERNAL_ERROR;
    case TLS_ALERT_INAPPROPRIATE_FALLBACK:
        return FETCH_TLS_ALERT_INAPPROPRIATE_FALLBACK;
    case TLS_ALERT_USER_CANCELED:
        return FETCH_TLS_ALERT_USER_CANCELED;
    case TLS_ALERT_MISSING_EXTENSION:
        return FETCH_TLS_ALERT_MISSING_EXTENSION;
    case TLS_ALERT_UNSUPPORTED_EXTENSION:
        return FETCH_TLS_ALERT_UNSUPPORTED_EXTENSION;
    case TLS_ALERT_UNRECOGNIZED_NAME:
        return FETCH_TLS_ALERT_UNRECOGNIZED_NAME;
    case TLS_ALERT_CERTIFICATE_REQUIRED:
        return FETCH_TLS_ALERT_CERTIFICATE_REQUIRED;
    case TLS_ALERT_NO_APPLICATION_PROTOCOL:
        return FETCH_TLS_ALERT_NO_APPLICATION_PROTOCOL;
    case TLS_ALERT_OTHER:
        return FETCH_TLS_ALERT_OTHER;
    case TLS_OK:
    case TLS_ERROR_COUNT:
        break;
    }
    assert(!"an error");
    return FETCH_DONE;
}

enum fetch_outcome outcome_of_http(enum http_error error)
{
    switch (error) {
    case HTTP_ERROR_REQUEST_TOO_LONG:
        return FETCH_REQUEST_TOO_LONG;
    case HTTP_ERROR_REQUEST_BAD:
        return FETCH_REQUEST_BAD;
    case HTTP_ERROR_CLOSED_EARLY:
        return FETCH_FIRST_BYTE_CLOSED;
    case HTTP_ERROR_HEAD_TRUNCATED:
        return FETCH_HEAD_TRUNCATED;
    case HTTP_ERROR_STATUS_LINE_BAD:
        return FETCH_STATUS_LINE_BAD;
    case HTTP_ERROR_HEAD_TOO_LONG:
        return FETCH_HEAD_TOO_LONG;
    case HTTP_ERROR_TOO_MANY_INTERIM:
        return FETCH_TOO_MANY_INTERIM;
    case HTTP_ERROR_UPGRADED:
        return FETCH_UPGRADED;
    case HTTP_ERROR_CHUNK_BAD:
        return FETCH_CHUNK_BAD;
    case HTTP_ERROR_CHUNK_OVERHEAD:
        return FETCH_CHUNK_OVERHEAD;
    case HTTP_ERROR_BODY_TRUNCATED:
        return FETCH_BODY_TRUNCATED;
    case HTTP_ERROR_BODY_TOO_LONG:
        return FETCH_BODY_TOO_LONG;
    case HTTP_ERROR_NO_MEMORY:
        return FETCH_NO_MEMORY;
    case HTTP_OK:
    case HTTP_ERROR_COUNT:
        break;
    }
    assert(!"an error");
    return FETCH_DONE;
}
