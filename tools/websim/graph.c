#include "tools/websim/graph.h"

#include "tools/websim/robots.h"

enum {
    BITS_PAGE = 32,
    BITS_CALENDAR,
};

/* Purposes of a page's own bits. */
enum {
    DRAW_CLASS = 1,
    DRAW_FAULT,
    DRAW_TARGET,
    DRAW_SOURCE,
    DRAW_LINKS,
    DRAW_BASE,
    DRAW_IMAGES,
    DRAW_LINK = 256, /* and above: one per link */
};

#define LINKS_MAX          10000
#define ROOTS_PER_ROOT     4 /* children in the tree of hosts */
#define SOURCE_TRIES       4
#define IMAGES_PER_PAGE    4
#define HOST_SKEW          3
#define PAGE_SKEW          2
#define PAGES_PER_GONE_URL 16

enum class {
    CLASS_PLAIN,
    CLASS_REDIRECT,
    CLASS_DUPLICATE,
    CLASS_NEAR,
    CLASS_META,
};

static uint64_t page_bits(const struct websim_site *site, uint32_t index)
{
    return websim_hash(websim_host_bits(site->web, site->host, BITS_PAGE), index);
}

static enum websim_fault page_fault(const struct websim_site *site, uint32_t index)
{
    if (!site->web->has_page_faults || !websim_site_is_leaf(site, index))
        return WEBSIM_FAULT_NONE;
    return websim_fault_draw(site->web->parameters.faults, WEBSIM_FAULT_PAGE_FIRST, WEBSIM_FAULT_COUNT,
                             websim_hash(page_bits(site, index), DRAW_FAULT));
}

static enum class page_class(const struct websim_site *site, uint32_t index) {
    const struct websim_parameters *p = &site->web->parameters;
    if (!websim_site_is_leaf(site, index) || page_fault(site, index) != WEBSIM_FAULT_NONE) return CLASS_PLAIN;
    uint64_t at = websim_below(websim_hash(page_bits(site, index), DRAW_CLASS), WEBSIM_PPM);
    const uint64_t shares[] = {p->redirects, p->duplicates, p->near, p->meta};
    for (unsigned i = 0; i < sizeof shares / sizeof *shares;
         i++){if (at < shares[i]) return (enum class)(CLASS_REDIRECT + i); at -= shares[i];}
return CLASS_PLAIN;
}

static bool is_portable(uint64_t bits)
{
    return bits & 1;
}

static struct websim_url url_of(uint32_t host, enum websim_kind kind, uint32_t index)
{
    return (struct websim_url){.host = host, .kind = (uint8_t)kind, .index = index};
}

/* Another page of the host before this one whose content can stand anywhere, or this one if none is found. */
static uint32_t find_source(const struct websim_site *site, uint32_t index)
{
    uint64_t bits = websim_hash(page_bits(site, index), DRAW_SOURCE);
    for (unsigned i = 0; i < SOURCE_TRIES && index > 1; i++, bits = websim_mix(bits + 1)) {
        uint32_t source = 1 + (uint32_t)websim_below(bits, index - 1);
        if (is_portable(page_bits(site, source)) && page_fault(site, source) == WEBSIM_FAULT_NONE &&
            page_class(site, source) == CLASS_PLAIN)
            return source;
    }
    return index;
}

static void set_redirect(struct websim_page *page, struct websim_url target)
{
    static const uint16_t codes[] = {301, 302, 303, 307, 308};
    page->status = codes[page->bits % 5];
    page->redirects = true;
    page->body = WEBSIM_BODY_NONE;
    page->target = target;
    page->links = 0;
}

/* To an earlier page of the host, so that there are no loops, or to another host's root. */
static struct websim_url draw_target(const struct websim_page *page)
{
    const struct websim_web *web = page->site.web;
    uint64_t bits = websim_hash(page->bits, DRAW_TARGET);
    if ((bits & 3) == 0)
        return url_of((uint32_t)websim_skewed(websim_mix(bits), web->parameters.hosts, HOST_SKEW),
                      WEBSIM_KIND_PAGE, 0);
    return url_of(page->site.host, WEBSIM_KIND_PAGE, (uint32_t)websim_below(bits, page->url.index));
}

