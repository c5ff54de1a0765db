#include "net/tls_verify.h"

#include <string.h>
#include <time.h>

#include "lockfree/clock.h"
#include "net/tls_trust_anchors.h"
#include "net/tls_leaf.h"

/* 33 to 62: certificates. */
static enum tls_error certificate_error(int code)
{
    switch (code) {
    case BR_ERR_X509_EXPIRED:
    case BR_ERR_X509_TIME_UNKNOWN:
        return TLS_ERROR_CERT_EXPIRED;
    case BR_ERR_X509_BAD_SERVER_NAME:
        return TLS_ERROR_CERT_NAME;
    case BR_ERR_X509_NOT_TRUSTED:
        return TLS_ERROR_CERT_UNTRUSTED;
    case BR_ERR_X509_EMPTY_CHAIN:
    case BR_ERR_X509_DN_MISMATCH:
    case BR_ERR_X509_NOT_CA:
        return TLS_ERROR_CERT_CHAIN;
    case BR_ERR_X509_BAD_SIGNATURE:
    case BR_ERR_X509_UNSUPPORTED:
        return TLS_ERROR_CERT_SIGNATURE;
    case BR_ERR_X509_WRONG_KEY_TYPE:
    case BR_ERR_X509_FORBIDDEN_KEY_USAGE:
    case BR_ERR_X509_WEAK_PUBLIC_KEY:
        return TLS_ERROR_CERT_KEY;
    case BR_ERR_X509_CRITICAL_EXTENSION:
        return TLS_ERROR_CERT_EXTENSION;
    default:
        return TLS_ERROR_CERT_MALFORMED;
    }
}

enum tls_error tls_verify_error(int code)
{
    if (code >= BR_ERR_SEND_FATAL_ALERT)
        return TLS_ERROR_UNEXPECTED;
    if (code >= BR_ERR_RECV_FATAL_ALERT)
        return tls_error_from_alert((unsigned)code - BR_ERR_RECV_FATAL_ALERT);
    if (code > BR_ERR_X509_OK)
        return certificate_error(code);
    switch (code) {
    case BR_ERR_OK:
        return TLS_OK;
    case BR_ERR_UNSUPPORTED_VERSION:
    case BR_ERR_BAD_VERSION:
        return TLS_ERROR_VERSION;
    case BR_ERR_BAD_CIPHER_SUITE:
    case BR_ERR_BAD_COMPRESSION:
    case BR_ERR_INVALID_ALGORITHM:
        return TLS_ERROR_SUITE;
    case BR_ERR_BAD_MAC:
    case BR_ERR_BAD_FINISHED:
        return TLS_ERROR_MAC;
    case BR_ERR_BAD_SIGNATURE:
        return TLS_ERROR_SIGNATURE;
    case BR_ERR_BAD_LENGTH:
    case BR_ERR_TOO_LARGE:
    case BR_ERR_UNKNOWN_TYPE:
        return TLS_ERROR_RECORD;
    case BR_ERR_RESUME_MISMATCH:
        return TLS_ERROR_RESUMPTION;
    case BR_ERR_WRONG_KEY_USAGE:
        return TLS_ERROR_CERT_KEY;
    case BR_ERR_NO_RANDOM:
        return TLS_ERROR_ENTROPY;
    case BR_ERR_BAD_PARAM:
    case BR_ERR_BAD_STATE:
    case BR_ERR_IO:
        return TLS_ERROR_INTERNAL;
    default:
        return TLS_ERROR_UNEXPECTED;
    }
}

static struct tls_verify *verify_of(const br_x509_class **context)
{
    return (struct tls_verify *)(void *)context;
}

static void start_chain(const br_x509_class **context, const char *server_name)
{
    struct tls_verify *verify = verify_of(context);
    verify->has_begun = true;
    verify->minimal.vtable->start_chain(&verify->minimal.vtable, verify->has_address ? NULL : server_name);
}

