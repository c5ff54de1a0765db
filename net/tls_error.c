#include "net/tls_error.h"

#include <assert.h>

const char *tls_error_text(enum tls_error error)
{
    static const char *const texts[TLS_ERROR_COUNT] = {
        [TLS_OK] = "ok",
        [TLS_ERROR_CERT_EXPIRED] = "cert-expired",
        [TLS_ERROR_CERT_NOT_YET_VALID] = "cert-not-yet-valid",
        [TLS_ERROR_CERT_NAME] = "cert-name",
        [TLS_ERROR_CERT_SELF_SIGNED] = "cert-self-signed",
        [TLS_ERROR_CERT_UNTRUSTED] = "cert-untrusted",
        [TLS_ERROR_CERT_CHAIN] = "cert-chain",
        [TLS_ERROR_CERT_SIGNATURE] = "cert-signature",
        [TLS_ERROR_CERT_KEY] = "cert-key",
        [TLS_ERROR_CERT_EXTENSION] = "cert-extension",
        [TLS_ERROR_CERT_MALFORMED] = "cert-malformed",
        [TLS_ERROR_PLAIN_TEXT] = "plain-text",
        [TLS_ERROR_VERSION] = "version",
        [TLS_ERROR_SUITE] = "suite",
        [TLS_ERROR_MAC] = "mac",
        [TLS_ERROR_SIGNATURE] = "signature",
        [TLS_ERROR_RECORD] = "record",
        [TLS_ERROR_UNEXPECTED] = "unexpected",
        [TLS_ERROR_RESUMPTION] = "resumption",
        [TLS_ERROR_TRUNCATED] = "truncated",
        [TLS_ERROR_NAME_TOO_LONG] = "name-too-long",
        [TLS_ERROR_ENTROPY] = "entropy",
        [TLS_ERROR_INTERNAL] = "internal",
        [TLS_ALERT_UNEXPECTED_MESSAGE] = "alert-unexpected-message",
        [TLS_ALERT_BAD_RECORD_MAC] = "alert-bad-record-mac",
        [TLS_ALERT_RECORD_OVERFLOW] = "alert-record-overflow",
        [TLS_ALERT_HANDSHAKE_FAILURE] = "alert-handshake-failure",
        [TLS_ALERT_BAD_CERTIFICATE] = "alert-bad-certificate",
        [TLS_ALERT_UNSUPPORTED_CERTIFICATE] = "alert-unsupported-certificate",
        [TLS_ALERT_CERTIFICATE_REVOKED] = "alert-certificate-revoked",
        [TLS_ALERT_CERTIFICATE_EXPIRED] = "alert-certificate-expired",
        [TLS_ALERT_CERTIFICATE_UNKNOWN] = "alert-certificate-unknown",
        [TLS_ALERT_ILLEGAL_PARAMETER] = "alert-illegal-parameter",
        [TLS_ALERT_UNKNOWN_CA] = "alert-unknown-ca",
        [TLS_ALERT_ACCESS_DENIED] = "alert-access-denied",
        [TLS_ALERT_DECODE_ERROR] = "alert-decode-error",
        [TLS_ALERT_DECRYPT_ERROR] = "alert-decrypt-error",
        [TLS_ALERT_PROTOCOL_VERSION] = "alert-protocol-version",
        [TLS_ALERT_INSUFFICIENT_SECURITY] = "alert-insufficient-security",
        [TLS_ALERT_INTERNAL_ERROR] = "alert-internal-error",
        [TLS_ALERT_INAPPROPRIATE_FALLBACK] = "alert-inappropriate-fallback",
        [TLS_ALERT_USER_CANCELED] = "alert-user-canceled",
        [TLS_ALERT_MISSING_EXTENSION] = "alert-missing-extension",
        [TLS_ALERT_UNSUPPORTED_EXTENSION] = "alert-unsupported-extension",
        [TLS_ALERT_UNRECOGNIZED_NAME] = "alert-unrecognized-name",
        [TLS_ALERT_CERTIFICATE_REQUIRED] = "alert-certificate-required",
        [TLS_ALERT_NO_APPLICATION_PROTOCOL] = "alert-no-application-protocol",
        [TLS_ALERT_OTHER] = "alert-other",
    };
    assert((unsigned)error < TLS_ERROR_COUNT);
    return texts[error];
}

enum tls_error tls_error_from_alert(unsigned alert)
{
    static const unsigned char by_number[256] = {
        [10] = TLS_ALERT_UNEXPECTED_MESSAGE,
        [20] = TLS_ALERT_BAD_RECORD_MAC,
        [22] = TLS_ALERT_RECORD_OVERFLOW,
        [40] = TLS_ALERT_HANDSHAKE_FAILURE,
        [42] = TLS_ALERT_BAD_CERTIFICATE,
        [43] = TLS_ALERT_UNSUPPORTED_CERTIFICATE,
        [44] = TLS_ALERT_CERTIFICATE_REVOKED,
        [45] = TLS_ALERT_CERTIFICATE_EXPIRED,
        [46] = TLS_ALERT_CERTIFICATE_UNKNOWN,
        [47] = TLS_ALERT_ILLEGAL_PARAMETER,
        [48] = TLS_ALERT_UNKNOWN_CA,
        [49] = TLS_ALERT_ACCESS_DENIED,
        [50] = TLS_ALERT_DECODE_ERROR,
        [51] = TLS_ALERT_DECRYPT_ERROR,
        [70] = TLS_ALERT_PROTOCOL_VERSION,
        [71] = TLS_ALERT_INSUFFICIENT_SECURITY,
        [80] = TLS_ALERT_INTERNAL_ERROR,
        [86] = TLS_ALERT_INAPPROPRIATE_FALLBACK,
        [90] = TLS_ALERT_USER_CANCELED,
        [109] = TLS_ALERT_MISSING_EXTENSION,
        [110] = TLS_ALERT_UNSUPPORTED_EXTENSION,
        [112] = TLS_ALERT_UNRECOGNIZED_NAME,
        [116] = TLS_ALERT_CERTIFICATE_REQUIRED,
        [120] = TLS_ALERT_NO_APPLICATION_PROTOCOL,
    };
    return alert < 256 && by_number[alert] ? (enum tls_error)by_number[alert] : TLS_ALERT_OTHER;
}
