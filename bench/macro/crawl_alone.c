#include "macro/crawl_alone.h"

#include "lockfree/clock.h"

static void resolve(void *owner, struct host *host)
{
    struct crawl_alone *alone = owner;
    struct ip ip = {{[10] = 0xff, [11] = 0xff, [12] = 10}};
    for (int i = 0; i < 3; i++)
        ip.bytes[13 + i] = (uint8_t)(host->id >> (16 - 8 * i));
    frontier_resolved(&alone->loop, host,
                      &(struct frontier_resolved){
                          .addresses = &ip, .count = 1, .until_ns = UINT64_MAX, .now_ns = alone->now_ns});
}

static bool abandon(void *owner, struct host *host)
{
    (void)owner;
    (void)host;
    return true;
}

static void wake(void *owner, unsigned loop)
{
    (void)owner;
    (void)loop;
}

void crawl_alone_init(struct crawl_alone *alone)
{
    struct tuning *tuning = &alone->tuning;
    tuning_init(tuning);
    tuning->fixed.crawl.threads = 1;
    tuning->fixed.state.spill = false;
    tuning->live.politeness.host_ratio = tuning->live.politeness.address_ratio = 1e9;
    tuning->live.politeness.host_min_idle_ns = tuning->live.politeness.address_min_idle_ns = 0;
    alone->now_ns = clock_now_ns();
}

bool crawl_alone_open(struct crawl_alone *alone, const char *slots)
{
    struct frontier_loop_options options = {.resolve = resolve, .abandon = abandon, .wake = wake, .owner = alone};
    return frontier_init(&alone->frontier, &alone->tuning) == 0 &&
           (!slots || frontier_open_slots(&alone->frontier, &disk_system, slots) == 0) &&
           frontier_loop_init(&alone->loop, &alone->frontier, &options) == 0;
}

void crawl_alone_close(struct crawl_alone *alone)
{
    frontier_loop_fini(&alone->loop);
    frontier_fini(&alone->frontier);
}

uint64_t crawl_alone_random(struct crawl_alone *alone)
{
    uint64_t z = alone->random += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}
