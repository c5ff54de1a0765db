#include "engine/state/fold_sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "engine/state/limits.h"

/* Keys are hashes: dealt out by their leading bits twice, hardly anything is left to sort. A part of the largest run
 * fits a core's own cache. */
enum { PART_BITS = 8, PARTS = 1 << PART_BITS, BIN_BITS = 10, BINS = 1 << BIN_BITS, INSERTION_MAX = 24 };

int fold_sort_init(struct fold_sort *sort, const struct fold_sort_options *options)
{
    *sort = (struct fold_sort){.options = *options, .fd = -1};
    sort->pairs = malloc(options->pairs_max * sizeof *sort->pairs);
    sort->dealt = malloc(options->pairs_max * sizeof *sort->dealt);
    return sort->pairs && sort->dealt ? 0 : -ENOMEM;
}

void fold_sort_fini(struct fold_sort *sort)
{
    const struct disk *disk = sort->options.disk;
    for (size_t i = 0; i < sort->run_count; i++)
        free(sort->runs[i].buffer);
    free(sort->runs);
    free(sort->heap);
    free(sort->pairs);
    free(sort->dealt);
    if (sort->fd >= 0) {
        disk->close(disk->owner, sort->fd);
        disk->unlink(disk->owner, sort->options.path);
    }
    *sort = (struct fold_sort){.fd = -1};
}

static int compare(const void *a, const void *b)
{
    uint64_t x = ((const struct fold_pair *)a)->key, y = ((const struct fold_pair *)b)->key;
    return (x > y) - (x < y);
}

/* Somebody may have chosen the keys: what is not spread by the dealing is sorted in the ordinary way. */
static void sort_bin(struct fold_pair *pairs, size_t count)
{
    if (count > INSERTION_MAX) {
        qsort(pairs, count, sizeof *pairs, compare);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        struct fold_pair pair = pairs[i];
        size_t at = i;
        for (; at > 0 && pairs[at - 1].key > pair.key; at--)
            pairs[at] = pairs[at - 1];
        pairs[at] = pair;
    }
}

/* Pairs on their way from one array to the other. */
struct deal {
    const struct fold_pair *from;
    struct fold_pair *to;
    size_t count;
};

/* By `bits` bits of the key, behind the `skipped` first ones; ends[i] is where bin i ends then. */
static void deal_out(const struct deal *deal, uint32_t *ends, unsigned skipped, unsigned bits)
{
    uint32_t sum = 0;
    memset(ends, 0, sizeof *ends << bits);
    for (size_t i = 0; i < deal->count; i++)
        ends[deal->from[i].key << skipped >> (64 - bits)]++;
    for (size_t i = 0; i < 1u << bits; i++) {
        uint32_t here = ends[i];
        ends[i] = sum;
        sum += here;
    }
    for (size_t i = 0; i < deal->count; i++)
        deal->to[ends[deal->from[i].key << skipped >> (64 - bits)]++] = deal->from[i];
}

static void sort_part(const struct deal *part)
{
    uint32_t ends[BINS];
    if (part->count <= INSERTION_MAX) {
        memcpy(part->to, part->from, part->count * sizeof *part->to);
        sort_bin(part->to, part->count);
        return;
    }
    deal_out(part, ends, PART_BITS, BIN_BITS);
    for (size_t i = 0, begin = 0; i < BINS; begin = ends[i++])
        sort_bin(part->to + begin, ends[i] - begin);
}

static void sort_run(struct fold_sort *sort)
{
    struct deal all = {sort->pairs, sort->dealt, sort->count};
    uint32_t ends[PARTS];
    deal_out(&all, ends, 0, PART_BITS);
    for (size_t i = 0, begin = 0; i < PARTS; begin = ends[i++])
        sort_part(&(struct deal){sort->dealt + begin, sort->pairs + begin, ends[i] - begin});
}

static struct fold_run *add_run(struct fold_sort *sort)
{
    if (sort->run_count == sort->run_room) {
        size_t room = sort->run_room ? 2 * sort->run_room : 16;
        struct fold_run *runs = realloc(sort->runs, room * sizeof *runs);
        if (!runs)
            return NULL;
        sort->runs = runs;
        sort->run_room = room;
    }
    struct fold_run *run = &sort->runs[sort->run_count++];
    *run = (struct fold_run){0};
    return run;
}

