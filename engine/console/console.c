#include "engine/console/console.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/console/router.h"
#include "engine/crawl/sample.h"
#include "lockfree/clock.h"

#define SOCKET_NAME "control.sock"
#define INFO_NAME   "control.json"
#define NICE        10

/* How often readers of events get a line even if nothing happens, so that proxies keep the connection. */
#define COMMENT_NS (15 * CLOCK_NS_PER_S)

enum {
    TOKEN_CHARS_MIN = 32,
    LAST_TURNS = 4, /* of the server: to wake a request, to answer it, to send the answer */
};

static bool refuse(struct tuning_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(struct tuning_error *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return false;
}

/* "127.0.0.1:8473", "[::1]:8473" */
static bool read_listen(const char *listen, char *address, size_t bytes, uint16_t *port)
{
    const char *colon = strrchr(listen, ':');
    char *end;
    if (!colon || colon == listen)
        return false;
    bool is_bracketed = listen[0] == '[' && colon[-1] == ']';
    snprintf(address, bytes, "%.*s", (int)(colon - listen) - 2 * is_bracketed, listen + is_bracketed);
    unsigned long number = strtoul(colon + 1, &end, 10);
    *port = (uint16_t)number;
    return end != colon + 1 && *end == '\0' && number <= UINT16_MAX;
}

static bool is_loopback(const char *address)
{
    struct in_addr four;
    return strcmp(address, "::1") == 0 ||
           (inet_pton(AF_INET, address, &four) == 1 && ntohl(four.s_addr) >> 24 == 127);
}

/* How a browser finds a listener: by its address, or, if it listens on all there are, by its first name. */
static void name_listener(const char *address, const char *names, uint16_t port, char text[300])
{
    size_t len = strcspn(names, "\n");
    if (strcmp(address, "0.0.0.0") != 0 && strcmp(address, "::") != 0)
        snprintf(text, 300, strchr(address, ':') ? "[%s]:%u" : "%s:%u", address, (unsigned)port);
    else if (strcspn(names, ":") < len)
        snprintf(text, 300, "%.*s", (int)len, names);
    else if (len)
        snprintf(text, 300, "%.*s:%u", (int)len, names, (unsigned)port);
    else
        snprintf(text, 300, "localhost:%u", (unsigned)port);
}

static bool read_token(struct guard *guard, const char *path, struct tuning_error *error)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return refuse(error, "control.token-file: %s: %s", path, strerror(errno));
    char line[GUARD_TOKEN_CHARS + 3]; /* one character too many shows */
    bool has_line = fgets(line, sizeof line, file);
    fclose(file);
    size_t len = has_line ? strcspn(line, "\r\n") : 0;
    line[len] = '\0';
    if (len < TOKEN_CHARS_MIN || len > GUARD_TOKEN_CHARS || strpbrk(line, "\"\\"))
        return refuse(error, "control.token-file: the first line of %s must have %d to %d characters, without quotes", path,
                      TOKEN_CHARS_MIN, GUARD_TOKEN_CHARS);
    memcpy(guard->token, line, len + 1);
    return true;
}

static bool take_token(struct console *console, const struct control_tuning_fixed *tuning, struct tuning_error *error)
{
    if (tuning->token_file[0])
        return read_token(&console->guard, tuning->token_file, error);
    return guard_make_token(&console->guard) || refuse(error, "no random bytes: %s", strerror(errno));
}

static void on_request(void *owner, const struct console_request *request, struct console_response *response)
{
    router_answer(owner, request, response);
}

static void on_leave(void *owner, struct console_wait *wait)
{
    router_leave(owner, wait);
}

bool console_open(struct console *console, const struct control_tuning_fixed *tuning, struct tuning_error *error)
{
    char address[64], text[300];
    uint16_t port;
    *console = (struct console){.server = {.listener = -1, .owner = console, .answer = on_request, .leave = on_leave}};
    page_init(&console->page);
    ring_spsc_init(&console->notes, console->notes_memory, CONSOLE_NOTES);
    order_log_init(&console->orders);
    if (!recent_init(&console->history))
        return refuse(error, "no console: no memory");
    if (!take_token(console, tuning, error) || !tuning->listen[0])
        return console->guard.token[0];
    if (!read_listen(tuning->listen, address, sizeof address, &port))
        return refuse(error, "control.listen: '%s' is not ADDRESS:PORT (127.0.0.1:8473)", tuning->listen);
    if (!is_loopback(address) && !tuning->token_file[0])
        return refuse(error, "control.listen: %s can be reached by others: this needs control.token-file", address);
    int failed = server_listen(&console->server, address, port);
    if (failed)
        return refuse(error, "control.listen: cannot listen on %s: %s", tuning->listen, strerror(-failed));
    port = console->server.port;
    name_listener(address, tuning->names, port, text);
    guard_set_names(&console->guard, tuning->names, port);
    console->guard.metrics_open = is_loopback(address) || tuning->metrics == TUNING_METRICS_OPEN;
    snprintf(console->url, sizeof console->url, "http://%s/#%s", text, console->guard.token);
    return true;
}

/* DIR/control.json, for its owner alone: where the console is, and its token. */
static int write_info(const struct console *console)
{
    char path[1100];
    snprintf(path, sizeof path, "%s/" INFO_NAME, console->crawl->directory);
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out)
        return -errno;
    fprintf(out, "{\"socket\": \"" SOCKET_NAME "\", \"url\": \"%s\", \"token\": \"%s\", \"pid\": %ld}\n", console->url,
            console->guard.token, (long)getpid());
    return fclose(out) == 0 ? 0 : -errno;
}

