#include "net/tls.h"

#include "tests/support/check.h"
#include "tests/support/pki.h"
#include "tests/support/tls_peer.h"

static struct tls_trust *trust;

static struct tls_pool *pool_of(bool insecure, size_t spare_max)
{
    char message[256];
    pki_create();
    if (!trust)
        trust = tls_trust_create(pki_path("ca.pem"), message, sizeof message);
    CHECK(trust);
    struct tls_pool *pool =
        tls_pool_create(&(struct tls_options){.trust = trust, .insecure = insecure, .spare_max = spare_max});
    CHECK(pool);
    return pool;
}

/* Moves ciphertext both ways, at most `step` bytes at a time, until neither side has any. What the server
 * reads it sends back; what the client reads is appended to `echo`. */
struct link {
    struct tls *client;
    struct tls_peer *peer;
    size_t step;
    char echo[200000];
    size_t echo_len;
};

static bool to_server(struct link *link)
{
    struct slice out = tls_peek_cipher(link->client);
    size_t room;
    unsigned char *buffer = br_ssl_engine_recvrec_buf(&link->peer->server.eng, &room);
    if (!out.len || !buffer)
        return false;
    size_t len = out.len < link->step ? out.len : link->step;
    len = len < room ? len : room;
    memcpy(buffer, out.ptr, len);
    br_ssl_engine_recvrec_ack(&link->peer->server.eng, len);
    tls_pop_cipher(link->client, len);
    return true;
}

static bool to_client(struct link *link)
{
    size_t len;
    const unsigned char *bytes = br_ssl_engine_sendrec_buf(&link->peer->server.eng, &len);
    if (!bytes)
        return false;
    len = len < link->step ? len : link->step;
    char *copy = check_guard_copy(bytes, len);
    size_t taken = tls_push_cipher(link->client, (struct slice){copy, len});
    check_guard_free(copy, len);
    if (taken)
        br_ssl_engine_sendrec_ack(&link->peer->server.eng, taken);
    return taken > 0;
}

static bool take_plain(struct link *link)
{
    struct slice plain = tls_peek_plain(link->client);
    if (!plain.len)
        return false;
    size_t len = plain.len < 1000 ? plain.len : 1000;
    CHECK(link->echo_len + len <= sizeof link->echo);
    memcpy(link->echo + link->echo_len, plain.ptr, len);
    link->echo_len += len;
    tls_pop_plain(link->client, len);
    return true;
}

static bool answer(struct link *link)
{
    size_t len, room;
    br_ssl_engine_context *engine = &link->peer->server.eng;
    unsigned char *in = br_ssl_engine_recvapp_buf(engine, &len);
    unsigned char *out = br_ssl_engine_sendapp_buf(engine, &room);
    if (!in || !out)
        return false;
    len = len < room ? len : room;
    memcpy(out, in, len);
    br_ssl_engine_sendapp_ack(engine, len);
    br_ssl_engine_recvapp_ack(engine, len);
    br_ssl_engine_flush(engine, 0);
    return true;
}

static void pump(struct link *link)
{
    bool moved;
    do {
        moved = to_server(link);
        moved |= to_client(link);
        moved |= take_plain(link);
        moved |= answer(link);
    } while (moved);
}

static struct link *connect_to(struct tls_pool *pool, struct tls_peer *peer, const char *host,
                               const struct tls_session *session)
{
    struct link *link = calloc(1, sizeof *link);
    *link =
        (struct link){.client = tls_acquire(pool, slice_of(host), session), .peer = peer, .step = 1 << 20};
    CHECK(link->client);
    CHECK(br_ssl_server_reset(&peer->server));
    return link;
}

static void disconnect(struct link *link)
{
    tls_release(link->client);
    free(link);
}

