/* Every bound of engine/sieve, with the reason for its value. */
#pragma once

/* sieve_disk: signatures in a batch. Each needs 16 bytes while it is sorted: 256 MiB. */
#define SIEVE_DISK_BATCH_MAX (1u << 24)
/* sieve_offline: batches that wait for one merge. The smallest of as many heads is looked for by going over all
 * of them, and all their places together must fit 32 bits. */
#define SIEVE_DISK_RUNS_MAX 16
/* sieve_file: the unit of checksums and of O_DIRECT. */
#define SIEVE_FILE_BLOCK_BYTES 4096
/* sieve_file: what is read or written by one call. Larger ones do not make O_DIRECT faster. */
#define SIEVE_FILE_BUFFER_BYTES (1u << 20)
/* sieve_sort: parts that the signatures are dealt out to first, as a power of two. A part of the largest batch is 256
 * KiB, which fits a core's own cache; more parts would be more than it has places for pages (TLB). */
#define SIEVE_SORT_PART_BITS 10
/* sieve_sort: within a part they are dealt out a second time, to as many bins at most. */
#define SIEVE_SORT_BIN_BITS 12
/* sieve_sort: a bin up to this length is sorted by insertion. A longer one has many duplicates, or signatures that
 * somebody chose. */
#define SIEVE_SORT_INSERTION_MAX 32
/* sieve_rocks: signatures of one MultiGet and of one WriteBatch. */
#define SIEVE_ROCKS_GET_MAX 4096
/* sieve_rocks: what RocksDB keeps of blocks that it has read. Signatures are hashes: the next question needs another
 * block, so a large cache is of no use. */
#define SIEVE_ROCKS_CACHE_BYTES (8u << 20)
/* sieve_rocks: signatures on their way to a file, and which part of that memory is a filter for them: about 16 bits for
 * each. */
#define SIEVE_ROCKS_MEMTABLE_BYTES  (8u << 20)
#define SIEVE_ROCKS_MEMTABLE_FILTER 0.05
/* sieve_rocks: bits of the filters per signature; 1 in 100 questions reads a block for nothing. */
#define SIEVE_ROCKS_FILTER_BITS 10
/* sieve_rocks: threads of RocksDB: one that writes memtables, one that compacts. */
#define SIEVE_ROCKS_JOBS_MAX 2
/* mill: signatures that a loop hands over together: 32 KiB. */
#define MILL_BLOCK_SIGNATURES 4096
/* mill: blocks of one loop that have no answer yet. Their answers take 2 MiB. */
#define MILL_UNANSWERED_MAX 4096
/* mill: the smallest batch, and the fewest blocks of a loop, however little memory there is. */
#define MILL_BATCH_MIN  (4 * MILL_BLOCK_SIGNATURES)
#define MILL_BLOCKS_MIN 8
/* mill: how often it looks for blocks. A crawl that has nothing else to fetch waits for this time at most. */
#define MILL_LOOK_NS (5 * CLOCK_NS_PER_MS)
/* mill: the longest time for which a question waits for others, so that hosts with few URLs get theirs. */
#define MILL_WAIT_NS (10 * CLOCK_NS_PER_S)
/* mill: batches that are not full take a hundredth of the time at most, and a tenth while the crawl waits for URLs: a
 * large Z is rewritten for each. */
#define MILL_IDLE_PER_WORK    99
#define MILL_HURRIED_PER_WORK 9
