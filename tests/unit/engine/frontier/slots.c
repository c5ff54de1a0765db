#include "engine/frontier/slots.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/check.h"

enum { QUEUES = 10000, RECORD_BYTES_MAX = 300 };

static char directory[64], path[80];
static struct slots slots;

/* What is pushed to a queue and expected to come out of it. */
static struct feed {
    struct slots_queue queue;
    uint32_t pushed, popped; /* records */
} feeds[QUEUES];

static uint64_t random_state;

static uint64_t next_random(uint64_t bound)
{
    uint64_t z = random_state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (z ^ (z >> 31)) % bound;
}

static void begin(struct slots_options options)
{
    snprintf(directory, sizeof directory, "/tmp/lycosa-slots-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    snprintf(path, sizeof path, "%s/slots", directory);
    options.path = path;
    options.disk = options.disk ? options.disk : &disk_system;
    options.record_bytes_max = options.record_bytes_max ? options.record_bytes_max : RECORD_BYTES_MAX;
    CHECK_INT(slots_init(&slots, &options), 0);
    for (uint32_t i = 0; i < QUEUES; i++)
        feeds[i] = (struct feed){.queue.host = i + 1};
    random_state = 1;
}

static void finish(void)
{
    slots_fini(&slots);
    CHECK(access(path, F_OK) != 0);
    CHECK_INT(rmdir(directory), 0);
}

/* The n-th record of a host: 0 to 299 bytes that are like no other's. */
static struct slice record_of(uint32_t host, uint32_t number, char bytes[RECORD_BYTES_MAX])
{
    uint32_t word = host * 2654435761u ^ number * 40503u;
    size_t len = word % RECORD_BYTES_MAX;
    for (size_t i = 0; i < len; i++, word = word * 1664525u + 1013904223u)
        bytes[i] = (char)(word >> 24);
    return (struct slice){bytes, len};
}

static bool push(struct slots_loop *loop, struct feed *feed)
{
    char bytes[RECORD_BYTES_MAX];
    if (!slots_push(loop, &feed->queue, record_of(feed->queue.host, feed->pushed, bytes)))
        return false;
    feed->pushed++;
    return true;
}

/* Takes the records of a batch and checks that they are the next ones. */
static void take(struct slots_loop *loop, struct slots_buffer *batch)
{
    struct feed *feed = (struct feed *)batch->queue; /* its first member */
    char bytes[RECORD_BYTES_MAX];
    struct slice record;
    CHECK_INT(batch->error, 0);
    slots_accept(loop, batch);
    while (slots_next(batch, &record)) {
        struct slice expected = record_of(feed->queue.host, feed->popped++, bytes);
        CHECK_INT(record.len, expected.len);
        CHECK(memcmp(record.ptr, expected.ptr, expected.len) == 0);
    }
    slots_release(loop, batch);
    CHECK_INT(slots_waiting(&feed->queue), feed->pushed - feed->popped);
}

static void take_all(struct slots_loop *loop)
{
    struct slots_buffer *batch;
    while ((batch = slots_loaded(loop)))
        take(loop, batch);
}

static void empty_queue(struct slots_loop *loop, struct feed *feed)
{
    while (slots_waiting(&feed->queue)) {
        CHECK(slots_load(loop, &feed->queue));
        CHECK(slots_serve(&slots) >= 0);
        take_all(loop);
    }
    CHECK_INT(feed->popped, feed->pushed);
}

static uint64_t file_bytes(void)
{
    struct stat status;
    CHECK_INT(stat(path, &status), 0);
    return (uint64_t)status.st_size;
}

/* Fewer buffers than queues: when none is free a queue that was chosen at random gives up its own. */
TEST(each_of_10000_queues_is_first_in_first_out)
{
    begin((struct slots_options){.loops = 1, .buffers = 1000, .loads = 20, .slots_max = 1 << 20});
    struct slots_loop *loop = &slots.loops[0];
    for (int step = 0; step < 800000; step++) {
        struct feed *feed = &feeds[next_random(QUEUES)];
        /* more in than out at first, then the other way round */
        bool is_push = next_random(100) < (step < 500000 ? 99 : 70);
        if (is_push && !push(loop, feed))
            slots_flush(loop, &feeds[next_random(QUEUES)].queue);
        else if (!is_push && slots_waiting(&feed->queue) && !feed->queue.is_loading)
            slots_load(loop, &feed->queue);
        if (next_random(50) == 0) {
            CHECK(slots_serve(&slots) >= 0);
            take_all(loop);
        }
    }
    struct slots_counts middle = slots_count(&slots);
    CHECK(middle.reads > 1000 && middle.writes > 10000 && middle.in_use > 5000);
    CHECK(slots_serve(&slots) >= 0);
    take_all(loop);
    for (int i = 0; i < QUEUES; i++)
        empty_queue(loop, &feeds[i]);
    struct slots_counts end = slots_count(&slots);
    CHECK_INT(end.in_use, 0);
    CHECK_INT(end.reads, end.writes);
    finish();
}

/* What was not full when the queue was loaded from never sees the disk. */
TEST(an_unfinished_buffer_comes_at_once)
{
    begin((struct slots_options){.loops = 1, .buffers = 1, .loads = 1, .slots_max = 10});
    struct slots_loop *loop = &slots.loops[0];
    for (int round = 0; round < 3; round++) {
        CHECK(push(loop, &feeds[0]) && push(loop, &feeds[0]));
        CHECK(!slots_loaded(loop));
        CHECK(slots_load(loop, &feeds[0].queue));
        take_all(loop);
        CHECK_INT(feeds[0].popped, 2 * (round + 1));
    }
    CHECK_INT(slots_serve(&slots), 0);
    CHECK_INT(slots_count(&slots).writes, 0);
    CHECK_INT(slots_count(&slots).in_use, 0);
    finish();
}

/* Both requests are there when the housekeeper comes, at loops in either order. */
TEST(what_another_loop_wrote_is_written_before_it_is_read)
{
    for (unsigned writer = 0; writer < 2; writer++) {
        begin((struct slots_options){.loops = 2, .buffers = 8, .loads = 4, .slots_max = 100});
        struct slots_loop *from = &slots.loops[writer], *to = &slots.loops[1 - writer];
        for (int i = 0; i < 10; i++)
            CHECK(push(from, &feeds[0]));
        CHECK(slots_flush(from, &feeds[0].queue));
        CHECK(push(to, &feeds[0])); /* its buffer goes on at the other loop, and comes back from there */
        CHECK(slots_load(to, &feeds[0].queue));
        CHECK_INT(slots_serve(&slots), 2);
        CHECK(!slots_loaded(from));
        take_all(to);
        CHECK_INT(feeds[0].popped, 10);
        empty_queue(from, &feeds[0]);
        CHECK_INT(feeds[0].popped, 11);
        finish();
    }
}

/* A host is visited by one loop while another has asked for its records. */
TEST(a_queue_may_move_while_it_is_loading)
{
    begin((struct slots_options){.loops = 2, .buffers = 8, .loads = 4, .slots_max = 100});
    struct slots_loop *home = &slots.loops[0], *holder = &slots.loops[1];
    struct slots_queue *queue = &feeds[0].queue;
    CHECK(push(home, &feeds[0]) && slots_flush(home, queue));
    for (int i = 0; i < 5; i++) {
        CHECK(slots_load(home, queue));
        for (int n = 0; n <= i; n++)
            CHECK(push(holder, &feeds[0]) && slots_flush(holder, queue));
        CHECK(slots_serve(&slots) > 0);
        struct slots_buffer *batch = slots_loaded(home);
        CHECK(batch && batch->queue == queue && queue->is_loading);
        CHECK(push(holder, &feeds[0]) && slots_flush(holder, queue));
        CHECK_INT(slots_waiting(queue), feeds[0].pushed - feeds[0].popped);
        take(home, batch);
    }
    empty_queue(home, &feeds[0]);
    CHECK_INT(slots_count(&slots).in_use, 0);

    /* The same with records that were not on disk. */
    CHECK(push(home, &feeds[0]) && slots_load(home, queue));
    CHECK(push(holder, &feeds[0]) && slots_flush(holder, queue) && push(holder, &feeds[0]));
    CHECK_INT(slots_waiting(queue), 3);
    take_all(home);
    CHECK_INT(slots_waiting(queue), 2);
    empty_queue(holder, &feeds[0]);
    finish();
}

TEST(memory_is_bounded)
{
    begin((struct slots_options){.loops = 1, .buffers = 8, .loads = 2, .slots_max = 1000});
    struct slots_loop *loop = &slots.loops[0];
    for (int i = 0; i < 8; i++)
        CHECK(push(loop, &feeds[i]));
    CHECK(!push(loop, &feeds[8]));
    CHECK_INT(slots_waiting(&feeds[8].queue), 0);
    CHECK(slots_flush(loop, &feeds[3].queue));
    CHECK(!push(loop, &feeds[8])); /* not before it was written */
    CHECK_INT(slots_serve(&slots), 1);
    CHECK(push(loop, &feeds[8]));
    CHECK(!push(loop, &feeds[3]));
    /* A queue whose buffer is full goes on when there is another. */
    while (push(loop, &feeds[0]))
        ;
    CHECK_INT(feeds[0].queue.in_buffer, 0);
    CHECK_INT(slots_serve(&slots), 1);
    CHECK(push(loop, &feeds[0]));

    /* Batches are bounded, too; buffers that are filled are not needed to load. */
    while (push(loop, &feeds[0]) || push(loop, &feeds[1]) || push(loop, &feeds[2]))
        ;
    CHECK(slots_load(loop, &feeds[0].queue) && slots_load(loop, &feeds[1].queue));
    CHECK(!slots_load(loop, &feeds[2].queue) && !feeds[2].queue.is_loading);
    CHECK(slots_serve(&slots) > 0);
    take_all(loop);
    for (int i = 0; i < 9; i++)
        empty_queue(loop, &feeds[i]);
    finish();
}

/* A window of records moves through the file: it does not grow beyond the most that was in use. */
TEST(slots_are_used_again)
{
    begin((struct slots_options){.loops = 1, .buffers = 400, .loads = 8, .slots_max = 1 << 20});
    struct slots_loop *loop = &slots.loops[0];
    uint64_t most = 0, records = 0;
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 100; i++)
            for (int n = 0; n < 30; n++, records++)
                CHECK(push(loop, &feeds[i]));
        CHECK(slots_serve(&slots) >= 0);
        uint64_t in_use = slots_count(&slots).in_use;
        most = in_use > most ? in_use : most;
        for (int i = 0; i < 100; i++)
            while (slots_waiting(&feeds[i].queue) > 60) {
                CHECK(slots_load(loop, &feeds[i].queue));
                CHECK(slots_serve(&slots) >= 0);
                take_all(loop);
            }
    }
    struct slots_counts counts = slots_count(&slots);
    CHECK_INT(counts.begun, most);
    CHECK(file_bytes() <= most * SLOTS_BYTES_SMALL);
    CHECK(most <= 100 * 7); /* 90 records of 150 bytes on average are 4 slots, and one is reserved */
    CHECK(counts.writes > 20 * most);
    finish();
}

