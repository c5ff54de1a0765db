#include "tools/lycosa/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "tests/support/check.h"

static struct terminal terminal;
static struct status status;
static char text[TERMINAL_TEXT_BYTES];

static void begin(bool is_terminal, unsigned columns)
{
    terminal = (struct terminal){.fd = -1, .is_terminal = is_terminal, .columns = columns};
    status =
        (struct status){.directory = "crawl-of-a-long-name/with/several/parts", .seconds = 12, .queued = 360};
    stats_add(&status.now.pages, 201);
    stats_add(&status.now.urls_out, 240);
    stats_add(&status.now.outcomes[FETCH_DONE], 201);
    status.failed = 7;
    status.tries_failed = 19;
    status.failing_count = status.failing[FETCH_CONNECT_REFUSED] = 4;
    status.hosts[HOST_RESTING] = 10;
}

static void write_status(void)
{
    size_t len = terminal_write_status(&terminal, &status, text);
    text[len] = '\0';
}

static unsigned lines_of(const char *at)
{
    unsigned lines = 0;
    for (; (at = strchr(at, '\n')); at++)
        lines++;
    return lines;
}

TEST(a_line_elsewhere)
{
    begin(false, 0);
    write_status();
    CHECK(strstr(text, "pages 201 ") && strstr(text, "resting 10 ") && strstr(text, "queue 360 "));
    CHECK(strstr(text, "failed 7 (tries 19)  | 4 hosts fail: 4 connect-refused\n") != NULL);
    CHECK(lines_of(text) == 1 && text[strlen(text) - 1] == '\n' && !strchr(text, '\033'));
}

TEST(a_block_on_a_terminal_replaces_the_one_before)
{
    begin(true, 120);
    write_status();
    CHECK(strstr(text, "  4 hosts fail: 4 connect-refused\033[K\n") && text[0] != '\033');
    unsigned lines = lines_of(text);
    char up[16];
    snprintf(up, sizeof up, "\033[%uA", lines);
    write_status();
    CHECK(strncmp(text, up, strlen(up)) == 0);
    CHECK_INT(lines_of(text), lines);
    status.failing_count = 0;
    write_status();
    CHECK_INT(lines_of(text), lines - 1);
    CHECK_STR(text + strlen(text) - 3, "\033[J"); /* the line that is gone is cleared */
}

/* The longest line as a terminal shows it: without the escape that clears the rest. */
static size_t widest_line(void)
{
    size_t widest = 0;
    for (const char *line = text, *end; (end = strstr(line, "\033[K\n")); line = end + 4) {
        size_t width = (size_t)(end - line);
        widest = width > widest ? width : widest;
    }
    return widest;
}

TEST(no_line_wraps_on_a_narrow_terminal)
{
    begin(true, 40);
    write_status();
    CHECK(widest_line() < 40);
    begin(true, 0);
    write_status();
    CHECK(widest_line() > 40);
}

/* A sentence goes on below; a row loses its last items. */
TEST(what_does_not_fit_is_cut_at_words)
{
    begin(true, 40);
    status.limited[LIMITED_POLITENESS] = 1;
    status.next_due_s = 5;
    write_status();
    CHECK(strstr(text, "  politeness 100%: 10 hosts rest, the\033[K\n  next is due in 5.0 s\033[K\n"));
    CHECK(strstr(text, "  hosts               0  ready 0\033[K\n"));
}

TEST(the_block_is_no_higher_than_the_terminal)
{
    begin(true, 40);
    terminal.rows = 5;
    write_status();
    CHECK_INT(lines_of(text), 4);
    write_status();
    CHECK(strncmp(text, "\033[4A", 4) == 0);
}

TEST(a_bar_shows_how_far_it_is)
{
    begin(true, 80);
    write_status();
    CHECK(!strchr(text, '#')); /* without a goal */
    status.outlook = (struct outlook){.by = OUTLOOK_PAGES, .share = 0.508, .left_s = 130};
    write_status();
    CHECK(strstr(text, "  [###############---------------] 50% of max-pages, 2 min left\033[K\n"));
    begin(true, 40);
    status.outlook = (struct outlook){.by = OUTLOOK_PAGES, .share = 0.508, .left_s = 130};
    write_status();
    CHECK(strstr(text, "  [###---] 50% of max-pages, 2 min left\033[K\n"));
    begin(false, 0);
    status.outlook = (struct outlook){.by = OUTLOOK_QUEUE, .share = 0.9999, .left_s = -1};
    write_status();
    CHECK(strstr(text, "  | 99% of the URLs found  | "));
}

static size_t fill(int fd)
{
    size_t filled = 0;
    struct pollfd watched = {.fd = fd, .events = POLLOUT};
    while (poll(&watched, 1, 0) == 1 && watched.revents & POLLOUT && write(fd, "x", 1) == 1)
        filled++;
    return filled;
}

/* Returning is what is tested: a write would block for ever. */
TEST(a_pipe_that_nobody_reads_does_not_block)
{
    int ends[2];
    char bytes[1024];
    CHECK(pipe(ends) == 0);
    begin(false, 0);
    terminal.fd = ends[1];
    size_t filled = fill(ends[1]);
    terminal_status(&terminal, &status);
    terminal_note(&terminal, "lycosa: %s", "tuning reloaded");
    terminal_status(&terminal, &status);
    while (filled)
        filled -= (size_t)read(ends[0], bytes, filled < sizeof bytes ? filled : sizeof bytes);
    terminal_finish(&terminal);
    ssize_t len = read(ends[0], bytes, sizeof bytes - 1);
    CHECK(len > 0);
    bytes[len] = '\0';
    CHECK_STR(bytes, "lycosa: tuning reloaded\n"); /* the note has waited; the status has not */
    close(ends[0]);
    close(ends[1]);
}

TEST(a_stopped_terminal_does_not_block)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        SKIP("no terminals here");
    int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    CHECK(slave >= 0);
    terminal_init(&terminal, slave);
    CHECK(terminal.is_terminal);
    CHECK(tcflow(slave, TCOOFF) == 0); /* as Ctrl-S does */
    terminal_status(&terminal, &status);
    CHECK_INT(terminal.lines, 0);
    CHECK(tcflow(slave, TCOON) == 0);
    terminal_status(&terminal, &status);
    CHECK(terminal.lines > 0);
    close(slave);
    close(master);
}
