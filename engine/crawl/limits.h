/* Every bound of engine/crawl, with the reason for its value. */
#pragma once

/* names: quick look-ups in flight, and as many slow ones: overdue, or of a slow lane. Without a limit, a
 * million seeds delayed the first page by minutes. A name without an answer takes about fourteen seconds, so
 * 256 slow look-ups handle eighteen such names per second. */
#define NAMES_QUICK_MAX 256
#define NAMES_SLOW_MAX  256
/* names: all look-ups in flight. More than both together, because quick ones become slow when they are
 * overdue. */
#define NAMES_LOOKUPS_MAX 1024
/* names: after this time an answer is unlikely to come. Recursive servers need 50 to 500 ms. */
#define NAMES_OVERDUE_MS 1000
/* names: lanes, 40 bytes each. Far more than look-ups in flight, so that few domains share one. */
#define NAMES_LANES 4096
/* names: look-ups in flight of one lane: a quarter of NAMES_QUICK_MAX. */
#define NAMES_PER_LANE_MAX 64
/* names: a lane with this many unanswered look-ups, recent or overdue, is slow. */
#define NAMES_SLOW_AT 4
/* names: unanswered look-ups that are remembered. Each answer halves them: three make the lane quick
 * again. */
#define NAMES_SILENT_MAX 16
/* names: one look-up in this many is of a slow lane, even if quick ones wait. */
#define NAMES_SLOW_TURN 8
/* names: interval of the probes while no name server answers. */
#define NAMES_PROBE_MS 1000
/* names: with this many addresses per connection ready to be visited, further names are looked up one per
 * visit. Beyond this, answers would expire unused; looking up a million hosts at once took a third of a
 * crawl's time. */
#define NAMES_DUE_PER_CONNECTION 2
/* names: the minimum of that, for all connections together. With few look-ups in flight, a handful of dead
 * names would block every other host. */
#define NAMES_DUE_MIN 32
/* visit: MIME types and top-level domains that are counted by name. A crawl sees some thirty types that matter, and nearly all
 * pages are in a hundred domains. */
#define VISIT_TYPES_MAX   64
#define VISIT_DOMAINS_MAX 256
/* summary: how many of them are told, of either kind. */
#define SUMMARY_KINDS_MAX 32
/* visit: the longest time that a loop works on one host while responses of others wait. With the URL at hand,
 * whose rules may take more than a millisecond, it stays below five. */
#define VISIT_WORK_NS_MAX (3 * CLOCK_NS_PER_MS)
/* visit: sitemaps of one robots.txt between two looks at the clock: a millisecond if all of them are hard to
 * parse. */
#define VISIT_SITEMAPS_PER_LOOK 16
/* visit: the rest of a host for whose page there was no memory, until others have released some. */
#define VISIT_CROWDED_NS (100 * CLOCK_NS_PER_MS)
/* reader: Link fields of one head that are read. Servers that preload send a dozen; each may hold many
 * links. */
#define READER_LINK_FIELDS_MAX 32
/* reader: time per turn for reading a page. A step takes two milliseconds at most, so it is five in all. */
#define READER_WORK_NS_MAX (3 * CLOCK_NS_PER_MS)
/* visit: time per turn for storing a long page. A step takes two milliseconds at most, so it is five in all. */
#define VISIT_STORE_NS_MAX (3 * CLOCK_NS_PER_MS)
/* visit: a longer robots.txt is logged without its digest, unless the store has made it in steps: half a millisecond,
 * or two where the CPU has no SHA instructions. */
#define VISIT_DIGEST_BYTES_MAX (1u << 20)
/* reader: a document up to this length is searched for links without a look at the clock: a quarter of a millisecond for
 * legacy encodings. */
#define READER_SHORT_BYTES (16u << 10)
/* harvest: links per step, one batch of the sieve: a few dozen microseconds. A link whose name is beyond ASCII may
 * take 75 microseconds, so the clock is looked at now and then, and a step ends early. Most pages have fewer links than
 * fit between two looks, which together may take 1.8 milliseconds. Where the scope has regular expressions, a link may take
 * a millisecond, and the clock is looked at after each. */
#define HARVEST_LINKS_PER_STEP 64
#define HARVEST_LINKS_PER_LOOK 24
/* harvest: URLs taken back from the disk per turn: some hundred microseconds. */
#define HARVEST_UNSPILL_MAX 256
/* housekeeper: jobs of one thread. The watch has five, the housekeeper nine. */
#define HOUSEKEEPER_JOBS_MAX 10
/* crawl: seeds read between two calls of on_tick, in about ten milliseconds. */
#define CRAWL_SEEDS_PER_TICK 8192
/* crawl: journal records read between two calls of on_tick, in about ten milliseconds. */
#define CRAWL_RECORDS_PER_TICK 65536
/* crawl: how often the watch checks whether the crawl has ended, and the housekeeper whether there is
 * something to write. People perceive a tenth of a second as immediate; this is a tenth of that. */
#define CRAWL_LOOK_NS (10 * CLOCK_NS_PER_MS)
/* crawl: how often the watch checks whether threads have ended that are about to. The housekeeper may take seconds to sync
 * the last files. */
#define CRAWL_JOIN_NS CLOCK_NS_PER_MS
/* crawl: the housekeeper's pause while hosts wait for URLs from the disk. Each batch of 50 URLs or so takes one. */
#define CRAWL_SERVE_NS CLOCK_NS_PER_MS
/* bandwidth: idle time that may be made up for later. Twice the longest sleep of a loop; over ten seconds it
 * exceeds the rate by one per cent. */
#define BANDWIDTH_CREDIT_NS (100 * CLOCK_NS_PER_MS)
/* bandwidth: a body is held up while what was received is paid for further ahead than this. Most pages are shorter, and
 * are never held up. */