static void count_links(struct websim_page *page)
{
    const struct websim_web *web = page->site.web;
    uint64_t first = (uint64_t)page->content * page->site.branch + 1;
    uint64_t drawn = websim_lognormal_draw(&web->links_law, websim_hash(page->bits, DRAW_LINKS));
    if (first < page->site.pages) {
        uint32_t left = page->site.pages - (uint32_t)first;
        page->first_child = (uint32_t)first;
        page->children = left < page->site.branch ? left : page->site.branch;
    }
    if (page->content == 0) {
        uint64_t child = (uint64_t)page->site.host * ROOTS_PER_ROOT + 1;
        for (unsigned i = 0; i < ROOTS_PER_ROOT && child + i < web->parameters.hosts; i++)
            page->host_links++;
        page->host_links += websim_host_fault(web, page->site.host) == WEBSIM_FAULT_CALENDAR;
    }
    uint32_t least = page->children + page->host_links;
    drawn = drawn < LINKS_MAX ? drawn : LINKS_MAX;
    page->links = drawn > least ? (uint32_t)drawn : least ? least : 1;
}

static void init_content(struct websim_page *page)
{
    const struct websim_parameters *p = &page->site.web->parameters;
    enum class class = page_class(&page->site, page->url.index);
    page->fault = page_fault(&page->site, page->url.index);
    if (class == CLASS_REDIRECT) {
        set_redirect(page, draw_target(page));
        return;
    }
    if (page->fault == WEBSIM_FAULT_LOOP || page->fault == WEBSIM_FAULT_CHAIN) {
        set_redirect(page, url_of(page->site.host,
                                  page->fault == WEBSIM_FAULT_LOOP ? WEBSIM_KIND_LOOP : WEBSIM_KIND_HOP,
                                  page->url.index));
        return;
    }
    if (class == CLASS_DUPLICATE || class == CLASS_NEAR) {
        page->content = find_source(&page->site, page->url.index);
        page->near = class == CLASS_NEAR && page->content != page->url.index;
        page->bits = page_bits(&page->site, page->content);
    }
    page->portable = is_portable(page->bits);
    page->meta_nofollow = class == CLASS_META && (page->bits & 2);
    page->header_nofollow = class == CLASS_META && !(page->bits & 2);
    page->has_base = websim_chance(websim_hash(page->bits, DRAW_BASE), (uint32_t)p->base);
    page->only_home = page->fault >= WEBSIM_FAULT_RESETHEAD && page->fault <= WEBSIM_FAULT_BIGHEAD;
    if (page->only_home)
        page->links = 1;
    else
        count_links(page);
}

static void init_gone(struct websim_page *page)
{
    page->status = 404;
    page->body = WEBSIM_BODY_GONE;
    page->links = 0;
}

static void init_calendar(struct websim_page *page)
{
    page->bits =
        websim_hash(websim_host_bits(page->site.web, page->site.host, BITS_CALENDAR), page->url.index);
    page->portable = true;
    page->links = 2;
    if (websim_host_fault(page->site.web, page->site.host) != WEBSIM_FAULT_CALENDAR)
        init_gone(page);
}

/* A hop of a chain or of a loop. */
static void init_hop(struct websim_page *page)
{
    bool chain = page->url.kind == WEBSIM_KIND_HOP;
    enum websim_fault fault = chain ? WEBSIM_FAULT_CHAIN : WEBSIM_FAULT_LOOP;
    struct websim_url next = page->url;
    if (page->url.index >= page->site.pages || page_fault(&page->site, page->url.index) != fault ||
        page->url.variant >= (chain ? WEBSIM_CHAIN_LENGTH - 1 : 2)) {
        init_gone(page);
        return;
    }
    page->bits = websim_hash(page->bits, page->url.variant);
    next.variant = chain ? next.variant + 1 : !next.variant;
    if (chain && next.variant == WEBSIM_CHAIN_LENGTH - 1)
        next = url_of(page->site.host, WEBSIM_KIND_PAGE, 0);
    set_redirect(page, next);
}

static void init_robots(struct websim_page *page)
{
    enum websim_robots kind = websim_robots_of(page->site.web, page->site.host);
    page->body = WEBSIM_BODY_ROBOTS;
    if (page->url.variant ? kind != WEBSIM_ROBOTS_MOVED : kind == WEBSIM_ROBOTS_ABSENT)
        init_gone(page);
    else if (page->url.variant == 0 && kind == WEBSIM_ROBOTS_MOVED) {
        struct websim_url moved = page->url;
        moved.variant = 1;
        set_redirect(page, moved);
    } else if (kind == WEBSIM_ROBOTS_ERROR) {
        init_gone(page);
        page->status = 500;
    }
}

