/* A server's certificate chain during a handshake: BearSSL's own check, with an opinion on addresses, with
 * finer causes, and with a mode that lets everything pass but remembers what was wrong. 13 KiB, needed only
 * until the handshake is over. */
#pragma once

#include <bearssl.h>
#include <stdbool.h>

#include "net/ip.h"
#include "net/limits.h"
#include "net/tls_error.h"
#include "net/tls_trust.h"

struct tls_verify {
    const br_x509_class *vtable; /* first, as BearSSL demands */
    struct tls_verify *next;     /* among the spare ones */
    br_x509_minimal_context minimal;
    br_x509_decoder_context decoder; /* finds the leaf's key where the check gave up before it */
    bool insecure;
    bool has_begun; /* a chain was sent: the session was not resumed */
    bool has_address;
    struct ip address; /* what the host is, instead of a name */
    enum tls_error error;
    unsigned certificate_count;
    size_t leaf_len; /* may be more than was kept */
    unsigned char leaf[TLS_LEAF_BYTES_MAX];
};

/* `address`: NULL if the host is a name, which BearSSL then passes on itself. */
void tls_verify_init(struct tls_verify *verify, const struct tls_trust *trust, bool insecure,
                     const struct ip *address);

/* The meaning of BearSSL's error codes, those of certificates included. */
enum tls_error tls_verify_error(int code);
