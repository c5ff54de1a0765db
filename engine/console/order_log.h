/* DIR/events.log: a line for every order. The console's thread gives them, and never waits for the disk; the housekeeper of the
 * crawl writes them. */
#pragma once

#include <stdint.h>

#include "lockfree/ring_spsc.h"

/* Lines that wait for the disk. More are counted only. */
enum { ORDER_LOG_LINES = 256, ORDER_LOG_BYTES = ORDER_LOG_LINES * sizeof(uint64_t) };

struct order_log {
    struct ring_spsc lines;
    _Alignas(LF_CACHE_LINE) char memory[ORDER_LOG_BYTES];
    _Atomic(uint64_t) lost;
    int fd; /* the writer's; -1: not open */
};

void order_log_init(struct order_log *log);
/* By one thread: who and what, separated by a tab, and how it was answered. */
void order_log_add(struct order_log *log, const char *order, const char *result);
/* By another, from time to time: writes what has come. */
void order_log_write(struct order_log *log, const char *directory);
void order_log_fini(struct order_log *log);
