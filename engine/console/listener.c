#include "engine/console/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 64 };

/* An address and port for bind; its length, or 0 if the text is no address. */
static socklen_t read_address(const char *text, uint16_t port, struct sockaddr_storage *place)
{
    struct sockaddr_in *four = (struct sockaddr_in *)place;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)place;
    memset(place, 0, sizeof *place);
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons(port);
        return sizeof *four;
    }
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(port);
    return inet_pton(AF_INET6, text, &six->sin6_addr) == 1 ? sizeof *six : 0;
}

int listener_open_tcp(const char *address, uint16_t *port)
{
    struct sockaddr_storage place;
    socklen_t len = read_address(address, *port, &place);
    int yes = 1;
    if (len == 0)
        return -EINVAL;
    int fd = socket(place.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(fd, (struct sockaddr *)&place, len) != 0 || listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&place, &len) != 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    *port = ntohs(((struct sockaddr_in *)&place)->sin_port); /* at the same place in both kinds */
    return fd;
}

/* The path of a socket may have 107 bytes, that of a crawl more: the directory is named by its descriptor. */
int listener_open_unix(const char *directory, const char *name)
{
    struct sockaddr_un place = {.sun_family = AF_UNIX};
    int folder = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    int fd = folder < 0 ? -1 : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
    snprintf(place.sun_path, sizeof place.sun_path, "/proc/self/fd/%d/%s", folder, name);
    if (fd >= 0) {
        unlinkat(folder, name, 0);
        /* For its owner alone, from the first moment on: bind gives the name the mode of the socket. Not by umask, which
         * counts for the folders and files of other threads, too. */
        if (fchmod(fd, 0600) != 0 || bind(fd, (struct sockaddr *)&place, sizeof place) != 0 || listen(fd, BACKLOG) != 0)
            error = -errno;
    } else {
        error = -errno;
    }
    if (folder >= 0)
        close(folder);
    if (error && fd >= 0)
        close(fd);
    return error ? error : fd;
}

/* An address of version 4 that came to a socket of version 6 is written as what it is. */
static void unmap(struct sockaddr_storage *place)
{
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)place;
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = six->sin6_port};
    if (place->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
        return;
    memcpy(&four.sin_addr, six->sin6_addr.s6_addr + 12, sizeof four.sin_addr);
    memcpy(place, &four, sizeof four);
}

void listener_name(int fd, char name[LISTENER_NAME_BYTES])
{
    struct sockaddr_storage place = {.ss_family = AF_UNSPEC};
    const struct sockaddr_in *four = (const struct sockaddr_in *)&place;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&place;
    char text[INET6_ADDRSTRLEN];
    socklen_t len = sizeof place;
    name[0] = '\0';
    if (getsockname(fd, (struct sockaddr *)&place, &len) != 0)
        return;
    unmap(&place);
    if (place.ss_family == AF_INET && inet_ntop(AF_INET, &four->sin_addr, text, sizeof text))
        snprintf(name, LISTENER_NAME_BYTES, "%s:%u", text, (unsigned)ntohs(four->sin_port));
    if (place.ss_family == AF_INET6 && inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof text))
        snprintf(name, LISTENER_NAME_BYTES, "[%s]:%u", text, (unsigned)ntohs(six->sin6_port));
}
