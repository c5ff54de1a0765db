#include "engine/console/order_log.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/check.h"

static struct order_log order_log;
static char directory[] = "/tmp/lycosa-orders-XXXXXX", path[64];

static void begin(void)
{
    memcpy(directory + strlen(directory) - 6, "XXXXXX", 6);
    CHECK(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/events.log", directory);
    order_log_init(&order_log);
}

static void end(void)
{
    order_log_fini(&order_log);
    unlink(path);
    CHECK_INT(rmdir(directory), 0);
}

TEST(nothing_is_written_but_by_the_writer)
{
    size_t len;
    begin();
    order_log_write(&order_log, directory);
    order_log_add(&order_log, "token\tPOST /api/v1/pause", "200");
    order_log_add(&order_log, "uid 7\tPOST /api/v1/stop", "gone");
    CHECK(access(path, F_OK) != 0);
    order_log_write(&order_log, directory);
    char *text = check_read_file(path, &len);
    CHECK(strstr(text, "Z\ttoken\tPOST /api/v1/pause\t200\n20") && strstr(text, "Z\tuid 7\tPOST /api/v1/stop\tgone\n"));
    free(text);
    end();
}

/* A disk that hangs: the console goes on, and the log says that it is not whole. */
TEST(what_does_not_fit_is_counted)
{
    size_t len;
    unsigned lines = 0;
    begin();
    for (int i = 0; i < ORDER_LOG_LINES + 3; i++)
        order_log_add(&order_log, "token\tPOST /api/v1/pause", "200");
    order_log_write(&order_log, directory);
    order_log_write(&order_log, directory);
    char *text = check_read_file(path, &len);
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    CHECK_INT(lines, ORDER_LOG_LINES + 1);
    CHECK(strstr(text, "\t3 orders are missing here: the disk was too slow\t-\n"));
    free(text);
    end();
}

/* Nobody reads: open and write would wait for ever. */
TEST(a_pipe_in_its_place_holds_up_nobody)
{
    begin();
    CHECK_INT(mkfifo(path, 0600), 0);
    for (int i = 0; i < 100; i++) {
        order_log_add(&order_log, "token\tPOST /api/v1/pause", "200");
        order_log_write(&order_log, directory);
    }
    end();
}

static void *add(void *argument)
{
    (void)argument;
    for (int i = 0; i < 10000; i++)
        order_log_add(&order_log, "token\tPOST /api/v1/pause", "200");
    return NULL;
}

TEST(two_threads)
{
    pthread_t thread;
    size_t len;
    uint64_t lines = 0, lost = 0;
    begin();
    CHECK_INT(pthread_create(&thread, NULL, add, NULL), 0);
    for (int i = 0; i < 1000; i++)
        order_log_write(&order_log, directory);
    pthread_join(thread, NULL);
    order_log_write(&order_log, directory);
    char *text = check_read_file(path, &len);
    for (char *rest, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        const char *missing = strstr(line, "\t-\t");
        lost += missing ? strtoull(missing + 3, NULL, 10) : 0;
        lines += !missing;
    }
    CHECK_INT(lines + lost, 10000);
    free(text);
    end();
}
