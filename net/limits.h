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
/* Four levels of 64 slots: 2^24 ticks are 4.9 hours; what lies further ahead is moved when it comes nearer.
 */
#define TIMER_LEVEL_BITS 6
#define TIMER_LEVELS     4
