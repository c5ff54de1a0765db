#include "tools/lycosa/terminal.h"

#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tools/lycosa/remarks.h"
#include "tools/lycosa/text.h"

/* How long the last words wait for somebody to read them. */
enum { LAST_WORDS_MS = 1000 };
enum { BAR_CELLS_MIN = 5, BAR_CELLS_MAX = 30 };

void terminal_init(struct terminal *terminal, int fd)
{
    *terminal = (struct terminal){.fd = fd, .is_terminal = isatty(fd)};
}

/* A description that others share cannot be made non-blocking for us alone, so it is asked first. */
static bool is_ready(const struct terminal *terminal, int wait_ms)
{
    struct pollfd watched = {.fd = terminal->fd, .events = POLLOUT};
    return poll(&watched, 1, wait_ms) == 1 && watched.revents & POLLOUT;
}

/* False: nobody reads. */
static bool try_write(const struct terminal *terminal, const char *text, size_t len)
{
    return len == 0 || (is_ready(terminal, 0) && write(terminal->fd, text, len) >= 0);
}

static bool write_pending(struct terminal *terminal)
{
    if (!try_write(terminal, terminal->pending, strlen(terminal->pending)))
        return false;
    if (terminal->pending[0])
        terminal->lines = 0; /* the block begins anew below it */
    terminal->pending[0] = '\0';
    return true;
}

void terminal_note(struct terminal *terminal, const char *format, ...)
{
    size_t len = strlen(terminal->pending), room = sizeof terminal->pending - len;
    va_list args;
    va_start(args, format);
    int written = vsnprintf(terminal->pending + len, room - 1, format, args);
    va_end(args);
    if (written < 0 || (size_t)written >= room - 1)
        terminal->pending[len] = '\0'; /* no room for another */
    else
        memcpy(terminal->pending + len + written, "\n", 2);
    write_pending(terminal);
}

void terminal_finish(struct terminal *terminal)
{
    if (is_ready(terminal, LAST_WORDS_MS))
        write_pending(terminal);
}

/* Where to cut a line of `len` bytes that may have `max`: before the last of these characters, if it is in the second
 * half. */
static size_t cut_at(const char *line, size_t len, size_t max, const char *characters)
{
    if (len <= max)
        return len;
    for (size_t at = max; at > max / 2; at--)
        if (strchr(characters, line[at]))
            return at;
    return max;
}

/* Ends a line that began at `begin`, no longer than the terminal is wide: a line that wraps would take two,
 * and the block would climb. */
static void end_line(const struct terminal *terminal, struct text *text, size_t begin)
{
    if (terminal->columns)
        text->len = begin + cut_at(text->bytes + begin, text->len - begin, terminal->columns - 1, ",;");
    text_put(text, "%s\n", terminal->is_terminal ? "\033[K" : "");
}

static int64_t unresolved(const struct status *status)
{
    return status->hosts[HOST_RESOLVING] + status->hosts[HOST_ARRIVING];
}

static int64_t resting(const struct status *status)
{
    return status->hosts[HOST_RESTING] + status->hosts[HOST_LOADING];
}

/* What is said when there is a reason. */
static void (*const remarks[])(struct text *, const struct status *) = {
    remarks_put_outlook, remarks_put_limit, remarks_put_outage, remarks_put_failing, remarks_put_lost, remarks_put_fold,
    remarks_put_waiting, remarks_put_end};

static void write_line(const struct terminal *terminal, const struct status *status, struct text *text)
{
    const struct stats *now = &status->now;
    text_put(text, "%7.1fs  pages %" PRIu64 " (%" PRIu64 "/s)  %.1f MB/s  connections %" PRIu64,
             status->seconds, stats_get(&now->pages), status->pages_per_s, (double)status->bytes_per_s / 1e6,
             stats_get(&now->connections));
    text_put(text, "  hosts ready %" PRId64 " resting %" PRId64 " unresolved %" PRId64 "  queue %" PRIu64,
             status->hosts[HOST_READY], resting(status), unresolved(status), status->queued);
    text_put(text, "  failed %" PRIu64, status->failed);
    if (status->tries_failed)
        text_put(text, " (tries %" PRIu64 ")", status->tries_failed);
    for (size_t i = 0; i < sizeof remarks / sizeof remarks[0]; i++) {
        char buffer[512];
        struct text remark = text_in(buffer, sizeof buffer);
        remarks[i](&remark, status);
        if (remark.len)
            text_put(text, "  | %s", buffer);
    }
    end_line(terminal, text, 0);
}

/* A sentence, on as many lines as it needs. */
static void write_wrapped(const struct terminal *terminal, struct text *text, const char *words)
{
    size_t len = strlen(words);
    while (len) {
        size_t begin = text->len, part = terminal->columns > 8 ? cut_at(words, len, terminal->columns - 3, " ") : len;
        text_put(text, "  %.*s", (int)part, words);
        end_line(terminal, text, begin);
        for (words += part, len -= part; len && *words == ' '; words++)
            len--;
    }
}

