/* The TLS client against a real server of another make: openssl s_server, which tells on a page what was
 * agreed. */
#include "net/tls.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockfree/clock.h"
#include "tests/support/check.h"
#include "tests/support/pki.h"

#define ARGUMENTS_MAX 24

struct server {
    pid_t pid;
    uint16_t port;
};

static struct tls_trust *trust;
static struct tls_pool *pool;

/* s_server says "ACCEPT address:port" once it listens. */
static uint16_t read_port(int fd)
{
    char text[256] = "";
    size_t len = 0;
    while (len < sizeof text - 1) {
        ssize_t got = read(fd, text + len, sizeof text - 1 - len);
        CHECK(got > 0);
        len += (size_t)got;
        text[len] = '\0';
        const char *found = strstr(text, "ACCEPT"), *end = found ? strchr(found, '\n') : NULL;
        if (end) {
            while (end[-1] >= '0' && end[-1] <= '9')
                end--;
            return (uint16_t)strtoul(end, NULL, 10);
        }
    }
    check_failed(__FILE__, __LINE__, "no port in: %s", text);
}

static void exec_server(const char *certificate, const char *const *extra)
{
    char cert[128], key[128];
    snprintf(cert, sizeof cert, "%s.pem", certificate);
    snprintf(key, sizeof key, "%s.key", certificate);
    const char *arguments[ARGUMENTS_MAX] = {"openssl",     "s_server", "-accept",
                                            "127.0.0.1:0", "-www",     "-no_ticket"};
    char cert_path[128], key_path[128];
    snprintf(cert_path, sizeof cert_path, "%s", pki_path(cert));
    snprintf(key_path, sizeof key_path, "%s", pki_path(key));
    size_t count = 6;
    arguments[count++] = "-cert";
    arguments[count++] = cert_path;
    arguments[count++] = "-key";
    arguments[count++] = key_path;
    if (!strcmp(certificate, "intermediate")) {
        arguments[count++] = "-cert_chain";
        arguments[count++] = pki_path("between.pem");
    }
    while (*extra && count < ARGUMENTS_MAX - 1)
        arguments[count++] = *extra++;
    execvp("openssl", (char *const *)arguments);
    _exit(127);
}

static struct server serve(const char *certificate, const char *const *extra)
{
    int out[2];
    char message[256];
    pki_create();
    if (!pool) {
        trust = tls_trust_create(pki_path("ca.pem"), message, sizeof message);
        CHECK(trust);
        pool = tls_pool_create(&(struct tls_options){.trust = trust, .spare_max = 2});
    }
    CHECK(pipe(out) == 0);
    struct server server = {.pid = fork()};
    CHECK(server.pid >= 0);
    if (server.pid == 0) {
        /* A test that fails aborts: the server must not outlive it. */
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        dup2(out[1], STDOUT_FILENO);
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        close(out[0]);
        exec_server(certificate, extra);
    }
    close(out[1]);
    server.port = read_port(out[0]);
    /* The pipe stays open for what else it prints. */
    return server;
}

static void stop(struct server server)
{
    kill(server.pid, SIGTERM);
    CHECK(waitpid(server.pid, NULL, 0) == server.pid);
}

struct visit {
    enum tls_state state; /* at the end */
    enum tls_error error;
    bool was_resumed;
    bool has_session;
    struct tls_session session;
    char suite[64], version[16];
    char page[65536];
    size_t page_len;
};

static int connect_to(uint16_t port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    return fd;
}

static void send_all(struct tls *tls, int fd)
{
    for (struct slice out = tls_peek_cipher(tls); out.len; out = tls_peek_cipher(tls)) {
        ssize_t sent = send(fd, out.ptr, out.len, MSG_NOSIGNAL);
        if (sent <= 0)
            return;
        tls_pop_cipher(tls, (size_t)sent);
    }
}

static void take_page(struct tls *tls, struct visit *visit)
{
    for (struct slice plain = tls_peek_plain(tls); plain.len; plain = tls_peek_plain(tls)) {
        CHECK(visit->page_len + plain.len < sizeof visit->page);
        memcpy(visit->page + visit->page_len, plain.ptr, plain.len);
        visit->page_len += plain.len;
        tls_pop_plain(tls, plain.len);
    }
}

/* One request; reads until either side ends it. */
static void exchange(struct tls *tls, int fd, struct visit *visit)
{
    bool asked = false;
    char bytes[4096];
    ssize_t len;
    send_all(tls, fd);
    while ((len = recv(fd, bytes, sizeof bytes, 0)) > 0) {
        struct slice in = {bytes, (size_t)len};
        while (in.len && tls_state(tls) != TLS_FAILED && tls_state(tls) != TLS_CLOSED) {
            in = slice_skip(in, tls_push_cipher(tls, in));
            take_page(tls, visit);
        }
        send_all(tls, fd);
        if (tls_state(tls) == TLS_OPEN && !asked) {
            struct slice request = SLICE("GET / HTTP/1.0\r\n\r\n");
            CHECK_INT(tls_push_plain(tls, request), request.len);
            send_all(tls, fd);
            asked = true;
        }
        if (tls_state(tls) == TLS_FAILED || tls_state(tls) == TLS_CLOSED)
            return;
    }
    tls_on_eof(tls);
}

