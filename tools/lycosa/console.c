#include "tools/lycosa/console.h"

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

void console_init(struct console *console, int fd)
{
    *console = (struct console){.fd = fd, .is_terminal = isatty(fd)};
}

/* A description that others share cannot be made non-blocking for us alone, so it is asked first. */
static bool is_ready(const struct console *console, int wait_ms)
{
    struct pollfd watched = {.fd = console->fd, .events = POLLOUT};
    return poll(&watched, 1, wait_ms) == 1 && watched.revents & POLLOUT;
}

/* False: nobody reads. */
static bool try_write(const struct console *console, const char *text, size_t len)
{
    return len == 0 || (is_ready(console, 0) && write(console->fd, text, len) >= 0);
}

static bool write_pending(struct console *console)
{
    if (!try_write(console, console->pending, strlen(console->pending)))
        return false;
    if (console->pending[0])
        console->lines = 0; /* the block begins anew below it */
    console->pending[0] = '\0';
    return true;
}

void console_note(struct console *console, const char *format, ...)
{
    size_t len = strlen(console->pending), room = sizeof console->pending - len;
    va_list args;
    va_start(args, format);
    int written = vsnprintf(console->pending + len, room - 1, format, args);
    va_end(args);
    if (written < 0 || (size_t)written >= room - 1)
        console->pending[len] = '\0'; /* no room for another */
    else
        memcpy(console->pending + len + written, "\n", 2);
    write_pending(console);
}

void console_finish(struct console *console)
{
    if (is_ready(console, LAST_WORDS_MS))
        write_pending(console);
}

/* Ends a line that began at `begin`, no longer than the terminal is wide: a line that wraps would take two,
 * and the block would climb. */
static void end_line(const struct console *console, struct text *text, size_t begin)
{
    if (console->columns && text->len - begin > console->columns - 1)
        text->len = begin + console->columns - 1;
    text_put(text, "%s\n", console->is_terminal ? "\033[K" : "");
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
    remarks_put_outage, remarks_put_failing, remarks_put_lost, remarks_put_waiting, remarks_put_end};

static void write_line(const struct console *console, const struct status *status, struct text *text)
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
    end_line(console, text, 0);
}

static void write_block(const struct console *console, const struct status *status, struct text *text)
{
    const struct stats *now = &status->now;
    size_t begin = text->len;
    text_put(text, "%.0f s, crawling to %s", status->seconds, status->directory);
    end_line(console, text, begin);
    begin = text->len;
    text_put(text, "  pages       %12" PRIu64 "  %8" PRIu64 "/s   received %.1f MB/s", stats_get(&now->pages),
             status->pages_per_s, (double)status->bytes_per_s / 1e6);
    end_line(console, text, begin);
    begin = text->len;
    text_put(text, "  connections %12" PRIu64 "  visits %" PRIu64 ", robots.txt %" PRIu64,
             stats_get(&now->connections), stats_get(&now->visits), stats_get(&now->robots_files));
    end_line(console, text, begin);
    begin = text->len;
    text_put(text,
             "  hosts       %12" PRIu64 "  ready %" PRId64 ", resting %" PRId64 ", unresolved %" PRId64
             ", idle %" PRId64,
             status->host_count, status->hosts[HOST_READY], resting(status), unresolved(status),
             status->hosts[HOST_IDLE]);
    end_line(console, text, begin);
    begin = text->len;
    text_put(text, "  queue       %12" PRIu64 "  links %" PRIu64 ", known %" PRIu64 ", out of scope %" PRIu64,
             status->queued, stats_get(&now->links), stats_get(&now->links_known),
             stats_get(&now->links_out_of_scope));
    end_line(console, text, begin);
    begin = text->len;
    text_put(text, "  done        %12" PRIu64 "  failed %" PRIu64 ", tries that failed %" PRIu64,
             stats_get(&now->outcomes[FETCH_DONE]), status->failed, status->tries_failed);
    end_line(console, text, begin);
    for (size_t i = 0; i < sizeof remarks / sizeof remarks[0]; i++) {
        size_t line = text->len;
        text_put(text, "  ");
        remarks[i](text, status);
        if (text->len > line + 2)
            end_line(console, text, line);
        else
            text->len = line;
    }
    text_put(text, "\033[J"); /* lines of a longer block before */
}

static unsigned count_lines(const struct text *text)
{
    unsigned lines = 0;
    for (size_t i = 0; i < text->len; i++)
        lines += text->bytes[i] == '\n';
    return lines;
}

size_t console_write_status(struct console *console, const struct status *status, char *buffer)
{
    struct text text = text_in(buffer, CONSOLE_TEXT_BYTES);
    if (!console->is_terminal) {
        write_line(console, status, &text);
        return text.len;
    }
    if (console->lines)
        text_put(&text, "\033[%uA\r", console->lines);
    write_block(console, status, &text);
    console->lines = count_lines(&text);
    return text.len;
}

void console_progress(struct console *console, const char *format, ...)
{
    char buffer[CONSOLE_TEXT_BYTES], words[256];
    struct text text = text_in(buffer, sizeof buffer);
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    if (!write_pending(console))
        return;
    if (console->lines)
        text_put(&text, "\033[%uA\r", console->lines);
    size_t begin = text.len;
    text_put(&text, "%s", words);
    end_line(console, &text, begin);
    if (try_write(console, text.bytes, text.len))
        console->lines = console->is_terminal ? 1 : 0;
}

void console_status(struct console *console, const struct status *status)
{
    char buffer[CONSOLE_TEXT_BYTES];
    struct winsize size;
    if (!write_pending(console))
        return;
    if (console->is_terminal)
        console->columns = ioctl(console->fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
    unsigned lines = console->lines;
    size_t len = console_write_status(console, status, buffer);
    if (!try_write(console, buffer, len))
        console->lines = lines; /* the old block is still there */
}
