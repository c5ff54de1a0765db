/* Every bound of engine/sieve, with the reason for its value. */
#pragma once

/* sieve_disk: signatures in a batch, which takes 16 bytes for each: 256 MiB. */
#define SIEVE_DISK_BATCH_MAX (1u << 24)
/* sieve_merged: runs on disk beside Z. A question may have to look in each of them, and when they are merged the smallest of
 * as many heads is looked for by going over all of them. */
#define SIEVE_DISK_RUNS_MAX 16
/* sieve_merged: runs of mercator while it learns. Z is rewritten a ninth as often. */
#define SIEVE_LEARN_RUNS 8
/* sieve_merged: signatures whose lines of memory are fetched together. */
#define SIEVE_ASK_GROUP 64
/* sieve_merged: bytes of the filter, however little memory there is. */
#define SIEVE_FILTER_MIN (64u << 10)
/* sieve_merged: which part of the memory is for indexes, and words of the index of a file at least. A word for each block of
 * 511 signatures is enough while the filter has 12 bits for each; later a word stands for more blocks. */
#define SIEVE_INDEX_SHARE 64
#define SIEVE_INDEX_MIN   1024
/* sieve_file: the unit of checksums and of O_DIRECT. */
#define SIEVE_FILE_BLOCK_BYTES 4096
/* sieve_file: what is read or written by one call. Larger ones do not make O_DIRECT faster. */
#define SIEVE_FILE_BUFFER_BYTES (1u << 20)
/* sieve_file: blocks that nobody wants are read along if there are no more of them between two that are wanted: another call
 * costs more. */
#define SIEVE_FILE_GAP_BLOCKS 16
/* sieve_sort: bits by which words are dealt out at once. More bins than that would be more pages than a core has places for
 * (TLB). */
#define SIEVE_SORT_BITS 8
/* sieve_sort: as many are sorted by insertion. */
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
/* mill: batches that are not full take a hundredth of the time at most, and a tenth while the crawl waits for URLs; but no
 * question waits for others longer than this, so that hosts with few URLs get theirs. */
#define MILL_IDLE_PER_WORK    99
#define MILL_HURRIED_PER_WORK 9
#define MILL_WAIT_NS          (10 * CLOCK_NS_PER_S)
