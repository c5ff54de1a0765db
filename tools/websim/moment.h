/* When things happened, by the kernel's clocks: a server that is kept from its processor comes to know of a
 * request or of a close late, and must not take its own delay for the client's.
 *
 * Data that arrives is stamped by the kernel as it comes off the wire (SO_TIMESTAMPING). The end of a
 * connection has no stamp, but the socket knows how long ago the last segment came (TCP_INFO), in steps of a
 * kernel tick. */
#pragma once

#include <stdint.h>
#include <sys/socket.h>

#include "net/slice.h"

/* Room for what recvmsg says about a receive: one control message of three timespecs. */
#define WEBSIM_MOMENT_CONTROL_BYTES 64

/* The longest tick that Linux can be built with (100 Hz): how much earlier than TCP_INFO says a segment may
 * have come. */
#define WEBSIM_MOMENT_TICK_NS (10 * CLOCK_NS_PER_MS)

/* Difference between the clock of the stamps, which is the wall's, and ours, which is monotonic. */
struct websim_moment_clock {
    int64_t offset_ns;
    uint64_t read_ns; /* when it was measured; 0: never */
};

/* Has the kernel stamp what arrives on a listening socket's connections: 0 or a negative errno. */
int websim_moment_listen(int fd);

/* What a multishot recvmsg has put into a buffer, taken apart. */
struct websim_moment_receive {
    struct slice bytes;  /* empty: the end of the stream */
    uint64_t arrived_ns; /* of the last byte; `now_ns` if the kernel did not say */
};
/* `message` is what the receive was queued with. */
struct websim_moment_receive websim_moment_read(struct websim_moment_clock *clock, struct slice buffer,
                                                struct msghdr *message, uint64_t now_ns);

/* The earliest moment at which the last segment of the client can have come. */
uint64_t websim_moment_of_last_segment(int fd, uint64_t now_ns);
