#include "tools/websim/web.h"

#include <assert.h>

#define HOSTS_PER_DOMAIN 4
/* Sizes of hosts follow a power law: the share of hosts larger than x falls as x^-1.5. */
#define PAGES_EXPONENT(q16) ((q16)*2 / 3)
#define PAGES_MAX           (1u << 24)
/* Ranks beyond these add nothing to the scale that is worth the time. */
#define SCALE_RANKS_MAX 65536
#define LINKS_SPREAD    70
/* Children per page, unless --depth asks for more. */
#define BRANCH_MIN 8

enum {
    BITS_ADDRESS = 1,
    BITS_DOMAIN,
    BITS_HTTPS,
    BITS_FAULT,
};

static const char *const tlds[] = {"sim", "example", "test"};

static uint64_t gcd(uint64_t a, uint64_t b)
{
    return b ? gcd(b, a % b) : a;
}

/* log2 of (2 hosts / (2 rank + 1))^(2/3). */
static int64_t relative_size_q16(uint64_t hosts, uint64_t rank)
{
    return PAGES_EXPONENT(websim_log2_q16(2 * hosts) - websim_log2_q16(2 * rank + 1));
}

/* The scale that makes the sum over all hosts hosts * pages. */
static int64_t scale_q16(const struct websim_parameters *parameters)
{
    uint64_t ranks = parameters->hosts < SCALE_RANKS_MAX ? parameters->hosts : SCALE_RANKS_MAX, sum = 0;
    assert(ranks > 0);
    for (uint64_t rank = 0; rank < ranks; rank++)
        sum += websim_exp2_q16(relative_size_q16(ranks, rank) + (8 << 16));
    return websim_log2_q16(parameters->pages) - (websim_log2_q16(sum / ranks) - (8 << 16));
}

/* Of the log-normal, so that the mean with the tail of large pages is the one asked for. */
static uint64_t size_mean(const struct websim_parameters *parameters)
{
    uint64_t times = WEBSIM_LARGE_TIMES_MIN + WEBSIM_LARGE_TIMES_MORE / 2;
    if (parameters->size_spread == 0)
        return parameters->size;
    return parameters->size * WEBSIM_LARGE_ONE_IN / (WEBSIM_LARGE_ONE_IN - 1 + times);
}

void websim_web_init(struct websim_web *web, const struct websim_parameters *parameters)
{
    uint64_t hosts = parameters->hosts, bits = websim_hash(parameters->seed, 0);
    web->parameters = *parameters;
    web->has_host_faults = web->has_page_faults = false;
    for (unsigned i = 1; i < WEBSIM_FAULT_COUNT; i++)
        if (parameters->faults[i])
            *(i < WEBSIM_FAULT_PAGE_FIRST ? &web->has_host_faults : &web->has_page_faults) = true;
    /* Near the golden section, so that neighbours differ in rank. */
    web->rank_step = hosts * 5 / 8 + websim_below(bits, hosts / 16 + 1);
    while (gcd(web->rank_step, hosts) != 1)
        web->rank_step++;
    web->rank_start = websim_below(websim_mix(bits), hosts);
    web->pages_q16 = scale_q16(parameters);
    web->domains = (hosts + HOSTS_PER_DOMAIN - 1) / HOSTS_PER_DOMAIN;
    websim_lognormal_init(&web->links_law, parameters->links, LINKS_SPREAD);
    websim_lognormal_init(&web->size_law, size_mean(parameters), (unsigned)parameters->size_spread);
}

uint32_t websim_host_address(const struct websim_web *web, uint32_t host)
{
    uint64_t bits = websim_host_bits(web, host, BITS_ADDRESS);
    return WEBSIM_ADDRESS_FIRST + (uint32_t)websim_skewed(bits, web->parameters.addresses, 2);
}

uint32_t websim_host_pages(const struct websim_web *web, uint32_t host)
{
    uint64_t hosts = web->parameters.hosts;
    uint64_t rank = (host * web->rank_step + web->rank_start) % hosts;
    int64_t x = web->pages_q16 + relative_size_q16(hosts, rank);
    uint64_t pages = x <= 0 ? 1 : websim_exp2_q16(x);
    return pages < PAGES_MAX ? (uint32_t)pages : PAGES_MAX;
}

/* Enough for `pages` within `depth` levels below the root: the last level alone then holds them all. */
static bool is_wide_enough(uint64_t branch, uint64_t depth, uint64_t pages)
{
    uint64_t level = 1;
    for (; depth && level < pages; depth--)
        level *= branch;
    return level >= pages;
}

struct websim_site websim_site(const struct websim_web *web, uint32_t host)
{
    uint32_t pages = websim_host_pages(web, host), branch = BRANCH_MIN;
    int64_t depth = (int64_t)web->parameters.depth, log2_pages = websim_log2_q16(pages);
    if (log2_pages > depth * (3 << 16))
        branch = (uint32_t)websim_exp2_q16(log2_pages / depth);
    while (!is_wide_enough(branch, (uint64_t)depth, pages))
        branch++;
    return (struct websim_site){.web = web, .host = host, .pages = pages, .branch = branch};
}

