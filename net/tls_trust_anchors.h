/* The trusted certificates as BearSSL wants them; for tls_verify.c alone. */
#pragma once

#include <bearssl.h>

#include "net/tls_trust.h"

const br_x509_trust_anchor *tls_trust_anchors(const struct tls_trust *trust, size_t *count);