void websim_page_init(struct websim_page *page, const struct websim_web *web, struct websim_url url)
{
    *page = (struct websim_page){.site = websim_site(web, url.host),
                                 .url = url,
                                 .content = url.index,
                                 .status = 200,
                                 .body = WEBSIM_BODY_HTML};
    page->bits = page_bits(&page->site, url.index);
    switch ((enum websim_kind)url.kind) {
    case WEBSIM_KIND_PAGE:
    case WEBSIM_KIND_SESSION:
        init_content(page);
        return;
    case WEBSIM_KIND_IMAGE:
        page->body = WEBSIM_BODY_IMAGE;
        if (url.index >= page->site.pages)
            init_gone(page);
        return;
    case WEBSIM_KIND_STYLE:
        page->body = WEBSIM_BODY_STYLE;
        return;
    case WEBSIM_KIND_CALENDAR:
        init_calendar(page);
        return;
    case WEBSIM_KIND_HOP:
    case WEBSIM_KIND_LOOP:
        init_hop(page);
        return;
    case WEBSIM_KIND_ROBOTS:
        init_robots(page);
        return;
    case WEBSIM_KIND_SITEMAP:
        page->body = WEBSIM_BODY_SITEMAP;
        if (!websim_robots_has_sitemap(web, url.host))
            init_gone(page);
        return;
    case WEBSIM_KIND_GONE:
    case WEBSIM_KIND_OTHER:
    case WEBSIM_KIND_COUNT:
        init_gone(page);
    }
}

static struct websim_url draw_link(const struct websim_page *page, uint64_t bits)
{
    const struct websim_parameters *p = &page->site.web->parameters;
    uint64_t at = websim_below(bits, WEBSIM_PPM), more = websim_mix(bits + 1), last = websim_mix(more + 1);
    uint32_t host = page->site.host, pages = page->site.pages;
    if (at < p->external) {
        host = (uint32_t)websim_skewed(more, p->hosts, HOST_SKEW);
        if (last & 1)
            return url_of(host, WEBSIM_KIND_PAGE, 0);
        pages = websim_host_pages(page->site.web, host);
    }
    at -= p->external;
    if (at < p->gone)
        return url_of(host, WEBSIM_KIND_GONE, (uint32_t)websim_below(more, pages / PAGES_PER_GONE_URL + 1));
    struct websim_url url = url_of(host, WEBSIM_KIND_PAGE, (uint32_t)websim_skewed(last, pages, PAGE_SKEW));
    at -= p->gone;
    if (at < p->sessions) {
        url.kind = WEBSIM_KIND_SESSION;
        url.variant = more & (WEBSIM_SESSIONS - 1);
    }
    return url;
}

static struct websim_url host_link(const struct websim_page *page, uint32_t i)
{
    uint64_t root = (uint64_t)page->site.host * ROOTS_PER_ROOT + 1 + i;
    if (i < ROOTS_PER_ROOT && root < page->site.web->parameters.hosts)
        return url_of((uint32_t)root, WEBSIM_KIND_PAGE, 0);
    return url_of(page->site.host, WEBSIM_KIND_CALENDAR, 0);
}

struct websim_link websim_page_link(const struct websim_page *page, uint32_t i)
{
    struct websim_link link = {.bits = websim_hash(page->bits, DRAW_LINK + i)};
    if (page->url.kind == WEBSIM_KIND_CALENDAR) {
        link.url = i ? url_of(page->site.host, WEBSIM_KIND_PAGE, 0)
                     : url_of(page->site.host, WEBSIM_KIND_CALENDAR, page->url.index + 1);
        return link;
    }
    if (page->only_home) {
        link.url = url_of(page->site.host, WEBSIM_KIND_PAGE, 0);
        return link;
    }
    if (i < page->children) {
        link.url = url_of(page->site.host, WEBSIM_KIND_PAGE, page->first_child + i);
        return link;
    }
    i -= page->children;
    if (i < page->host_links) {
        link.url = host_link(page, i);
        return link;
    }
    link.url = draw_link(page, link.bits);
    link.bits = websim_mix(link.bits + 2);
    link.nofollow = websim_chance(link.bits, (uint32_t)page->site.web->parameters.nofollow);
    link.bits = websim_mix(link.bits + 3);
    return link;
}

uint32_t websim_page_images(const struct websim_page *page)
{
    return page->body == WEBSIM_BODY_HTML ? websim_hash(page->bits, DRAW_IMAGES) % IMAGES_PER_PAGE : 0;
}

struct websim_url websim_page_image(const struct websim_page *page, uint32_t i)
{
    uint64_t bits = websim_hash(websim_hash(page->bits, DRAW_IMAGES), i + 1);
    return url_of(page->site.host, WEBSIM_KIND_IMAGE,
                  (uint32_t)websim_skewed(bits, page->site.pages, PAGE_SKEW));
}