static void start_cert(const br_x509_class **context, uint32_t length)
{
    struct tls_verify *verify = verify_of(context);
    if (verify->certificate_count == 0)
        br_x509_decoder_init(&verify->decoder, NULL, NULL);
    verify->minimal.vtable->start_cert(&verify->minimal.vtable, length);
}

static void append(const br_x509_class **context, const unsigned char *bytes, size_t len)
{
    struct tls_verify *verify = verify_of(context);
    if (verify->certificate_count == 0) {
        if (verify->leaf_len < sizeof verify->leaf) {
            size_t room = sizeof verify->leaf - verify->leaf_len;
            memcpy(verify->leaf + verify->leaf_len, bytes, len < room ? len : room);
        }
        verify->leaf_len += len;
        if (verify->insecure)
            br_x509_decoder_push(&verify->decoder, bytes, len);
    }
    verify->minimal.vtable->append(&verify->minimal.vtable, bytes, len);
}

static void end_cert(const br_x509_class **context)
{
    struct tls_verify *verify = verify_of(context);
    verify->certificate_count++;
    verify->minimal.vtable->end_cert(&verify->minimal.vtable);
}

static bool is_premature(struct slice leaf)
{
    char now[sizeof "YYYYMMDDHHMMSS"];
    const time_t seconds = (time_t)(clock_wall_us() / 1000000);
    struct tm utc;
    const size_t len = strftime(now, sizeof now, "%Y%m%d%H%M%S", gmtime_r(&seconds, &utc));
    return tls_leaf_is_premature(leaf, (struct slice){now, len});
}

static unsigned end_chain(const br_x509_class **context)
{
    struct tls_verify *verify = verify_of(context);
    unsigned code = verify->minimal.vtable->end_chain(&verify->minimal.vtable);
    struct slice leaf = {(const char *)verify->leaf, verify->leaf_len};
    if (leaf.len > sizeof verify->leaf)
        leaf.len = 0;
    if (code == 0 && verify->has_address && !tls_leaf_has_address(leaf, &verify->address))
        code = BR_ERR_X509_BAD_SERVER_NAME;
    verify->error = tls_verify_error((int)code);
    if (verify->error == TLS_ERROR_CERT_EXPIRED && is_premature(leaf))
        verify->error = TLS_ERROR_CERT_NOT_YET_VALID;
    if (verify->error == TLS_ERROR_CERT_UNTRUSTED && tls_leaf_is_self_issued(leaf))
        verify->error = TLS_ERROR_CERT_SELF_SIGNED;
    return verify->insecure && br_x509_decoder_get_pkey(&verify->decoder) ? 0 : code;
}

static const br_x509_pkey *get_pkey(const br_x509_class *const *context, unsigned *usages)
{
    const struct tls_verify *verify = (const struct tls_verify *)(const void *)context;
    if (verify->error == TLS_OK)
        return verify->minimal.vtable->get_pkey(&verify->minimal.vtable, usages);
    if (usages)
        *usages = BR_KEYTYPE_SIGN | BR_KEYTYPE_KEYX;
    /* Not const in BearSSL 0.6, but it only reads. */
    return br_x509_decoder_get_pkey((br_x509_decoder_context *)&verify->decoder);
}

static const br_x509_class verify_class = {
    .context_size = sizeof(struct tls_verify),
    .start_chain = start_chain,
    .start_cert = start_cert,
    .append = append,
    .end_cert = end_cert,
    .end_chain = end_chain,
    .get_pkey = get_pkey,
};

void tls_verify_init(struct tls_verify *verify, const struct tls_trust *trust, bool insecure,
                     const struct ip *address)
{
    size_t count;
    const br_x509_trust_anchor *anchors = tls_trust_anchors(trust, &count);
    memset(verify, 0, offsetof(struct tls_verify, leaf));
    verify->vtable = &verify_class;
    verify->insecure = insecure;
    br_x509_minimal_init_full(&verify->minimal, anchors, count);
    if (address) {
        verify->has_address = true;
        verify->address = *address;
    }
}
