#include "engine/console/server.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine/console/listener.h"
#include "lockfree/clock.h"

/* A connection. One that sends a byte now and then is never silent, but holds a place all the same. */
struct server_peer {
    struct server_peer *next;
    int fd;
    uint64_t due_ns; /* until when the rest of what it sends must have come; 0: nothing is waited for */
};

/* A request while its body comes in, and until it is answered. */
struct server_exchange {
    struct server_exchange *next; /* among those that wait */
    struct MHD_Connection *connection;
    char *body;
    size_t len;
    bool is_too_long;
    size_t uri_len; /* as it was sent */
    bool has_head;
    struct console_wait wait;
};

struct server_stream {
    struct server_stream *next;
    struct server *server;
    struct MHD_Connection *connection;
    char *first; /* what it begins with, before all events */
    size_t first_len, first_sent;
    uint64_t sent; /* the number of the last event */
    bool is_suspended;
};

static uint64_t due_in(unsigned seconds)
{
    return clock_now_ns() + seconds * CLOCK_NS_PER_S;
}

static const char strict_policy[] = "default-src 'none'; frame-ancestors 'none'";

static const char *field(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static ssize_t read_first(struct server_stream *stream, char *buffer, size_t bytes)
{
    size_t left = stream->first_len - stream->first_sent, len = left < bytes ? left : bytes;
    memcpy(buffer, stream->first + stream->first_sent, len);
    stream->first_sent += len;
    return (ssize_t)len;
}

/* The reader of a stream. It must suspend the connection when there is nothing to send: returning 0 without that is asked
 * again at once, for ever. A suspended connection is resumed by server_send. */
static ssize_t read_stream(void *argument, uint64_t position, char *buffer, size_t bytes)
{
    struct server_stream *stream = argument;
    struct server *server = stream->server;
    (void)position;
    if (stream->first_sent < stream->first_len)
        return read_first(stream, buffer, bytes);
    if (server->event_count - stream->sent > SERVER_EVENTS)
        stream->sent = server->event_count - SERVER_EVENTS;
    const struct server_event *event = &server->events[stream->sent % SERVER_EVENTS]; /* of the number sent + 1 */
    if (stream->sent == server->event_count || event->len > bytes) {
        stream->is_suspended = true;
        MHD_suspend_connection(stream->connection);
        return 0;
    }
    stream->sent++;
    memcpy(buffer, event->text, event->len);
    return (ssize_t)event->len;
}

static void end_stream(void *argument)
{
    struct server_stream *stream = argument, **at = &stream->server->streams;
    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
    stream->server->stream_count--;
    free(stream->first);
    free(stream);
}

/* NULL: no memory. The text of the response becomes the stream's in any case. */
static struct MHD_Response *begin_stream(struct server *server, struct MHD_Connection *connection,
                                         struct console_response *response)
{
    struct server_stream *stream = calloc(1, sizeof *stream);
    if (!stream || !console_response_finish(response)) {
        free(stream);
        return NULL;
    }
    *stream = (struct server_stream){.next = server->streams,
                                     .server = server,
                                     .connection = connection,
                                     .first = response->text,
                                     .first_len = response->len,
                                     .sent = server->event_count};
    response->text = NULL;
    server->streams = stream;
    server->stream_count++;
    struct MHD_Response *made =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, SERVER_EVENT_BYTES, read_stream, stream, end_stream);
    if (!made)
        end_stream(stream);
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)SERVER_STREAM_S);
    return made;
}

