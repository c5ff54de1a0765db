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

enum { TOKEN_CHARS_MIN = 32 };

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

static bool read_token(struct guard *guard, const char *path, struct tuning_error *error)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return refuse(error, "control.token-file: %s: %s", path, strerror(errno));
    bool has_line = fgets(guard->token, sizeof guard->token, file);
    fclose(file);
    guard->token[has_line ? strcspn(guard->token, "\r\n") : 0] = '\0';
    if (strlen(guard->token) < TOKEN_CHARS_MIN)
        return refuse(error, "control.token-file: the first line of %s must have %d to %d characters", path,
                      TOKEN_CHARS_MIN, GUARD_TOKEN_CHARS);
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

bool console_open(struct console *console, const struct control_tuning_fixed *tuning, struct tuning_error *error)
{
    char address[64], text[96];
    uint16_t port;
    *console = (struct console){.server = {.listener = -1, .owner = console, .answer = on_request}};
    page_init(&console->page);
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
    snprintf(text, sizeof text, strchr(address, ':') ? "[%s]:%u" : "%s:%u", address, (unsigned)port);
    guard_set_names(&console->guard, text, tuning->names, port);
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

static void take_sample(struct console *console, uint64_t now_ns)
{
    struct sample sample;
    char *text = NULL;
    size_t len = 0;
    status_update(&console->status, console->crawl);
    sample_take(&sample, &console->status, clock_wall_us() / 1000);
    recent_add(&console->history, &sample);
    console->is_alive = pulse_look(&console->pulse, console->crawl, now_ns, console->why);
    FILE *out = console->server.stream_count ? open_memstream(&text, &len) : NULL;
    if (!out)
        return;
    fprintf(out, "id: %llu\nevent: sample\ndata: ", (unsigned long long)console->history.count);
    router_write_sample(out, &sample);
    fputs("\n\n", out);
    if (fclose(out) == 0)
        server_send(&console->server, text, len);
    free(text);
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
        uint64_t wait_ms = (next_ns - now_ns) / CLOCK_NS_PER_MS + 1;
        server_turn(&console->server, wait_ms < 100 ? (int)wait_ms : 100);
    }
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

bool console_start(struct console *console, struct crawl *crawl, struct tuning_error *error)
{
    console->crawl = crawl;
    console->is_alive = true;
    if (!recent_init(&console->history))
        return refuse(error, "no console: no memory");
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
    remove_places(console);
}

void console_close(struct console *console)
{
    server_fini(&console->server);
    recent_fini(&console->history);
    if (console->events)
        fclose(console->events);
    console->events = NULL;
}
