/* The other end of a connection under test: a thread that listens on a port of its own and runs a script over
 * each connection, one after the other, with blocking calls. */
#pragma once

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct peer {
    int listener;
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
    void (*script)(struct peer *peer, int fd);
    unsigned connections; /* that the script is run over; then the thread ends */
    unsigned served;
    pthread_t thread;
};

/* Listens on loopback of `family` and starts the thread. `script` may be NULL: then nothing is ever
 * accepted. */
void peer_begin(struct peer *peer, int family, unsigned connections,
                void (*script)(struct peer *peer, int fd));
/* Waits for the thread and closes the port. */
void peer_finish(struct peer *peer);

/* What scripts did before they last sent something, or closed, is seen from here on; what was done before this is seen by
 * scripts once they have read a request. ThreadSanitizer does not know that sockets order memory. */
void peer_sync(void);

/* For scripts. A client that is gone is no failure: they answer false, or the length so far. */
bool peer_send(int fd, const char *text);
bool peer_send_bytes(int fd, const void *bytes, size_t len);
/* A byte per segment. */
bool peer_send_slowly(int fd, const char *text);
/* Reads the head of a request; false at the end of the stream. */
bool peer_read_request(int fd, char *buffer, size_t capacity);
/* Until the client closes. */
void peer_read_all(int fd);
/* The next close is a reset. */
void peer_reset_on_close(int fd);

/* A port of IPv4 loopback that nobody listens on. */
struct sockaddr_in peer_nobody(void);
