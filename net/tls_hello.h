/* Puts X25519 before the other curves in a ClientHello.
 *
 * BearSSL offers curves in the order of their numbers, P-256 before X25519, and many servers take the
 * client's first. A shared secret over X25519 costs BearSSL a quarter of one over P-256. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* `message` is the handshake message, without the record's header. Its length does not change. False: there
 * is nothing to move, or it is not a ClientHello. */
bool tls_hello_prefer_x25519(unsigned char *message, size_t len);
