/* How a host behaves when it answers: drawn once per host, never stored. */
#pragma once

#include "tools/websim/web.h"

enum websim_encoding {
    WEBSIM_ENCODING_NONE,
    WEBSIM_ENCODING_GZIP,
    WEBSIM_ENCODING_BROTLI,
    WEBSIM_ENCODING_ZSTD,
};

struct websim_personality {
    uint32_t rtt_ms;          /* before the first answer on a connection */
    uint32_t think_ms;        /* before every answer */
    uint64_t bytes_per_s;     /* 0: as fast as it goes */
    uint32_t connections_max; /* 0: any number */
    uint32_t close_after;     /* requests on a connection; 0: never */
    enum websim_encoding encoding;
    bool chunked;
    bool throttled; /* every WEBSIM_THROTTLE_EVERY-th request of a connection gets a 429 */
    bool spells;    /* 503 within its spells */
};

#define WEBSIM_THROTTLE_EVERY 8
/* A spell takes one second in eight. */
#define WEBSIM_SPELL_PERIOD_S 8

void websim_personality_init(struct websim_personality *personality, const struct websim_web *web,
                             uint32_t host);
/* Does the host answer 429 or 503 now and then? */
bool websim_personality_is_moody(const struct websim_web *web, uint32_t host);
/* Seconds until the host's spell ends; 0: it is in none. `now_s` is any clock's. */
uint32_t websim_personality_spell_s(const struct websim_web *web, uint32_t host, uint64_t now_s);
