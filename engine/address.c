#include "engine/address.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

static const uint8_t v4_prefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static struct host *host_of(struct heap_node *node)
{
    return (struct host *)((char *)node - offsetof(struct host, wait));
}

size_t address_bytes(unsigned tokens)
{
    return sizeof(struct address) + tokens * sizeof(uint64_t);
}

void address_init(struct address *address, const struct address_key *key, unsigned tokens)
{
    assert(tokens >= 1 && tokens <= ADDRESS_TOKENS_MAX);
    *address = (struct address){.key = *key, .tokens = (uint8_t)tokens, .wheel_ns = UINT64_MAX};
    for (unsigned i = 0; i < tokens; i++)
        address->token_next_ns[i] = 0;
}

void address_rest(struct address *address, struct host *host)
{
    heap_insert(&address->resting, &host->wait, host->next_ns);
}

unsigned address_ripen(struct address *address, uint64_t now_ns, const struct address_weights *weights)
{
    unsigned count = 0;
    while (address->resting.least && address->resting.least->key <= now_ns) {
        struct host *host = host_of(heap_pop(&address->resting));
        host->state = HOST_READY;
        heap_insert(&address->ready, &host->wait, host->next_ns + weights->weight_ns(weights->owner, host));
        count++;
    }
    return count;
}

/* The token that can be given out first; -1: all are out. */
static int earliest_token(const struct address *address)
{
    int earliest = -1;
    for (int i = 0; i < address->tokens; i++)
        if (!(address->tokens_out >> i & 1) &&
            (earliest < 0 || address->token_next_ns[i] < address->token_next_ns[earliest]))
            earliest = i;
    return earliest;
}

uint64_t address_next_ns(const struct address *address)
{
    int token = earliest_token(address);
    if (token < 0)
        return UINT64_MAX;
    uint64_t host_ns = address->ready.least     ? 0
                       : address->resting.least ? address->resting.least->key
                                                : UINT64_MAX;
    uint64_t token_ns = address->token_next_ns[token];
    return host_ns > token_ns ? host_ns : token_ns;
}

struct host *address_acquire(struct address *address, uint64_t now_ns)
{
    int token = earliest_token(address);
    assert(token >= 0 && address->token_next_ns[token] <= now_ns && address->ready.least);
    (void)now_ns;
    struct host *host = host_of(heap_pop(&address->ready));
    address->tokens_out |= (uint16_t)(1u << token);
    host->slot = (uint8_t)token;
    host->state = HOST_VISITING;
    return host;
}

void address_release(struct address *address, struct host *host, uint64_t next_ns)
{
    assert(address->tokens_out >> host->slot & 1);
    address->tokens_out &= (uint16_t) ~(1u << host->slot);
    address->token_next_ns[host->slot] = next_ns;
}

static bool is_v4(const struct address_key *key)
{
    return memcmp(key->bytes, v4_prefix, sizeof v4_prefix) == 0;
}

bool address_is_loopback(const struct address_key *key)
{
    static const uint8_t v6[16] = {[15] = 1};
    return is_v4(key) ? key->bytes[12] == 127 : memcmp(key->bytes, v6, sizeof v6) == 0;
}

struct range {
    uint8_t prefix[4];
    uint8_t bits;
};

/* RFC 6890 and its updates: special-purpose IPv4 addresses. */
static const struct range special_v4[] = {
    {{0}, 8},         {{10}, 8},       {{100, 64}, 10},      {{127}, 8},
    {{169, 254}, 16}, {{172, 16}, 12}, {{192, 0, 0}, 24},    {{192, 0, 2}, 24},
    {{192, 168}, 16}, {{198, 18}, 15}, {{198, 51, 100}, 24}, {{203, 0, 113}, 24},
    {{224}, 4},       {{240}, 4},
};

static bool is_special_v4(const uint8_t *bytes)
{
    uint32_t value = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    for (size_t i = 0; i < sizeof special_v4 / sizeof special_v4[0]; i++) {
        const uint8_t *p = special_v4[i].prefix;
        uint32_t prefix = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
        if ((value ^ prefix) >> (32 - special_v4[i].bits) == 0)
            return true;
    }
    return false;
}

bool address_is_private(const struct address_key *key)
{
    const uint8_t *b = key->bytes;
    if (is_v4(key))
        return is_special_v4(b + 12);
    /* Public IPv6 is 2000::/3, less documentation and the tunnels that lead to IPv4. */
    bool is_global = (b[0] & 0xe0) == 0x20;
    bool is_documentation = b[0] == 0x20 && b[1] == 0x01 && b[2] == 0x0d && b[3] == 0xb8;
    bool is_teredo = b[0] == 0x20 && b[1] == 0x01 && b[2] == 0 && b[3] == 0;
    bool is_6to4 = b[0] == 0x20 && b[1] == 0x02;
    return !is_global || is_documentation || is_teredo || (is_6to4 && is_special_v4(b + 2));
}

struct slice address_text(char *buffer, const struct address_key *key)
{
    if (is_v4(key))
        inet_ntop(AF_INET, key->bytes + 12, buffer, INET6_ADDRSTRLEN);
    else
        inet_ntop(AF_INET6, key->bytes, buffer, INET6_ADDRSTRLEN);
    return slice_of(buffer);
}