#define BANDWIDTH_HOLD_NS (50 * CLOCK_NS_PER_MS)
/* visit: the expected size of a page before the first one: the median of the web. */
#define VISIT_USUAL_BYTES (16 << 10)
/* crawl: time between two lines of progress.tsv, 300 bytes each: a month makes 78 MB. */
#define CRAWL_PROGRESS_NS (10 * CLOCK_NS_PER_S)
/* loop: how often it divides its time by what limited it: a system call each, 3 microseconds a second. */
#define LOOP_SETTLE_NS (100 * CLOCK_NS_PER_MS)
/* loop: how long it drops the URLs of one host at a time, and how many it drops between two looks at the clock: a
 * microsecond or two each, for a line of crawl.log and a record of the journal. */
#define LOOP_DROP_NS        CLOCK_NS_PER_MS
#define LOOP_DROPS_PER_LOOK 64
/* inquiry: questions at one time. A desk has no more than these to deal with in a turn. Operators are few; whoever is one too
 * many waits. */
#define INQUIRIES_MAX 4
/* inquiry: rows of a list of hosts. */
#define INQUIRY_ROWS_MAX 64
/* inquiry: URLs of a host that are shown with it. */
#define INQUIRY_URLS_MAX 100
/* inquiry: room for URLs: those of a host, of usual length, or a piece of a queue. */
#define INQUIRY_TEXT_BYTES (1 << 18)
/* desk: records that it looks at per turn: a cache miss each, half a millisecond together. */
#define DESK_RECORDS_PER_TURN 4096
/* desk: the time that it takes per turn to write out a queue, and the URLs between two looks at the clock. */
#define DESK_WORK_NS       (2 * CLOCK_NS_PER_MS)
#define DESK_URLS_PER_LOOK 64
/* desk: URLs of a host among which one is looked for: two milliseconds at most. */
#define DESK_PLACES_MAX 16384
/* desk: how long it waits for a host that another loop visits. */
#define DESK_PATIENCE_NS (500 * CLOCK_NS_PER_MS)
/* troubles: the last failing hosts that a loop remembers. The status has room for a few names. */
#define TROUBLES_HOSTS 16
/* troubles: bytes of a host name that are shown. */
#define TROUBLES_NAME_BYTES 64
/* crawl: with fewer waiting URLs per loop, the sieve on disk is asked without waiting for a full batch; or with fewer than
 * will be fetched in so many times the time that it takes to answer. */
#define CRAWL_HURRY_URLS  256
#define CRAWL_HURRY_TIMES 4
/* crawl: how many looks the rate of the crawl is averaged over. */
#define CRAWL_HURRY_LOOKS 16
/* crawl: how often the loops are asked which hosts they wait for. */
#define CRAWL_WAITING_NS (CLOCK_NS_PER_S / 4)
/* visits: slow transfers may keep one of this many open connections while hosts wait. */
#define VISITS_SLOW_DIVISOR 4
/* visits: how often slow transfers are searched for while there is no room for others: it reads every
 * visit. */
#define VISITS_SHED_NS (250 * CLOCK_NS_PER_MS)
/* visits: after a gap of this length between two turns the loop itself was held up, by SIGSTOP for example, and
 * not the servers. Within the same time again everything that arrived meanwhile is read. */
#define VISITS_HELD_UP_NS CLOCK_NS_PER_S
/* visit: an unwanted body up to this length is received and dropped, which is cheaper than a new
 * connection. */
#define VISIT_SKIPPED_BYTES_MAX (64 << 10)
/* indexer: how long it waits at a time, and how many times between two looks: it reads the whole folder. */
#define INDEXER_WAIT_MS 20
#define INDEXER_WAITS   100
/* index_notes: memory for the lines of the file that a loop writes: some 60,000. When it is full they are sorted and go to a
 * temporary file. */
#define INDEX_NOTES_BYTES (16u << 20)
/* unpacker: how long it waits before it looks again. */
#define UNPACKER_WAIT_MS 20
/* unpacker: when more than this waits to be unpacked, the loops begin no more files: seconds of a fast crawl. */
#define UNPACKER_BEHIND_BYTES (1u << 30)
/* unpacker: a path, its NUL included: what the kernel takes. The directory's, PAGE_PATH_BYTES_MAX and some more fit. */
#define UNPACKER_PATH_BYTES 4096
/* unpacker: the line of files.mark: the name of a file, as in disk/files.h, and a number. */
#define UNPACKER_MARK_BYTES 256
/* unpacker: a longer Content-Type is cut. RFC 6838 allows 127 characters on either side of the slash. */
#define UNPACKER_TYPE_BYTES_MAX 255
/* repeats: shorter bodies are stored again: a revisit record would be as long. */
#define REPEATS_BYTES_MIN 512
/* crawl_added: seeds that the housekeeper keeps, and that loop 0 takes, in one turn: some milliseconds, and less than one. */
#define CRAWL_ADDED_KEPT  2048
#define CRAWL_ADDED_TAKEN 256
/* crawl: the time that it takes for them per turn. */
#define CRAWL_ADDED_NS (2 * CLOCK_NS_PER_MS)
/* crawl: how long a directory that is taken is tried again: `lycosa state` takes it for a moment to see whether it is. */
#define CRAWL_LOCK_NS (200 * CLOCK_NS_PER_MS)
/* crawl: length of the directory's path. With /warc/, the longest file name and .open it stays below 1,024,
 * the size of all path buffers. */
#define CRAWL_DIRECTORY_CHARS_MAX 800
/* past: the kernel closes the connections of a killed process after it is gone: up to 50 ms after it was reaped, measured on a
 * busy machine. Until then servers go on with their answers, and to them the visit lasts. */
#define PAST_TEARDOWN_US 100000
