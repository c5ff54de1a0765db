/* Why a TLS connection failed, or what is wrong with a certificate. */
#pragma once

enum tls_error {
    TLS_OK,
    /* the certificate or its chain */
    TLS_ERROR_CERT_EXPIRED,       /* or its issuer's is not yet valid */
    TLS_ERROR_CERT_NOT_YET_VALID, /* the server's own; or the clock of this machine is slow */
    TLS_ERROR_CERT_NAME,          /* made out to another name */
    TLS_ERROR_CERT_SELF_SIGNED,   /* its own issuer, and not among the trusted */
    TLS_ERROR_CERT_UNTRUSTED,     /* the chain ends in no trusted certificate */
    TLS_ERROR_CERT_CHAIN,         /* empty, in the wrong order, or an issuer that is no CA */
    TLS_ERROR_CERT_SIGNATURE, /* a signature in the chain is wrong, or of an algorithm that is not taken */
    TLS_ERROR_CERT_KEY,       /* too weak, of an unknown kind, or not for this use */
    TLS_ERROR_CERT_EXTENSION, /* an unknown critical extension */
    TLS_ERROR_CERT_MALFORMED, /* not a certificate by X.509 */
    /* the protocol */
    TLS_ERROR_PLAIN_TEXT, /* the server answers in plain text: mostly HTTP on a port for TLS */
    TLS_ERROR_VERSION,    /* the server chose a version outside 1.0 to 1.2 */
    TLS_ERROR_SUITE,      /* the server chose a cipher suite or an algorithm that was not offered */
    TLS_ERROR_MAC,        /* a record or Finished that does not verify */
    TLS_ERROR_SIGNATURE,  /* the key exchange is not signed by the certificate's key */
    TLS_ERROR_RECORD,     /* a record that is too long or not TLS at all */
    TLS_ERROR_UNEXPECTED, /* a message out of order or malformed */
    TLS_ERROR_RESUMPTION, /* the server came back with another session than the one it agreed to */
    TLS_ERROR_TRUNCATED,  /* the stream ended without close_notify */
    TLS_ERROR_NAME_TOO_LONG,
    TLS_ERROR_ENTROPY,
    TLS_ERROR_INTERNAL,
    /* fatal alerts from the server, by their names in RFC 8446 */
    TLS_ALERT_UNEXPECTED_MESSAGE,
    TLS_ALERT_BAD_RECORD_MAC,
    TLS_ALERT_RECORD_OVERFLOW,
    TLS_ALERT_HANDSHAKE_FAILURE,
    TLS_ALERT_BAD_CERTIFICATE,
    TLS_ALERT_UNSUPPORTED_CERTIFICATE,
    TLS_ALERT_CERTIFICATE_REVOKED,
    TLS_ALERT_CERTIFICATE_EXPIRED,
    TLS_ALERT_CERTIFICATE_UNKNOWN,
    TLS_ALERT_ILLEGAL_PARAMETER,
    TLS_ALERT_UNKNOWN_CA,
    TLS_ALERT_ACCESS_DENIED,
    TLS_ALERT_DECODE_ERROR,
    TLS_ALERT_DECRYPT_ERROR,
    TLS_ALERT_PROTOCOL_VERSION, /* a server of TLS 1.3 only says this */
    TLS_ALERT_INSUFFICIENT_SECURITY,
    TLS_ALERT_INTERNAL_ERROR,
    TLS_ALERT_INAPPROPRIATE_FALLBACK,
    TLS_ALERT_USER_CANCELED,
    TLS_ALERT_MISSING_EXTENSION,
    TLS_ALERT_UNSUPPORTED_EXTENSION,
    TLS_ALERT_UNRECOGNIZED_NAME,
    TLS_ALERT_CERTIFICATE_REQUIRED,
    TLS_ALERT_NO_APPLICATION_PROTOCOL,
    TLS_ALERT_OTHER,
    TLS_ERROR_COUNT,
};

/* Lower case with dashes, fit for a log column: "cert-expired", "alert-protocol-version". Static storage. */
const char *tls_error_text(enum tls_error error);

/* The value for an alert's number on the wire. */
enum tls_error tls_error_from_alert(unsigned alert);