TEST(a_full_file_refuses_until_something_is_read)
{
    begin((struct slots_options){.loops = 1, .buffers = 8, .loads = 2, .slots_max = 5});
    struct slots_loop *loop = &slots.loops[0];
    while (push(loop, &feeds[0]))
        CHECK(slots_serve(&slots) >= 0);
    CHECK(slots_is_full(&slots));
    CHECK_INT(slots_count(&slots).writes, 4); /* the fifth is the place of the next */
    CHECK(push(loop, &feeds[1]));
    CHECK(!slots_flush(loop, &feeds[1].queue));
    CHECK_INT(slots_waiting(&feeds[1].queue), 1);
    CHECK_INT(slots_count(&slots).in_use, 5);
    CHECK(slots_load(loop, &feeds[0].queue) && slots_serve(&slots) == 1);
    take_all(loop);
    CHECK(!slots_flush(loop, &feeds[1].queue)); /* there is one, and it takes two */
    CHECK_INT(slots_count(&slots).in_use, 4);
    CHECK(push(loop, &feeds[0]));
    empty_queue(loop, &feeds[0]);
    CHECK(!slots_is_full(&slots));
    CHECK(slots_flush(loop, &feeds[1].queue));
    empty_queue(loop, &feeds[1]);
    CHECK_INT(slots_count(&slots).in_use, 0);
    CHECK_INT(slots_count(&slots).begun, 5);
    finish();
}

