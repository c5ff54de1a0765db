#include "engine/frontier/address.h"

#include <assert.h>
#include <string.h>

#include "lockfree/container_of.h"

static struct host *host_of(struct heap_node *node)
{
    return container_of(node, struct host, wait);
}

struct ip address_unit(const struct ip *ip)
{
    struct ip unit = *ip;
    if (!ip_is_v4(ip))
        memset(unit.bytes + 8, 0, 8);
    return unit;
}

size_t address_bytes(unsigned tokens)
{
    return sizeof(struct address) + tokens * sizeof(uint64_t);
}

void address_init(struct address *address, const struct ip *unit, unsigned tokens)
{
    assert(tokens >= 1 && tokens <= ADDRESS_TOKENS_MAX);
    /* Other loops may read `references` of any record at any time. */
    memset((char *)address + offsetof(struct address, unit), 0,
           address_bytes(tokens) - offsetof(struct address, unit));
    address->unit = *unit;
    address->tokens = (uint8_t)tokens;
    address->wheel_ns = UINT64_MAX;
    lf_store(&address->references, ADDRESS_UNUSED + 1, relaxed);
}

void address_rest(struct address *address, struct host *host)
{
    heap_insert(&address->resting, &host->wait, host->next_ns);
}

void address_take_out(struct address *address, struct host *host)
{
    heap_remove(host_state(host) == HOST_READY ? &address->ready : &address->resting, &host->wait);
}

unsigned address_ripen(struct address *address, uint64_t now_ns, const struct address_weights *weights)
{
    unsigned count = 0;
    while (address->resting.least && address->resting.least->key <= now_ns) {
        struct host *host = host_of(heap_pop(&address->resting));
        lf_store(&host->state, HOST_READY, relaxed);
        heap_insert(&address->ready, &host->wait, host->next_ns + weights->weight_ns(weights->owner, host));
        count++;
    }
    return count;
}

/* The token that is available first; -1: all are out. */
static int earliest_token(const struct address *address)
{
    int earliest = -1;
    for (int i = 0; i < address->tokens; i++)
        if (!(address->tokens_out >> i & 1) &&
            (earliest < 0 || address->token_next_ns[i] < address->token_next_ns[earliest]))
            earliest = i;
    return earliest;
}

uint64_t address_token_ns(const struct address *address)
{
    int token = earliest_token(address);
    return token < 0 ? UINT64_MAX : address->token_next_ns[token];
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

bool address_is_at_rest(const struct address *address, uint64_t now_ns)
{
    bool is_empty = !address->hosts && !address->resting.least && !address->ready.least;
    bool is_scheduled = address->is_due || address->wheel_entries || address->tokens_out;
    for (int i = 0; i < address->tokens; i++)
        if (address->token_next_ns[i] > now_ns)
            return false;
    return is_empty && !is_scheduled;
}

struct host *address_acquire(struct address *address, uint64_t now_ns)
{
    int token = earliest_token(address);
    assert(token >= 0 && address->token_next_ns[token] <= now_ns && address->ready.least);
    (void)now_ns;
    struct host *host = host_of(heap_pop(&address->ready));
    address->tokens_out |= (uint16_t)(1u << token);
    host->slot = (uint8_t)token;
    lf_store(&host->state, HOST_VISITING, relaxed);
    return host;
}

void address_release(struct address *address, struct host *host, uint64_t next_ns)
{
    assert(address->tokens_out >> host->slot & 1);
    address->tokens_out &= (uint16_t) ~(1u << host->slot);
    address->token_next_ns[host->slot] = next_ns;
}
