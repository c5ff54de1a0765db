#include "engine/sieve/sieve_recent.h"

#include <assert.h>
#include <string.h>

#include "engine/sieve/sieve_sort.h"

void sieve_recent_init(struct sieve_recent *recent, void *memory, size_t bytes)
{
    *recent = (struct sieve_recent){.memory = memory, .bytes = bytes};
    signatures_init(&recent->set, memory, bytes);
    signatures_writer_init(&recent->writer, &recent->set);
}

bool sieve_recent_add(struct sieve_recent *recent, uint64_t signature)
{
    enum signatures_answer answer = signatures_add(&recent->writer, signature);
    assert(answer != SIGNATURES_FULL);
    recent->count += answer == SIGNATURES_NEW;
    return answer == SIGNATURES_NEW;
}

size_t sieve_recent_add_batch(struct sieve_recent *recent, const uint64_t *signatures, size_t count)
{
    enum signatures_answer answers[SIEVE_ASK_GROUP];
    assert(count <= SIEVE_ASK_GROUP && count <= sieve_recent_room(recent));
    size_t added = signatures_add_batch(&recent->writer, signatures, count, answers);
    recent->count += added;
    return added;
}

/* They move to the front first: a signature never lies before the place to which it goes. */
void sieve_recent_sort(struct sieve_recent *recent)
{
    size_t moved = 0;
    uint64_t cursor = 0, signature;
    while (signatures_next(&recent->set, &cursor, &signature))
        recent->memory[moved++] = signature;
    assert(moved == recent->count);
    sieve_sort(recent->memory, moved);
}

void sieve_recent_clear(struct sieve_recent *recent)
{
    memset(recent->memory, 0, recent->bytes);
    sieve_recent_init(recent, recent->memory, recent->bytes);
}