static void send_and_check_echo(struct link *link, size_t len)
{
    char *text = malloc(len);
    for (size_t i = 0; i < len; i++)
        text[i] = (char)(i * 31 + i / 251);
    link->echo_len = 0;
    struct slice rest = {text, len};
    for (int idle = 0; rest.len && idle < 2;) {
        size_t taken = tls_push_plain(link->client, rest);
        rest = slice_skip(rest, taken);
        idle = taken ? 0 : idle + 1;
        pump(link);
    }
    CHECK_INT(rest.len, 0);
    CHECK_INT(link->echo_len, len);
    CHECK(memcmp(link->echo, text, len) == 0);
    free(text);
}

TEST(handshake_and_echo)
{
    struct tls_pool *pool = pool_of(false, 4);
    static const char *const names[] = {"good", "intermediate", "rsa"};
    for (size_t i = 0; i < 3; i++) {
        struct tls_peer *peer = tls_peer_create(names[i]);
        struct link *link = connect_to(pool, peer, "server.test", NULL);
        CHECK_INT(tls_state(link->client), TLS_HANDSHAKING);
        CHECK_INT(tls_push_plain(link->client, SLICE("too early")), 0);
        pump(link);
        CHECK_INT(tls_state(link->client), TLS_OPEN);
        CHECK_INT(tls_error(link->client), TLS_OK);
        CHECK_INT(tls_certificate_error(link->client), TLS_OK);
        CHECK(!tls_was_resumed(link->client));
        CHECK_STR(br_ssl_engine_get_server_name(&peer->server.eng), "server.test");
        CHECK_STR(tls_version_text(link->client), "TLSv1.2");
        CHECK_STR(tls_suite_text(link->client), i == 2 ? "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
                                                       : "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256");
        send_and_check_echo(link, 5);
        send_and_check_echo(link, 100000);
        disconnect(link);
        tls_peer_destroy(peer);
    }
    tls_pool_destroy(pool);
}

TEST(records_split_anywhere)
{
    struct tls_pool *pool = pool_of(false, 4);
    struct tls_peer *peer = tls_peer_create("good");
    static const size_t steps[] = {1, 2, 3, 5, 6, 64, 1000};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct link *link = connect_to(pool, peer, "server.test", NULL);
        link->step = steps[i];
        pump(link);
        CHECK_INT(tls_state(link->client), TLS_OPEN);
        send_and_check_echo(link, 3000);
        disconnect(link);
    }
    tls_peer_destroy(peer);
    tls_pool_destroy(pool);
}

static const struct {
    const char *certificate, *host;
    enum tls_error error;
} verdicts[] = {
    {"good", "server.test", TLS_OK},
    {"good", "SERVER.test.", TLS_OK},
    {"good", "a.wild.test", TLS_OK},
    {"good", "a.b.wild.test", TLS_ERROR_CERT_NAME},
    {"good", "other.test", TLS_ERROR_CERT_NAME},
    {"good", "127.0.0.1", TLS_OK},
    {"good", "::1", TLS_OK},
    {"good", "127.0.0.2", TLS_ERROR_CERT_NAME},
    {"good", "::2", TLS_ERROR_CERT_NAME},
    {"wrong-name", "server.test", TLS_ERROR_CERT_NAME},
    {"wrong-name", "127.0.0.1", TLS_ERROR_CERT_NAME},
    {"expired", "server.test", TLS_ERROR_CERT_EXPIRED},
    {"future", "server.test", TLS_ERROR_CERT_NOT_YET_VALID},
    {"self-signed", "server.test", TLS_ERROR_CERT_SELF_SIGNED},
    {"unknown", "server.test", TLS_ERROR_CERT_UNTRUSTED},
    {"no-ca", "server.test", TLS_ERROR_CERT_CHAIN},
};

TEST(certificates_are_verified)
{
    struct tls_pool *pool = pool_of(false, 4);
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        struct tls_peer *peer = tls_peer_create(verdicts[i].certificate);
        struct link *link = connect_to(pool, peer, verdicts[i].host, NULL);
        pump(link);
        CHECK_STR(tls_error_text(tls_error(link->client)), tls_error_text(verdicts[i].error));
        CHECK_INT(tls_state(link->client), verdicts[i].error ? TLS_FAILED : TLS_OPEN);
        if (verdicts[i].error) {
            CHECK_INT(tls_push_plain(link->client, SLICE("x")), 0);
            CHECK_INT(tls_push_cipher(link->client, SLICE("x")), 0);
            CHECK_INT(tls_peek_cipher(link->client).len, 0);
            CHECK_INT(tls_peek_plain(link->client).len, 0);
        }
        disconnect(link);
        tls_peer_destroy(peer);
    }
    tls_pool_destroy(pool);
}

