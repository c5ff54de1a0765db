/* What the files of visit share with each other; nobody else includes it. */
#pragma once

#include "engine/crawl/visit.h"

struct ledger_verdict;
struct visits_line;

#define VISIT_ACCEPT          SLICE("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
#define VISIT_ACCEPT_ENCODING SLICE("gzip, deflate, br, zstd")

/* visit.c */
/* Sends a request. */
void visit_request(struct visit *visit, struct slice path);
/* Continues after a response was processed, with another request or visit_end. The visit may be FREE
 * afterwards. */
void visit_continue(struct visit *visit);
/* Ends the visit: closes its connection. The visit may be FREE afterwards. */
void visit_end(struct visit *visit);
/* The page must wait for the store, or for the loop's next turn. */
void visit_stall(struct visit *visit);

/* visit_ask.c */
/* Makes the next request, or ends the visit. */
void visit_ask(struct visit *visit);
/* Takes URLs that may not be fetched off the front of the host's queue, each with its verdict. True if one is left
 * that may be fetched, or for which robots.txt is needed first. */
bool visit_drop_denied(struct visits *visits, struct host *host);
/* Gives back the reserved page of max-pages. */
void visit_release_place(struct visit *visit);

/* visit_receive.c */
void visit_on_head(struct conn *conn, const struct http_head *head);
void visit_on_body(struct conn *conn, struct slice bytes);
/* The first byte of the response, after the store's headroom. */
char *visit_response(const struct visit_page *page);

/* visit_fail.c */
/* The connection is over: the request failed, or none was made. */
void visit_fail(struct visit *visit, enum fetch_outcome outcome);
/* No-op if the outcome tells nothing about the host. */
void visit_count_host_failure(struct visit *visit, enum fetch_outcome outcome);
/* Whether an incomplete response is processed all the same, because another try would bring no more. The
 * rules in an incomplete robots.txt are used (RFC 9309, 2.3.1.5: use what can be parsed). */
bool visit_is_worth_keeping(const struct visit *visit, enum fetch_outcome outcome);

/* visit_page.c */
/* What crawl.log says of the visit and of the response's first byte. */
void visit_tell_verdict(struct visit *visit, struct ledger_verdict *verdict);
/* Processes a complete response to a request for a page. False if it must wait; the visit is then STALLED. */
bool visit_read_page(struct visit *visit);
/* The wait that a Retry-After field asks for, in seconds or as a date (RFC 9110, 10.2.3). 0 if there is
 * none, or none that can be parsed. */
uint64_t visit_retry_after_ns(const struct visit_page *page);

/* visit_store.c */
/* When the page was asked for, by the wall clock. It stays the same while the page is processed: the ledger's clock is
 * set in each turn, and a revisit refers to the very date that stands in the record. */
uint64_t visit_date_us(struct visit *visit);
/* Makes the digest of the body as received. */
void visit_digest(struct visit_page *page);
/* Makes both digests of a page that is not long in one pass over its bytes. Changes the head to the form in which it
 * is stored. */
void visit_make_digests(struct visit *visit);
struct visit_record {
    struct slice url, path;
    const struct exact_copy *repeats; /* stored as a revisit of it; NULL: as it is */
};
/* Whether there is a store, and the page is too long to be stored in one step. */
bool visit_is_long(const struct visit *visit);
/* Whether there is a store, and it takes this page in steps. It takes long pages in steps, and all pages that become
 * lines. */
bool visit_takes_steps(const struct visit *visit);
/* Works on the digest of such a page until `until_ns`, but on no record. */
enum store_progress visit_prepare_digest(struct visit *visit, const struct visit_record *what,
                                         uint64_t until_ns);
/* Works on the records of such a page until `until_ns`, and on its digest unless the page becomes a line.
 * STORE_READY: visit_store may follow. */
enum store_progress visit_prepare(struct visit *visit, const struct visit_record *what, uint64_t until_ns);
/* False: the store has no room at this moment. */
bool visit_store(struct visit *visit, const struct visit_record *what);
/* Stores a robots.txt if the tuning file says so and there is room: rules must not wait for the disk. False if it
 * takes more steps. */
bool visit_store_robots(struct visit *visit, struct slice path);

/* visit_links.c */
/* Follows the redirect if the page is one, else takes its links; sets page.tags and page.outcome. False if
 * there is more to read, or if the reader is busy with another page. */
bool visit_read_links(struct visit *visit, const struct url *url);
/* The body as received, and what its head says of it. Its codings are valid until the next call. */
struct unpack_body visit_packed_body(const struct visit *visit);
/* The body without its content coding: in place, or in the loop's buffer until the next call. If it is
 * incomplete, *outcome is set to the reason. */
struct slice visit_decode_body(struct visit *visit, enum fetch_outcome *outcome);

/* visit_journal.c */
/* Records the begin and the end of a visit in the journal. */
void visit_record_begin(const struct visit *visit);
void visit_record_end(const struct visit *visit, uint64_t end_ns);

/* visit_bandwidth.c */
/* Called when a request is sent: charges for the expected response in advance. */
void visit_reserve(struct visit *visit);
/* Refunds that advance, since received bytes are charged on arrival. */
void visit_settle(struct visit *visit);
/* First come first served. */
void visit_join_line(struct visits_line *line, struct visit *visit);
void visit_leave_line(struct visits_line *line, struct visit *visit);
/* Called for each piece of a body under a cap: puts the rest on hold if the cap is exceeded. */
void visit_hold(struct visit *visit);
/* No-op if there is none. */
void visit_end_hold(struct visit *visit);

/* visit_robots.c */
/* The rules of a host, valid until visit_release_rules; NULL: they must be fetched first, or are not
 * obeyed. */
const struct robots *visit_acquire_rules(struct visits *visits, const struct host *host);
void visit_release_rules(struct visits *visits, const struct host *host);
/* Asks for the host's own robots.txt. */
void visit_ask_robots(struct visit *visit);
/* Takes answers that arrived since the visit began. False if the visit has to end. */
bool visit_takes_answers(struct visit *visit);
/* Processes the response to a request for robots.txt; the visit is STALLED if it must wait. */
void visit_read_robots(struct visit *visit);
/* The present errand failed: answers that the robots.txt is unreachable. */
void visit_fail_errand(struct visit *visit);
/* Writes a line to crawl.log for the robots.txt that was requested, if log.robots is set. */
void visit_log_robots(struct visit *visit, enum fetch_outcome outcome);
/* The host's own robots.txt could not be fetched. */
void visit_robots_unreachable(struct visit *visit);