/* An event of at most SERVER_EVENT_BYTES. */
struct event {
    char text[SERVER_EVENT_BYTES];
    FILE *out; /* NULL: nobody reads, or no memory */
};

static FILE *begin_event(struct console *console, struct event *event)
{
    event->out = console->server.stream_count ? fmemopen(event->text, sizeof event->text, "w") : NULL;
    return event->out;
}

/* What does not fit is not sent. */
static void send_event(struct console *console, struct event *event)
{
    long len = ftell(event->out);
    bool good = fflush(event->out) == 0 && len > 0 && (size_t)len < sizeof event->text;
    fclose(event->out);
    if (good)
        server_send(&console->server, event->text, (size_t)len);
}

/* What is said between samples. */
static void speak(struct console *console, uint64_t now_ns)
{
    struct event event;
    uint64_t note;
    enum crawl_phase phase = gate_phase(&console->crawl->gate);
    if (phase != console->phase && begin_event(console, &event)) {
        router_write_phase(event.out, phase);
        send_event(console, &event);
    }
    console->phase = phase;
    while (ring_spsc_pop(&console->notes, &note)) {
        char *line = (char *)(uintptr_t)note;
        if (begin_event(console, &event)) {
            router_write_note(event.out, line);
            send_event(console, &event);
        }
        free(line);
    }
    if (now_ns - console->spoke_ns >= COMMENT_NS) {
        server_send(&console->server, ": \n\n", 4);
        console->spoke_ns = now_ns;
    }
}

static void take_sample(struct console *console, uint64_t now_ns)
{
    struct sample sample;
    struct event event;
    status_update(&console->status, console->crawl);
    sample_take(&sample, &console->status, clock_wall_us() / 1000);
    recent_add(&console->history, &sample);
    console->is_alive = pulse_look(&console->pulse, console->crawl, now_ns, console->why);
    if (!begin_event(console, &event))
        return;
    router_write_sample(event.out, &sample, console->history.count);
    send_event(console, &event);
}

/* The threads of the crawl have ended: what was asked of them is answered by now, or will not be. */
static void answer_rest(struct console *console)
{
    struct event event;
    console->is_closing = true;
    if (begin_event(console, &event)) {
        router_write_phase(event.out, CRAWL_ENDING);
        send_event(console, &event);
    }
    for (int i = 0; i < LAST_TURNS; i++)
        server_turn(&console->server, 0);
}

static void *run(void *argument)
{
    struct console *console = argument;
    uint64_t next_ns = clock_now_ns();
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE); /* this thread alone */
    while (!lf_load(&console->is_ending, acquire)) { /* A1 pairs with R1 in console_stop */
        uint64_t now_ns = clock_now_ns();
        if (now_ns >= next_ns) {
            take_sample(console, now_ns);
            next_ns += CLOCK_NS_PER_S;
            next_ns = next_ns > now_ns ? next_ns : now_ns + CLOCK_NS_PER_S;
        }
        speak(console, now_ns);
        uint64_t wait_ms = (next_ns - now_ns) / CLOCK_NS_PER_MS + 1;
        server_turn(&console->server, wait_ms < 100 ? (int)wait_ms : 100);
    }
    answer_rest(console);
    return NULL;
}

static void remove_places(const struct console *console)
{
    static const char *const names[] = {SOCKET_NAME, INFO_NAME};
    char path[1100];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", console->crawl->directory, names[i]);
        unlink(path);
    }
}

/* There is no thread that would answer: whoever asks is refused at once, and does not wait for ever. */
static void shut(struct console *console)
{
    server_fini(&console->server);
    remove_places(console);
}

void console_keep(struct console *console, const struct crawl *crawl)
{
    order_log_write(&console->orders, crawl->directory);
}

void console_note(struct console *console, const char *line)
{
    char *copy = console->is_running ? strdup(line) : NULL;
    if (copy && !ring_spsc_push(&console->notes, (uintptr_t)copy)) /* Hand-over to the console's thread. */
        free(copy);
}

void console_past(struct console *console, const struct sample *sample)
{
    recent_restore(&console->history, sample);
}

bool console_start(struct console *console, struct crawl *crawl, struct tuning_error *error)
{
    console->crawl = crawl;
    console->is_alive = true;
    recent_begin(&console->history, clock_wall_us() / 1000);
    int failed = server_start(&console->server, crawl->directory, SOCKET_NAME);
    failed = failed ? failed : write_info(console);
    if (failed) {
        shut(console);
        return refuse(error, "no console: %s/" SOCKET_NAME ": %s", crawl->directory, strerror(-failed));
    }
    status_update(&console->status, crawl);
    console->is_running = pthread_create(&console->thread, NULL, run, console) == 0;
    if (console->is_running)
        return true;
    shut(console);
    return refuse(error, "no console: no thread");
}

void console_stop(struct console *console)
{
    if (!console->is_running)
        return;
    lf_store(&console->is_ending, true, release); /* R1 */
    pthread_join(console->thread, NULL);
    console->is_running = false;
    router_why_fini(&console->question);
    order_log_write(&console->orders, console->crawl->directory); /* the housekeeper has ended */
    remove_places(console);
}

void console_close(struct console *console)
{
    server_fini(&console->server);
    recent_fini(&console->history);
    added_destroy(console->added);
    console->added = NULL;
    for (uint64_t note; ring_spsc_pop(&console->notes, &note);)
        free((char *)(uintptr_t)note);
    order_log_fini(&console->orders);
}
