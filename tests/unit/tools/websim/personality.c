#include "tools/websim/personality.h"

#include "tests/support/check.h"

#define HOSTS 20000

static void make_web(struct websim_web *web, bool plain)
{
    struct websim_parameters parameters;
    char *arguments[] = {NULL, (char[]){"--plain"}};
    websim_parameters_default(&parameters, plain ? 2 : 0, arguments);
    parameters.hosts = HOSTS;
    CHECK_INT(websim_parameters_settle(&parameters, "test"), 0);
    websim_web_init(web, &parameters);
}

TEST(plain_hosts_have_none)
{
    struct websim_web web;
    make_web(&web, true);
    for (uint32_t host = 0; host < HOSTS; host += 101) {
        struct websim_personality p;
        websim_personality_init(&p, &web, host);
        CHECK(p.rtt_ms == 0 && p.think_ms == 0 && p.bytes_per_s == 0 && p.connections_max == 0 &&
              p.close_after == 0);
        CHECK(p.encoding == WEBSIM_ENCODING_NONE && !p.chunked && !p.throttled && !p.spells);
        CHECK(!websim_personality_is_moody(&web, host));
    }
}

TEST(shares_and_means_are_those_asked_for)
{
    struct websim_web web;
    uint64_t rtt = 0, rate = 0, limited = 0, closing = 0, encodings[4] = {0}, chunked = 0, moody = 0;
    make_web(&web, false);
    for (uint32_t host = 0; host < HOSTS; host++) {
        struct websim_personality p;
        websim_personality_init(&p, &web, host);
        rtt += p.rtt_ms;
        rate += p.bytes_per_s;
        limited += p.connections_max != 0;
        closing += p.close_after != 0;
        encodings[p.encoding]++;
        chunked += p.chunked;
        moody += p.throttled || p.spells;
        CHECK(p.connections_max == 0 || (p.connections_max >= 2 && p.connections_max <= 4));
        CHECK(p.close_after <= 64);
        CHECK_INT(websim_personality_is_moody(&web, host), p.throttled || p.spells);
    }
    CHECK(rtt > HOSTS * 9 && rtt < HOSTS * 11);
    CHECK(rate > (uint64_t)HOSTS * (3700 << 10) && rate < (uint64_t)HOSTS * (4500 << 10));
    CHECK(limited > HOSTS * 4 / 100 && limited < HOSTS * 6 / 100);
    CHECK(closing > HOSTS * 18 / 100 && closing < HOSTS * 22 / 100);
    CHECK(encodings[WEBSIM_ENCODING_GZIP] > HOSTS * 38 / 100 &&
          encodings[WEBSIM_ENCODING_GZIP] < HOSTS * 42 / 100);
    CHECK(encodings[WEBSIM_ENCODING_ZSTD] > HOSTS * 4 / 100 &&
          encodings[WEBSIM_ENCODING_ZSTD] < HOSTS * 6 / 100);
    CHECK(chunked > HOSTS * 28 / 100 && chunked < HOSTS * 32 / 100);
    CHECK(moody > HOSTS * 15 / 1000 && moody < HOSTS * 25 / 1000);
}

TEST(spells_come_once_in_eight_seconds)
{
    struct websim_web web;
    make_web(&web, true);
    web.parameters.spells = WEBSIM_PPM;
    for (uint32_t host = 0; host < 100; host++) {
        unsigned seconds = 0;
        for (uint64_t now = 1000; now < 1080; now++)
            seconds += websim_personality_spell_s(&web, host, now);
        CHECK_INT(seconds, 10);
    }
}
