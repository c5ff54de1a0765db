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
