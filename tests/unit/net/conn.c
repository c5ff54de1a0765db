#include "tests/unit/net/conn_client.h"

TEST(idle_connection_is_small)
{
    CHECK(sizeof(struct conn) <= 2048);
}

TEST(requests_follow_each_other_over_one_connection)
{
    start(&client);
    client.requests = 100;
    CHECK_INT(fetch_with(&client, answer_always), OUTCOME_ABORTED);
    CHECK_INT(client.readies, 1);
    CHECK_INT(client.heads, 100);
    CHECK_INT(client.responses, 100);
    CHECK_INT(client.status, 200);
    CHECK(client.was_ready);
    CHECK(client.body_len == 5 && memcmp(client.body, "hello", 5) == 0);
    CHECK_INT(client.loop.stats.begun, 1);
    CHECK_INT(client.loop.stats.outcomes[OUTCOME_DONE], 100);
    CHECK_INT(client.loop.stats.outcomes[OUTCOME_ABORTED], 0);
    stop(&client);
}

TEST(times_are_in_order)
{
    start(&client);
    fetch_with(&client, answer_always);
    const struct conn_times *times = &client.conn.times;
    CHECK(times->begin_ns && times->begin_ns <= times->resolved_ns);
    CHECK(times->resolved_ns <= times->connected_ns && times->connected_ns <= times->request_ns);
    CHECK(times->request_ns <= times->first_byte_ns && times->first_byte_ns <= times->end_ns);
    CHECK_INT(times->secured_ns, 0);
    stop(&client);
}

TEST(a_connection_can_begin_again)
{
    start(&client);
    for (unsigned i = 0; i < 5; i++) {
        client.requests = 2;
        CHECK_INT(fetch_with(&client, answer_always), OUTCOME_ABORTED);
    }
    CHECK_INT(client.responses, 10);
    CHECK_INT(client.loop.stats.begun, 5);
    stop(&client);
}

TEST(ipv6)
{
    struct peer peer;
    peer_begin(&peer, AF_INET6, 1, answer_always);
    start(&client);
    begin(&client, &peer);
    turn_until_closed(&client, 1);
    CHECK_INT(client.responses, 1);
    peer_finish(&peer);
    stop(&client);
}

/* Kernels before 6.7 have no socket options through the ring. */
TEST(works_without_socket_options)
{
    start(&client);
    client.ring.features.setsockopt = false;
    fetch_with(&client, answer_always);
    CHECK_INT(client.responses, 1);
    stop(&client);
}

TEST(refused)
{
    struct peer peer = {.address.v4 = peer_nobody()};
    start(&client);
    begin(&client, &peer);
    turn_until_closed(&client, 1);
    CHECK_INT(client.outcome, OUTCOME_CONNECT_REFUSED);
    stop(&client);
}

TEST(no_descriptor_left)
{
    struct peer peer = {.address.v4 = peer_nobody()};
    struct setup setup = standard();
    setup.slots = 1;
    start_with(&client, &setup);
    const int slot = ring_slot_acquire(&client.ring);
    begin(&client, &peer);
    CHECK_INT(client.closes, 0);
    turn_until_closed(&client, 1);
    CHECK_INT(client.outcome, OUTCOME_NO_DESCRIPTOR);
    ring_slot_release(&client.ring, slot);
    stop(&client);
}

/* A listener whose queue is full answers no SYN. */
struct deaf {
    struct peer peer;
    int fillers[8];
};

static void deaf_begin(struct deaf *deaf)
{
    peer_begin(&deaf->peer, AF_INET, 0, NULL);
    for (unsigned i = 0; i < 8; i++) {
        deaf->fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(deaf->fillers[i], &deaf->peer.address.any, sizeof deaf->peer.address.v4);
    }
}

static void deaf_finish(struct deaf *deaf)
{
    for (unsigned i = 0; i < 8; i++)
        close(deaf->fillers[i]);
    peer_finish(&deaf->peer);
}

TEST(connect_times_out)
{
    struct deaf deaf;
    struct setup setup = standard();
    setup.limits.connect_ms = 50;
    deaf_begin(&deaf);
    start_with(&client, &setup);
    begin(&client, &deaf.peer);
    turn_until_closed(&client, 1);
    CHECK_INT(client.outcome, OUTCOME_CONNECT_TIMEOUT);
    CHECK_INT(client.readies, 0);
    stop(&client);
    deaf_finish(&deaf);
}

/* Turns 0, 1 or 2 after the start: before the kernel has seen the chain, between its links, or while it
 * waits. */
