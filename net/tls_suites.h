/* The cipher suites that are offered, in order of preference. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TLS_SUITES_MAX 32

/* Fills `suites`, returns their count. AES-GCM first where the processor has instructions for it (BearSSL
 * then receives four times as fast as with ChaCha20), else ChaCha20; forward secrecy before none; CBC
 * last. */
size_t tls_suites_list(uint16_t suites[TLS_SUITES_MAX]);
/* IANA's name; "unknown" for what is never offered. Static storage. */
const char *tls_suites_name(uint16_t suite);