TEST(long_records_have_larger_slots)
{
    begin((struct slots_options){
        .loops = 1, .buffers = 2, .loads = 1, .slots_max = 10, .record_bytes_max = SLOTS_RECORD_BYTES_MAX});
    struct slots_loop *loop = &slots.loops[0];
    struct slots_queue *queue = &feeds[0].queue;
    static char longest[SLOTS_RECORD_BYTES_MAX];
    memset(longest, 'x', sizeof longest);
    CHECK(slots_push(loop, queue, (struct slice){longest, sizeof longest}));
    CHECK(slots_push(loop, queue, SLICE("")));
    CHECK(slots_load(loop, queue));
    CHECK_INT(slots_serve(&slots), 2);
    CHECK_INT(file_bytes(), SLOTS_BYTES_LARGE);
    struct slots_buffer *batch = slots_loaded(loop);
    struct slice record;
    CHECK(batch && slots_next(batch, &record));
    CHECK(record.len == sizeof longest && memcmp(record.ptr, longest, sizeof longest) == 0);
    CHECK(!slots_next(batch, &record));
    slots_accept(loop, batch);
    slots_release(loop, batch);
    CHECK(slots_load(loop, queue) && (batch = slots_loaded(loop)));
    CHECK(slots_next(batch, &record) && record.len == 0 && !slots_next(batch, &record));
    slots_accept(loop, batch);
    slots_release(loop, batch);
    finish();
}

