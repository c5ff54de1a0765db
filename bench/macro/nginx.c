#include "macro/nginx.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lockfree/clock.h"
#include "macro/process.h"

/* One process's limit of open files here; nginx needs a few for itself. */
#define WORKER_CONNECTIONS 19000
#define START_MS           5000
#define DEBIAN_PROGRAM     "/usr/sbin/nginx"

static uint16_t free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bind(fd, (struct sockaddr *)&address, len);
    getsockname(fd, (struct sockaddr *)&address, &len);
    close(fd);
    return ntohs(address.sin_port);
}

static bool write_file(const struct nginx *server, const char *name, size_t bytes)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", server->directory, name);
    FILE *file = fopen(path, "we");
    if (!file)
        return false;
    for (size_t i = 0; i < bytes; i++)
        putc_unlocked("0123456789abcdefghijklmnopqrstuvwxyz\n"[i % 37], file);
    return fclose(file) == 0;
}

/* Runs a program in the server's directory, quietly. */
static bool run_in(const struct nginx *server, char *const *arguments)
{
    const pid_t child = fork();
    if (child == 0) {
        const int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        if (chdir(server->directory) == 0)
            execvp(arguments[0], arguments);
        _exit(127);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return status == 0;
}

static bool make_certificate(const struct nginx *server)
{
    static const char *const arguments[] = {
        "openssl",  "req",           "-x509",   "-newkey",
        "rsa:2048", "-nodes",        "-keyout", "key.pem",
        "-out",     "cert.pem",      "-days",   "2",
        "-subj",    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
        NULL};
    return run_in(server, (char *const *)(uintptr_t)arguments);
}

static bool write_configuration(const struct nginx *server, const struct nginx_options *options)
{
    char path[128];
    snprintf(path, sizeof path, "%s/nginx.conf", server->directory);
    FILE *file = fopen(path, "we");
    if (!file)
        return false;
    fprintf(
        file,
        "daemon off;\npid %s/pid;\nerror_log %s/error.log;\nworker_processes %u;\nworker_cpu_affinity %s;\n"
        "events { worker_connections %d; }\n"
        "http {\n access_log off; sendfile on; open_file_cache max=16;\n"
        " keepalive_requests 1000000000; keepalive_timeout 3600;\n"
        " client_body_temp_path %s/t; proxy_temp_path %s/t; fastcgi_temp_path %s/t; uwsgi_temp_path %s/t;\n"
        " scgi_temp_path %s/t; ssl_session_cache shared:s:4m; ssl_protocols TLSv1.2;\n server {\n",
        server->directory, server->directory, options->workers, options->cpus, WORKER_CONNECTIONS,
        server->directory, server->directory, server->directory, server->directory, server->directory);
    for (unsigned i = 1; i <= options->addresses; i++)
        fprintf(file, "  listen 127.0.0.%u:%u reuseport backlog=4096;\n", i, server->port);
    if (options->tls)
        fprintf(file,
                "  listen 127.0.0.1:%u ssl;\n  ssl_certificate cert.pem; ssl_certificate_key key.pem;\n",
                server->tls_port);
    fprintf(file, "  root %s;\n }\n}\n", server->directory);
    return fclose(file) == 0;
}

static bool wait_for_port(const struct nginx *server)
{
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = htons(server->port)};
    const uint64_t deadline = clock_now_ns() + START_MS * CLOCK_NS_PER_MS;
    while (clock_now_ns() < deadline) {
        const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const int result = connect(fd, (const struct sockaddr *)&address, sizeof address);
        close(fd);
        if (result == 0)
            return true;
        usleep(10000);
    }
    return false;
}

static void run_nginx(const struct nginx *server)
{
    char configuration[128];
    snprintf(configuration, sizeof configuration, "%s/nginx.conf", server->directory);
    execlp("nginx", "nginx", "-p", server->directory, "-c", configuration, "-e", "error.log", (char *)NULL);
    execl(DEBIAN_PROGRAM, "nginx", "-p", server->directory, "-c", configuration, "-e", "error.log",
          (char *)NULL);
    _exit(127);
}

bool nginx_is_installed(void)
{
    return process_is_installed("nginx") || access(DEBIAN_PROGRAM, X_OK) == 0;
}

bool nginx_begin(struct nginx *server, const struct nginx_options *options)
{
    snprintf(server->directory, sizeof server->directory, "/tmp/bench_nginx.XXXXXX");
    if (!mkdtemp(server->directory)) {
        fprintf(stderr, "nginx: no temporary directory: %s\n", strerror(errno));
        return false;
    }
    server->port = free_port();
    server->tls_port = free_port();
    /* The workers are another user than the one who starts nginx as root. */
    if (chmod(server->directory, 0755) != 0 || !write_file(server, "1k", 1024) ||
        !write_file(server, "10k", 10240) || !write_file(server, "16m", 16 << 20) ||
        (options->tls && !make_certificate(server)) || !write_configuration(server, options)) {
        fprintf(stderr, "nginx: cannot write %s\n", server->directory);
        return false;
    }
    server->pid = fork();
    if (server->pid == 0)
        run_nginx(server);
    if (wait_for_port(server))
        return true;
    fprintf(stderr, "nginx does not come up; see %s/error.log\n", server->directory);
    return false;
}

void nginx_finish(struct nginx *server)
{
    const char *const arguments[] = {"rm", "-rf", server->directory, NULL};
    kill(server->pid, SIGTERM);
    waitpid(server->pid, NULL, 0);
    if (!run_in(server, (char *const *)(uintptr_t)arguments))
        fprintf(stderr, "nginx: %s is left over\n", server->directory);
}

double nginx_cpu_s(const struct nginx *server)
{
    char path[64];
    double seconds = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)server->pid, (int)server->pid);
    FILE *file = fopen(path, "re");
    for (int worker; file && fscanf(file, "%d", &worker) == 1;)
        seconds += process_cpu_s(worker);
    if (file)
        fclose(file);
    return seconds;
}
