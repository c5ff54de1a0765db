#include "engine/sieve/sieve_sorted.h"

#include <assert.h>
#include <stdio.h>

static struct sieve_file file_of(const struct sieve_sorted *sorted)
{
    return (struct sieve_file){sorted->disk, sorted->path, sorted->buffer, sorted->error};
}

void sieve_sorted_init(struct sieve_sorted *sorted, const char *directory, const char *name)
{
    snprintf(sorted->path, sizeof sorted->path, "%s/%s", directory, name);
    snprintf(sorted->next_path, sizeof sorted->next_path, "%s/%s.next", directory, name);
}

/* Making a file. */

/* All sources but the first, and the next word of each: side by side, because the least of them is looked for all the
 * time. */
struct heads {
    unsigned count;
    uint64_t words[SIEVE_DISK_RUNS_MAX + 1];
    struct sieve_reader *readers[SIEVE_DISK_RUNS_MAX + 1];
};

static void advance(struct heads *heads, unsigned index)
{
    if (sieve_reader_next(heads->readers[index], &heads->words[index]))
        return;
    heads->count--;
    for (unsigned i = index; i < heads->count; i++) {
        heads->words[i] = heads->words[i + 1];
        heads->readers[i] = heads->readers[i + 1];
    }
}

static void add_head(struct heads *heads, struct sieve_reader *reader)
{
    heads->readers[heads->count++] = reader;
    advance(heads, heads->count - 1);
}

static bool next_of_heads(struct heads *heads, uint64_t *word)
{
    unsigned least = 0;
    uint64_t head = heads->words[0];
    if (heads->count == 0)
        return false;
    for (unsigned i = 1; i < heads->count; i++) {
        bool is_less = heads->words[i] < head;
        head = is_less ? heads->words[i] : head;
        least = is_less ? i : least;
    }
    *word = head;
    advance(heads, least);
    return true;
}

/* Copies what is below the limit. True: the limit itself follows. */
static bool copy_below(struct sieve_reader *from, struct sieve_writer *to, uint64_t limit)
{
    do
        for (; from->at < from->end; from->at++) {
            if (*from->at >= limit)
                return *from->at == limit;
            sieve_writer_put(to, *from->at);
        }
    while (sieve_reader_more(from));
    return false;
}

/* Returns how many of the heads are not in the first source. */
static uint64_t merge_words(struct sieve_reader *first, struct heads *heads, struct sieve_writer *to)
{
    uint64_t word, last = 0, added = 0;
    for (bool has_last = false; next_of_heads(heads, &word); has_last = true) {
        bool is_again = has_last && word == last;
        last = word;
        if (is_again || copy_below(first, to, word))
            continue;
        sieve_writer_put(to, word);
        added++;
    }
    while (sieve_reader_next(first, &word))
        sieve_writer_put(to, word);
    return added;
}

/* As few blocks for each word of the index as there is memory for. */
static void choose_stride(struct sieve_index *index, const struct sieve_sources *sources)
{
    uint64_t words = sources->word_count;
    for (unsigned i = 0; i < sources->count; i++)
        words += sources->files[i].count;
    index->stride = sieve_file_blocks(words) / index->max + 1;
}

/* The whole of the new file, under its first name. */
static int write_next(struct sieve_sorted *sorted, const struct sieve_sources *sources,
                      struct sieve_block *buffer)
{
    struct sieve_reader readers[SIEVE_DISK_RUNS_MAX + 2] = {{.fd = -1}};
    struct heads heads = {0};
    struct sieve_file to_file = {sorted->disk, sorted->next_path, buffer, sorted->error};
    struct sieve_writer to;
    uint64_t first_count = sources->count ? sources->files[0].count : 0;
    choose_stride(&sorted->index, sources);
    sieve_writer_begin(&to, &to_file, &sorted->index);
    for (unsigned i = 0; i < sources->count; i++) {
        struct sieve_file from_file = file_of(&sources->files[i]);
        sieve_reader_begin(&readers[i], &from_file, sources->files[i].count);
        if (i > 0)
            add_head(&heads, &readers[i]);
    }
    struct sieve_reader *memory = &readers[SIEVE_DISK_RUNS_MAX + 1];
    *memory =
        (struct sieve_reader){.fd = -1, .at = sources->words, .end = sources->words + sources->word_count};
    add_head(&heads, memory);
    uint64_t added = merge_words(&readers[0], &heads, &to);
    for (unsigned i = 0; i < sources->count; i++)
        sieve_reader_finish(&readers[i]);
    sorted->count = first_count + added;
    return sieve_writer_finish(&to);
}

