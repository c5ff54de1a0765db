#include "engine/console/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/check.h"

static unsigned umasks;
static time_t ahead_s; /* of the real time */

/* In place of the C library's. */
mode_t umask(mode_t mask)
{
    umasks++;
    return (mode_t)syscall(SYS_umask, mask);
}

/* Likewise, libmicrohttpd's time-outs go by it, too. */
int clock_gettime(clockid_t id, struct timespec *now)
{
    long result = syscall(SYS_clock_gettime, id, now);
    now->tv_sec += ahead_s;
    return (int)result;
}

static char directory[32];
static struct server server;
static char seen[4 * SERVER_HEAD_BYTES_MAX], local[64];
static unsigned left;

/* /stream is a stream, /wait is never answered, all else is answered with its path. */
static void answer(void *owner, const struct console_request *request, struct console_response *response)
{
    (void)owner;
    snprintf(seen, sizeof seen, "%.*s", (int)request->query.len, request->query.ptr);
    snprintf(local, sizeof local, "%s", request->local);
    response->is_stream = strcmp(request->path, "/stream") == 0;
    response->is_pending = strcmp(request->path, "/wait") == 0;
    if (response->is_pending)
        request->wait->work = seen;
    fputs(request->path, response->out);
}

static void leave(void *owner, struct console_wait *wait)
{
    (void)owner;
    left++;
    wait->work = NULL;
}

static void begin(void)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-server-XXXXXX");
    CHECK(mkdtemp(directory));
    left = 0;
    server = (struct server){.listener = -1, .answer = answer, .leave = leave};
}

static void end(void)
{
    char path[64];
    server_fini(&server);
    snprintf(path, sizeof path, "%s/socket", directory);
    CHECK(unlink(path) == 0 && rmdir(directory) == 0);
}

static int enter(void)
{
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    snprintf(place.sun_path, sizeof place.sun_path, "%s/socket", directory);
    CHECK(fd >= 0 && connect(fd, (struct sockaddr *)&place, sizeof place) == 0);
    return fd;
}

static void say(int fd, const char *text)
{
    for (size_t len = strlen(text); len;) {
        ssize_t sent = send(fd, text, len, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN)
            return; /* the server has heard enough */
        text += sent > 0 ? sent : 0;
        len -= sent > 0 ? (size_t)sent : 0;
        server_turn(&server, 0);
    }
}

static void turn(unsigned times)
{
    while (times--)
        server_turn(&server, 1);
}

/* The status of the answer; 0: the connection was closed without one; -1: nothing came, and it is open. */
static int hear(int fd)
{
    char text[512] = "";
    int status = 0;
    ssize_t len = -1;
    for (int i = 0; i < 100 && len < 0; i++) {
        server_turn(&server, 1);
        len = recv(fd, text, sizeof text - 1, 0);
        if (len < 0 && errno == ECONNRESET)
            return 0;
    }
    return len > 0 && sscanf(text, "HTTP/1.1 %d", &status) == 1 ? status : len < 0 ? -1 : 0;
}

static bool is_closed(int fd)
{
    char rest[4096];
    ssize_t len;
    turn(5);
    while ((len = recv(fd, rest, sizeof rest, 0)) > 0)
        server_turn(&server, 0);
    return len == 0 || errno == ECONNRESET;
}

static int ask(const char *request)
{
    int fd = enter();
    say(fd, request);
    int status = hear(fd);
    close(fd);
    turn(2);
    return status;
}

/* Other threads make files and folders at the same moment: a mask that is set for the socket would count for them. */
TEST(the_socket_is_its_owners_whatever_the_mask)
{
    char path[64];
    struct stat status;
    begin();
    syscall(SYS_umask, 0);
    CHECK_INT(server_start(&server, directory, "socket"), 0);
    snprintf(path, sizeof path, "%s/socket", directory);
    CHECK(stat(path, &status) == 0 && S_ISSOCK(status.st_mode));
    CHECK_INT(status.st_mode & 0777, 0600);
    CHECK_INT(umasks, 0);
    end();
}

/* A request "GET /?url=" with so many bytes behind. */
static int ask_long(size_t bytes, char byte)
{
    char *request = malloc(bytes + 64), *at = stpcpy(request, "GET /?url=");
    memset(at, byte, bytes);
    stpcpy(at + bytes, " HTTP/1.1\r\nHost: a\r\n\r\n");
    int status = ask(request);
    free(request);
    return status;
}