enum websim_fault websim_host_fault(const struct websim_web *web, uint32_t host)
{
    if (!web->has_host_faults)
        return WEBSIM_FAULT_NONE;
    return websim_fault_draw(web->parameters.faults, WEBSIM_FAULT_NONE + 1, WEBSIM_FAULT_PAGE_FIRST,
                             websim_host_bits(web, host, BITS_FAULT));
}

bool websim_host_is_https(const struct websim_web *web, uint32_t host)
{
    if (websim_host_fault(web, host) == WEBSIM_FAULT_EXPIRED)
        return true;
    return web->parameters.https &&
           websim_chance(websim_host_bits(web, host, BITS_HTTPS), (uint32_t)web->parameters.https);
}

uint16_t websim_host_port(const struct websim_web *web, uint32_t host)
{
    if (websim_host_fault(web, host) == WEBSIM_FAULT_REFUSE)
        return (uint16_t)web->parameters.refuse_port;
    return (uint16_t)(websim_host_is_https(web, host) ? web->parameters.tls_port : web->parameters.port);
}

char *websim_write_number(char *out, uint64_t value)
{
    char digits[20];
    unsigned count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count)
        *out++ = digits[--count];
    return out;
}

char *websim_write_text(char *out, const char *text)
{
    size_t len = strlen(text);
    memcpy(out, text, len);
    return out + len;
}

size_t websim_host_name(const struct websim_web *web, uint32_t host, char *out)
{
    uint64_t domain = websim_below(websim_host_bits(web, host, BITS_DOMAIN), web->domains);
    char *at = out;
    *at++ = 'h';
    at = websim_write_number(at, host);
    *at++ = '.';
    *at++ = 'd';
    at = websim_write_number(at, domain);
    *at++ = '.';
    at = websim_write_text(at, tlds[domain % (sizeof tlds / sizeof *tlds)]);
    *at = '\0';
    return (size_t)(at - out);
}

bool websim_host_find(const struct websim_web *web, struct slice name, uint32_t *host)
{
    char expected[WEBSIM_NAME_BYTES];
    uint64_t number = 0;
    size_t i = 1;
    if (name.len < 2 || slice_lower(name.ptr[0]) != 'h')
        return false;
    for (; i < name.len && name.ptr[i] >= '0' && name.ptr[i] <= '9' && number < WEBSIM_HOSTS_MAX; i++)
        number = number * 10 + (uint64_t)(name.ptr[i] - '0');
    if (number >= web->parameters.hosts)
        return false;
    *host = (uint32_t)number;
    size_t len = websim_host_name(web, *host, expected);
    return slice_equals_nocase(name, (struct slice){expected, len});
}

size_t websim_host_origin(const struct websim_web *web, uint32_t host, char *out)
{
    bool https = websim_host_is_https(web, host);
    uint16_t port = websim_host_port(web, host);
    char *at = websim_write_text(out, https ? "https://" : "http://");
    at += websim_host_name(web, host, at);
    if (port != (https ? 443 : 80)) {
        *at++ = ':';
        at = websim_write_number(at, port);
    }
    *at = '\0';
    return (size_t)(at - out);
}

size_t websim_url_write(const struct websim_web *web, struct websim_url url, char *out)
{
    size_t len = websim_host_origin(web, url.host, out);
    struct websim_site site = websim_site(web, url.host);
    return len + websim_path_write(&site, url, out + len);
}

bool websim_url_read(const struct websim_web *web, struct slice text, struct websim_url *url)
{
    char origin[WEBSIM_URL_BYTES];
    struct slice rest = text;
    if (slice_starts_with(rest, SLICE("http://")))
        rest = slice_skip(rest, 7);
    else if (slice_starts_with(rest, SLICE("https://")))
        rest = slice_skip(rest, 8);
    else
        return false;
    size_t name = 0;
    while (name < rest.len && rest.ptr[name] != ':' && rest.ptr[name] != '/' && rest.ptr[name] != '?')
        name++;
    uint32_t host;
    if (!websim_host_find(web, (struct slice){rest.ptr, name}, &host))
        return false;
    size_t len = websim_host_origin(web, host, origin);
    if (text.len < len || !slice_equals_nocase((struct slice){text.ptr, len}, (struct slice){origin, len}))
        return false;
    rest = slice_skip(text, len);
    if (rest.len && rest.ptr[0] != '/')
        return false;
    struct websim_site site = websim_site(web, host);
    *url = websim_path_read(&site, rest.len ? rest : SLICE("/"));
    return url->kind != WEBSIM_KIND_OTHER;
}
