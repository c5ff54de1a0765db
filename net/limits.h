/* Every bound of net/, with the reason for its value. */
#pragma once

/* ring: the submission queue is a batch, not a bound on what is in flight: when it is full it is submitted.
 */
#define RING_SQ_ENTRIES 4096
/* Multishot operations post without a submission each, so the completion queue is as long as the kernel
 * allows. */
#define RING_CQ_ENTRIES 65536
/* Completions copied out before their handlers run: 16 bytes each, 4 KiB on the stack. */
#define RING_BATCH 256
/* Handlers a ring can tell apart: the kind is a byte, and a loop has a handful. */
#define RING_KINDS_MAX 32
/* A loop that was asked to end waits this long for operations that the kernel still holds. */
#define RING_FINISH_MS 5000

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

/* Servers themselves stop at 8 to 64 KiB; a head beyond this is a fault or an attack. */
#define HTTP_HEAD_BYTES_MAX (64 * 1024)
/* Pages with long security policies and cookies have 40 to 60 fields. The table is one per loop: 4 KiB. */
#define HTTP_FIELDS_MAX 128
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
/* Leaf certificates are 1 to 3 KiB, with a hundred names 8 KiB; what is beyond is not searched for addresses.
 */
#define TLS_LEAF_BYTES_MAX 8192

/* dns */

/* RFC 1035: 253 characters without the trailing dot. */
#define DNS_NAME_BYTES_MAX 253
/* One is connected to; the others are for the case that it is dead. */
#define DNS_ADDRESSES_MAX 8
/* INET6_ADDRSTRLEN. */
#define DNS_ADDRESS_TEXT_BYTES 46
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
#define DNS_TTL_S_MIN          60
#define DNS_TTL_S_MAX          86400
#define DNS_NEGATIVE_TTL_S_MAX 300
#define DNS_FAILURE_TTL_S      30
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
/* A page; media is larger, and not what is crawled for. */
#define CONN_BODY_BYTES_MAX (UINT64_C(64) << 20)
