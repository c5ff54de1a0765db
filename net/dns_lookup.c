#include "net/dns_lookup.h"

#include <ares.h>
#include <assert.h>

#include "net/dns_message.h"

void dns_lookup_init(struct dns_lookup *lookup, struct dns *dns, struct slice name)
{
    assert(name.len <= sizeof lookup->name);
    *lookup = (struct dns_lookup){.dns = dns, .ttl_s = UINT32_MAX, .negative_ttl_s = UINT32_MAX};
    lookup->answer.was_fresh = true;
    lookup->questions[0] = (struct dns_question){.lookup = lookup, .type = DNS_TYPE_A};
    lookup->questions[1] = (struct dns_question){.lookup = lookup, .type = DNS_TYPE_AAAA};
    lookup->name_len = (uint8_t)name.len;
    memcpy(lookup->name, name.ptr, name.len);
}

static enum dns_error error_of(int status)
{
    switch (status) {
    case ARES_SUCCESS:
        return DNS_OK;
    case ARES_ENOTFOUND:
        return DNS_ERROR_NO_NAME;
    case ARES_ENODATA:
        return DNS_ERROR_NO_DATA;
    case ARES_ESERVFAIL:
        return DNS_ERROR_SERVER_FAILED;
    case ARES_EREFUSED:
        return DNS_ERROR_REFUSED;
    case ARES_ENOTIMP:
        return DNS_ERROR_NOT_IMPLEMENTED;
    case ARES_EFORMERR:
        return DNS_ERROR_FORMAT;
    case ARES_EBADRESP:
    case ARES_EBADQUERY:
        return DNS_ERROR_ANSWER_BAD;
    case ARES_ETIMEOUT:
        return DNS_ERROR_TIMEOUT;
    case ARES_ECONNREFUSED:
        return DNS_ERROR_UNREACHABLE;
    case ARES_EBADNAME:
        return DNS_ERROR_NAME_BAD;
    case ARES_ECANCELLED:
    case ARES_EDESTRUCTION:
        return DNS_ERROR_CANCELLED;
    case ARES_ENOMEM:
        return DNS_ERROR_NO_MEMORY;
    default:
        return DNS_ERROR_OTHER;
    }
}

/* IPv4 before IPv6, whichever answer came first; half of the room for each where both have many. */
static void add_address(struct dns_answer *answer, int family, const void *bytes)
{
    struct ip ip = ip_of(family, bytes);
    bool is_v4 = ip_is_v4(&ip);
    size_t same = 0;
    for (size_t i = 0; i < answer->count; i++) {
        if (ip_equals(&answer->addresses[i], &ip))
            return; /* asked twice, by UDP and by TCP */
        same += ip_is_v4(&answer->addresses[i]) == is_v4;
    }
    if (answer->count == DNS_ADDRESSES_MAX || (same != answer->count && same >= DNS_ADDRESSES_MAX / 2))
        return;
    size_t at = is_v4 ? same : answer->count;
    struct ip *place = &answer->addresses[at];
    memmove(place + 1, place, (answer->count - at) * sizeof *place);
    *place = ip;
    answer->count++;
}

static void lower(uint32_t *ttl_s, uint32_t other_s)
{
    if (other_s < *ttl_s)
        *ttl_s = other_s;
}

static int read_v4(struct dns_lookup *lookup, struct slice message)
{
    struct ares_addrttl found[DNS_ADDRESSES_MAX];
    int count = DNS_ADDRESSES_MAX;
    int status =
        ares_parse_a_reply((const unsigned char *)message.ptr, (int)message.len, NULL, found, &count);
    for (int i = 0; status == ARES_SUCCESS && i < count; i++) {
        add_address(&lookup->answer, AF_INET, &found[i].ipaddr);
        lower(&lookup->ttl_s, found[i].ttl < 0 ? 0 : (uint32_t)found[i].ttl);
    }
    return status == ARES_SUCCESS && count == 0 ? ARES_ENODATA : status;
}

static int read_v6(struct dns_lookup *lookup, struct slice message)
{
    struct ares_addr6ttl found[DNS_ADDRESSES_MAX];
    int count = DNS_ADDRESSES_MAX;
    int status =
        ares_parse_aaaa_reply((const unsigned char *)message.ptr, (int)message.len, NULL, found, &count);
    for (int i = 0; status == ARES_SUCCESS && i < count; i++) {
        add_address(&lookup->answer, AF_INET6, &found[i].ip6addr);
        lower(&lookup->ttl_s, found[i].ttl < 0 ? 0 : (uint32_t)found[i].ttl);
    }
    return status == ARES_SUCCESS && count == 0 ? ARES_ENODATA : status;
}

void dns_lookup_read(struct dns_question *question, int status, struct slice message)
{
    struct dns_lookup *lookup = question->lookup;
    if (status == ARES_SUCCESS)
        status = question->type == DNS_TYPE_A ? read_v4(lookup, message) : read_v6(lookup, message);
    question->error = error_of(status);
    uint32_t ttl_s;
    if ((question->error == DNS_ERROR_NO_NAME || question->error == DNS_ERROR_NO_DATA) &&
        dns_message_negative_ttl(message, &ttl_s))
        lower(&lookup->negative_ttl_s, ttl_s);
}

bool dns_lookup_wants_retry(const struct dns_question *question)
{
    return question->error == DNS_ERROR_SERVER_FAILED || question->error == DNS_ERROR_REFUSED ||
           question->error == DNS_ERROR_NOT_IMPLEMENTED;
}

void dns_lookup_conclude(struct dns_lookup *lookup)
{
    const struct dns_question *first = &lookup->questions[0], *second = &lookup->questions[1];
    enum dns_error a = first->tries ? first->error : second->error;
    enum dns_error b = second->tries ? second->error : first->error;
    bool a_is_no = a == DNS_ERROR_NO_NAME || a == DNS_ERROR_NO_DATA || a == DNS_OK;
    lookup->answer.error = lookup->answer.count ? DNS_OK : a_is_no ? b : a;
    if (lookup->answer.error != DNS_OK)
        lookup->ttl_s = lookup->negative_ttl_s;
    /* A server that says nothing of how long has no opinion; the cache has. */
    if (lookup->ttl_s == UINT32_MAX)
        lookup->ttl_s = 0;
}

void dns_list_push(struct dns_list *list, struct dns_lookup *lookup)
{
    lookup->next = NULL;
    *(list->first ? &list->last->next : &list->first) = lookup;
    list->last = lookup;
}

struct dns_lookup *dns_list_pop(struct dns_list *list)
{
    struct dns_lookup *lookup = list->first;
    if (lookup)
        list->first = lookup->next;
    return lookup;
}