TEST(closed_while_connecting)
{
    struct deaf deaf;
    deaf_begin(&deaf);
    for (unsigned turns = 0; turns < 3; turns++) {
        start(&client);
        begin(&client, &deaf.peer);
        for (unsigned i = 0; i < turns; i++)
            CHECK_INT(ring_turn(&client.ring, 0), 0);
        CHECK_INT(client.conn.state, CONN_CONNECTING);
        const uint64_t before = clock_now_ns();
        conn_close(&client.conn, OUTCOME_ABORTED);
        CHECK_INT(client.closes, 0);
        turn_until_closed(&client, 1);
        CHECK_INT(client.outcome, OUTCOME_ABORTED);
        CHECK(clock_now_ns() - before < CLOCK_NS_PER_S);
        stop(&client);
    }
    deaf_finish(&deaf);
}

static void never_answer(struct peer *peer, int fd)
{
    (void)peer;
    peer_read_all(fd);
}

static void stall_in_head(struct peer *peer, int fd)
{
    close_in_head(peer, fd);
    peer_read_all(fd);
}

/* A byte now and then, so that there is never silence. */
static void drip(int fd)
{
    while (peer_send(fd, "x"))
        usleep(1000);
}

static void drip_in_head(struct peer *peer, int fd)
{
    close_in_head(peer, fd);
    drip(fd);
}

static void drip_in_body(struct peer *peer, int fd)
{
    close_after_request(peer, fd);
    peer_send(fd, "HTTP/1.1 200 OK\r\n\r\n");
    drip(fd);
}

TEST(each_phase_has_its_time_out)
{
    const struct {
        void (*script)(struct peer *, int);
        enum outcome outcome;
        unsigned requests;
    } cases[] = {
        {never_answer, OUTCOME_IDLE_CLOSED, 0},   {never_answer, OUTCOME_FIRST_BYTE_TIMEOUT, 1},
        {stall_in_head, OUTCOME_HEAD_TIMEOUT, 1}, {answer_in_two_pieces, OUTCOME_BODY_TIMEOUT, 1},
        {drip_in_head, OUTCOME_HEAD_TIMEOUT, 1},  {drip_in_body, OUTCOME_EXCHANGE_TIMEOUT, 1},
    };
    struct setup setup = standard();
    setup.limits.first_byte_ms = setup.limits.silence_ms = setup.limits.idle_ms = 60;
    setup.limits.exchange_ms = 200;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start_with(&client, &setup);
        client.requests = cases[i].requests;
        const enum outcome outcome = fetch_with(&client, cases[i].script);
        if (outcome != cases[i].outcome)
            check_failed(__FILE__, __LINE__, "%s, expected %s", outcome_name(outcome),
                         outcome_name(cases[i].outcome));
        stop(&client);
    }
}

/* A host that is silent for the whole time of an exchange says as much about itself as one that is for the
 * time of the first byte. */
TEST(an_exchange_without_a_byte_failed_for_want_of_the_first)
{
    struct setup setup = standard();
    setup.limits.exchange_ms = 60;
    start_with(&client, &setup);
    CHECK_INT(fetch_with(&client, never_answer), OUTCOME_FIRST_BYTE_TIMEOUT);
    stop(&client);
}

/* A byte per millisecond at most, which is 1 KB/s. */
TEST(a_transfer_below_the_floor_is_cut)
{
    void (*const scripts[])(struct peer *, int) = {drip_in_head, drip_in_body};
    struct setup setup = standard();
    setup.limits.rate_window_ms = 100;
    for (size_t i = 0; i < 2; i++) {
        setup.limits.rate_min = 100000;
        start_with(&client, &setup);
        CHECK_INT(fetch_with(&client, scripts[i]), OUTCOME_SLOW_TRANSFER);
        CHECK_INT(client.heads, i);
        stop(&client);
    }
    setup.limits.exchange_ms = 400;
    setup.limits.rate_min = 0;
    start_with(&client, &setup);
    CHECK_INT(fetch_with(&client, drip_in_body), OUTCOME_EXCHANGE_TIMEOUT);
    stop(&client);
}

/* What TLS makes of a peer that does not speak it. Sessions with one that does are in tests/integration. */
static struct tls_trust *trust;

static void speak_plain(struct peer *peer, int fd)
{
    (void)peer;
    peer_send(fd, "HTTP/1.1 400 Bad Request\r\n\r\n");
    peer_read_all(fd);
}

static void reset_after_hello(struct peer *peer, int fd)
{
    char byte;
    (void)peer;
    CHECK_INT(recv(fd, &byte, 1, 0), 1);
    peer_reset_on_close(fd);
}

static void close_after_hello(struct peer *peer, int fd)
{
    char hello[4096];
    (void)peer;
    CHECK(recv(fd, hello, sizeof hello, 0) > 0);
}

