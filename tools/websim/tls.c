#include "tools/websim/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>

#include "tools/websim/buffer.h"

#define DAY_S         86400L
#define VALID_DAYS    3650
#define READ_BYTES    16384
#define SERIAL_CA     1
#define SERIAL_HOST_0 1000 /* of host 0 */

struct websim_tls {
    SSL_CTX *context;
    EVP_PKEY *ca_key, *host_key;
    X509 *ca;
    const struct websim_web *web;
};

struct websim_tls_conn {
    SSL *ssl;
    BIO *in, *out; /* the SSL object owns them */
    struct websim_buffer plain, records;
};

static bool add_extension(X509 *certificate, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    bool added = extension && X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return added;
}

/* A certificate for `key` with this common name, not signed yet; its validity begins and ends this many
 * seconds from today. */
static X509 *make_certificate(EVP_PKEY *key, const char *name, long serial, const long validity_s[2])
{
    X509 *certificate = X509_new();
    if (!certificate)
        return NULL;
    X509_set_version(certificate, X509_VERSION_3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate), validity_s[0]);
    X509_gmtime_adj(X509_getm_notAfter(certificate), validity_s[1]);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               (const unsigned char *)name, -1, -1, 0);
    X509_set_pubkey(certificate, key);
    return certificate;
}

static bool make_authority(struct websim_tls *tls)
{
    tls->ca_key = EVP_EC_gen("P-256");
    tls->host_key = EVP_EC_gen("P-256");
    if (!tls->ca_key || !tls->host_key)
        return false;
    tls->ca = make_certificate(tls->ca_key, "websim authority", SERIAL_CA,
                               (const long[]){-DAY_S, VALID_DAYS * DAY_S});
    if (!tls->ca)
        return false;
    X509_set_issuer_name(tls->ca, X509_get_subject_name(tls->ca));
    return add_extension(tls->ca, tls->ca, NID_basic_constraints, "critical,CA:TRUE") &&
           add_extension(tls->ca, tls->ca, NID_key_usage, "critical,keyCertSign,cRLSign") &&
           X509_sign(tls->ca, tls->ca_key, EVP_sha256());
}

static X509 *certify_host(struct websim_tls *tls, uint32_t host)
{
    char name[WEBSIM_NAME_BYTES], alternative[WEBSIM_NAME_BYTES + 4];
    bool expired = websim_host_fault(tls->web, host) == WEBSIM_FAULT_EXPIRED;
    websim_host_name(tls->web, host, name);
    snprintf(alternative, sizeof alternative, "DNS:%s", name);
    X509 *certificate = make_certificate(tls->host_key, name, SERIAL_HOST_0 + (long)host,
                                         expired ? (const long[]){-30 * DAY_S, -DAY_S}
                                                 : (const long[]){-DAY_S, VALID_DAYS * DAY_S});
    if (!certificate)
        return NULL;
    X509_set_issuer_name(certificate, X509_get_subject_name(tls->ca));
    if (add_extension(certificate, tls->ca, NID_subject_alt_name, alternative) &&
        X509_sign(certificate, tls->ca_key, EVP_sha256()))
        return certificate;
    X509_free(certificate);
    return NULL;
}

/* The client has said whom it wants to talk to; without a name of ours there is no certificate to show. */
static int on_name(SSL *ssl, int *alert, void *owner)
{
    struct websim_tls *tls = owner;
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    uint32_t host;
    *alert = SSL_AD_UNRECOGNIZED_NAME;
    if (!name || !websim_host_find(tls->web, slice_of(name), &host))
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    X509 *certificate = certify_host(tls, host);
    bool used =
        certificate && SSL_use_certificate(ssl, certificate) && SSL_use_PrivateKey(ssl, tls->host_key);
    X509_free(certificate);
    return used ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static bool write_authority(const struct websim_tls *tls, const char *path)
{
    FILE *file = fopen(path, "w");
    bool written = file && PEM_write_X509(file, tls->ca);
    if (file && fclose(file) != 0)
        written = false;
    if (!written)
        fprintf(stderr, "websim serve: cannot write %s\n", path);
    return written;
}

struct websim_tls *websim_tls_create(const struct websim_web *web, const char *ca_path)
{
    struct websim_tls *tls = calloc(1, sizeof *tls);
    if (!tls)
        return NULL;
    tls->web = web;
    tls->context = SSL_CTX_new(TLS_server_method());
    if (!tls->context || !make_authority(tls)) {
        fprintf(stderr, "websim serve: cannot make a certification authority: %s\n",
                ERR_error_string(ERR_get_error(), NULL));
        websim_tls_destroy(tls);
        return NULL;
    }
    SSL_CTX_set_session_cache_mode(tls->context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(tls->context, 0);
    SSL_CTX_set_mode(tls->context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_tlsext_servername_callback(tls->context, on_name);
    SSL_CTX_set_tlsext_servername_arg(tls->context, tls);
    if (ca_path && !write_authority(tls, ca_path)) {
        websim_tls_destroy(tls);
        return NULL;
    }
    return tls;
}

void websim_tls_destroy(struct websim_tls *tls)
{
    X509_free(tls->ca);
    EVP_PKEY_free(tls->ca_key);
    EVP_PKEY_free(tls->host_key);
    SSL_CTX_free(tls->context);
    free(tls);
}

struct websim_tls_conn *websim_tls_open(struct websim_tls *tls)
{
    struct websim_tls_conn *conn = calloc(1, sizeof *conn);
    if (!conn)
        return NULL;
    conn->ssl = SSL_new(tls->context);
    conn->in = BIO_new(BIO_s_mem());
    conn->out = BIO_new(BIO_s_mem());
    if (!conn->ssl || !conn->in || !conn->out) {
        BIO_free(conn->in);
        BIO_free(conn->out);
        SSL_free(conn->ssl);
        free(conn);
        return NULL;
    }
    SSL_set_bio(conn->ssl, conn->in, conn->out);
    SSL_set_accept_state(conn->ssl);
    return conn;
}

void websim_tls_close(struct websim_tls_conn *conn)
{
    SSL_free(conn->ssl);
    websim_buffer_fini(&conn->plain);
    websim_buffer_fini(&conn->records);
    ERR_clear_error();
    free(conn);
}

bool websim_tls_decrypt(struct websim_tls_conn *conn, struct slice bytes, struct slice *plain)
{
    int got;
    BIO_write(conn->in, bytes.ptr, (int)bytes.len);
    conn->plain.len = 0;
    while ((got = SSL_read(conn->ssl, websim_buffer_room(&conn->plain, READ_BYTES), READ_BYTES)) > 0)
        conn->plain.len += (size_t)got;
    *plain = (struct slice){conn->plain.data, conn->plain.len};
    int error = SSL_get_error(conn->ssl, got);
    ERR_clear_error();
    return error == SSL_ERROR_WANT_READ || plain->len > 0;
}

struct slice websim_tls_pending(struct websim_tls_conn *conn)
{
    size_t len = BIO_ctrl_pending(conn->out);
    conn->records.len = 0;
    if (len == 0)
        return (struct slice){0};
    websim_buffer_room(&conn->records, len);
    BIO_read(conn->out, conn->records.data, (int)len);
    conn->records.len = len;
    return (struct slice){conn->records.data, len};
}

struct slice websim_tls_encrypt(struct websim_tls_conn *conn, struct slice plain)
{
    /* A memory BIO takes everything, so that nothing is ever left over. */
    SSL_write(conn->ssl, plain.ptr, (int)plain.len);
    return websim_tls_pending(conn);
}
