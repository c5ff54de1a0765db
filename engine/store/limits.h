/* Every bound of engine/store, with the reason for its value. */
#pragma once

/* store: the longest response that is stored at once, up to this store.level; longer ones are stored in steps. It takes
 * three milliseconds at most for the data that is hardest to compress, at level 12 less than five. Without compression
 * it is as at level 1; zstd is as fast up to level 4, and up to 8 as gzip at 5. */
#define STORE_WHOLE_BYTES_LEVEL_1  (1u << 18)
#define STORE_WHOLE_BYTES_LEVEL_5  (1u << 16)
#define STORE_WHOLE_BYTES_LEVEL_6  (1u << 15)
#define STORE_WHOLE_BYTES_LEVEL_12 (1u << 13)
/* store: kind = directory: a file of pages on their way is closed at this length or age, and can then be unpacked. Longer
 * ones would take longer to be unpacked again after a crash, shorter ones a sync for fewer pages. */
#define STORE_INCOMING_BYTES  (16u << 20)
#define STORE_INCOMING_AGE_NS CLOCK_NS_PER_S
/* store: what a metadata record says besides the links of a page: the page before it, which is a URL, and short fields. */
#define STORE_METADATA_FIELDS_BYTES_MAX (URL_BYTES_MAX + 256)
/* store: the longest head of a response that is stored as a revisit: the record is made on the stack. Heads are some
 * hundred bytes long; what has a longer one is stored as it is. */
#define STORE_REVISIT_HEAD_BYTES_MAX (8 << 10)
/* store: notes on their way to an index: those of some 25,000 pages, which is more than are stored while an index is
 * sorted and written. */
#define STORE_NOTES_BYTES (4u << 20)
/* store: bytes digested per step, twice: a fifth of a millisecond, or one where the CPU has no SHA instructions. */
#define STORE_DIGEST_STEP_BYTES (1u << 18)
/* packer: bytes per step of igzip or of a copy: half a millisecond. */
#define PACKER_STEP_BYTES (1u << 18)
/* packer: bytes per step of zstd, which is its block: a third of a millisecond at level 1. */
#define PACKER_ZSTD_STEP_BYTES (1u << 17)
/* packer: the highest level of zstd: a block of the hardest data takes 3 ms, at level 10 five and at 12 thirteen. */
#define PACKER_ZSTD_LEVEL_MAX 8
/* packer: bytes per step of zlib: a twentieth of a millisecond for most data, two for the hardest at
 * PACKER_ZLIB_LEVEL_MAX. */
#define PACKER_ZLIB_STEP_BYTES (1u << 11)
/* packer: the highest level of zlib. Level 9 takes up to five times as long and gains less than one per cent. */
#define PACKER_ZLIB_LEVEL_MAX 8
/* press: bytes of a record that are looked at to tell whether codes fit it: a fifth of a microsecond. */
#define PRESS_PROBES 128
/* press: records whose letters are counted for codes, and records until they are counted again. Counting takes as long
 * as compressing. */
#define PRESS_CODES_SAMPLES 32
#define PRESS_CODES_PERIOD  4096
/* press: codes are hardly longer than this. Readers that use ISA-L build a table for each member, and longer codes make that
 * slow: indexing took 88 us per page with codes of any length, and takes 21 with these. They cost less than 0.1% more bytes. */
#define PRESS_CODE_BITS_MAX 12
/* press: codes are for a record whose letters are longer by less than this part. It saves half the time and costs a
 * twentieth more bytes where they fit; where they do not, soon more than the time is worth. */
#define PRESS_CODES_SLACK 4
/* dictionary: its length, which is also the default of the program zstd. With 64 KiB web pages took up to 2% more bytes and no
 * less time; from 128 KiB on the compressor takes tables of twice the size, and a tenth more time. */
#define DICTIONARY_BYTES (110u << 10)
/* dictionary: the records it is trained on: their bytes, those of one, and how many. */
#define DICTIONARY_SAMPLES_BYTES (1u << 21)
#define DICTIONARY_SAMPLE_BYTES  (1u << 15)
#define DICTIONARY_SAMPLES_MAX   1024
/* dictionary: of the training: bytes that are taken at a time, bytes whose repeats are counted, and the table of counts, 4 MiB.
 * Segments of 200 and 2,000 bytes made records 5% longer, pieces of six bytes as well. */
#define DICTIONARY_SEGMENT_BYTES 1024
#define DICTIONARY_PIECE_BYTES   8
#define DICTIONARY_TABLE_BITS    20
/* jsonl: longer text is cut. A short book fits; what is longer is data rather than text to be read. The line is written
 * at once: four milliseconds for the text that is hardest to escape. */
#define JSONL_TEXT_BYTES_MAX (1u << 19)
/* jsonl: a byte becomes \u00XX at most. */
#define JSONL_ESCAPE_BYTES 6
/* jsonl: all that is not a string of the page: names and punctuation 140, date 27, digest 37, two numbers 40; and as
 * much again. */
#define JSONL_FRAME_BYTES 512
/* page_line: the part of a document that is looked at. Hardly any page of text is longer; the walk takes a tenth of a
 * millisecond for each 64 KiB, in steps. */
#define PAGE_LINE_SOURCE_BYTES (1u << 20)
/* page_line: a longer Content-Type is cut. RFC 6838 allows 127 characters on either side of the slash. */
#define PAGE_LINE_TYPE_BYTES_MAX 255
/* page_line: "disconnect" and the like. */
#define PAGE_LINE_TRUNCATED_BYTES_MAX 32
/* page_path: a name within a path. File systems allow 255; the rest is for tools that append something to names. */
#define PAGE_PATH_NAME_BYTES_MAX 200
/* page_path: a whole path, its NUL included. The kernel takes 4096; half of that is left for the folder in front. */
#define PAGE_PATH_BYTES_MAX 2048