static void add_fields(struct MHD_Response *made, const struct console_response *response)
{
    MHD_add_response_header(made, "Content-Type", response->type);
    MHD_add_response_header(made, "Content-Security-Policy", response->policy ? response->policy : strict_policy);
    MHD_add_response_header(made, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(made, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(made, "Cache-Control", "no-store");
    if (response->allow)
        MHD_add_response_header(made, "Allow", response->allow);
    if (response->status == 401)
        MHD_add_response_header(made, "WWW-Authenticate", "Bearer");
}

static enum MHD_Result send_response(struct server *server, struct MHD_Connection *connection,
                                     struct console_response *response)
{
    struct MHD_Response *made = NULL;
    bool is_stream = response->is_stream && response->status == 200;
    if (is_stream && server->stream_count == SERVER_STREAMS_MAX) {
        console_response_fail(response, 503, "%d streams are open; close one", SERVER_STREAMS_MAX);
        is_stream = false;
    }
    if (is_stream)
        made = begin_stream(server, connection, response);
    else if (console_response_finish(response))
        made = MHD_create_response_from_buffer(response->len, response->text, MHD_RESPMEM_MUST_COPY);
    free(response->text);
    if (!made)
        return MHD_NO;
    add_fields(made, response);
    enum MHD_Result result = MHD_queue_response(connection, response->status, made);
    MHD_destroy_response(made);
    return result;
}

/* What is known of a client, in text that the request points to. */
struct sender {
    char who[32];
    char local[LISTENER_NAME_BYTES];
};

static int fd_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

static void name_sender(struct MHD_Connection *connection, struct console_request *request, struct sender *sender)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    struct ucred peer;
    socklen_t len = sizeof peer;
    int fd = fd_of(connection);
    request->is_local = info && info->client_addr && info->client_addr->sa_family == AF_UNIX;
    request->who = sender->who;
    request->local = sender->local;
    listener_name(fd, sender->local);
    if (request->is_local && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0)
        snprintf(sender->who, sizeof sender->who, "uid %u", (unsigned)peer.uid);
    else
        snprintf(sender->who, sizeof sender->who, "token");
}

/* libmicrohttpd has decoded what it found behind the question mark; the query as it was sent is not kept, so it is put
 * together again. */
struct query {
    char *text;
    size_t len, size;
};

/* The head is bounded, and so is this: a byte becomes three at most. */
static void put_encoded(struct query *query, const char *text, size_t len)
{
    for (size_t i = 0; i < len && query->len + 4 < query->size; i++) {
        unsigned char c = (unsigned char)text[i];
        bool is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
        query->len += (size_t)snprintf(query->text + query->len, query->size - query->len, is_plain ? "%c" : "%%%02X", c);
    }
}

static enum MHD_Result put_pair(void *argument, enum MHD_ValueKind kind, const char *name, size_t name_len, const char *value,
                                size_t value_len)
{
    struct query *query = argument;
    (void)kind;
    if (query->len && query->len + 1 < query->size)
        query->text[query->len++] = '&';
    put_encoded(query, name, name_len);
    if (query->len + 1 < query->size)
        query->text[query->len++] = '=';
    put_encoded(query, value, value_len);
    return MHD_YES;
}

/* What a request is asked by, and its answer. */
struct asked {
    const char *method, *path;
    struct server_exchange *exchange;
};

/* The connection sleeps until the request is asked again. */
static enum MHD_Result put_off(struct server *server, struct MHD_Connection *connection, struct server_exchange *exchange,
                               struct console_response *response)
{
    console_response_finish(response);
    free(response->text);
    exchange->connection = connection;
    exchange->next = server->pending;
    server->pending = exchange;
    MHD_suspend_connection(connection);
    return MHD_YES;
}

static void wake_pending(struct server *server)
{
    struct server_exchange *exchange = server->pending;
    server->pending = NULL;
    for (; exchange; exchange = exchange->next)
        MHD_resume_connection(exchange->connection);
}

static enum MHD_Result answer(struct server *server, struct MHD_Connection *connection, const struct asked *asked)
{
    static char text[4 * SERVER_HEAD_BYTES_MAX];
    struct query query = {.text = text, .size = sizeof text};
    struct console_response response;
    struct sender sender;
    MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, put_pair, &query);
    struct console_request request = {.method = asked->method,
                                      .path = asked->path,
                                      .query = {text, query.len},
                                      .host = field(connection, "Host"),
                                      .origin = field(connection, "Origin"),
                                      .fetch_site = field(connection, "Sec-Fetch-Site"),
                                      .content_type = field(connection, "Content-Type"),
                                      .authorization = field(connection, "Authorization"),
                                      .last_event = field(connection, "Last-Event-ID"),
                                      .body = {asked->exchange->body, asked->exchange->len},
                                      .wait = &asked->exchange->wait};
    name_sender(connection, &request, &sender);
    if (!console_response_begin(&response))
        return MHD_NO;
    if (asked->exchange->is_too_long)
        console_response_fail(&response, 413, "a body may have %d bytes", SERVER_BODY_BYTES_MAX);
    else
        server->answer(server->owner, &request, &response);
    if (response.is_pending)
        return put_off(server, connection, asked->exchange, &response);
    return send_response(server, connection, &response);
}

