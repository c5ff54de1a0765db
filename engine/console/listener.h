/* The sockets that the console listens on, and the address that a connection came in on. */
#pragma once

#include <stdint.h>

enum { LISTENER_NAME_BYTES = 64 };

/* Listens on an address; port 0: any, and *port tells which. The descriptor, or a negative errno. */
int listener_open_tcp(const char *address, uint16_t *port);
/* Listens on a Unix socket in a directory, replaced if it is there. The descriptor, or a negative errno. */
int listener_open_unix(const char *directory, const char *name);
/* Our end of a connection as a browser writes it, "127.0.0.1:8473"; empty: it is none of TCP. */
void listener_name(int fd, char name[LISTENER_NAME_BYTES]);