TEST(insecure_takes_all_and_remembers)
{
    struct tls_pool *pool = pool_of(true, 4);
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
        struct tls_peer *peer = tls_peer_create(verdicts[i].certificate);
        struct link *link = connect_to(pool, peer, verdicts[i].host, NULL);
        pump(link);
        CHECK_INT(tls_state(link->client), TLS_OPEN);
        CHECK_STR(tls_error_text(tls_certificate_error(link->client)), tls_error_text(verdicts[i].error));
        send_and_check_echo(link, 100);
        disconnect(link);
        tls_peer_destroy(peer);
    }
    tls_pool_destroy(pool);
}

TEST(addresses_are_not_sent_as_names)
{
    struct tls_pool *pool = pool_of(false, 4);
    struct tls_peer *peer = tls_peer_create("good");
    struct link *link = connect_to(pool, peer, "127.0.0.1", NULL);
    pump(link);
    CHECK_INT(tls_state(link->client), TLS_OPEN);
    CHECK_STR(br_ssl_engine_get_server_name(&peer->server.eng), "");
    disconnect(link);
    tls_peer_destroy(peer);
    tls_pool_destroy(pool);
}

TEST(sessions_are_resumed)
{
    struct tls_pool *pool = pool_of(false, 4);
    struct tls_peer *peer = tls_peer_create("good");
    struct tls_session session, again;
    struct link *link = connect_to(pool, peer, "server.test", NULL);
    CHECK(!tls_session(link->client, &session));
    pump(link);
    CHECK(tls_session(link->client, &session));
    disconnect(link);
    for (int i = 0; i < 3; i++) {
        link = connect_to(pool, peer, "server.test", &session);
        link->step = i ? 1 : 1 << 20;
        pump(link);
        CHECK_INT(tls_state(link->client), TLS_OPEN);
        CHECK(tls_was_resumed(link->client));
        CHECK(tls_session(link->client, &again));
        CHECK(memcmp(&session, &again, sizeof session) == 0);
        send_and_check_echo(link, 5000);
        disconnect(link);
    }
    /* A server that has forgotten it does the whole handshake. */
    tls_peer_destroy(peer);
    peer = tls_peer_create("good");
    link = connect_to(pool, peer, "server.test", &session);
    pump(link);
    CHECK_INT(tls_state(link->client), TLS_OPEN);
    CHECK(!tls_was_resumed(link->client));
    disconnect(link);
    /* All zero is no session. */
    memset(&session, 0, sizeof session);
    link = connect_to(pool, peer, "server.test", &session);
    pump(link);
    CHECK_INT(tls_state(link->client), TLS_OPEN);
    disconnect(link);
    tls_peer_destroy(peer);
    tls_pool_destroy(pool);
}

TEST(a_session_remembers_the_certificate)
{
    struct tls_pool *insecure = pool_of(true, 4), *secure = pool_of(false, 4);
    struct tls_peer *peer = tls_peer_create("expired");
    struct tls_session session;
    struct link *link = connect_to(insecure, peer, "server.test", NULL);
    pump(link);
    CHECK(tls_session(link->client, &session));
    disconnect(link);
    link = connect_to(insecure, peer, "server.test", &session);
    pump(link);
    CHECK(tls_was_resumed(link->client));
    CHECK_INT(tls_certificate_error(link->client), TLS_ERROR_CERT_EXPIRED);
    disconnect(link);
    link = connect_to(secure, peer, "server.test", &session);
    pump(link);
    CHECK_INT(tls_error(link->client), TLS_ERROR_CERT_EXPIRED);
    disconnect(link);
    tls_peer_destroy(peer);
    tls_pool_destroy(insecure);
    tls_pool_destroy(secure);
}

