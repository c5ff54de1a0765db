/*
 *     HANDSHAKING ---> OPEN ---tls_close---> CLOSING ---> CLOSED
 *          \              \------close_notify----------->/
 *           \--------------\-----------------\---error---> FAILED
 *
 * BearSSL's engine holds the state; the flags are what it does not remember. A verifier is
 * attached in HANDSHAKING only: refresh() takes it off when the handshake is over, one way or the other. */
#include "net/tls.h"

#include <assert.h>
#include <bearssl.h>
#include <stdlib.h>
#include <sys/random.h>

#include "net/ip.h"
#include "net/tls_hello.h"
#include "net/tls_suites.h"
#include "net/tls_verify.h"

_Static_assert(TLS_INPUT_BYTES >= BR_SSL_BUFSIZE_INPUT, "room for the longest record");
_Static_assert(sizeof(br_ssl_session_parameters) < TLS_SESSION_BYTES, "room for the session and one byte");

/* The byte of a kept session that tells what was wrong with the certificate. */
#define SESSION_ERROR_AT     sizeof(br_ssl_session_parameters)
#define SEED_BYTES           32
#define RECORD_HEADER_BYTES  5
#define LONGEST_FRAGMENT_LOG 14
/* BearSSL's buffer for the server's name. */
#define HOST_BYTES_MAX (sizeof((br_ssl_engine_context *)0)->server_name - 1)

struct tls {
    br_ssl_client_context client;
    struct tls_pool *pool;
    struct tls_verify *verify;
    struct tls *next; /* among the spare ones */
    enum tls_error error;
    enum tls_error certificate_error;
    bool has_received;
    bool is_open; /* the handshake was completed */
    bool is_closing;
    bool has_ended; /* the stream, after tls_close */
    bool was_resumed;
    unsigned char output[TLS_OUTPUT_BYTES];
    unsigned char input[TLS_INPUT_BYTES];
};
_Static_assert(sizeof(struct tls) <= 24 * 1024, "the budget of an idle connection");

struct tls_pool {
    struct tls_options options;
    br_hmac_drbg_context random; /* seeds each connection, without a system call */
    struct tls *spare;
    struct tls_verify *spare_verify;
    size_t spare_count, spare_verify_count;
    size_t used_count, used_verify_count;
};

struct tls_pool *tls_pool_create(const struct tls_options *options)
{
    unsigned char seed[SEED_BYTES];
    struct tls_pool *pool = calloc(1, sizeof *pool);
    if (!pool || getrandom(seed, sizeof seed, 0) != sizeof seed) {
        free(pool);
        return NULL;
    }
    pool->options = *options;
    br_hmac_drbg_init(&pool->random, &br_sha256_vtable, seed, sizeof seed);
    return pool;
}

void tls_pool_destroy(struct tls_pool *pool)
{
    assert(pool->used_count == 0 && pool->used_verify_count == 0);
    while (pool->spare) {
        struct tls *tls = pool->spare;
        pool->spare = tls->next;
        free(tls);
    }
    while (pool->spare_verify) {
        struct tls_verify *verify = pool->spare_verify;
        pool->spare_verify = verify->next;
        free(verify);
    }
    free(pool);
}

size_t tls_pool_bytes(const struct tls_pool *pool)
{
    return (pool->used_count + pool->spare_count) * sizeof(struct tls) +
           (pool->used_verify_count + pool->spare_verify_count) * sizeof(struct tls_verify);
}

static struct tls_verify *acquire_verify(struct tls_pool *pool)
{
    struct tls_verify *verify = pool->spare_verify;
    if (verify) {
        pool->spare_verify = verify->next;
        pool->spare_verify_count--;
    } else {
        verify = malloc(sizeof *verify);
    }
    pool->used_verify_count += verify != NULL;
    return verify;
}

static void release_verify(struct tls_pool *pool, struct tls_verify *verify)
{
    pool->used_verify_count--;
    if (pool->spare_verify_count >= pool->options.spare_max) {
        free(verify);
        return;
    }
    verify->next = pool->spare_verify;
    pool->spare_verify = verify;
    pool->spare_verify_count++;
}

