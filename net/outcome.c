#include "net/outcome.h"

#include <assert.h>
#include <stddef.h>

const char *outcome_name(enum outcome outcome)
{
    static const char *const names[OUTCOME_COUNT] = {
#define OUTCOME_NAME(value, number, name, code, class, again) [OUTCOME_##value] = (name),
        OUTCOMES(OUTCOME_NAME)
#undef OUTCOME_NAME
    };
    assert(outcome < OUTCOME_COUNT && names[outcome] != NULL);
    return names[outcome];
}

enum outcome outcome_of_dns(enum dns_error error)
{
    switch (error) {
    case DNS_ERROR_NO_NAME:
        return OUTCOME_DNS_NO_NAME;
    case DNS_ERROR_NO_DATA:
        return OUTCOME_DNS_NO_DATA;
    case DNS_ERROR_SERVER_FAILED:
        return OUTCOME_DNS_SERVER_FAILED;
    case DNS_ERROR_REFUSED:
        return OUTCOME_DNS_REFUSED;
    case DNS_ERROR_NOT_IMPLEMENTED:
        return OUTCOME_DNS_NOT_IMPLEMENTED;
    case DNS_ERROR_FORMAT:
        return OUTCOME_DNS_FORMAT;
    case DNS_ERROR_ANSWER_BAD:
        return OUTCOME_DNS_ANSWER_BAD;
    case DNS_ERROR_TIMEOUT:
        return OUTCOME_DNS_TIMEOUT;
    case DNS_ERROR_UNREACHABLE:
        return OUTCOME_DNS_UNREACHABLE;
    case DNS_ERROR_NAME_BAD:
        return OUTCOME_DNS_NAME_BAD;
    case DNS_ERROR_OVERLOADED:
        return OUTCOME_DNS_OVERLOADED;
    case DNS_ERROR_CANCELLED:
        return OUTCOME_DNS_CANCELLED;
    case DNS_ERROR_NO_MEMORY:
        return OUTCOME_DNS_NO_MEMORY;
    case DNS_ERROR_OTHER:
        return OUTCOME_DNS_OTHER;
    case DNS_OK:
    case DNS_ERROR_COUNT:
        break;
    }
    assert(!"an error");
    return OUTCOME_DONE;
}

