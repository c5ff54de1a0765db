#include "engine/console/console.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/support/check.h"

static bool answers(const char *directory)
{
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(place.sun_path, sizeof place.sun_path, "%s/control.sock", directory);
    bool is_connected = connect(fd, (struct sockaddr *)&place, sizeof place) == 0;
    close(fd);
    return is_connected;
}

/* A door that nobody stands behind would let `lycosa ctl` wait for ever. */
TEST(a_console_that_cannot_start_leaves_no_door)
{
    static struct console console;
    static struct crawl crawl;
    static const struct control_tuning_fixed tuning;
    struct tuning_error error;
    char directory[] = "/tmp/lycosa-console-XXXXXX", in_the_way[64];
    CHECK(mkdtemp(directory));
    snprintf(in_the_way, sizeof in_the_way, "%s/control.json", directory);
    CHECK(mkdir(in_the_way, 0755) == 0);
    crawl.directory = directory;
    CHECK(console_open(&console, &tuning, &error));
    CHECK(!console_start(&console, &crawl, &error));
    CHECK(strstr(error.message, "no console") && !console.is_running);
    CHECK(!answers(directory));
    console_stop(&console);
    console_close(&console);
    CHECK(rmdir(in_the_way) == 0 && rmdir(directory) == 0);
}

static void check_url(const char *listen, const char *names, const char *name)
{
    static struct console console;
    static struct control_tuning_fixed tuning;
    struct tuning_error error;
    char address[400], token[] = "/tmp/lycosa-token-XXXXXX";
    int fd = mkstemp(token);
    CHECK(fd >= 0 && write(fd, "0123456789abcdef0123456789abcdef\n", 33) == 33);
    close(fd);
    snprintf(tuning.listen, sizeof tuning.listen, "%s", listen);
    snprintf(tuning.names, sizeof tuning.names, "%s", names);
    snprintf(tuning.token_file, sizeof tuning.token_file, "%s", token);
    CHECK(console_open(&console, &tuning, &error));
    snprintf(address, sizeof address, "http://%s:%u/#0123456789abcdef0123456789abcdef", name, (unsigned)console.server.port);
    CHECK_STR(console.url, address);
    console_close(&console);
    CHECK_INT(unlink(token), 0);
}

TEST(the_address_for_browsers_has_the_port)
{
    check_url("127.0.0.7:0", "", "127.0.0.7");
    check_url("[::1]:0", "a.example", "[::1]");
}

TEST(an_address_that_others_reach_needs_a_token_file)
{
    static const char *const listens[] = {"0.0.0.0:0", "192.0.2.1:0", "[::]:0", "[2001:db8::1]:0"};
    static struct console console;
    static struct control_tuning_fixed tuning;
    struct tuning_error error;
    for (size_t i = 0; i < sizeof listens / sizeof listens[0]; i++) {
        snprintf(tuning.listen, sizeof tuning.listen, "%s", listens[i]);
        CHECK(!console_open(&console, &tuning, &error));
        CHECK(strstr(error.message, "needs control.token-file"));
        console_close(&console);
    }
}