TEST(a_query_is_whole_or_refused)
{
    begin();
    CHECK_INT(server_start(&server, directory, "socket"), 0);
    CHECK_INT(ask("GET /?url=http://a/%00b&x=+ HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
    CHECK_STR(seen, "url=http%3A%2F%2Fa%2F%00b&x=%20");
    CHECK_INT(ask_long(8000, '/'), 200);
    CHECK_INT(strlen(seen), 4 + 3 * 8000);
    CHECK_INT(ask_long(SERVER_HEAD_BYTES_MAX - 100, '/'), 200);
    CHECK_INT(strlen(seen), 4 + 3 * (SERVER_HEAD_BYTES_MAX - 100));
    seen[0] = '\0';
    CHECK_INT(ask_long(SERVER_HEAD_BYTES_MAX, 'a'), 414);
    CHECK_INT(ask_long(3 * SERVER_HEAD_BYTES_MAX, 'a'), 414);
    CHECK_STR(seen, "");
    end();
}

TEST(a_head_has_a_bound)
{
    char *request = malloc(4 * SERVER_HEAD_BYTES_MAX);
    begin();
    CHECK_INT(server_start(&server, directory, "socket"), 0);
    for (size_t bytes = SERVER_HEAD_BYTES_MAX - 100; bytes < 3 * SERVER_HEAD_BYTES_MAX; bytes += SERVER_HEAD_BYTES_MAX / 2) {
        snprintf(request, 4 * SERVER_HEAD_BYTES_MAX, "GET / HTTP/1.1\r\nHost: a\r\nX: %0*d\r\n\r\n", (int)bytes, 1);
        CHECK_INT(ask(request), bytes < SERVER_HEAD_BYTES_MAX ? 200 : 431);
    }
    free(request);
    end();
}

TEST(connections_are_bounded)
{
    int all[SERVER_CONNECTIONS_MAX + 1];
    begin();
    CHECK_INT(server_start(&server, directory, "socket"), 0);
    for (int i = 0; i <= SERVER_CONNECTIONS_MAX; i++) {
        all[i] = enter();
        server_turn(&server, 0);
    }
    say(all[SERVER_CONNECTIONS_MAX], "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(hear(all[SERVER_CONNECTIONS_MAX]) <= 0);
    for (int i = 0; i < SERVER_CONNECTIONS_MAX; i++) {
        say(all[i], "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        CHECK_INT(hear(all[i]), 200);
    }
    for (int i = 0; i <= SERVER_CONNECTIONS_MAX; i++)
        close(all[i]);
    turn(2);
    CHECK_INT(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
    end();
}

TEST(streams_are_bounded)
{
    int all[SERVER_STREAMS_MAX];
    begin();
    CHECK_INT(server_start(&server, directory, "socket"), 0);
    for (int i = 0; i < SERVER_STREAMS_MAX; i++) {
        all[i] = enter();
        say(all[i], "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
        CHECK_INT(hear(all[i]), 200);
    }
    CHECK_INT(ask("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"), 503);
    CHECK_INT(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
    for (int i = 0; i < SERVER_STREAMS_MAX; i++)
        close(all[i]);
    for (int i = 0; i < 4; i++) {
        server_send(&server, ": \n\n", 4);
        turn(2);
    }
    CHECK_INT(server.stream_count, 0);
    CHECK_INT(ask("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
    end();
}

/* A byte now and then is no head. */
TEST(a_head_has_its_time)
{
    begin();
    CHECK_INT(server_start(&server, directory, "socket"), 0);
    int slow = enter(), late = enter(), body = enter();
    say(late, "GET / HT");
    say(body, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n12");
    turn(2);
    for (int i = 0; i < SERVER_HEAD_S - 1; i++) {
        say(slow, "G");
        say(body, i % 4 == 3 ? "3" : "");
        CHECK(!is_closed(slow));
        ahead_s++;
    }
    say(late, "TP/1.1\r\nHost: a\r\n\r\n"); /* just in time */
    CHECK_INT(hear(late), 200);
    ahead_s += 2;
    CHECK(is_closed(slow) && !is_closed(body));
    ahead_s += SERVER_HEAD_S;
    CHECK(is_closed(late)); /* and has asked nothing more */
    ahead_s += SERVER_BODY_S - 2 * SERVER_HEAD_S;
    CHECK(is_closed(body));
    close(slow);
    close(late);
    close(body);
    end();
}

/* What it does not take is not kept for it; after half a minute it is closed. One that takes all stays. */
TEST(a_reader_that_takes_nothing_is_closed)
{
    static char event[SERVER_EVENT_BYTES];
    begin();
    CHECK_INT(server_start(&server, directory, "socket"), 0);
    int stuck = enter(), quick = enter();
    say(stuck, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    say(quick, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    turn(4);
    memset(event, 'x', sizeof event);
    for (int i = 0; i < 100; i++) { /* more than the system keeps for a socket */
        server_send(&server, event, sizeof event);
        turn(2);
        CHECK(!is_closed(quick));
    }
    for (int i = 0; i < SERVER_STREAM_S - 5; i++) {
        ahead_s++;
        server_send(&server, event, sizeof event);
        CHECK(!is_closed(quick));
    }
    CHECK_INT(server.stream_count, 2);
    ahead_s += 6;
    turn(4);
    server_send(&server, event, sizeof event);
    CHECK(!is_closed(quick));
    CHECK_INT(server.stream_count, 1);
    close(stuck);
    close(quick);
    end();
}

/* The server cannot see that a client has gone while its answer is pending; at the end nothing is left behind. */
TEST(what_is_pending_is_left_at_the_end)
{
    begin();
    CHECK_INT(server_start(&server, directory, "socket"), 0);
    int fd = enter();
    say(fd, "GET /wait HTTP/1.1\r\nHost: a\r\n\r\n");
    turn(4);
    close(fd);
    turn(4);
    end();
    CHECK_INT(left, 1);
}

/* A listener may have many addresses; the one that somebody came to is known by its connection. */
TEST(the_address_that_was_asked_is_told)
{
    struct sockaddr_in place = {.sin_family = AF_INET};
    char expected[64];
    begin();
    CHECK_INT(server_listen(&server, "127.0.0.9", 0), 0);
    CHECK_INT(server_start(&server, directory, "socket"), 0);
    CHECK(inet_pton(AF_INET, "127.0.0.9", &place.sin_addr) == 1);
    place.sin_port = htons(server.port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(fd, (struct sockaddr *)&place, sizeof place) == 0);
    CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    say(fd, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK_INT(hear(fd), 200);
    snprintf(expected, sizeof expected, "127.0.0.9:%u", (unsigned)server.port);
    CHECK_STR(local, expected);
    close(fd);
    CHECK_INT(ask("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), 200);
    CHECK_STR(local, "");
    end();
}