static void take_body(struct server_exchange *exchange, const char *bytes, size_t len)
{
    char *longer = exchange->len + len <= SERVER_BODY_BYTES_MAX ? realloc(exchange->body, exchange->len + len) : NULL;
    if (!longer) {
        exchange->is_too_long = true;
        return;
    }
    memcpy(longer + exchange->len, bytes, len);
    exchange->body = longer;
    exchange->len += len;
}

static struct server_peer *peer_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void on_connection(void *owner, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct server *server = owner;
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        struct server_peer *peer = info ? malloc(sizeof *peer) : NULL;
        if (peer) {
            *peer = (struct server_peer){.next = server->peers, .fd = info->connect_fd, .due_ns = due_in(SERVER_HEAD_S)};
            server->peers = peer;
        }
        *context = peer;
    } else if (*context) {
        struct server_peer **at = &server->peers;
        while (*at != *context)
            at = &(*at)->next;
        *at = (*at)->next;
        free(*context);
    }
}

/* Ends the connections of those that take too long to ask, or to read. */
static void cut_slow_peers(struct server *server)
{
    uint64_t now_ns = clock_now_ns();
    for (struct server_peer *peer = server->peers; peer; peer = peer->next)
        if (peer->due_ns && now_ns > peer->due_ns) {
            shutdown(peer->fd, SHUT_RDWR); /* libmicrohttpd sees the end, and closes it */
            peer->due_ns = 0;
        }
}

/* Called when the first line of a request has come. */
static void *begin_exchange(void *owner, const char *uri, struct MHD_Connection *connection)
{
    struct server_exchange *exchange = calloc(1, sizeof *exchange);
    (void)owner, (void)connection;
    if (exchange)
        exchange->uri_len = strlen(uri);
    return exchange;
}

/* True: the head is in order, and the body may come; else it is answered. */
static bool take_head(struct server *server, struct MHD_Connection *connection, struct server_exchange *exchange,
                      enum MHD_Result *result)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    bool is_long_uri = exchange->uri_len > SERVER_HEAD_BYTES_MAX;
    struct console_response response;
    exchange->has_head = true;
    *result = MHD_YES;
    if (!is_long_uri && info && info->header_size <= SERVER_HEAD_BYTES_MAX)
        return true;
    *result = MHD_NO;
    if (!console_response_begin(&response))
        return false;
    console_response_fail(&response, is_long_uri ? 414 : 431, "a head may have %d bytes", SERVER_HEAD_BYTES_MAX);
    *result = send_response(server, connection, &response);
    return false;
}

/* Called once for the head, once for each piece of the body, and once at its end. */
static enum MHD_Result on_request(void *owner, struct MHD_Connection *connection, const char *path,
                                  const char *method, const char *version, const char *bytes, size_t *len,
                                  void **state)
{
    struct server_exchange *exchange = *state;
    struct server_peer *peer = peer_of(connection);
    enum MHD_Result result;
    (void)version;
    if (!exchange)
        return MHD_NO; /* no memory */
    if (!exchange->has_head) {
        if (take_head(owner, connection, exchange, &result) && peer)
            peer->due_ns = due_in(SERVER_BODY_S);
        return result;
    }
    if (*len) {
        take_body(exchange, bytes, *len);
        *len = 0;
        return MHD_YES;
    }
    if (peer)
        peer->due_ns = 0;
    return answer(owner, connection, &(struct asked){method, path, exchange});
}

