/* TLS of the serving side: a certification authority made on the spot, a certificate for each host made when
 * its name is asked for, and the records of one connection in memory. */
#pragma once

#include <stdbool.h>

#include "net/slice.h"
#include "tools/websim/web.h"

struct websim_tls;
struct websim_tls_conn;

/* Makes the authority and writes its certificate to the file (PEM), unless the path is NULL. NULL after one
 * line on stderr. */
struct websim_tls *websim_tls_create(const struct websim_web *web, const char *ca_path);
void websim_tls_destroy(struct websim_tls *tls);

/* NULL: no memory. */
struct websim_tls_conn *websim_tls_open(struct websim_tls *tls);
void websim_tls_close(struct websim_tls_conn *conn);

/* Bytes from the client; `plain` is what they contained for us, valid until the next call. False: not TLS, or
 * the client has ended it. */
bool websim_tls_decrypt(struct websim_tls_conn *conn, struct slice bytes, struct slice *plain);
/* The records that carry these bytes, after those that are pending; valid until the next call of this or of
 * websim_tls_pending. Only after a request was decrypted. */
struct slice websim_tls_encrypt(struct websim_tls_conn *conn, struct slice plain);
/* Records of the handshake that wait to be sent. */
struct slice websim_tls_pending(struct websim_tls_conn *conn);
