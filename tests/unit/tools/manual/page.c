#include "tools/manual/page.h"

#include <stdlib.h>
#include <string.h>

#include "engine/tuning/tuning_table.h"
#include "tests/support/check.h"

static const struct command_option known[] = {{'o', "out-put", "FILE", ".first \\ it's `so`"}, {0}};
static const struct command command = {.program = "program",
                                       .name = "name",
                                       .synopsis = "A\nB",
                                       .summary = "does it",
                                       .description = "One.\n\n'Two'.",
                                       .options = known};
static const struct command *const commands[] = {&command, NULL};
static const struct command_program program = {
    .name = "program", .summary = "a program", .description = "Does things.", .commands = commands};

TEST(text_is_no_request_and_no_escape)
{
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    page_command(&program, &command, out);
    fclose(out);
    CHECK(strstr(text, ".TH PROGRAM\\-NAME 1 "));
    CHECK(strstr(text, "\nprogram\\-name \\- does it\n"));
    CHECK(strstr(text, "\n\\fBprogram name\\fR A\n.br\n\\fBprogram name\\fR B\n.br\n"));
    CHECK(strstr(text, "\nOne.\n.PP\n\\(aqTwo\\(aq.\n"));
    CHECK(strstr(
        text, "\n\\fB\\-o\\fR, \\fB\\-\\-out\\-put\\fR \\fIFILE\\fR\n\\&.first \\e it\\(aqs \\(gaso\\(ga\n"));
    CHECK(strstr(text, "\\fB\\-\\-help\\fR"));
    free(text);
}

TEST(every_command_is_on_the_page_of_its_program)
{
    for (int kind = PAGE_OVERVIEW; kind <= PAGE_WHOLE; kind++) {
        char *text;
        size_t len;
        FILE *out = open_memstream(&text, &len);
        page_program(&program, (enum page_kind)kind, out);
        fclose(out);
        CHECK(strstr(text, kind == PAGE_WHOLE ? "\n.SS name\n" : "\n\\fBprogram\\-name\\fR(1)\n"));
        CHECK((strstr(text, "out\\-put") != NULL) == (kind == PAGE_WHOLE));
        free(text);
    }
}

TEST(every_key_is_on_the_page_of_the_tuning_file)
{
    char *text;
    size_t len, keys = 0;
    FILE *out = open_memstream(&text, &len);
    page_tuning(out);
    fclose(out);
    for (const char *at = text; (at = strstr(at, "\n.TP\n")); at++)
        keys++;
    CHECK(keys == tuning_keys_count);
    CHECK(strstr(text, "\n.SS [politeness]\n"));
    CHECK(strstr(
        text,
        "\\fBhost\\-min\\-idle\\fR = \\fI1s\\fR\na host rests at least this long after a visit\n.br\n(a time "
        "with its unit (250ms, 10s, 5m, 2h, 1d); from 0 to 1d; live)\n"));
    CHECK(strstr(text, "(one of: ratio delay; live)\n"));
    free(text);
}
