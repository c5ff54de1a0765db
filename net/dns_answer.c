#include "net/dns_answer.h"

#include <arpa/inet.h>
#include <assert.h>

_Static_assert(DNS_ADDRESS_TEXT_BYTES >= INET6_ADDRSTRLEN, "room for the longest address");

const char *dns_error_text(enum dns_error error)
{
    static const char *const texts[DNS_ERROR_COUNT] = {
        [DNS_OK] = "ok",
        [DNS_ERROR_NO_NAME] = "no-name",
        [DNS_ERROR_NO_DATA] = "no-data",
        [DNS_ERROR_SERVER_FAILED] = "server-failed",
        [DNS_ERROR_REFUSED] = "refused",
        [DNS_ERROR_NOT_IMPLEMENTED] = "not-implemented",
        [DNS_ERROR_FORMAT] = "format",
        [DNS_ERROR_ANSWER_BAD] = "answer-bad",
        [DNS_ERROR_TIMEOUT] = "timeout",
        [DNS_ERROR_UNREACHABLE] = "unreachable",
        [DNS_ERROR_NAME_BAD] = "name-bad",
        [DNS_ERROR_OVERLOADED] = "overloaded",
        [DNS_ERROR_CANCELLED] = "cancelled",
        [DNS_ERROR_NO_MEMORY] = "no-memory",
        [DNS_ERROR_OTHER] = "other",
    };
    assert((unsigned)error < DNS_ERROR_COUNT);
    return texts[error];
}

bool dns_address_parse(struct dns_address *address, struct slice text)
{
    char copy[DNS_ADDRESS_TEXT_BYTES];
    if (text.len >= sizeof copy || (text.len && memchr(text.ptr, '\0', text.len)))
        return false;
    if (text.len)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    memset(address, 0, sizeof *address);
    address->family = strchr(copy, ':') ? AF_INET6 : AF_INET;
    return inet_pton(address->family, copy, address->bytes) == 1;
}

socklen_t dns_address_socket(const struct dns_address *address, uint16_t port, struct sockaddr_storage *out)
{
    memset(out, 0, sizeof *out);
    if (address->family == AF_INET6) {
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        memcpy(&v6->sin6_addr, address->bytes, sizeof v6->sin6_addr);
        return sizeof *v6;
    }
    assert(address->family == AF_INET);
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    memcpy(&v4->sin_addr, address->bytes, sizeof v4->sin_addr);
    return sizeof *v4;
}

const char *dns_address_text(const struct dns_address *address, char *out)
{
    const char *text = inet_ntop(address->family, address->bytes, out, DNS_ADDRESS_TEXT_BYTES);
    assert(text);
    return text;
}
