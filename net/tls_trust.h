/* The certificates that a server's chain must end in. Loaded once, then read only: all loops share one. */
#pragma once

#include <stddef.h>

struct tls_trust;

/* Reads a PEM bundle; NULL: the system's. On failure the answer is NULL and `message` one line that says
 * which file, what is wrong, and what to do. A certificate in the bundle that cannot be used is skipped and
 * counted. */
struct tls_trust *tls_trust_create(const char *path, char *message, size_t message_bytes);
void tls_trust_destroy(struct tls_trust *trust);

size_t tls_trust_count(const struct tls_trust *trust);
size_t tls_trust_skipped(const struct tls_trust *trust);