/* A disk that fails at its n-th write or read, once. */
static struct faults {
    unsigned calls, fails_at;
} faults;

static int64_t faulty_write_at(void *owner, int fd, uint64_t offset, struct slice bytes)
{
    return ++faults.calls == faults.fails_at ? -ENOSPC : disk_system.write_at(owner, fd, offset, bytes);
}

static int64_t faulty_read(void *owner, int fd, uint64_t offset, struct disk_room room)
{
    return ++faults.calls == faults.fails_at ? -EIO : disk_system.read(owner, fd, offset, room);
}

TEST(an_error_is_told_to_the_housekeeper_and_to_every_loop)
{
    struct disk disk = disk_system;
    disk.write_at = faulty_write_at;
    disk.read = faulty_read;
    for (unsigned n = 1; n <= 8; n++) {
        int error = n <= 4 ? -ENOSPC : -EIO;
        faults = (struct faults){.fails_at = n};
        begin((struct slots_options){.disk = &disk, .loops = 2, .buffers = 4, .loads = 4, .slots_max = 1000});
        for (int i = 0; i < 4; i++)
            CHECK(push(&slots.loops[i % 2], &feeds[i]) && slots_flush(&slots.loops[i % 2], &feeds[i].queue));
        CHECK_INT(slots_serve(&slots), n <= 4 ? error : 4);
        for (int i = 0; i < 4; i++)
            CHECK(slots_load(&slots.loops[i % 2], &feeds[i].queue));
        CHECK_INT(slots_serve(&slots), error);
        CHECK_INT(slots_serve(&slots), error);
        unsigned failed = 0;
        for (int i = 0; i < 4; i++) {
            struct slots_buffer *batch = slots_loaded(&slots.loops[i % 2]);
            struct slice record;
            CHECK(batch && (batch->error == 0 || batch->error == error));
            CHECK(!batch->error || !slots_next(batch, &record));
            failed += batch->error != 0;
            slots_accept(&slots.loops[i % 2], batch);
            slots_release(&slots.loops[i % 2], batch);
        }
        CHECK_INT(failed, n <= 4 ? 4 : 9 - n);
        /* Loops that go on for a while find buffers. */
        for (int i = 0; i < 100; i++) {
            CHECK(push(&slots.loops[0], &feeds[5]) && slots_flush(&slots.loops[0], &feeds[5].queue));
            CHECK_INT(slots_serve(&slots), error);
        }
        finish();
    }
}

static void damage(uint64_t place, const void *bytes, size_t len)
{
    int fd = open(path, O_WRONLY);
    CHECK(fd >= 0 && pwrite(fd, bytes, len, (off_t)place) == (ssize_t)len);
    close(fd);
}

TEST(a_slot_that_is_not_what_was_written_is_an_error)
{
    const struct {
        uint64_t place;
        uint32_t word;
    } damages[] = {
        {0, 0},          /* next: none */
        {0, 101},        /* beyond the last */
        {4, 1},          /* count 1, used 0 */
        {4, 0xffff0001}, /* used more than there is */
        {4, 0x100207f8}, /* the same, with empty records up to there */
        {8, 2},          /* another host */
        {12, 0xffff},    /* length of the first record */
    };
    for (size_t i = 0; i <= sizeof damages / sizeof damages[0]; i++) {
        begin((struct slots_options){.loops = 1, .buffers = 4, .loads = 4, .slots_max = 100});
        CHECK(slots_push(&slots.loops[0], &feeds[0].queue, SLICE("record")));
        CHECK(slots_flush(&slots.loops[0], &feeds[0].queue) && slots_serve(&slots) == 1);
        if (i < sizeof damages / sizeof damages[0])
            damage(damages[i].place, &damages[i].word, 4);
        else
            CHECK_INT(truncate(path, SLOTS_BYTES_SMALL - 1), 0);
        CHECK(slots_load(&slots.loops[0], &feeds[0].queue));
        CHECK_INT(slots_serve(&slots), -EBADMSG);
        struct slots_buffer *batch = slots_loaded(&slots.loops[0]);
        CHECK(batch);
        CHECK_INT(batch->error, -EBADMSG);
        finish();
    }
}
