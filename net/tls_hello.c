#include "net/tls_hello.h"

#include <stdint.h>
#include <string.h>

enum {
    CLIENT_HELLO = 1,
    EXTENSION_GROUPS = 10,
    GROUP_X25519 = 29,
};

/* The part of the message that is still to be read. */
struct cursor {
    unsigned char *at, *end;
    bool failed;
};

static unsigned take(struct cursor *cursor, size_t bytes)
{
    unsigned value = 0;
    if ((size_t)(cursor->end - cursor->at) < bytes) {
        cursor->failed = true;
        cursor->at = cursor->end;
        return 0;
    }
    while (bytes--)
        value = value << 8 | *cursor->at++;
    return value;
}

/* A vector whose length is written in `bytes` bytes. */
static struct cursor take_vector(struct cursor *cursor, size_t bytes)
{
    size_t len = take(cursor, bytes);
    if ((size_t)(cursor->end - cursor->at) < len) {
        cursor->failed = true;
        len = 0;
    }
    struct cursor vector = {cursor->at, cursor->at + len, cursor->failed};
    cursor->at += len;
    return vector;
}

static bool move_to_front(struct cursor groups)
{
    unsigned char *front = groups.at;
    while (groups.end - groups.at >= 2) {
        unsigned char *here = groups.at;
        if (take(&groups, 2) != GROUP_X25519)
            continue;
        memmove(front + 2, front, (size_t)(here - front));
        front[0] = 0;
        front[1] = GROUP_X25519;
        return here != front;
    }
    return false;
}

bool tls_hello_prefer_x25519(unsigned char *message, size_t len)
{
    struct cursor cursor = {message, message + len, false};
    if (take(&cursor, 1) != CLIENT_HELLO)
        return false;
    struct cursor hello = take_vector(&cursor, 3);
    take(&hello, 2); /* version */
    for (int i = 0; i < 32; i++)
        take(&hello, 1);    /* random */
    take_vector(&hello, 1); /* session */
    take_vector(&hello, 2); /* suites */
    take_vector(&hello, 1); /* compression */
    struct cursor extensions = take_vector(&hello, 2);
    while (!extensions.failed && extensions.at < extensions.end) {
        unsigned type = take(&extensions, 2);
        struct cursor extension = take_vector(&extensions, 2);
        if (type != EXTENSION_GROUPS)
            continue;
        struct cursor groups = take_vector(&extension, 2);
        return !groups.failed && move_to_front(groups);
    }
    return false;
}
