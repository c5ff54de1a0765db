#include "tools/websim/options.h"

#include <stdlib.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tools/websim/parameters.h"

/* What a call writes to stderr, in `said`. */
static char said[512];

static void capture_begin(FILE **file, int *saved)
{
    *file = tmpfile();
    fflush(stderr);
    *saved = dup(2);
    dup2(fileno(*file), 2);
}

static void capture_end(FILE *file, int saved)
{
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    rewind(file);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
}

/* Parses one line of options into `p`; -1 if refused, with exactly one line in `said`. */
static int parse(struct websim_parameters *p, const char *line)
{
    static char words[512];
    char *argv[32] = {words}, *next = words;
    int argc = 1, saved;
    FILE *file;
    snprintf(words, sizeof words, "%s", line);
    for (char *word; (word = strsep(&next, " "));)
        argv[argc++] = word;
    struct websim_option rows[WEBSIM_PARAMETERS_ROWS_MAX];
    websim_parameters_default(p, argc, argv);
    struct websim_options options = {
        .command = "test", .rows = rows, .count = websim_parameters_rows(p, rows)};
    capture_begin(&file, &saved);
    int result = websim_options_parse(&options, argc, argv);
    if (result >= 0 && websim_parameters_settle(p, "test"))
        result = -1;
    capture_end(file, saved);
    if (result < 0)
        CHECK(strchr(said, '\n') && strchr(said, '\n')[1] == '\0');
    return result;
}

TEST(values_of_every_type)
{
    struct websim_parameters p;
    CHECK_INT(parse(&p, "--hosts 50 --size=2K --external 0.25 --agent otherbot --plain one two"), 2);
    CHECK_INT(p.hosts, 50);
    CHECK_INT(p.size, 2048);
    CHECK_INT(p.external, 250000);
    CHECK_STR(p.agent, "otherbot");
    CHECK(p.plain);
    CHECK_INT(p.addresses, 5);
}

TEST(plain_switches_personalities_off_but_not_what_was_given)
{
    struct websim_parameters p;
    CHECK_INT(parse(&p, "--think-ms 7 --plain"), 0);
    CHECK_INT(p.think_ms, 7);
    CHECK_INT(p.rtt_ms, 0);
    CHECK_INT(p.gzip, 0);
    CHECK_INT(p.robots_absent, 1000000);
    CHECK_INT(parse(&p, "--plain --robots-closed 0.4"), 0);
    CHECK_INT(p.robots_absent, 600000);
}

TEST(shares)
{
    uint64_t ppm;
    CHECK(websim_options_share("0", &ppm) && ppm == 0);
    CHECK(websim_options_share("1", &ppm) && ppm == 1000000);
    CHECK(websim_options_share("1.0", &ppm) && ppm == 1000000);
    CHECK(websim_options_share("0.000001", &ppm) && ppm == 1);
    CHECK(websim_options_share("0.5", &ppm) && ppm == 500000);
    CHECK(!websim_options_share("1.000001", &ppm));
    CHECK(!websim_options_share("0.0000001", &ppm));
    CHECK(!websim_options_share("2", &ppm));
    CHECK(!websim_options_share(".5", &ppm));
    CHECK(!websim_options_share("0.5x", &ppm));
    CHECK(!websim_options_share("", &ppm));
}

TEST(faults_by_name)
{
    struct websim_parameters p;
    CHECK_INT(parse(&p, "--fault silent=0.25,drip=1 --fault nxdomain=0.5"), 0);
    CHECK_INT(p.faults[WEBSIM_FAULT_SILENT], 250000);
    CHECK_INT(p.faults[WEBSIM_FAULT_DRIP], 1000000);
    CHECK_INT(p.faults[WEBSIM_FAULT_NXDOMAIN], 500000);
    CHECK_INT(p.faults[WEBSIM_FAULT_REFUSE], 0);
}

TEST(every_wrong_option_is_one_line)
{
    static const char *const wrong[] = {
        "--hosts",
        "--hosts x",
        "--hosts 0",
        "--hosts -3",
        "--hosts 99999999999999999999999",
        "--hosts 10 --addresses 11",
        "--addresses 15728640 --hosts 16000000",
        "--size 10X",
        "--size 1",
        "--size 10K --size-max 5K",
        "--external 1.5",
        "--plain=1",
        "--nonsense 3",
        "--port 65536",
        "--fault silent",
        "--fault nosuch=0.1",
        "--fault silent=2",
        "--fault silent=0.6,nxdomain=0.6",
        "--fault drip=0.6,bomb=0.6",
        "--gzip 0.9 --brotli 0.2",
        "--external 0.9 --gone 0.2",
        "--redirects 0.9 --duplicates 0.2",
        "--robots-closed 0.9 --robots-error 0.2",
        "--agent two/words",
        "--agent",
    };
    struct websim_parameters p;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (parse(&p, wrong[i]) != -1)
            check_failed(__FILE__, __LINE__, "accepted: %s", wrong[i]);
}

TEST(rows_are_described)
{
    struct websim_parameters p;
    struct websim_option rows[WEBSIM_PARAMETERS_ROWS_MAX];
    char meaning[WEBSIM_OPTIONS_MEANING_BYTES];
    websim_parameters_default(&p, 0, NULL);
    size_t count = websim_parameters_rows(&p, rows);
    for (size_t i = 0; i < count; i++) {
        struct command_option option = websim_options_describe(&rows[i], meaning);
        CHECK(option.name == rows[i].name);
        CHECK(strncmp(option.meaning, rows[i].help, strlen(rows[i].help)) == 0);
        CHECK((option.argument == NULL) == (rows[i].type == WEBSIM_OPTION_FLAG));
        if (strcmp(option.name, "external") == 0)
            CHECK(strstr(meaning, " [0.2]") && strcmp(option.argument, "SHARE") == 0);
    }
}
