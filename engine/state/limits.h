/* Every bound of engine/state, with the reason for its value. */
#pragma once

/* journal: a file that has reached this length is followed by another at the next commit, so that old ones can be
 * taken away one by one. */
#define JOURNAL_FILE_BYTES_MAX (256u << 20)
/* journal: space on the disk that is taken before it is needed, so that what is committed last still finds room when the
 * rest of the crawl has filled the disk. At least half of it is there at any time: three epochs of 100 ms of
 * the fastest crawl, and many hours of a small one. */
#define JOURNAL_RESERVE_BYTES (8u << 20)
/* journal: memory of each loop for records on their way to the disk: some 40,000 new URLs. */
#define JOURNAL_LOOP_BYTES (4u << 20)
/* journal: payload of a frame that is not a loop's: a commit lists the files that changed, some dozens. */
#define JOURNAL_PAYLOAD_BYTES_MAX (256u << 10)
/* commit: how long blocks are written before the housekeeper's other jobs have their turn. */
#define COMMIT_WORK_NS (10 * CLOCK_NS_PER_MS)
/* commit: how often it is looked for blocks that loops have handed over. */
#define COMMIT_LOOK_NS (10 * CLOCK_NS_PER_MS)
/* fold: pairs that are sorted in memory at a time, 32 bytes each: 32 MiB for URLs, and an eighth of it for hosts. */
#define FOLD_PAIRS_MAX (1u << 20)
/* fold: what is read of a sorted run at a time. A billion URLs make a thousand runs: 64 MiB. */
#define FOLD_RUN_BYTES (64u << 10)
/* fold: so much of a base is written before it is synced, so that no sync is long when the crawl ends. */
#define FOLD_SYNC_BYTES (16u << 20)
/* fold: how often it is looked again whether the disk has room by now: it lists a directory. */
#define FOLD_LOOK_NS (10 * CLOCK_NS_PER_S)
/* fold: when one that has failed is tried again, for lack of room or memory: it may read gigabytes before it fails again. */
#define FOLD_RETRY_NS (600 * CLOCK_NS_PER_S)
/* fold: so many pairs are merged before it is looked whether the crawl ends. */
#define FOLD_PAIRS_PER_LOOK 65536
