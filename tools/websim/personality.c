#include "tools/websim/personality.h"

enum {
    BITS_RTT = 64,
    BITS_THINK,
    BITS_BANDWIDTH,
    BITS_LIMIT,
    BITS_CLOSE,
    BITS_ENCODING,
    BITS_CHUNKED,
    BITS_THROTTLED,
    BITS_SPELLS,
    BITS_PHASE,
};

#define DELAY_SPREAD     80
#define BANDWIDTH_SPREAD 100
#define BANDWIDTH_MIN    4096
#define CONNECTIONS_MIN  2
#define CLOSE_AFTER_MAX  64

static uint64_t draw_around(uint64_t mean, unsigned spread, uint64_t bits)
{
    struct websim_lognormal law;
    if (mean == 0)
        return 0;
    websim_lognormal_init(&law, mean, spread);
    return websim_lognormal_draw(&law, bits);
}

static enum websim_encoding draw_encoding(const struct websim_parameters *p, uint64_t bits)
{
    const uint64_t shares[] = {p->gzip, p->brotli, p->zstd};
    uint64_t at = websim_below(bits, WEBSIM_PPM);
    for (unsigned i = 0; i < 3; i++) {
        if (at < shares[i])
            return (enum websim_encoding)(WEBSIM_ENCODING_GZIP + i);
        at -= shares[i];
    }
    return WEBSIM_ENCODING_NONE;
}

static bool draw(const struct websim_web *web, uint32_t host, unsigned purpose, uint64_t share)
{
    return websim_chance(websim_host_bits(web, host, purpose), (uint32_t)share);
}

void websim_personality_init(struct websim_personality *personality, const struct websim_web *web,
                             uint32_t host)
{
    const struct websim_parameters *p = &web->parameters;
    uint64_t limit = websim_host_bits(web, host, BITS_LIMIT), close = websim_host_bits(web, host, BITS_CLOSE);
    *personality = (struct websim_personality){
        .rtt_ms = (uint32_t)draw_around(p->rtt_ms, DELAY_SPREAD, websim_host_bits(web, host, BITS_RTT)),
        .think_ms = (uint32_t)draw_around(p->think_ms, DELAY_SPREAD, websim_host_bits(web, host, BITS_THINK)),
        .encoding = draw_encoding(p, websim_host_bits(web, host, BITS_ENCODING)),
        .chunked = draw(web, host, BITS_CHUNKED, p->chunked),
        .throttled = draw(web, host, BITS_THROTTLED, p->throttled),
        .spells = draw(web, host, BITS_SPELLS, p->spells),
    };
    if (p->bandwidth) {
        uint64_t rate =
            draw_around(p->bandwidth, BANDWIDTH_SPREAD, websim_host_bits(web, host, BITS_BANDWIDTH));
        personality->bytes_per_s = rate < BANDWIDTH_MIN ? BANDWIDTH_MIN : rate;
    }
    if (websim_chance(limit, (uint32_t)p->limited))
        personality->connections_max = CONNECTIONS_MIN + websim_mix(limit) % 3;
    if (websim_chance(close, (uint32_t)p->closing))
        personality->close_after = 1 + (uint32_t)websim_skewed(websim_mix(close), CLOSE_AFTER_MAX, 2);
}

bool websim_personality_is_moody(const struct websim_web *web, uint32_t host)
{
    return draw(web, host, BITS_THROTTLED, web->parameters.throttled) ||
           draw(web, host, BITS_SPELLS, web->parameters.spells);
}

uint32_t websim_personality_spell_s(const struct websim_web *web, uint32_t host, uint64_t now_s)
{
    uint64_t phase = websim_host_bits(web, host, BITS_PHASE);
    if (!draw(web, host, BITS_SPELLS, web->parameters.spells))
        return 0;
    return (now_s + phase) % WEBSIM_SPELL_PERIOD_S == 0 ? 1 : 0;
}
