#include "net/ip.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

_Static_assert(IP_TEXT_BYTES >= INET6_ADDRSTRLEN, "room for the longest address");

static const uint8_t v4_prefix[12] = {[10] = 0xff, [11] = 0xff};

bool ip_is_v4(const struct ip *ip)
{
    return memcmp(ip->bytes, v4_prefix, sizeof v4_prefix) == 0;
}

struct slice ip_bytes(const struct ip *ip)
{
    const char *bytes = (const char *)ip->bytes;
    return ip_is_v4(ip) ? (struct slice){bytes + 12, 4} : (struct slice){bytes, 16};
}

struct ip ip_of(int family, const void *bytes)
{
    struct ip ip;
    assert(family == AF_INET || family == AF_INET6);
    if (family == AF_INET) {
        memcpy(ip.bytes, v4_prefix, sizeof v4_prefix);
        memcpy(ip.bytes + 12, bytes, 4);
    } else {
        memcpy(ip.bytes, bytes, 16);
    }
    return ip;
}

struct ip ip_of_socket(const union ip_socket *address)
{
    bool is_v4 = address->any.sa_family == AF_INET;
    return ip_of(address->any.sa_family,
                 is_v4 ? (const void *)&address->v4.sin_addr : (const void *)&address->v6.sin6_addr);
}

bool ip_parse(struct ip *ip, struct slice text)
{
    char copy[IP_TEXT_BYTES];
    unsigned char bytes[16];
    if (text.len >= sizeof copy || (text.len && memchr(text.ptr, '\0', text.len)))
        return false;
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    int family = strchr(copy, ':') ? AF_INET6 : AF_INET;
    if (inet_pton(family, copy, bytes) != 1)
        return false;
    *ip = ip_of(family, bytes);
    return true;
}

struct slice ip_text(const struct ip *ip, char *out)
{
    const char *text = inet_ntop(ip_is_v4(ip) ? AF_INET : AF_INET6, ip_bytes(ip).ptr, out, IP_TEXT_BYTES);
    assert(text);
    return slice_of(text);
}

socklen_t ip_to_socket(const struct ip *ip, uint16_t port, union ip_socket *out)
{
    memset(out, 0, sizeof *out);
    if (ip_is_v4(ip)) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons(port);
        memcpy(&out->v4.sin_addr, ip->bytes + 12, sizeof out->v4.sin_addr);
        return sizeof out->v4;
    }
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons(port);
    memcpy(&out->v6.sin6_addr, ip->bytes, sizeof out->v6.sin6_addr);
    return sizeof out->v6;
}

bool ip_equals(const struct ip *a, const struct ip *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

bool ip_is_loopback(const struct ip *ip)
{
    static const uint8_t v6[16] = {[15] = 1};
    return ip_is_v4(ip) ? ip->bytes[12] == 127 : memcmp(ip->bytes, v6, sizeof v6) == 0;
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

bool ip_is_private(const struct ip *ip)
{
    const uint8_t *b = ip->bytes;
    if (ip_is_v4(ip))
        return is_special_v4(b + 12);
    /* Public IPv6 is 2000::/3, less documentation and the tunnels that lead to IPv4. */
    bool is_global = (b[0] & 0xe0) == 0x20;
    bool is_documentation = b[0] == 0x20 && b[1] == 0x01 && b[2] == 0x0d && b[3] == 0xb8;
    bool is_teredo = b[0] == 0x20 && b[1] == 0x01 && b[2] == 0 && b[3] == 0;
    bool is_6to4 = b[0] == 0x20 && b[1] == 0x02;
    return !is_global || is_documentation || is_teredo || (is_6to4 && is_special_v4(b + 2));
}