static int open_file(struct fold_sort *sort)
{
    const struct disk *disk = sort->options.disk;
    if (sort->fd >= 0)
        return 0;
    int error = disk->unlink(disk->owner, sort->options.path);
    if (error && error != -ENOENT)
        return error;
    sort->fd = disk->open(disk->owner, sort->options.path, O_RDWR | O_CREAT | O_EXCL);
    return sort->fd < 0 ? sort->fd : 0;
}

static int spill(struct fold_sort *sort)
{
    struct slice bytes = {(const char *)sort->pairs, sort->count * sizeof *sort->pairs};
    size_t written;
    sort_run(sort);
    int error = open_file(sort);
    struct fold_run *run = error ? NULL : add_run(sort);
    if (!run)
        return error ? error : -ENOMEM;
    *run = (struct fold_run){.offset = sort->bytes, .left = sort->count};
    sort->bytes += bytes.len;
    sort->count = 0;
    return disk_write_all(sort->options.disk, sort->fd, bytes, &written);
}

int fold_sort_add(struct fold_sort *sort, struct fold_pair pair)
{
    if (sort->count == sort->options.pairs_max && !sort->error)
        sort->error = spill(sort);
    if (!sort->error)
        sort->pairs[sort->count++] = pair;
    return sort->error;
}

/* False: the run is at its end. */
static bool refill(struct fold_sort *sort, struct fold_run *run)
{
    uint64_t most = FOLD_RUN_BYTES / sizeof *run->buffer, count = run->left < most ? run->left : most;
    struct disk_room room = {(char *)run->buffer, count * sizeof *run->buffer};
    if (count == 0)
        return false;
    int64_t got = disk_read_all(sort->options.disk, sort->fd, run->offset, room);
    if (got != (int64_t)room.size) {
        sort->error = got < 0 ? (int)got : -EIO;
        return false;
    }
    run->at = run->buffer;
    run->end = run->buffer + count;
    run->left -= count;
    run->offset += room.size;
    return true;
}

static void sink(struct fold_sort *sort, size_t at)
{
    struct fold_run **heap = sort->heap, *run = heap[at];
    for (size_t child; (child = 2 * at + 1) < sort->heap_count; at = child) {
        if (child + 1 < sort->heap_count && heap[child + 1]->at->key < heap[child]->at->key)
            child++;
        if (run->at->key <= heap[child]->at->key)
            break;
        heap[at] = heap[child];
    }
    heap[at] = run;
}

/* The runs are on disk, but for the last if it is the only one. */
static int open_runs(struct fold_sort *sort)
{
    sort->heap = calloc(sort->run_count, sizeof(struct fold_run *));
    if (!sort->heap)
        return -ENOMEM;
    for (size_t i = 0; i < sort->run_count && !sort->error; i++) {
        struct fold_run *run = &sort->runs[i];
        if (sort->fd >= 0) {
            run->buffer = malloc(FOLD_RUN_BYTES);
            if (!run->buffer)
                return -ENOMEM;
            refill(sort, run);
        }
        sort->heap[sort->heap_count++] = run;
    }
    for (size_t i = sort->heap_count / 2; i-- > 0 && !sort->error;)
        sink(sort, i);
    return sort->error;
}

int fold_sort_finish(struct fold_sort *sort)
{
    if (sort->error || (sort->count == 0 && sort->run_count == 0))
        return sort->error;
    if (sort->fd >= 0) {
        sort->error = sort->count ? spill(sort) : 0;
        free(sort->pairs);
        free(sort->dealt);
        sort->pairs = sort->dealt = NULL;
    } else {
        sort_run(sort);
        struct fold_run *run = add_run(sort);
        if (run)
            *run = (struct fold_run){.at = sort->pairs, .end = sort->pairs + sort->count};
        else
            sort->error = -ENOMEM;
    }
    if (!sort->error)
        sort->error = open_runs(sort);
    return sort->error;
}

bool fold_sort_next(struct fold_sort *sort, struct fold_pair *pair)
{
    if (sort->heap_count == 0 || sort->error)
        return false;
    struct fold_run *run = sort->heap[0];
    *pair = *run->at++;
    if (run->at == run->end && (!run->buffer || !refill(sort, run)))
        sort->heap[0] = sort->heap[--sort->heap_count];
    if (sort->heap_count > 1 && !sort->error)
        sink(sort, 0);
    return true;
}