static struct setup tls_setup(void)
{
    char message[512];
    struct setup setup = standard();
    trust = tls_trust_create(NULL, message, sizeof message);
    if (!trust)
        SKIP(message);
    setup.tls = tls_pool_create(&(struct tls_options){.trust = trust, .spare_max = 1});
    CHECK(setup.tls);
    return setup;
}

static void tls_teardown(struct setup *setup)
{
    tls_pool_destroy(setup->tls);
    tls_trust_destroy(trust);
}

TEST(a_handshake_fails_in_each_of_its_ways)
{
    const struct {
        void (*script)(struct peer *, int);
        enum outcome outcome;
    } cases[] = {
        {never_answer, OUTCOME_TLS_TIMEOUT},
        {reset_after_hello, OUTCOME_TLS_RESET},
        {close_after_hello, OUTCOME_TLS_CLOSED},
        {speak_plain, OUTCOME_TLS_PLAIN_TEXT},
    };
    struct setup setup = tls_setup();
    setup.limits.handshake_ms = 60;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start_with(&client, &setup);
        const enum outcome outcome = fetch_with(&client, cases[i].script);
        if (outcome != cases[i].outcome)
            check_failed(__FILE__, __LINE__, "%s, expected %s", outcome_name(outcome),
                         outcome_name(cases[i].outcome));
        CHECK_INT(client.readies, 0);
        stop(&client);
        setup.limits.handshake_ms = 10000;
    }
    tls_teardown(&setup);
}

TEST(closed_while_handshaking)
{
    struct peer peer;
    struct setup setup = tls_setup();
    peer_begin(&peer, AF_INET, 1, never_answer);
    start_with(&client, &setup);
    begin(&client, &peer);
    while (client.conn.state != CONN_HANDSHAKING)
        CHECK_INT(ring_turn(&client.ring, CLOCK_NS_PER_S), 0);
    conn_close(&client.conn, OUTCOME_ABORTED);
    turn_until_closed(&client, 1);
    CHECK_INT(client.outcome, OUTCOME_ABORTED);
    peer_finish(&peer);
    stop(&client);
    tls_teardown(&setup);
}

TEST(an_address_out_of_bounds_is_not_connected_to)
{
    struct peer peer = {.address.v4 = peer_nobody()};
    peer.address.v4.sin_addr.s_addr = htonl(0xc0000201); /* 192.0.2.1, for documentation */
    start(&client);
    client.loop.loopback_only = true;
    begin(&client, &peer);
    turn_until_closed(&client, 1);
    CHECK_INT(client.outcome, OUTCOME_ADDRESS_FORBIDDEN);
    CHECK_INT(client.ring.stats.completed, 1); /* of the close, of a slot that never had a socket */
    stop(&client);
}

/* Names from a file of hosts, the first address of each dead. */
static enum outcome fetch_name(struct slice name, uint16_t port, const struct setup *setup)
{
    char path[] = "/tmp/lycosa_hosts.XXXXXX", message[256];
    const int fd = mkstemp(path);
    const char hosts[] = "127.0.0.2 two\n127.0.0.1 two\n127.0.0.3 none\n";
    CHECK(fd >= 0 && write(fd, hosts, sizeof hosts - 1) == sizeof hosts - 1);
    close(fd);
    struct dns_options options = DNS_OPTIONS_DEFAULT;
    options.servers = "127.0.0.1:9";
    options.hosts_path = path;
    start_with(&client, setup);
    client.loop.dns = dns_create(&options, message, sizeof message);
    CHECK(client.loop.dns);
    unlink(path);
    conn_begin(&client.conn, &(struct conn_target){.host = name, .port = port});
    turn_until_closed(&client, 1);
    stop(&client);
    dns_destroy(client.loop.dns);
    return client.outcome;
}

TEST(the_next_address_is_tried)
{
    struct peer peer;
    const struct setup setup = standard();
    peer_begin(&peer, AF_INET, 1, answer_always);
    CHECK_INT(fetch_name(SLICE("two"), ntohs(peer.address.v4.sin_port), &setup), OUTCOME_ABORTED);
    CHECK_INT(client.responses, 1);
    CHECK(client.conn.address.v4.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
    peer_finish(&peer);
    CHECK_INT(fetch_name(SLICE("none"), 9, &setup), OUTCOME_CONNECT_REFUSED);
}

/* The resolver's own server does not answer: the connection is closed while it waits. */
TEST(resolving_has_its_time_out)
{
    struct setup setup = standard();
    setup.limits.resolve_ms = 60;
    CHECK_INT(fetch_name(SLICE("lycosa.test"), 9, &setup), OUTCOME_DNS_TIMEOUT);
    CHECK_INT(client.readies, 0);
}
