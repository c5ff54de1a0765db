#include "net/tls_trust.h"

#include <bearssl.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net/limits.h"
#include "net/tls_trust_anchors.h"

/* Where systems keep their bundle: Debian and its like, Fedora and its like, OpenSUSE, Alpine and the
 * BSDs. */
static const char *const system_paths[] = {
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
};

struct tls_trust {
    br_x509_trust_anchor *anchors;
    size_t count, capacity;
    size_t skipped;
};

/* One certificate of the bundle while it is read. */
struct reading {
    struct tls_trust *trust;
    br_x509_decoder_context decoder;
    unsigned char dn[TLS_NAME_BYTES_MAX];
    size_t dn_len;
    bool no_memory;
};

const br_x509_trust_anchor *tls_trust_anchors(const struct tls_trust *trust, size_t *count)
{
    *count = trust->count;
    return trust->anchors;
}

static void on_dn(void *context, const void *bytes, size_t len)
{
    struct reading *reading = context;
    if (len <= sizeof reading->dn - reading->dn_len)
        memcpy(reading->dn + reading->dn_len, bytes, len);
    reading->dn_len += len;
}

static void on_bytes(void *context, const void *bytes, size_t len)
{
    struct reading *reading = context;
    br_x509_decoder_push(&reading->decoder, bytes, len);
}

static void *copy_of(struct reading *reading, const void *bytes, size_t len)
{
    void *copy = malloc(len);
    if (copy)
        memcpy(copy, bytes, len);
    else
        reading->no_memory = true;
    return copy;
}

static bool copy_key(struct reading *reading, br_x509_pkey *out, const br_x509_pkey *key)
{
    *out = *key;
    if (key->key_type == BR_KEYTYPE_EC) {
        out->key.ec.q = copy_of(reading, key->key.ec.q, key->key.ec.qlen);
        return out->key.ec.q;
    }
    out->key.rsa.n = copy_of(reading, key->key.rsa.n, key->key.rsa.nlen);
    out->key.rsa.e = copy_of(reading, key->key.rsa.e, key->key.rsa.elen);
    return out->key.rsa.n && out->key.rsa.e;
}

static void free_anchor(br_x509_trust_anchor *anchor)
{
    free(anchor->dn.data);
    if (anchor->pkey.key_type == BR_KEYTYPE_EC) {
        free(anchor->pkey.key.ec.q);
    } else {
        free(anchor->pkey.key.rsa.n);
        free(anchor->pkey.key.rsa.e);
    }
}

static bool grow(struct tls_trust *trust)
{
    if (trust->count < trust->capacity)
        return true;
    size_t capacity = trust->capacity ? trust->capacity * 2 : 64;
    br_x509_trust_anchor *anchors = realloc(trust->anchors, capacity * sizeof *anchors);
    if (!anchors)
        return false;
    trust->anchors = anchors;
    trust->capacity = capacity;
    return true;
}

/* The certificate in the decoder becomes an anchor. Only a whole one does: BearSSL has a key already when the
 * rest is missing. */
static void add_anchor(struct reading *reading)
{
    struct tls_trust *trust = reading->trust;
    const br_x509_pkey *key = br_x509_decoder_get_pkey(&reading->decoder);
    if (!key || br_x509_decoder_last_error(&reading->decoder) || reading->dn_len > sizeof reading->dn) {
        trust->skipped++;
        return;
    }
    if (!grow(trust)) {
        reading->no_memory = true;
        return;
    }
    br_x509_trust_anchor anchor = {.flags = br_x509_decoder_isCA(&reading->decoder) ? BR_X509_TA_CA : 0};
    anchor.dn.len = reading->dn_len;
    anchor.dn.data = copy_of(reading, reading->dn, reading->dn_len);
    if (!copy_key(reading, &anchor.pkey, key) || !anchor.dn.data) {
        free_anchor(&anchor);
        return;
    }
    trust->anchors[trust->count++] = anchor;
}

static void on_pem_event(struct reading *reading, br_pem_decoder_context *pem, int event, bool *inside)
{
    if (event == BR_PEM_BEGIN_OBJ) {
        const char *name = br_pem_decoder_name(pem);
        *inside = !strcmp(name, "CERTIFICATE") || !strcmp(name, "X509 CERTIFICATE");
        reading->dn_len = 0;
        br_x509_decoder_init(&reading->decoder, on_dn, reading);
        br_pem_decoder_setdest(pem, *inside ? on_bytes : NULL, reading);
    } else if (event == BR_PEM_END_OBJ && *inside) {
        add_anchor(reading);
        *inside = false;
    } else if (event == BR_PEM_ERROR) {
        reading->trust->skipped++;
        *inside = false;
    }
}

static void read_pem(struct reading *reading, FILE *file)
{
    br_pem_decoder_context pem;
    br_pem_decoder_init(&pem);
    bool inside = false;
    char bytes[4096];
    size_t len;
    while ((len = fread(bytes, 1, sizeof bytes, file)) > 0)
        for (size_t at = 0; at < len;) {
            at += br_pem_decoder_push(&pem, bytes + at, len - at);
            on_pem_event(reading, &pem, br_pem_decoder_event(&pem), &inside);
        }
    /* The last line may lack its end. */
    br_pem_decoder_push(&pem, "\n", 1);
    on_pem_event(reading, &pem, br_pem_decoder_event(&pem), &inside);
    reading->trust->skipped += inside;
}

static FILE *open_bundle(const char **path)
{
    if (*path)
        return fopen(*path, "rb");
    for (size_t i = 0; i < sizeof system_paths / sizeof *system_paths; i++) {
        FILE *file = fopen(system_paths[i], "rb");
        if (file) {
            *path = system_paths[i];
            return file;
        }
    }
    return NULL;
}

struct tls_trust *tls_trust_create(const char *path, char *message, size_t message_bytes)
{
    FILE *file = open_bundle(&path);
    if (!file && path) {
        snprintf(message, message_bytes, "cannot read the CA bundle %s: %s", path, strerror(errno));
        return NULL;
    }
    if (!file) {
        snprintf(message, message_bytes,
                 "no CA bundle found (looked for %s and others): install ca-certificates or name a PEM file",
                 system_paths[0]);
        return NULL;
    }
    struct tls_trust *trust = calloc(1, sizeof *trust);
    struct reading *reading = calloc(1, sizeof *reading);
    if (trust && reading) {
        reading->trust = trust;
        read_pem(reading, file);
    }
    bool no_memory = !trust || !reading || reading->no_memory, unreadable = ferror(file);
    fclose(file);
    free(reading);
    if (!no_memory && !unreadable && trust->count)
        return trust;
    snprintf(message, message_bytes, "the CA bundle %s %s", path,
             no_memory    ? "does not fit into memory"
             : unreadable ? "cannot be read: is it a file?"
                          : "holds no certificate: it must be a file in PEM format");
    tls_trust_destroy(trust);
    return NULL;
}

void tls_trust_destroy(struct tls_trust *trust)
{
    if (!trust)
        return;
    for (size_t i = 0; i < trust->count; i++)
        free_anchor(&trust->anchors[i]);
    free(trust->anchors);
    free(trust);
}

size_t tls_trust_count(const struct tls_trust *trust)
{
    return trust->count;
}

size_t tls_trust_skipped(const struct tls_trust *trust)
{
    return trust->skipped;
}
