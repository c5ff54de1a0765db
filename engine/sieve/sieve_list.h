/* Those signatures of a batch that have to be looked up: sorted, each once. What is found is dropped, and what is left is new
 * where it first occurs in the batch. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

struct sieve_list {
    uint64_t *words;
    size_t count;
    uint64_t *taken; /* a bit for each */
};

/* Memory for batches of up to `batch_max`: 8 bytes each, and a bit. */
size_t sieve_list_bytes(size_t batch_max);
/* Takes sieve_list_bytes from the arena. */
void sieve_list_init(struct sieve_list *list, struct arena *arena, size_t batch_max);

/* Adds a signature: in any order, any number of times. */
static inline void sieve_list_push(struct sieve_list *list, uint64_t signature)
{
    list->words[list->count++] = signature;
}

void sieve_list_sort(struct sieve_list *list);
/* Whether it is in the list and is taken for the first time. After the last change to the list's words. */
bool sieve_list_take(struct sieve_list *list, uint64_t signature);
/* Empties the list. */
void sieve_list_clear(struct sieve_list *list);