/* What holds for all connections of a context: it is reset for each, not set up anew. */
static void set_up(struct tls *tls)
{
    static const char *protocols[] = {"http/1.1"};
    br_x509_minimal_context unused; /* init_full wants one; tls_verify takes its place */
    br_ssl_engine_context *engine = &tls->client.eng;
    br_ssl_client_init_full(&tls->client, &unused, NULL, 0);
    uint16_t suites[TLS_SUITES_MAX];
    br_ssl_engine_set_suites(engine, suites, tls_suites_list(suites));
    br_ssl_engine_add_flags(engine, BR_OPT_NO_RENEGOTIATION);
    br_ssl_engine_set_protocol_names(engine, protocols, 1);
    br_ssl_engine_set_buffers_bidi(engine, tls->input, sizeof tls->input, tls->output, sizeof tls->output);
    /* Else BearSSL asks the server for records as short as the output buffer, which makes 16 of 1 KiB out of
     * one. */
    engine->log_max_frag_len = LONGEST_FRAGMENT_LOG;
}

static struct tls *acquire_context(struct tls_pool *pool)
{
    struct tls *tls = pool->spare;
    if (tls) {
        pool->spare = tls->next;
        pool->spare_count--;
    } else {
        tls = malloc(sizeof *tls);
        if (!tls)
            return NULL;
        set_up(tls);
    }
    pool->used_count++;
    return tls;
}

/* The handshake is over: nothing of the verifier is needed any more. */
static void drop_verify(struct tls *tls)
{
    tls->was_resumed = tls->is_open && !tls->verify->has_begun;
    if (tls->verify->has_begun)
        tls->certificate_error = tls->verify->error;
    br_ssl_engine_set_x509(&tls->client.eng, NULL);
    release_verify(tls->pool, tls->verify);
    tls->verify = NULL;
}

/* To be called after everything that may move the engine. */
static void refresh(struct tls *tls)
{
    unsigned state = br_ssl_engine_current_state(&tls->client.eng);
    if (state & BR_SSL_CLOSED && tls->error == TLS_OK) {
        tls->error = tls_verify_error(br_ssl_engine_last_error(&tls->client.eng));
        /* The verifier knows more than the code it gave to the engine. */
        if (tls->error != TLS_OK && tls->verify && tls->verify->error != TLS_OK)
            tls->error = tls->verify->error;
    }
    if (state & (BR_SSL_SENDAPP | BR_SSL_RECVAPP))
        tls->is_open = true;
    if (tls->verify && (tls->is_open || state & BR_SSL_CLOSED))
        drop_verify(tls);
}

/* Offers the earlier session, unless it began with a certificate that is not taken here. */
static bool offer_session(struct tls *tls, const struct tls_session *session)
{
    br_ssl_session_parameters parameters;
    if (!session)
        return false;
    memcpy(&parameters, session->bytes, sizeof parameters);
    enum tls_error error = (enum tls_error)session->bytes[SESSION_ERROR_AT];
    if (parameters.session_id_len == 0 || (error != TLS_OK && !tls->pool->options.insecure))
        return false;
    br_ssl_engine_set_session_parameters(&tls->client.eng, &parameters);
    tls->certificate_error = error;
    return true;
}

/* The hello is the only message yet: after the change the transcript's hash begins anew with it. */
static void rearrange_hello(struct tls *tls)
{
    size_t len;
    br_ssl_engine_context *engine = &tls->client.eng;
    unsigned char *record = br_ssl_engine_sendrec_buf(engine, &len);
    if (!record || len <= RECORD_HEADER_BYTES)
        return;
    unsigned char *message = record + RECORD_HEADER_BYTES;
    len -= RECORD_HEADER_BYTES;
    if (!tls_hello_prefer_x25519(message, len))
        return;
    br_multihash_init(&engine->mhash);
    br_multihash_update(&engine->mhash, message, len);
}