TEST(close_notify_both_ways)
{
    struct tls_pool *pool = pool_of(false, 4);
    struct tls_peer *peer = tls_peer_create("good");
    /* The server's. */
    struct link *link = connect_to(pool, peer, "server.test", NULL);
    pump(link);
    br_ssl_engine_close(&peer->server.eng);
    pump(link);
    CHECK_INT(tls_state(link->client), TLS_CLOSED);
    CHECK_INT(tls_error(link->client), TLS_OK);
    tls_on_eof(link->client);
    CHECK_INT(tls_state(link->client), TLS_CLOSED);
    disconnect(link);
    /* Ours, answered. */
    link = connect_to(pool, peer, "server.test", NULL);
    pump(link);
    tls_close(link->client);
    CHECK_INT(tls_state(link->client), TLS_CLOSING);
    CHECK(tls_peek_cipher(link->client).len > 0);
    pump(link);
    CHECK_INT(tls_state(link->client), TLS_CLOSED);
    CHECK_INT(br_ssl_engine_last_error(&peer->server.eng), BR_ERR_OK);
    disconnect(link);
    /* Ours, not answered. */
    link = connect_to(pool, peer, "server.test", NULL);
    pump(link);
    tls_close(link->client);
    tls_on_eof(link->client);
    CHECK_INT(tls_state(link->client), TLS_CLOSED);
    disconnect(link);
    tls_peer_destroy(peer);
    tls_pool_destroy(pool);
}

TEST(close_drops_what_still_comes)
{
    struct tls_pool *pool = pool_of(false, 4);
    struct tls_peer *peer = tls_peer_create("good");
    struct link *link = connect_to(pool, peer, "server.test", NULL);
    pump(link);
    tls_push_plain(link->client, SLICE("something to answer"));
    while (to_server(link))
        ;
    while (answer(link))
        ;
    tls_close(link->client);
    pump(link);
    CHECK_INT(link->echo_len, 0);
    CHECK_INT(tls_state(link->client), TLS_CLOSED);
    disconnect(link);
    tls_peer_destroy(peer);
    tls_pool_destroy(pool);
}

TEST(truncation_is_noticed)
{
    struct tls_pool *pool = pool_of(false, 4);
    struct tls_peer *peer = tls_peer_create("good");
    for (int open = 0; open < 2; open++) {
        struct link *link = connect_to(pool, peer, "server.test", NULL);
        if (open)
            pump(link);
        tls_on_eof(link->client);
        CHECK_INT(tls_state(link->client), TLS_FAILED);
        CHECK_INT(tls_error(link->client), TLS_ERROR_TRUNCATED);
        disconnect(link);
    }
    tls_peer_destroy(peer);
    tls_pool_destroy(pool);
}

TEST(alerts_are_named)
{
    struct tls_pool *pool = pool_of(false, 4);
    for (unsigned number = 1; number < 256; number++) {
        if (number == 90 || number == 100)
            continue; /* warnings by definition */
        unsigned char record[7] = {21, 3, 3, 0, 2, 2, (unsigned char)number};
        struct tls *tls = tls_acquire(pool, SLICE("server.test"), NULL);
        tls_push_cipher(tls, (struct slice){(char *)record, sizeof record});
        CHECK_INT(tls_state(tls), TLS_FAILED);
        CHECK_INT(tls_error(tls), tls_error_from_alert(number));
        tls_release(tls);
    }
    /* What a server of TLS 1.3 only says. */
    CHECK_STR(tls_error_text(tls_error_from_alert(70)), "alert-protocol-version");
    CHECK_STR(tls_error_text(tls_error_from_alert(200)), "alert-other");
    for (int i = 0; i < TLS_ERROR_COUNT; i++)
        CHECK(tls_error_text((enum tls_error)i));
    tls_pool_destroy(pool);
}