static struct visit *visit_server(struct server server, const struct tls_session *session)
{
    static struct visit visit;
    memset(&visit, 0, sizeof visit);
    int fd = connect_to(server.port);
    struct tls *tls = tls_acquire(pool, SLICE("server.test"), session);
    CHECK(tls);
    exchange(tls, fd, &visit);
    visit.state = tls_state(tls);
    visit.error = tls_error(tls);
    visit.was_resumed = tls_was_resumed(tls);
    visit.has_session = tls_session(tls, &visit.session);
    snprintf(visit.suite, sizeof visit.suite, "%s", tls_suite_text(tls));
    snprintf(visit.version, sizeof visit.version, "%s", tls_version_text(tls));
    tls_release(tls);
    close(fd);
    return &visit;
}

#define ARGUMENTS(...) ((const char *const[]){__VA_ARGS__, NULL})

TEST(suites_versions_and_curves)
{
    static const struct {
        const char *certificate, *arguments[5], *suite, *version;
    } cases[] = {
        {"good", {"-tls1_2"}, "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLSv1.2"},
        {"rsa", {"-tls1_2"}, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLSv1.2"},
        {"intermediate", {"-curves", "X25519"}, "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLSv1.2"},
        {"rsa", {"-curves", "P-256"}, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLSv1.2"},
        {"rsa", {"-curves", "P-384"}, "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLSv1.2"},
        {"good",
         {"-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384"},
         "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
         "TLSv1.2"},
        {"rsa",
         {"-cipher", "ECDHE-RSA-CHACHA20-POLY1305"},
         "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
         "TLSv1.2"},
        {"rsa", {"-cipher", "AES128-SHA"}, "TLS_RSA_WITH_AES_128_CBC_SHA", "TLSv1.2"},
        {"rsa", {"-tls1", "-cipher", "ALL:@SECLEVEL=0"}, "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "TLSv1.0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct server server = serve(cases[i].certificate, cases[i].arguments);
        struct visit *visit = visit_server(server, NULL);
        CHECK_STR(tls_error_text(visit->error), "ok");
        CHECK_INT(visit->state, TLS_CLOSED);
        CHECK(strstr(visit->page, "HTTP/1.0 200 ok"));
        CHECK(strstr(visit->page, "New, "));
        CHECK_STR(visit->suite, cases[i].suite);
        CHECK_STR(visit->version, cases[i].version);
        stop(server);
    }
}

/* With both on offer openssl takes what the client names first. */
TEST(x25519_is_taken)
{
    struct server server = serve("good", ARGUMENTS("-tls1_2", "-curves", "P-256:X25519"));
    struct visit *visit = visit_server(server, NULL);
    const char *shared = strstr(visit->page, "Shared groups: ");
    if (!shared)
        shared = strstr(visit->page, "Shared Elliptic groups: ");
    CHECK(shared);
    shared = strstr(shared, ": ") + 2;
    CHECK(strncasecmp(shared, "x25519", 6) == 0);
    stop(server);
}

TEST(sessions_are_resumed)
{
    struct server server = serve("good", ARGUMENTS("-tls1_2"));
    struct visit *visit = visit_server(server, NULL);
    CHECK(visit->has_session && !visit->was_resumed);
    struct tls_session session = visit->session;
    visit = visit_server(server, &session);
    CHECK_STR(tls_error_text(visit->error), "ok");
    CHECK(visit->was_resumed);
    CHECK(strstr(visit->page, "Reused, "));
    stop(server);
}

TEST(a_server_of_tls_1_3_only_is_named)
{
    struct server server = serve("good", ARGUMENTS("-tls1_3"));
    struct visit *visit = visit_server(server, NULL);
    CHECK_INT(visit->state, TLS_FAILED);
    CHECK_STR(tls_error_text(visit->error), "alert-protocol-version");
    stop(server);
}

TEST(no_suite_in_common)
{
    struct server server = serve("rsa", ARGUMENTS("-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256"));
    struct visit *visit = visit_server(server, NULL);
    CHECK_STR(tls_error_text(visit->error), "alert-handshake-failure");
    stop(server);
}

TEST(bad_certificates)
{
    static const struct {
        const char *certificate, *error;
    } cases[] = {{"expired", "cert-expired"},
                 {"wrong-name", "cert-name"},
                 {"self-signed", "cert-self-signed"},
                 {"unknown", "cert-untrusted"}};
    for (size_t i = 0; i < 4; i++) {
        struct server server = serve(cases[i].certificate, ARGUMENTS("-tls1_2"));
        CHECK_STR(tls_error_text(visit_server(server, NULL)->error), cases[i].error);
        stop(server);
    }
    tls_pool_destroy(pool);
    tls_trust_destroy(trust);
}
