/* A TLS server in memory (BearSSL's), the other side of net/tls.h in its tests. */
#pragma once

#include <bearssl.h>
#include <stdlib.h>

#include "tests/support/check.h"
#include "tests/support/pki.h"

struct tls_peer {
    br_ssl_server_context server;
    br_skey_decoder_context key;
    br_x509_certificate chain[4];
    size_t chain_len;
    br_ssl_session_cache_lru sessions;
    unsigned char session_store[4096];
    unsigned char input[BR_SSL_BUFSIZE_INPUT], output[BR_SSL_BUFSIZE_OUTPUT];
};

struct tls_peer_bytes {
    unsigned char *ptr;
    size_t len;
};

static inline void tls_peer_on_bytes(void *context, const void *bytes, size_t len)
{
    struct tls_peer_bytes *all = context;
    all->ptr = realloc(all->ptr, all->len + len);
    memcpy(all->ptr + all->len, bytes, len);
    all->len += len;
}

/* The PEM objects of a file, at most `max`. */
static inline size_t tls_peer_read_pem(const char *path, struct tls_peer_bytes *objects, size_t max)
{
    size_t len, count = 0;
    char *text = check_read_file(path, &len);
    br_pem_decoder_context pem;
    br_pem_decoder_init(&pem);
    for (size_t at = 0; at < len;) {
        at += br_pem_decoder_push(&pem, text + at, len - at);
        int event = br_pem_decoder_event(&pem);
        if (event == BR_PEM_BEGIN_OBJ) {
            CHECK(count < max);
            objects[count] = (struct tls_peer_bytes){NULL, 0};
            br_pem_decoder_setdest(&pem, tls_peer_on_bytes, &objects[count]);
        }
        count += event == BR_PEM_END_OBJ;
    }
    free(text);
    return count;
}

/* The server presents the chain and key of that name in the test's PKI. */
static inline struct tls_peer *tls_peer_create(const char *name)
{
    struct tls_peer *peer = calloc(1, sizeof *peer);
    struct tls_peer_bytes key, chain[4];
    char file[64];
    snprintf(file, sizeof file, "%s.key", name);
    CHECK_INT(tls_peer_read_pem(pki_path(file), &key, 1), 1);
    br_skey_decoder_init(&peer->key);
    br_skey_decoder_push(&peer->key, key.ptr, key.len);
    free(key.ptr);
    snprintf(file, sizeof file, "%s.pem", name);
    peer->chain_len = tls_peer_read_pem(pki_path(file), chain, 4);
    for (size_t i = 0; i < peer->chain_len; i++)
        peer->chain[i] = (br_x509_certificate){chain[i].ptr, chain[i].len};
    if (br_skey_decoder_key_type(&peer->key) == BR_KEYTYPE_EC)
        br_ssl_server_init_full_ec(&peer->server, peer->chain, peer->chain_len, BR_KEYTYPE_EC,
                                   br_skey_decoder_get_ec(&peer->key));
    else
        br_ssl_server_init_full_rsa(&peer->server, peer->chain, peer->chain_len,
                                    br_skey_decoder_get_rsa(&peer->key));
    br_ssl_session_cache_lru_init(&peer->sessions, peer->session_store, sizeof peer->session_store);
    br_ssl_server_set_cache(&peer->server, &peer->sessions.vtable);
    br_ssl_engine_set_buffers_bidi(&peer->server.eng, peer->input, sizeof peer->input, peer->output,
                                   sizeof peer->output);
    CHECK(br_ssl_server_reset(&peer->server));
    return peer;
}

static inline void tls_peer_destroy(struct tls_peer *peer)
{
    for (size_t i = 0; i < peer->chain_len; i++)
        free(peer->chain[i].data);
    free(peer);
}
