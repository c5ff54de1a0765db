#include "tools/websim/truth.h"

#include <bearssl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <xxhash.h>

#include "tools/websim/body.h"
#include "tools/websim/personality.h"
#include "tools/websim/robots.h"

#define SET_SLOTS_MIN 65536

/* Packed URLs, open addressing; 0 is free, so what is stored is one more. */
struct set {
    uint64_t *keys;
    uint64_t slots, count;
};

struct entry {
    uint64_t packed;
    uint32_t depth, redirects;
};

struct websim_truth {
    const struct websim_web *web;
    struct websim_truth_options options;
    struct set seen;
    struct set fetched;
    struct entry *queue;
    size_t queue_begin, queue_end, queue_capacity;
    struct websim_text text;
    struct websim_buffer body;
    struct websim_truth_totals totals;
    FILE *out;
};

static void *checked(void *memory)
{
    if (!memory) {
        fprintf(stderr, "websim truth: out of memory\n");
        exit(WEBSIM_EXIT_FAILED);
    }
    return memory;
}

static uint64_t *set_find(const struct set *set, uint64_t key)
{
    uint64_t at = websim_mix(key) & (set->slots - 1);
    while (set->keys[at] && set->keys[at] != key)
        at = (at + 1) & (set->slots - 1);
    return &set->keys[at];
}

static void set_grow(struct set *set)
{
    struct set larger = {.slots = set->slots ? set->slots * 2 : SET_SLOTS_MIN, .count = set->count};
    larger.keys = checked(calloc(larger.slots, sizeof *larger.keys));
    for (uint64_t i = 0; i < set->slots; i++)
        if (set->keys[i])
            *set_find(&larger, set->keys[i]) = set->keys[i];
    free(set->keys);
    *set = larger;
}

/* False if it was there. */
static bool set_insert(struct set *set, uint64_t packed)
{
    if (set->count * 2 >= set->slots)
        set_grow(set);
    uint64_t *slot = set_find(set, packed + 1);
    if (*slot)
        return false;
    *slot = packed + 1;
    set->count++;
    return true;
}

struct websim_truth *websim_truth_create(const struct websim_web *web,
                                         const struct websim_truth_options *options)
{
    struct websim_truth *truth = checked(calloc(1, sizeof *truth));
    truth->web = web;
    truth->options = *options;
    websim_text_init(&truth->text, web->parameters.seed);
    set_grow(&truth->seen);
    set_grow(&truth->fetched);
    return truth;
}

void websim_truth_destroy(struct websim_truth *truth)
{
    free(truth->seen.keys);
    free(truth->fetched.keys);
    free(truth->queue);
    websim_buffer_fini(&truth->body);
    free(truth);
}

static void push(struct websim_truth *truth, struct websim_url url, uint32_t depth)
{
    uint64_t packed = websim_url_pack(url);
    if (!set_insert(&truth->seen, packed))
        return;
    if (truth->queue_end == truth->queue_capacity) {
        truth->queue_capacity = truth->queue_capacity ? truth->queue_capacity * 2 : SET_SLOTS_MIN;
        truth->queue = checked(realloc(truth->queue, truth->queue_capacity * sizeof *truth->queue));
    }
    truth->queue[truth->queue_end++] = (struct entry){.packed = packed, .depth = depth};
}

void websim_truth_seed(struct websim_truth *truth, struct websim_url url)
{
    push(truth, url, 0);
}

bool websim_truth_has(const struct websim_truth *truth, struct websim_url url)
{
    return *set_find(&truth->fetched, websim_url_pack(url) + 1);
}