TEST(damage_is_noticed)
{
    struct tls_pool *pool = pool_of(false, 4);
    struct tls_peer *peer = tls_peer_create("good");
    struct link *link = connect_to(pool, peer, "server.test", NULL);
    pump(link);
    tls_push_plain(link->client, SLICE("answer this"));
    while (to_server(link))
        ;
    while (answer(link))
        ;
    size_t len;
    unsigned char *record = br_ssl_engine_sendrec_buf(&peer->server.eng, &len);
    CHECK(record);
    record[len - 1] ^= 1;
    while (to_client(link))
        ;
    CHECK_INT(tls_state(link->client), TLS_FAILED);
    CHECK_INT(tls_error(link->client), TLS_ERROR_MAC);
    CHECK_INT(tls_peek_plain(link->client).len, 0);
    disconnect(link);
    struct tls *tls = tls_acquire(pool, SLICE("server.test"), NULL);
    tls_push_cipher(tls, SLICE("HTTP/1.1 400 Bad Request\r\n\r\n"));
    CHECK_INT(tls_state(tls), TLS_FAILED);
    tls_release(tls);
    tls_peer_destroy(peer);
    tls_pool_destroy(pool);
}

TEST(long_names_fail_cleanly)
{
    struct tls_pool *pool = pool_of(false, 4);
    char name[400];
    memset(name, 'a', sizeof name);
    struct tls *tls = tls_acquire(pool, (struct slice){name, sizeof name}, NULL);
    CHECK_INT(tls_state(tls), TLS_FAILED);
    CHECK_INT(tls_error(tls), TLS_ERROR_NAME_TOO_LONG);
    CHECK_INT(tls_peek_cipher(tls).len, 0);
    tls_release(tls);
    tls_pool_destroy(pool);
}

/* The groups that the client offers, from its hello. */
TEST(x25519_is_offered_first)
{
    struct tls_pool *pool = pool_of(false, 4);
    struct tls *tls = tls_acquire(pool, SLICE("server.test"), NULL);
    struct slice hello = tls_peek_cipher(tls);
    const char *groups = memmem(hello.ptr, hello.len, "\x00\x0a\x00", 3);
    CHECK(groups && groups + 8 <= hello.ptr + hello.len);
    CHECK_INT(groups[6] << 8 | groups[7], 29);
    tls_release(tls);
    tls_pool_destroy(pool);
}

TEST(memory_is_pooled_and_bounded)
{
    struct tls_pool *pool = pool_of(false, 2);
    struct tls_peer *peer = tls_peer_create("good");
    struct link *links[4];
    CHECK_INT(tls_pool_bytes(pool), 0);
    for (int i = 0; i < 4; i++) {
        links[i] = connect_to(pool, peer, "server.test", NULL);
        pump(links[i]);
        CHECK_INT(tls_state(links[i]->client), TLS_OPEN);
    }
    /* Four idle connections, and the one verifier that they used one after another. */
    CHECK(tls_pool_bytes(pool) <= 4 * 24 * 1024 + 16 * 1024);
    for (int i = 0; i < 4; i++)
        disconnect(links[i]);
    CHECK(tls_pool_bytes(pool) <= 2 * 24 * 1024 + 16 * 1024);
    struct link *link = connect_to(pool, peer, "server.test", NULL);
    pump(link);
    send_and_check_echo(link, 20000);
    disconnect(link);
    tls_peer_destroy(peer);
    tls_pool_destroy(pool);
}

TEST(servers_may_send_full_records)
{
    struct tls_pool *pool = pool_of(false, 2);
    struct tls_peer *peer = tls_peer_create("good");
    struct link *link = connect_to(pool, peer, "server.test", NULL);
    pump(link);
    size_t room;
    unsigned char *out = br_ssl_engine_sendapp_buf(&peer->server.eng, &room);
    CHECK(out && room == 16384);
    memset(out, 'x', room);
    br_ssl_engine_sendapp_ack(&peer->server.eng, room);
    pump(link);
    CHECK_INT(link->echo_len, 16384);
    disconnect(link);
    tls_peer_destroy(peer);
    tls_pool_destroy(pool);
}
