/* Every bound of engine/archive, with the reason for its value. */
#pragma once

/* source: what is read of a file at a time: large enough that the calls do not count, and room for any header of a gzip
 * member. */
#define SOURCE_BLOCK_BYTES (1u << 17)
/* members: what is unpacked at a time. Stays in the cache of a core together with what it was made from. */
#define MEMBERS_PIECE_BYTES (1u << 16)
/* members: packed bytes of a gzip member with lengths that are unpacked first: enough for the headers of a record and
 * of a page. A reader that wants no more can leave the member then. */
#define MEMBERS_FIRST_BYTES (1u << 10)
/* members: the longest header of a gzip member: its extra field has at most 65,535 bytes, a name hardly any. */
#define MEMBERS_GZIP_HEAD_BYTES_MAX (66u << 10)
/* members: the first try for such a header: all that archives carry fits. */
#define MEMBERS_GZIP_HEAD_BYTES 512
/* members: the largest window of a zstd frame, as a power of two: what libzstd itself accepts unless told otherwise. The
 * memory is taken only if a frame asks for it; the WARC convention asks readers for 23. */
#define MEMBERS_ZSTD_WINDOW_LOG_MAX 27
/* members: the longest dictionary, packed or not: what the WARC convention asks readers for. */
#define MEMBERS_DICTIONARY_BYTES_MAX (8u << 20)
/* warc_read: the longest header of a record. The longest URL that a server takes has 8 KiB. */
#define WARC_READ_HEAD_BYTES_MAX (64u << 10)
/* message: the longest head of an HTTP message that is looked into; the same as for what is fetched (net/limits.h). A
 * longer one counts as a body without a head. */
#define MESSAGE_HEAD_BYTES_MAX (256u << 10)
/* cdxj_key: the longest key. Escaping makes a byte of a URL three at most. */
#define CDXJ_KEY_BYTES_MAX (3 * 8192 + 64)
/* cdxj: the longest line: a key, the URL with every byte escaped, and what else there is. */
#define CDXJ_LINE_BYTES_MAX (128u << 10)
/* cdxj: how deep objects within the object of a line may be nested. Nobody nests them. */
#define CDXJ_DEPTH_MAX 16
/* line_sort: the least memory: a run must hold the longest line, and a merge of two runs takes two buffers and one for
 * what comes out. */
#define LINE_SORT_MEMORY_MIN (1u << 20)
/* line_sort: what is read of a run at a time; holds the longest line. */
#define LINE_SORT_RUN_BYTES (128u << 10)
/* index: memory for sorting if nobody says otherwise: the lines of some 200,000 records. */
#define INDEX_MEMORY_BYTES (64u << 20)
/* index: so many records are read before it is looked whether somebody wants the index to stop. */
#define INDEX_RECORDS_PER_LOOK 64