int sieve_sorted_merge(struct sieve_sorted *sorted, const struct sieve_sources *sources,
                       struct sieve_block *buffer)
{
    const struct disk *disk = sorted->disk;
    int error = write_next(sorted, sources, buffer);
    if (error) {
        disk->unlink(disk->owner, sorted->next_path); /* if the disk is full, others may need the room */
        return error;
    }
    error = disk->rename(disk->owner, sorted->next_path, sorted->path);
    return error ? sieve_error_of_call(sorted->error, error, "rename", sorted->next_path) : 0;
}

int sieve_sorted_remove(struct sieve_sorted *sorted)
{
    int error = sorted->disk->unlink(sorted->disk->owner, sorted->path);
    sorted->count = 0;
    return error ? sieve_error_of_call(sorted->error, error, "remove", sorted->path) : 0;
}

/* Looking something up. */

/* Those of the list are met in order: where the last one was, or behind. */
struct search {
    struct sieve_picker picker;
    const struct sieve_index *index;
    uint64_t index_count;
    uint64_t place; /* in the index */
    uint64_t block; /* where the last one was looked for */
};

/* The last place in the index, from `place` on, that is not behind the signature: steps of double length, then halves. */
static uint64_t place_from(const struct search *search, uint64_t place, uint64_t signature)
{
    const uint64_t *words = search->index->words;
    uint64_t step = 1;
    while (place + step < search->index_count && words[place + step] <= signature) {
        place += step;
        step *= 2;
    }
    for (; step > 0; step /= 2)
        if (place + step < search->index_count && words[place + step] <= signature)
            place += step;
    return place;
}

/* Up to which block it is worth reading on for those that follow words[0]. */
static uint64_t end_for(const struct search *search, const uint64_t *words, size_t count)
{
    uint64_t stride = search->index->stride, place = search->place, end = (place + 1) * stride;
    for (size_t i = 1; i < count; i++) {
        place = place_from(search, place, words[i]);
        if (place * stride > end + SIEVE_FILE_GAP_BLOCKS || end >= search->block + SIEVE_FILE_BUFFER_BLOCKS)
            break;
        end = (place + 1) * stride;
    }
    return end;
}

static bool has_word(const struct sieve_block *block, uint64_t word)
{
    size_t begin = 0;
    for (size_t count = block->count; count > 1;) {
        size_t half = count / 2;
        begin += block->words[begin + half] <= word ? half : 0;
        count -= half;
    }
    return block->words[begin] == word;
}

/* Whether words[0] is in the file; `count` words follow from there on. An error counts as not found: it is told at the
 * end. */
static bool is_there(struct search *search, const uint64_t *words, size_t count)
{
    const uint64_t stride = search->index->stride, word = words[0];
    if (word < search->index->words[search->place])
        return false;
    search->place = place_from(search, search->place, word);
    if (search->block < search->place * stride)
        search->block = search->place * stride;
    uint64_t blocks = sieve_file_blocks(search->picker.words), last = (search->place + 1) * stride - 1;
    last = last < blocks ? last : blocks - 1;
    for (;; search->block++) {
        bool is_at_hand = sieve_picker_holds(&search->picker, search->block);
        uint64_t end = is_at_hand ? 0 : end_for(search, words, count);
        const struct sieve_block *block = sieve_picker_get(&search->picker, search->block, end);
        if (!block)
            return false;
        if (search->block == last || block->words[block->count - 1] >= word)
            return has_word(block, word);
    }
}

int sieve_sorted_drop(struct sieve_sorted *sorted, struct sieve_list *list)
{
    struct search search = {.index = &sorted->index};
    struct sieve_file file = file_of(sorted);
    size_t kept = 0;
    if (sorted->count == 0 || list->count == 0)
        return 0;
    search.index_count = (sieve_file_blocks(sorted->count) + sorted->index.stride - 1) / sorted->index.stride;
    assert(search.index_count <= sorted->index.max);
    sieve_picker_begin(&search.picker, &file, sorted->count);
    for (size_t i = 0; i < list->count; i++)
        if (!is_there(&search, list->words + i, list->count - i))
            list->words[kept++] = list->words[i];
    sieve_picker_finish(&search.picker);
    list->count = kept;
    return sorted->error->code;
}
