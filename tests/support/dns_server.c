#include "tests/support/dns_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "tests/support/check.h"

struct dns_server dns_server_open(void)
{
    struct dns_server server = {.fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    CHECK(server.fd >= 0 && bind(server.fd, (struct sockaddr *)&address, len) == 0);
    CHECK(getsockname(server.fd, (struct sockaddr *)&address, &len) == 0);
    server.port = ntohs(address.sin_port);
    return server;
}

static bool begins_with(const unsigned char *query, const char *label)
{
    return query[12] == strlen(label) && memcmp(query + 13, label, strlen(label)) == 0;
}

/* Appends an address record for the name of the question. */
static size_t add_record(unsigned char *message, size_t len, unsigned type, uint8_t last)
{
    unsigned bytes = type == 1 ? 4 : 16;
    memcpy(message + len, "\xc0\x0c\0\0\0\1\0\0\0\x78\0\0", 12);
    message[len + 3] = (unsigned char)type;
    message[len + 11] = (unsigned char)bytes;
    memset(message + len + 12, 1, bytes);
    message[len + 12 + bytes - 1] = last;
    message[7]++;
    return len + 12 + bytes;
}

/* Turns the query into its answer. 0: there is none. */
static size_t answer(const struct dns_server *server, unsigned char *message)
{
    size_t question = 12;
    if (server->is_deaf)
        return 0;
    while (message[question])
        question += message[question] + 1U;
    unsigned type = message[question + 2];
    size_t len = question + 5;
    message[2] |= 0x80;
    message[11] = 0; /* without the EDNS record */
    static const struct {
        const char *label;
        enum dns_rcode rcode;
    } failures[] = {{"formerr", DNS_FORMERR},
                    {"servfail", DNS_SERVFAIL},
                    {"nx", DNS_NXDOMAIN},
                    {"notimp", DNS_NOTIMP},
                    {"refused", DNS_REFUSED}};
    enum dns_rcode rcode = server->rcode_always;
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++)
        if (begins_with(message, failures[i].label))
            rcode = failures[i].rcode;
    message[3] = (unsigned char)((message[3] & 0xf0) | rcode);
    if (rcode != DNS_NOERROR || begins_with(message, "nodata"))
        return len;
    if (begins_with(message, "silent"))
        return 0;
    if (begins_with(message, "stranger"))
        message[0] ^= 1;
    if (begins_with(message, "broken")) {
        message[7] = 5;
        return len;
    }
    if (begins_with(message, "six") && type == 1)
        return len;
    if (begins_with(message, "half") && type == 28) {
        message[3] |= DNS_SERVFAIL;
        return len;
    }
    if (begins_with(message, "big") || begins_with(message, "cut"))
        message[2] |= 2; /* TC: ask again by TCP */
    if (begins_with(message, "big"))
        return len;
    for (int i = 0; i < (begins_with(message, "many") ? 12 : 1); i++)
        len = add_record(message, len, type, (uint8_t)(i + 1));
    return len;
}

void dns_server_serve(struct dns_server *server)
{
    unsigned char message[2048] = {0};
    struct sockaddr_in from;
    socklen_t from_len = sizeof from;
    ssize_t len;
    while ((len = recvfrom(server->fd, message, 512, 0, (struct sockaddr *)&from, &from_len)) > 0) {
        server->asked++;
        size_t answer_len = answer(server, message);
        if (answer_len)
            CHECK(sendto(server->fd, message, answer_len, 0, (struct sockaddr *)&from, from_len) > 0);
        memset(message, 0, sizeof message);
    }
}