static void write_base32(const unsigned char *bytes, char *out)
{
    for (unsigned i = 0; i < 32; i++) {
        unsigned bit = i * 5,
                 two = (unsigned)bytes[bit / 8] << 8 | (bit / 8 + 1 < 20 ? bytes[bit / 8 + 1] : 0);
        out[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[two >> (11 - bit % 8) & 31];
    }
    out[32] = '\0';
}

static void write_digest(const struct websim_truth *truth, char *out)
{
    if (truth->options.digest == WEBSIM_DIGEST_SHA1) {
        unsigned char sum[20];
        br_sha1_context sha1;
        br_sha1_init(&sha1);
        br_sha1_update(&sha1, truth->body.data, truth->body.len);
        br_sha1_out(&sha1, sum);
        write_base32(sum, out);
        return;
    }
    snprintf(out, 17, "%016" PRIx64, (uint64_t)XXH3_64bits(truth->body.data, truth->body.len));
}

static void print(const struct websim_truth *truth, struct websim_url url, unsigned status, const char *rest)
{
    char text[WEBSIM_URL_BYTES];
    websim_url_write(truth->web, url, text);
    fprintf(truth->out, "%s\t%u\t%s\n", text, status, rest);
}

/* Why the URL is not to be fetched, or NULL. */
static const char *obstacle(struct websim_truth *truth, struct websim_url url)
{
    char path[WEBSIM_PATH_BYTES];
    struct websim_site site = websim_site(truth->web, url.host);
    enum websim_fault fault = websim_host_fault(truth->web, url.host);
    bool harmless = fault == WEBSIM_FAULT_NONE || fault == WEBSIM_FAULT_CALENDAR ||
                    (fault == WEBSIM_FAULT_EXPIRED && truth->options.accept_expired);
    if (!harmless) {
        truth->totals.unreachable++;
        return websim_fault_word(fault);
    }
    struct slice text = {path, websim_path_write(&site, url, path)};
    if (!websim_robots_allows(truth->web, url.host, truth->options.agent, text)) {
        truth->totals.forbidden++;
        return "robots";
    }
    return NULL;
}

/* Which content a page shows: the number of the first page that has it, and whether a sentence was added. */
static void write_content(const struct websim_page *page, char *out, size_t size)
{
    if (page->body == WEBSIM_BODY_HTML)
        snprintf(out, size, "\t%u/%u%s", (unsigned)page->site.host, (unsigned)page->content,
                 page->near ? " near" : "");
    else
        snprintf(out, size, "\t-");
}

static void report(struct websim_truth *truth, const struct websim_page *page)
{
    char rest[192], digest[40] = "-", content[48] = "";
    const char *note = page->fault != WEBSIM_FAULT_NONE ? websim_fault_word(page->fault)
                       : websim_personality_is_moody(truth->web, page->site.host) ? "retry"
                                                                                  : "-";
    truth->totals.fetched++;
    truth->totals.ok += page->status == 200;
    if (truth->options.digest != WEBSIM_DIGEST_NONE) {
        truth->body.len = 0;
        websim_body_write(page, &truth->text, &truth->body);
        truth->totals.bytes += truth->body.len;
        write_digest(truth, digest);
    }
    if (truth->out) {
        if (truth->options.contents)
            write_content(page, content, sizeof content);
        snprintf(rest, sizeof rest, "%zu\t%s\t%s%s", truth->body.len, digest, note, content);
        print(truth, page->url, page->status, rest);
    }
}

static void push_links(struct websim_truth *truth, const struct websim_page *page, uint32_t depth)
{
    if (truth->options.embeds && page->body == WEBSIM_BODY_HTML) {
        push(truth, (struct websim_url){.host = page->site.host, .kind = WEBSIM_KIND_STYLE}, depth);
        for (uint32_t i = 0; i < websim_page_images(page); i++)
            push(truth, websim_page_image(page, i), depth);
    }
    if (page->meta_nofollow || page->header_nofollow)
        return;
    for (uint32_t i = 0; i < page->links; i++) {
        struct websim_link link = websim_page_link(page, i);
        if (!link.nofollow)
            push(truth, link.url, depth);
    }
}

/* True if it redirects to a URL not seen before, which `entry` then is: it is as deep as this one. */
static bool visit(struct websim_truth *truth, struct entry *entry)
{
    struct websim_url url = websim_url_unpack(entry->packed);
    struct websim_page page;
    const char *why = obstacle(truth, url);
    if (why) {
        char rest[64];
        snprintf(rest, sizeof rest, "0\t-\t%s", why);
        if (truth->out && truth->options.all)
            print(truth, url, 0, rest);
        return false;
    }
    websim_page_init(&page, truth->web, url);
    set_insert(&truth->fetched, entry->packed);
    report(truth, &page);
    if (truth->options.sitemaps && websim_robots_has_sitemap(truth->web, url.host))
        push(truth, (struct websim_url){.host = url.host, .kind = WEBSIM_KIND_SITEMAP}, entry->depth);
    if (page.redirects) {
        entry->packed = websim_url_pack(page.target);
        return ++entry->redirects <= truth->options.redirects_max && set_insert(&truth->seen, entry->packed);
    }
    if (entry->depth < truth->options.depth_max)
        push_links(truth, &page, entry->depth + 1);
    return false;
}

struct websim_truth_totals websim_truth_walk(struct websim_truth *truth, FILE *out)
{
    truth->out = out;
    while (truth->queue_begin < truth->queue_end) {
        struct entry entry = truth->queue[truth->queue_begin++];
        while (visit(truth, &entry))
            ;
    }
    return truth->totals;
}