static void begin(struct tls *tls, struct slice host, const struct tls_session *session)
{
    struct tls_pool *pool = tls->pool;
    struct ip address;
    char name[HOST_BYTES_MAX + 1];
    unsigned char seed[SEED_BYTES];
    if (host.len && host.ptr[host.len - 1] == '.')
        host.len--;
    if (host.len > HOST_BYTES_MAX) {
        tls->error = TLS_ERROR_NAME_TOO_LONG;
        drop_verify(tls);
        return;
    }
    for (size_t i = 0; i < host.len; i++)
        name[i] = slice_lower(host.ptr[i]);
    name[host.len] = '\0';
    bool is_address = ip_parse(&address, host);
    tls_verify_init(tls->verify, pool->options.trust, pool->options.insecure, is_address ? &address : NULL);
    br_ssl_engine_set_x509(&tls->client.eng, &tls->verify->vtable);
    br_hmac_drbg_generate(&pool->random, seed, sizeof seed);
    br_ssl_engine_inject_entropy(&tls->client.eng, seed, sizeof seed);
    bool resumes = offer_session(tls, session);
    br_ssl_client_reset(&tls->client, is_address ? NULL : name, resumes);
    rearrange_hello(tls);
    refresh(tls);
}

struct tls *tls_acquire(struct tls_pool *pool, struct slice host, const struct tls_session *session)
{
    struct tls_verify *verify = acquire_verify(pool);
    if (!verify)
        return NULL;
    struct tls *tls = acquire_context(pool);
    if (!tls) {
        release_verify(pool, verify);
        return NULL;
    }
    verify->has_begun = false;
    tls->pool = pool;
    tls->verify = verify;
    tls->error = TLS_OK;
    tls->certificate_error = TLS_OK;
    tls->has_received = false;
    tls->is_open = false;
    tls->is_closing = false;
    tls->has_ended = false;
    tls->was_resumed = false;
    begin(tls, host, session);
    return tls;
}

void tls_release(struct tls *tls)
{
    struct tls_pool *pool = tls->pool;
    if (tls->verify)
        drop_verify(tls);
    pool->used_count--;
    if (pool->spare_count >= pool->options.spare_max) {
        free(tls);
        return;
    }
    tls->next = pool->spare;
    pool->spare = tls;
    pool->spare_count++;
}

/* Nobody reads what comes after tls_close; the engine goes on only when it is taken. */
static void discard_plain(struct tls *tls)
{
    size_t len;
    while (br_ssl_engine_recvapp_buf(&tls->client.eng, &len))
        br_ssl_engine_recvapp_ack(&tls->client.eng, len);
}

/* The types of records are control characters. */
static bool is_plain_text(struct slice first)
{
    return first.len && first.ptr[0] >= ' ' && first.ptr[0] <= '~';
}

size_t tls_push_cipher(struct tls *tls, struct slice bytes)
{
    size_t taken = 0, room;
    if (!tls->has_received && is_plain_text(bytes))
        tls->error = TLS_ERROR_PLAIN_TEXT;
    tls->has_received |= bytes.len > 0;
    if (tls->error != TLS_OK)
        return 0;
    while (taken < bytes.len) {
        if (tls->is_closing)
            discard_plain(tls);
        unsigned char *buffer = br_ssl_engine_recvrec_buf(&tls->client.eng, &room);
        if (!buffer)
            break;
        size_t len = bytes.len - taken < room ? bytes.len - taken : room;
        memcpy(buffer, bytes.ptr + taken, len);
        br_ssl_engine_recvrec_ack(&tls->client.eng, len);
        taken += len;
    }
    refresh(tls);
    return taken;
}

size_t tls_push_plain(struct tls *tls, struct slice text)
{
    size_t taken = 0, room;
    if (tls_state(tls) != TLS_OPEN)
        return 0;
    while (taken < text.len) {
        unsigned char *buffer = br_ssl_engine_sendapp_buf(&tls->client.eng, &room);
        if (!buffer)
            break;
        size_t len = text.len - taken < room ? text.len - taken : room;
        memcpy(buffer, text.ptr + taken, len);
        br_ssl_engine_sendapp_ack(&tls->client.eng, len);
        taken += len;
    }
    br_ssl_engine_flush(&tls->client.eng, 0);
    return taken;
}