/* "  [########--------]  52% of max-pages, 3 min left" */
static void write_bar(const struct terminal *terminal, const struct status *status, struct text *text)
{
    char buffer[128];
    struct text words = text_in(buffer, sizeof buffer);
    remarks_put_outlook(&words, status);
    if (!words.len)
        return;
    size_t begin = text->len, room = terminal->columns ? terminal->columns - 1 : 79, others = strlen("  [] ") + words.len;
    size_t cells = room < others + BAR_CELLS_MIN   ? BAR_CELLS_MIN
                   : room > others + BAR_CELLS_MAX ? BAR_CELLS_MAX
                                                   : room - others;
    size_t full = (size_t)(status->outlook.share * (double)cells);
    text_put(text, "  [");
    for (size_t i = 0; i < cells; i++)
        text_put(text, i < full ? "#" : "-");
    text_put(text, "] %s", buffer);
    end_line(terminal, text, begin);
}

/* "  pages       33613  405/s, 3.7 MB/s" */
static void write_row(const struct terminal *terminal, struct text *text, const char *name, uint64_t count, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
static void write_row(const struct terminal *terminal, struct text *text, const char *name, uint64_t count, const char *format, ...)
{
    char details[256];
    size_t begin = text->len;
    va_list args;
    va_start(args, format);
    vsnprintf(details, sizeof details, format, args);
    va_end(args);
    text_put(text, "  %-11s %9" PRIu64 "  %s", name, count, details);
    end_line(terminal, text, begin);
}

static void write_rows(const struct terminal *terminal, const struct status *status, struct text *text)
{
    const struct stats *now = &status->now;
    write_row(terminal, text, "pages", stats_get(&now->pages), "%" PRIu64 "/s, %.1f MB/s", status->pages_per_s,
              (double)status->bytes_per_s / 1e6);
    write_row(terminal, text, "connections", stats_get(&now->connections), "visits %" PRIu64 ", robots.txt %" PRIu64,
              stats_get(&now->visits), stats_get(&now->robots_files));
    write_row(terminal, text, "hosts", status->host_count,
              "ready %" PRId64 ", resting %" PRId64 ", unresolved %" PRId64 ", idle %" PRId64, status->hosts[HOST_READY],
              resting(status), unresolved(status), status->hosts[HOST_IDLE]);
    write_row(terminal, text, "queue", status->queued, "links %" PRIu64 ", known %" PRIu64 ", out of scope %" PRIu64,
              stats_get(&now->links), stats_get(&now->links_known), stats_get(&now->links_out_of_scope));
    write_row(terminal, text, "done", stats_get(&now->outcomes[FETCH_DONE]), "failed %" PRIu64 ", tries that failed %" PRIu64,
              status->failed, status->tries_failed);
}

/* A block that is higher than the terminal would scroll at each renewal: it ends above the last line. */
static void cut_rows(const struct terminal *terminal, struct text *text, size_t begin)
{
    unsigned lines = 0;
    for (size_t i = begin; terminal->rows && i < text->len; i++)
        if (text->bytes[i] == '\n' && ++lines == terminal->rows - 1)
            text->len = i + 1;
}

static void write_block(const struct terminal *terminal, const struct status *status, struct text *text)
{
    size_t begin = text->len;
    remarks_put_span(text, status->seconds);
    text_put(text, ", %s %s", status->phase == CRAWL_RUNNING ? "crawling to" : gate_phase_name(status->phase),
             status->directory);
    end_line(terminal, text, begin);
    write_bar(terminal, status, text);
    write_rows(terminal, status, text);
    for (size_t i = 1; i < sizeof remarks / sizeof remarks[0]; i++) { /* the first is beside the bar */
        char buffer[512];
        struct text remark = text_in(buffer, sizeof buffer);
        remarks[i](&remark, status);
        write_wrapped(terminal, text, buffer);
    }
    cut_rows(terminal, text, begin);
    text_put(text, "\033[J"); /* lines of a longer block before */
}

static unsigned count_lines(const struct text *text)
{
    unsigned lines = 0;
    for (size_t i = 0; i < text->len; i++)
        lines += text->bytes[i] == '\n';
    return lines;
}

size_t terminal_write_status(struct terminal *terminal, const struct status *status, char *buffer)
{
    struct text text = text_in(buffer, TERMINAL_TEXT_BYTES);
    if (!terminal->is_terminal) {
        write_line(terminal, status, &text);
        return text.len;
    }
    if (terminal->lines)
        text_put(&text, "\033[%uA\r", terminal->lines);
    write_block(terminal, status, &text);
    terminal->lines = count_lines(&text);
    return text.len;
}

void terminal_progress(struct terminal *terminal, const char *format, ...)
{
    char buffer[TERMINAL_TEXT_BYTES], words[256];
    struct text text = text_in(buffer, sizeof buffer);
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    if (!write_pending(terminal))
        return;
    if (terminal->lines)
        text_put(&text, "\033[%uA\r", terminal->lines);
    size_t begin = text.len;
    text_put(&text, "%s", words);
    end_line(terminal, &text, begin);
    if (try_write(terminal, text.bytes, text.len))
        terminal->lines = terminal->is_terminal ? 1 : 0;
}

void terminal_status(struct terminal *terminal, const struct status *status)
{
    char buffer[TERMINAL_TEXT_BYTES];
    struct winsize size;
    if (!write_pending(terminal))
        return;
    if (terminal->is_terminal && ioctl(terminal->fd, TIOCGWINSZ, &size) == 0) {
        terminal->columns = size.ws_col;
        terminal->rows = size.ws_row;
    }
    unsigned lines = terminal->lines;
    size_t len = terminal_write_status(terminal, status, buffer);
    if (!try_write(terminal, buffer, len))
        terminal->lines = lines; /* the old block is still there */
}
