/* The client's side of TLS without I/O: ciphertext and plaintext go in and come out through memory.
 *
 *     tls = tls_acquire(pool, host, session or NULL);
 *     whenever something happened (connected, received, sent, wants to write):
 *         while received bytes are left:
 *             n = tls_push_cipher(tls, bytes); skip n of them;
 *             plain = tls_peek_plain(tls): use it, tls_pop_plain(tls, plain.len);
 *             if n == 0 and there was no plaintext: stop (state is CLOSED or FAILED)
 *         out = tls_peek_cipher(tls): if not empty and no send is under way, send it;
 *             the bytes stay where they are until tls_pop_cipher(tls, sent)
 *         state OPEN and something to say: n = tls_push_plain(tls, text)
 *     end of stream: tls_on_eof(tls)
 *
 * Received bytes that tls_push_cipher does not take must be offered again after the plaintext was taken. A
 * send that the kernel still holds pins the context: tls_release only after its completion.
 *
 * TLS 1.0 to 1.2 by BearSSL; no caller sees that library, so that another may take its place. Not
 * thread-safe: pool and contexts belong to one loop. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/limits.h"
#include "net/slice.h"
#include "net/tls_error.h"
#include "net/tls_trust.h"

enum tls_state {
    TLS_HANDSHAKING,
    TLS_OPEN,
    TLS_CLOSING, /* tls_close was called; close_notify may still have to be sent or to come */
    TLS_CLOSED,  /* by close_notify */
    TLS_FAILED,  /* tls_error says why; sticky */
};

struct tls_pool;
struct tls;

/* What lets the next connection to the same host do without the costly part of the handshake. Plain bytes:
 * may be copied and kept, holds no pointers. All zero: none. */
struct tls_session {
    unsigned char bytes[TLS_SESSION_BYTES];
};

struct tls_options {
    const struct tls_trust *trust; /* must outlive the pool */
    bool insecure;                 /* take any certificate, but remember what was wrong with it */
    size_t spare_max;              /* released contexts kept for the next connection */
};

/* NULL: no memory, or no entropy from the system. */
struct tls_pool *tls_pool_create(const struct tls_options *options);
/* Every context must have been released. */
void tls_pool_destroy(struct tls_pool *pool);
/* Bytes held by contexts in use and spare ones. */
size_t tls_pool_bytes(const struct tls_pool *pool);

/* Begins a handshake with `host` (a name, or an address without brackets, which is then looked for in the
 * certificate and not sent as SNI). `session` from an earlier connection to the same host, or NULL. The first
 * flight is ready in tls_peek_cipher. NULL: no memory. A host name that is too long for TLS gives a context
 * that has FAILED. */
struct tls *tls_acquire(struct tls_pool *pool, struct slice host, const struct tls_session *session);
void tls_release(struct tls *tls);

/* Returns how many bytes were taken. */
size_t tls_push_cipher(struct tls *tls, struct slice bytes);
size_t tls_push_plain(struct tls *tls, struct slice text);
/* The next bytes out, empty if there are none; they stay the same until popped. */
struct slice tls_peek_cipher(struct tls *tls);
void tls_pop_cipher(struct tls *tls, size_t n);
struct slice tls_peek_plain(struct tls *tls);
void tls_pop_plain(struct tls *tls, size_t n);

/* Says goodbye: close_notify is ready in tls_peek_cipher. Plaintext that comes after is dropped. */
void tls_close(struct tls *tls);
/* The stream ended: CLOSED after a close_notify, else FAILED with TLS_ERROR_TRUNCATED (if HTTP's framing was
 * complete nothing is lost). */
void tls_on_eof(struct tls *tls);

enum tls_state tls_state(const struct tls *tls);
enum tls_error tls_error(const struct tls *tls);

/* From OPEN on. */
bool tls_was_resumed(const struct tls *tls);
/* TLS_OK, or what the insecure mode has let pass, in this connection or the one that its session is from. */
enum tls_error tls_certificate_error(const struct tls *tls);
/* For the next tls_acquire; false if the server gave no session. */
bool tls_session(const struct tls *tls, struct tls_session *session);
/* "TLSv1.2", and the IANA name of the cipher suite. Static storage. */
const char *tls_version_text(const struct tls *tls);
/* The same as WARC files and registries of protocols have it: "tls/1.2". From OPEN on. */
const char *tls_protocol_text(const struct tls *tls);
const char *tls_suite_text(const struct tls *tls);