struct slice tls_peek_cipher(struct tls *tls)
{
    size_t len = 0;
    const unsigned char *bytes =
        tls->error == TLS_OK ? br_ssl_engine_sendrec_buf(&tls->client.eng, &len) : NULL;
    return (struct slice){(const char *)bytes, bytes ? len : 0};
}

void tls_pop_cipher(struct tls *tls, size_t n)
{
    if (n == 0 || tls->error != TLS_OK)
        return;
    br_ssl_engine_sendrec_ack(&tls->client.eng, n);
    refresh(tls);
}

struct slice tls_peek_plain(struct tls *tls)
{
    size_t len = 0;
    if (tls->error != TLS_OK || tls->is_closing)
        return (struct slice){NULL, 0};
    const unsigned char *bytes = br_ssl_engine_recvapp_buf(&tls->client.eng, &len);
    return (struct slice){(const char *)bytes, bytes ? len : 0};
}

void tls_pop_plain(struct tls *tls, size_t n)
{
    if (n == 0)
        return;
    br_ssl_engine_recvapp_ack(&tls->client.eng, n);
    refresh(tls);
}

void tls_close(struct tls *tls)
{
    if (tls_state(tls) != TLS_OPEN)
        return;
    tls->is_closing = true;
    discard_plain(tls);
    br_ssl_engine_close(&tls->client.eng);
    refresh(tls);
}

void tls_on_eof(struct tls *tls)
{
    enum tls_state state = tls_state(tls);
    if (state == TLS_CLOSED || state == TLS_FAILED)
        return;
    /* After a goodbye of our own most servers just close. */
    if (tls->is_closing)
        tls->has_ended = true;
    else
        tls->error = TLS_ERROR_TRUNCATED;
    if (tls->verify)
        drop_verify(tls);
}

enum tls_state tls_state(const struct tls *tls)
{
    if (tls->error != TLS_OK)
        return TLS_FAILED;
    if (tls->has_ended || br_ssl_engine_current_state(&tls->client.eng) & BR_SSL_CLOSED)
        return TLS_CLOSED;
    if (tls->is_closing)
        return TLS_CLOSING;
    return tls->is_open ? TLS_OPEN : TLS_HANDSHAKING;
}

enum tls_error tls_error(const struct tls *tls)
{
    return tls->error;
}

bool tls_was_resumed(const struct tls *tls)
{
    return tls->was_resumed;
}

enum tls_error tls_certificate_error(const struct tls *tls)
{
    return tls->certificate_error;
}

bool tls_session(const struct tls *tls, struct tls_session *session)
{
    br_ssl_session_parameters parameters;
    br_ssl_engine_get_session_parameters(&tls->client.eng, &parameters);
    if (!tls->is_open || parameters.session_id_len == 0)
        return false;
    memset(session, 0, sizeof *session);
    memcpy(session->bytes, &parameters, sizeof parameters);
    session->bytes[SESSION_ERROR_AT] = (unsigned char)tls->certificate_error;
    return true;
}

const char *tls_version_text(const struct tls *tls)
{
    switch (br_ssl_engine_get_version(&tls->client.eng)) {
    case BR_TLS10:
        return "TLSv1.0";
    case BR_TLS11:
        return "TLSv1.1";
    case BR_TLS12:
        return "TLSv1.2";
    default:
        return "none";
    }
}

const char *tls_protocol_text(const struct tls *tls)
{
    switch (br_ssl_engine_get_version(&tls->client.eng)) {
    case BR_TLS10:
        return "tls/1.0";
    case BR_TLS11:
        return "tls/1.1";
    default:
        return "tls/1.2";
    }
}

const char *tls_suite_text(const struct tls *tls)
{
    br_ssl_session_parameters parameters;
    br_ssl_engine_get_session_parameters(&tls->client.eng, &parameters);
    return tls_suites_name(parameters.cipher_suite);
}