enum outcome outcome_of_tls(enum tls_error error)
{
    switch (error) {
    case TLS_ERROR_CERT_EXPIRED:
        return OUTCOME_TLS_CERT_EXPIRED;
    case TLS_ERROR_CERT_NOT_YET_VALID:
        return OUTCOME_TLS_CERT_NOT_YET_VALID;
    case TLS_ERROR_CERT_NAME:
        return OUTCOME_TLS_CERT_NAME;
    case TLS_ERROR_CERT_SELF_SIGNED:
        return OUTCOME_TLS_CERT_SELF_SIGNED;
    case TLS_ERROR_CERT_UNTRUSTED:
        return OUTCOME_TLS_CERT_UNTRUSTED;
    case TLS_ERROR_CERT_CHAIN:
        return OUTCOME_TLS_CERT_CHAIN;
    case TLS_ERROR_CERT_SIGNATURE:
        return OUTCOME_TLS_CERT_SIGNATURE;
    case TLS_ERROR_CERT_KEY:
        return OUTCOME_TLS_CERT_KEY;
    case TLS_ERROR_CERT_EXTENSION:
        return OUTCOME_TLS_CERT_EXTENSION;
    case TLS_ERROR_CERT_MALFORMED:
        return OUTCOME_TLS_CERT_MALFORMED;
    case TLS_ERROR_PLAIN_TEXT:
        return OUTCOME_TLS_PLAIN_TEXT;
    case TLS_ERROR_VERSION:
        return OUTCOME_TLS_VERSION;
    case TLS_ERROR_SUITE:
        return OUTCOME_TLS_SUITE;
    case TLS_ERROR_MAC:
        return OUTCOME_TLS_MAC;
    case TLS_ERROR_SIGNATURE:
        return OUTCOME_TLS_SIGNATURE;
    case TLS_ERROR_RECORD:
        return OUTCOME_TLS_RECORD;
    case TLS_ERROR_UNEXPECTED:
        return OUTCOME_TLS_UNEXPECTED;
    case TLS_ERROR_RESUMPTION:
        return OUTCOME_TLS_RESUMPTION;
    case TLS_ERROR_TRUNCATED:
        return OUTCOME_TLS_TRUNCATED;
    case TLS_ERROR_NAME_TOO_LONG:
        return OUTCOME_TLS_NAME_TOO_LONG;
    case TLS_ERROR_ENTROPY:
        return OUTCOME_TLS_ENTROPY;
    case TLS_ERROR_INTERNAL:
        return OUTCOME_TLS_INTERNAL;
    case TLS_ALERT_UNEXPECTED_MESSAGE:
        return OUTCOME_TLS_ALERT_UNEXPECTED_MESSAGE;
    case TLS_ALERT_BAD_RECORD_MAC:
        return OUTCOME_TLS_ALERT_BAD_RECORD_MAC;
    case TLS_ALERT_RECORD_OVERFLOW:
        return OUTCOME_TLS_ALERT_RECORD_OVERFLOW;
    case TLS_ALERT_HANDSHAKE_FAILURE:
        return OUTCOME_TLS_ALERT_HANDSHAKE_FAILURE;
    case TLS_ALERT_BAD_CERTIFICATE:
        return OUTCOME_TLS_ALERT_BAD_CERTIFICATE;
    case TLS_ALERT_UNSUPPORTED_CERTIFICATE:
        return OUTCOME_TLS_ALERT_UNSUPPORTED_CERTIFICATE;
    case TLS_ALERT_CERTIFICATE_REVOKED:
        return OUTCOME_TLS_ALERT_CERTIFICATE_REVOKED;
    case TLS_ALERT_CERTIFICATE_EXPIRED:
        return OUTCOME_TLS_ALERT_CERTIFICATE_EXPIRED;
    case TLS_ALERT_CERTIFICATE_UNKNOWN:
        return OUTCOME_TLS_ALERT_CERTIFICATE_UNKNOWN;
    case TLS_ALERT_ILLEGAL_PARAMETER:
        return OUTCOME_TLS_ALERT_ILLEGAL_PARAMETER;
    case TLS_ALERT_UNKNOWN_CA:
        return OUTCOME_TLS_ALERT_UNKNOWN_CA;
    case TLS_ALERT_ACCESS_DENIED:
        return OUTCOME_TLS_ALERT_ACCESS_DENIED;
    case TLS_ALERT_DECODE_ERROR:
        return OUTCOME_TLS_ALERT_DECODE_ERROR;
    case TLS_ALERT_DECRYPT_ERROR:
        return OUTCOME_TLS_ALERT_DECRYPT_ERROR;
    case TLS_ALERT_PROTOCOL_VERSION:
        return OUTCOME_TLS_ALERT_PROTOCOL_VERSION;
    case TLS_ALERT_INSUFFICIENT_SECURITY:
        return OUTCOME_TLS_ALERT_INSUFFICIENT_SECURITY;
    case TLS_ALERT_INTERNAL_ERROR:
        return OUTCOME_TLS_ALERT_INTERNAL_ERROR;
    case TLS_ALERT_INAPPROPRIATE_FALLBACK:
        return OUTCOME_TLS_ALERT_INAPPROPRIATE_FALLBACK;
    case TLS_ALERT_USER_CANCELED:
        return OUTCOME_TLS_ALERT_USER_CANCELED;
    case TLS_ALERT_MISSING_EXTENSION:
        return OUTCOME_TLS_ALERT_MISSING_EXTENSION;
    case TLS_ALERT_UNSUPPORTED_EXTENSION:
        return OUTCOME_TLS_ALERT_UNSUPPORTED_EXTENSION;
    case TLS_ALERT_UNRECOGNIZED_NAME:
        return OUTCOME_TLS_ALERT_UNRECOGNIZED_NAME;
    case TLS_ALERT_CERTIFICATE_REQUIRED:
        return OUTCOME_TLS_ALERT_CERTIFICATE_REQUIRED;
    case TLS_ALERT_NO_APPLICATION_PROTOCOL:
        return OUTCOME_TLS_ALERT_NO_APPLICATION_PROTOCOL;
    case TLS_ALERT_OTHER:
        return OUTCOME_TLS_ALERT_OTHER;
    case TLS_OK:
    case TLS_ERROR_COUNT:
        break;
    }
    assert(!"an error");
    return OUTCOME_DONE;
}

enum outcome outcome_of_http(enum http_error error)
{
    switch (error) {
    case HTTP_ERROR_REQUEST_TOO_LONG:
        return OUTCOME_REQUEST_TOO_LONG;
    case HTTP_ERROR_REQUEST_BAD:
        return OUTCOME_REQUEST_BAD;
    case HTTP_ERROR_CLOSED_EARLY:
        return OUTCOME_FIRST_BYTE_CLOSED;
    case HTTP_ERROR_HEAD_TRUNCATED:
        return OUTCOME_HEAD_TRUNCATED;
    case HTTP_ERROR_STATUS_LINE_BAD:
        return OUTCOME_STATUS_LINE_BAD;
    case HTTP_ERROR_HEAD_TOO_LONG:
        return OUTCOME_HEAD_TOO_LONG;
    case HTTP_ERROR_TOO_MANY_INTERIM:
        return OUTCOME_TOO_MANY_INTERIM;
    case HTTP_ERROR_UPGRADED:
        return OUTCOME_UPGRADED;
    case HTTP_ERROR_CHUNK_BAD:
        return OUTCOME_CHUNK_BAD;
    case HTTP_ERROR_CHUNK_OVERHEAD:
        return OUTCOME_CHUNK_OVERHEAD;
    case HTTP_ERROR_BODY_TRUNCATED:
        return OUTCOME_BODY_TRUNCATED;
    case HTTP_ERROR_BODY_TOO_LONG:
        return OUTCOME_BODY_TOO_LONG;
    case HTTP_ERROR_NO_MEMORY:
        return OUTCOME_NO_MEMORY;
    case HTTP_OK:
    case HTTP_ERROR_COUNT:
        break;
    }
    assert(!"an error");
    return OUTCOME_DONE;
}
