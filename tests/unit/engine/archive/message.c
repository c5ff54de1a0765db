#include "engine/archive/message.h"

#include "engine/archive/limits.h"
#include "tests/support/check.h"

static struct message message;

/* What is left of the text as a body, fed in parts of `step` bytes. */
static const char *body_of(struct slice text, size_t step)
{
    static char body[1000];
    size_t len = 0;
    message_begin(&message);
    while (text.len) {
        struct slice piece = {text.ptr, text.len < step ? text.len : step};
        bool was_open = message.is_open;
        text = slice_skip(text, piece.len);
        message_push(&message, &piece);
        struct slice kept = was_open ? message_kept(&message) : (struct slice){"", 0};
        CHECK(len + kept.len + piece.len < sizeof body);
        memcpy(body + len, kept.ptr, kept.len);
        memcpy(body + len + kept.len, piece.ptr, piece.len);
        len += kept.len + piece.len;
    }
    if (message.is_open) {
        message_finish(&message);
        memcpy(body + len, message_kept(&message).ptr, message_kept(&message).len);
        len += message_kept(&message).len;
    }
    body[len] = '\0';
    return body;
}

TEST(head_and_body_are_parted_wherever_pieces_end)
{
    struct slice text = SLICE("HTTP/1.1 404 Not Found\r\nContent-Type: a/b\r\n\r\nthe body\r\n\r\nof it");
    CHECK(message_init(&message));
    for (size_t step = 1; step <= text.len; step++) {
        CHECK_STR(body_of(text, step), "the body\r\n\r\nof it");
        CHECK(message.has_head);
        CHECK_INT(message.head->status, 404);
        CHECK_SLICE(message.head->known[HTTP_KNOWN_CONTENT_TYPE], "a/b");
    }
    message_fini(&message);
}

TEST(what_is_no_head_is_body)
{
    CHECK(message_init(&message));
    for (size_t step = 1; step <= 20; step++) {
        CHECK_STR(body_of(SLICE("\x7f no head at all\r\n\r\n"), step), "\x7f no head at all\r\n\r\n");
        CHECK(!message.has_head);
        CHECK_STR(body_of(SLICE("HTTP/1.1 200 OK\r\nA: b\r\n"), step), "HTTP/1.1 200 OK\r\nA: b\r\n");
        CHECK(!message.has_head);
    }
    message_fini(&message);
}

TEST(an_endless_head_is_given_up)
{
    static char text[MESSAGE_HEAD_BYTES_MAX + 100] = "HTTP/1.1 200 OK\r\nX: ";
    CHECK(message_init(&message));
    memset(text + 20, 'a', sizeof text - 20);
    struct slice piece = {text, sizeof text};
    message_begin(&message);
    message_push(&message, &piece);
    CHECK(!message.is_open && !message.has_head);
    CHECK_INT(message_kept(&message).len, MESSAGE_HEAD_BYTES_MAX);
    CHECK_INT(piece.len, 100);
    message_fini(&message);
}