static void on_done(void *owner, struct MHD_Connection *connection, void **state,
                    enum MHD_RequestTerminationCode why)
{
    struct server_exchange *exchange = *state;
    struct server_peer *peer = peer_of(connection);
    const struct server *server = owner;
    (void)why;
    if (peer)
        peer->due_ns = due_in(SERVER_HEAD_S); /* the next one */
    if (exchange) {
        if (exchange->wait.work || exchange->wait.order)
            server->leave(server->owner, &exchange->wait);
        free(exchange->body);
    }
    free(exchange);
    *state = NULL;
}

/* What libmicrohttpd has to say is about clients, and nobody reads it. */
static void be_silent(void *owner, const char *format, va_list arguments)
{
    (void)owner, (void)format, (void)arguments;
}

/* The memory of a connection is twice that of a head, so that one that is too long is read, and told so. */
static struct MHD_Daemon *start_daemon(struct server *server, int listener)
{
    return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request,
                            server, MHD_OPTION_EXTERNAL_LOGGER, be_silent, NULL, MHD_OPTION_LISTEN_SOCKET, listener,
                            MHD_OPTION_CONNECTION_LIMIT, (unsigned)SERVER_CONNECTIONS_MAX,
                            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SERVER_SILENCE_S,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)(2 * SERVER_HEAD_BYTES_MAX),
                            MHD_OPTION_URI_LOG_CALLBACK, begin_exchange, server, MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_NOTIFY_COMPLETED, on_done,
                            server, MHD_OPTION_END);
}

int server_listen(struct server *server, const char *address, uint16_t port)
{
    int listener = listener_open_tcp(address, &port);
    if (listener < 0)
        return listener;
    server->listener = listener;
    server->port = port;
    return 0;
}

int server_start(struct server *server, const char *directory, const char *name)
{
    int socket = listener_open_unix(directory, name);
    if (socket < 0)
        return socket;
    server->daemons[0] = start_daemon(server, socket);
    if (!server->daemons[0]) {
        close(socket);
        return -ENOMEM;
    }
    if (server->listener < 0)
        return 0;
    server->daemons[1] = start_daemon(server, server->listener);
    if (!server->daemons[1])
        return -ENOMEM;
    server->listener = -1; /* the daemon's now */
    return 0;
}

static int epoll_of(struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info = daemon ? MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
    return info ? info->epoll_fd : -1;
}

void server_turn(struct server *server, int wait_ms)
{
    struct pollfd watched[2];
    for (int i = 0; i < 2; i++) {
        MHD_UNSIGNED_LONG_LONG timeout_ms;
        watched[i] = (struct pollfd){.fd = epoll_of(server->daemons[i]), .events = POLLIN};
        if (server->daemons[i] && MHD_get_timeout(server->daemons[i], &timeout_ms) == MHD_YES &&
            timeout_ms < (unsigned)wait_ms)
            wait_ms = (int)timeout_ms;
    }
    if (server->pending && wait_ms > SERVER_PENDING_MS)
        wait_ms = SERVER_PENDING_MS;
    poll(watched, 2, wait_ms);
    wake_pending(server);
    cut_slow_peers(server);
    for (int i = 0; i < 2; i++)
        if (server->daemons[i])
            MHD_run(server->daemons[i]);
}

static void wake_streams(struct server *server)
{
    for (struct server_stream *stream = server->streams; stream; stream = stream->next)
        if (stream->is_suspended) {
            stream->is_suspended = false;
            MHD_resume_connection(stream->connection);
        }
}

void server_send(struct server *server, const char *event, size_t len)
{
    struct server_event *place = &server->events[server->event_count % SERVER_EVENTS];
    if (len > sizeof place->text)
        return;
    memcpy(place->text, event, len);
    place->len = len;
    server->event_count++;
    wake_streams(server);
}

/* Connections may not be suspended when a daemon is stopped. */
void server_fini(struct server *server)
{
    wake_streams(server);
    wake_pending(server);
    for (int i = 0; i < 2; i++)
        if (server->daemons[i])
            MHD_stop_daemon(server->daemons[i]);
    if (server->listener >= 0)
        close(server->listener);
    server->daemons[0] = server->daemons[1] = NULL;
    server->listener = -1;
}
