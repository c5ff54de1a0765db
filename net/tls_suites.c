#include "net/tls_suites.h"

#include <bearssl.h>
#include <stdbool.h>

struct suite {
    uint16_t id;
    bool is_chacha;
    const char *name;
};

#define SUITE(name)                                                                                          \
    {                                                                                                        \
        BR_TLS_##name, false, "TLS_" #name                                                                   \
    }
#define CHACHA(name)                                                                                         \
    {                                                                                                        \
        BR_TLS_##name, true, "TLS_" #name                                                                    \
    }
static const struct suite offered[] = {
    SUITE(ECDHE_ECDSA_WITH_AES_128_GCM_SHA256),
    SUITE(ECDHE_RSA_WITH_AES_128_GCM_SHA256),
    SUITE(ECDHE_ECDSA_WITH_AES_256_GCM_SHA384),
    SUITE(ECDHE_RSA_WITH_AES_256_GCM_SHA384),
    CHACHA(ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256),
    CHACHA(ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256),
    SUITE(RSA_WITH_AES_128_GCM_SHA256),
    SUITE(RSA_WITH_AES_256_GCM_SHA384),
    SUITE(ECDHE_ECDSA_WITH_AES_128_CBC_SHA256),
    SUITE(ECDHE_RSA_WITH_AES_128_CBC_SHA256),
    SUITE(ECDHE_ECDSA_WITH_AES_256_CBC_SHA384),
    SUITE(ECDHE_RSA_WITH_AES_256_CBC_SHA384),
    SUITE(ECDHE_ECDSA_WITH_AES_128_CBC_SHA),
    SUITE(ECDHE_RSA_WITH_AES_128_CBC_SHA),
    SUITE(ECDHE_ECDSA_WITH_AES_256_CBC_SHA),
    SUITE(ECDHE_RSA_WITH_AES_256_CBC_SHA),
    SUITE(RSA_WITH_AES_128_CBC_SHA256),
    SUITE(RSA_WITH_AES_256_CBC_SHA256),
    SUITE(RSA_WITH_AES_128_CBC_SHA),
    SUITE(RSA_WITH_AES_256_CBC_SHA),
};
#define OFFERED_COUNT (sizeof offered / sizeof *offered)
_Static_assert(OFFERED_COUNT <= TLS_SUITES_MAX, "room for all");

size_t tls_suites_list(uint16_t suites[TLS_SUITES_MAX])
{
    bool has_fast_aes = br_aes_x86ni_ctr_get_vtable() || br_aes_pwr8_ctr_get_vtable();
    size_t count = 0;
    for (size_t i = 0; i < OFFERED_COUNT; i++)
        if (!has_fast_aes && offered[i].is_chacha)
            suites[count++] = offered[i].id;
    for (size_t i = 0; i < OFFERED_COUNT; i++)
        if (has_fast_aes || !offered[i].is_chacha)
            suites[count++] = offered[i].id;
    return count;
}

const char *tls_suites_name(uint16_t suite)
{
    for (size_t i = 0; i < OFFERED_COUNT; i++)
        if (offered[i].id == suite)
            return offered[i].name;
    return "unknown";
}
