#include "engine/console/server.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/check.h"

static unsigned umasks;

/* In place of the C library's. */
mode_t umask(mode_t mask)
{
    umasks++;
    return (mode_t)syscall(SYS_umask, mask);
}

/* Other threads make files and folders at the same moment: a mask that is set for the socket would count for them. */
TEST(the_socket_is_its_owners_whatever_the_mask)
{
    char directory[] = "/tmp/lycosa-server-XXXXXX", path[64];
    static struct server server = {.listener = -1};
    struct stat status;
    CHECK(mkdtemp(directory));
    syscall(SYS_umask, 0);
    CHECK_INT(server_start(&server, directory, "socket"), 0);
    snprintf(path, sizeof path, "%s/socket", directory);
    CHECK(stat(path, &status) == 0 && S_ISSOCK(status.st_mode));
    CHECK_INT(status.st_mode & 0777, 0600);
    CHECK_INT(umasks, 0);
    server_fini(&server);
    CHECK(unlink(path) == 0 && rmdir(directory) == 0);
}
