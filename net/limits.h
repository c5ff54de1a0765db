/* Every bound of net/, with the reason for its value. */
#pragma once

/* ring: the submission queue is a batch, not a bound on what is in flight: when it is full it is
 * submitted. */
#define RING_SQ_ENTRIES 4096
/* Multishot operations post without a submission each, so the completion queue is as long as the kernel
 * allows. */
#define RING_CQ_ENTRIES 65536
/* Completions copied out before their handlers run: 16 bytes each, 4 KiB on the stack. */
#define RING_BATCH 256
/* Handlers a ring can tell apart: the kind is a byte, and a loop has a handful. */
#define RING_KINDS_MAX 32
/* io_uring_enter that fails for want of memory or room for completions is tried again for so long. */
#define RING_RETRY_MS 5000
/* A loop that was asked to end waits this long for operations that the kernel still holds. */
#define RING_FINISH_MS 5000
/* A timer that comes this late has waited for the loop, not for its moment; one turn rarely takes as long. */
#define RING_LATE_MS 20
/* Then, rounds of completions before timers have their turn. Newer kernels give 20 completions a round: this
 * is a row for each of 20,000 connections. */
#define RING_CATCH_UP_MAX 1024

/* bufring: a small pool stays in the L2 cache; 4 KiB x 4096 cost twice the processor time on 64 KB bodies. */
#define BUFRING_BYTES 16384
#define BUFRING_COUNT 64
/* The kernel's bound on one ring of provided buffers. */
#define BUFRING_COUNT_MAX 32768

/* timer: a tick of 2^20 ns (1.05 ms) rounds no time-out up by more than that. */
#define TIMER_TICK_SHIFT 20
/* Eight levels of 64 slots: 48 bits of ticks, more than 64 bits of nanoseconds have, so nothing is too far
 * ahead. */
#define TIMER_LEVEL_BITS 6
#define TIMER_LEVELS     8

/* http: what a response may cost before its body is looked at. */

/* What browsers take; a head beyond this is a fault or an attack. Memory is taken as it comes. */
#define HTTP_HEAD_BYTES_MAX (256 * 1024)
/* Heads that come in pieces, of all connections of a loop together: 64 of the longest, or 2 KiB each for
 * 8,192. Beyond it a fetch fails for want of memory, and is tried again. */
#define HTTP_PIECES_BYTES_MAX (16 * 1024 * 1024)
/* Pages with long security policies and cookies have 40 to 60 fields, some a few hundred. The table is one
 * per loop: 32 KiB, touched as far as it is filled. */
#define HTTP_FIELDS_MAX 1024
/* Places in it for fields that decide something, when a head has more fields than that. */
#define HTTP_FIELDS_RESERVED 64
/* 100 and 103 come once or twice; a stream of them keeps a connection busy for nothing. */
#define HTTP_INTERIM_MAX 10
/* Extensions, padding and trailers of a chunked body: nobody needs them, so they get one head's worth. */
#define HTTP_CHUNK_EXTRA_BYTES_MAX (64 * 1024)
/* First buffer for a head that comes in pieces; doubles up to head_bytes_max. Most heads are below 1 KiB. */
#define HTTP_PIECES_BYTES 2048
/* Empty lines before a status line that are taken for the tail of something else; browsers skip a few bytes,
 * too. */
#define HTTP_LEADING_BYTES_MAX 8

/* tls: an idle connection may cost 24 KiB: 3720 (engine) + input + output + bookkeeping. */

/* A record of 16 KiB with header, IV, MAC and padding: servers do send full ones. */
#define TLS_INPUT_BYTES 16709
/* Requests and the client's handshake messages; longer ones go out as several records. */
#define TLS_OUTPUT_BYTES 2048
/* BearSSL's session parameters: id, version, suite, master secret. */
#define TLS_SESSION_BYTES 88
/* An issuer's distinguished name; those of the public CAs are below 300 bytes. */
#define TLS_NAME_BYTES_MAX 2048
/* Leaf certificates are 1 to 3 KiB, with a hundred names 8 KiB; what is beyond is not searched for
 * addresses. */
#define TLS_LEAF_BYTES_MAX 8192

/* ip: INET6_ADDRSTRLEN. */
#define IP_TEXT_BYTES 46

/* dns */

/* RFC 1035: 253 characters without the trailing dot. */
#define DNS_NAME_BYTES_MAX 253
/* One is connected to; the others are for the case that it is dead. */
#define DNS_ADDRESSES_MAX 8
/* c-ares numbers questions with 16 bits and draws until it finds a free number: stay far below 65,536. */
#define DNS_IN_FLIGHT_MAX 8192
/* c-ares looks for expired questions only when called; half a tick late on a time-out of seconds is no
 * matter. */
#define DNS_TICK_MS    50
#define DNS_TIMEOUT_MS 2000
#define DNS_TRIES      3
/* 432 bytes each, touched when used: 14 MiB per loop. A loop meets this many hosts within a time to live. */
#define DNS_CACHE_ENTRIES 32768
/* Answers up to this size come by UDP: what fits an unfragmented packet on every path (DNS flag day 2020). */
#define DNS_EDNS_BYTES 1232
/* A burst of thousands of answers must not be dropped by the kernel while the loop does something else. */
#define DNS_RECEIVE_BUFFER_BYTES (1024 * 1024)
/* Below a minute a visit would ask again between two pages; above a day a moved site is not found. */
#define DNS_TTL_S_MIN           60
#define DNS_TTL_S_MAX           86400
#define DNS_NEGATIVE_TTL_MS_MAX 300000
#define DNS_FAILURE_TTL_MS      30000
/* Lines of /etc/hosts beyond this are an ad blocker's list, which a crawler has no use for. */
#define DNS_HOSTS_MAX 4096

/* conn */

/* A request is 200 to 400 bytes; with it an idle connection stays below 2 KiB. */
#define CONN_REQUEST_BYTES 768
/* A URL of 2 to 8 KiB and its cookies; servers refuse more. Allocated for the request that needs it. */
#define CONN_REQUEST_BYTES_MAX (32 * 1024)
/* Time-outs, in milliseconds. The resolver gives up by itself before this. */
#define CONN_RESOLVE_MS 30000
/* Three SYNs: 1 + 2 + 4 s. */
#define CONN_CONNECT_MS    7000
#define CONN_HANDSHAKE_MS  15000
#define CONN_FIRST_BYTE_MS 30000
#define CONN_SILENCE_MS    20000
#define CONN_EXCHANGE_MS   120000
/* Servers keep idle connections for 5 to 75 s. */
#define CONN_IDLE_MS 60000
/* The kernel ends what it holds for a connection within a turn once that is shut down. */
#define CONN_CLOSING_MS 2000
/* Over which the rate of a transfer is judged. */
#define CONN_RATE_WINDOW_MS 10000
/* How far a response may fall behind the lowest rate before it is called slow. A healthy server has sent its
 * page by then. */
#define CONN_SLOW_MS 3000
/* A gap between two receives that is longer was the loop's own. Longer than any silence that is put up with
 * by default. */
#define CONN_RATE_GAP_MS_MAX 30000
/* Bytes per second. The slowest modems in use carry 1,000; those who drip bytes to hold a connection send far
 * less than this. A page whose server thinks for twenty seconds in the middle passes with its next 1.3 KB. */
#define CONN_RATE_MIN 64
/* A page; media is larger, and not what is crawled for. */
#define CONN_BODY_BYTES_MAX (UINT64_C(64) << 20)
